"""How much likelier neighbours make what passed a gate: formulas of the audit's own, to sixty digits.

Written from the definitions of the distributions alone. A loss is ``ln P(given | one) - ln P(given | two)``; infinite
where only one of the two can give it.
"""

from decimal import Context, Decimal, localcontext
from fractions import Fraction

from dawa_bench.audit.watch import Asking, Given

DIGITS = Context(prec=60)
HEADS = 2**64
"""Chances of coins are whole numbers over this."""
ENDLESS = Decimal("Infinity")


def lost(one: Asking, two: Asking, given: Given) -> Decimal:
    """What a gate's answer tells of which neighbour it was, exact to sixty digits.

    >>> from fractions import Fraction
    >>> ask = lambda exact: Asking("noisy", (exact,), (Fraction(2),))
    >>> lost(ask(3), ask(4), (3,)), lost(ask(3), ask(4), (9,))
    (Decimal('0.5'), Decimal('-0.5'))
    """
    if one.public != two.public:
        return ENDLESS
    with localcontext(DIGITS):
        return _LOSSES[one.gate](one, two, given)


def most(one: Asking, two: Asking) -> Decimal:
    """The most that any noisy answer tells: what lies beyond both exact numbers tells all of their distance."""
    if one.public != two.public:
        return ENDLESS
    with localcontext(DIGITS):
        pairs = zip(one.exact, two.exact, _scales(one), strict=True)
        return _decimal(sum((abs(here - there) / scale for here, there, scale in pairs), Fraction(0)))


def _laplace(one: Asking, two: Asking, given: Given) -> Decimal:
    """``P(y) ∝ exp(-|y - exact| / scale)`` for every number by itself."""
    total = sum(
        (
            (abs(there - y) - abs(here - y)) / scale
            for here, there, y, scale in zip(one.exact, two.exact, given, _scales(one), strict=True)
        ),
        Fraction(0),
    )
    return _decimal(total)


def _chosen(one: Asking, two: Asking, given: Given) -> Decimal:
    """``P(i) = exp(score_i / scale) / Σ exp(score_j / scale)``."""
    (scale,), (pick,) = one.scales, given
    return _log_choice(one.exact, pick, scale) - _log_choice(two.exact, pick, scale)


def _log_choice(scores: tuple[int, ...], pick: int, scale: Fraction) -> Decimal:
    gaps = [_decimal((score - scores[pick]) / scale) for score in scores]
    most = max(gaps)
    return -(most + sum(((gap - most).exp() for gap in gaps), Decimal(0)).ln())


def _tossed(one: Asking, two: Asking, given: Given) -> Decimal:
    """Heads with a chance of so many 2^64ths, each coin by itself."""
    total = Decimal(0)
    for here, there, heads in zip(one.exact, two.exact, given, strict=True):
        if here != there:
            up, down = (here, there) if heads else (HEADS - here, HEADS - there)
            if not up or not down:
                return ENDLESS if up else -ENDLESS
            total += (Decimal(up) / Decimal(down)).ln()
    return total


def _scales(asking: Asking) -> tuple[Fraction, ...]:
    return asking.scales * len(asking.exact) if len(asking.scales) == 1 else asking.scales


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


_LOSSES = {
    "noisy": _laplace,
    "noisy_large": _laplace,
    "chosen": _chosen,
    "tossed": _tossed,
}
