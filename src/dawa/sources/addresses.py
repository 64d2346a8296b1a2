"""Columns of addresses: text is read as the numbers that an address consists of, and whole numbers as IPv4 addresses.

An address has 32 or 128 bits, and no engine has whole numbers of 128. So it is read as limbs: one of 32 bits, or three
of 48, 48 and 32, each of them exact even as a float. The bits in front of the axis's network say whether an address
lies outside; the bits from there to the axis's prefix are its cell.

What is an address follows from the text alone, in every engine: a pattern that no other text fits is asked first, and
numbers are made of text that fits it. Space around an address does not matter.
"""

import ibis
import ibis.expr.datatypes as dt

from dawa.axis import AddressAxis
from dawa.axis.addresses import BITS
from dawa.sources import casts
from dawa.sources.placed import Expression, Placed, whole
from dawa.sources.tables import Column

LIMBS = {4: (32,), 6: (48, 48, 32)}
"""The bits of each limb, by version."""
OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
GROUPS = "[0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{1,4})*"
PATTERNS = {4: rf"^{OCTET}(\.{OCTET}){{3}}", 6: f"^({GROUPS})?(::({GROUPS})?)?"}
END = {"pyspark": r"\z"}
"""Where text ends, if that is not what a dollar means: to Java, a line break may follow."""
HEAD = 4
"""Bytes before those of the address itself, in PostgreSQL's form of it."""
COUNT = 8
"""Groups of four hexadecimal digits in an address of 128 bits."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def split_part(text: dt.string, mark: dt.string, number: dt.int32) -> dt.string:
    """All engines' own: the part of a text with this number, counted from 1; empty if there are fewer."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def substr(text: dt.string, first: dt.int32, length: dt.int32) -> dt.string:
    """All engines' own: some characters of a text, counted from 1."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def lpad(text: dt.string, length: dt.int32, filler: dt.string) -> dt.string:
    """All engines' own: a text of this length."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def conv(digits: dt.string, base: dt.int32, into: dt.int32) -> dt.string:
    """Spark's own: digits of one base in another."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def inet_send(address: dt.inet) -> dt.binary:
    """PostgreSQL's own: four bytes about an address, then those of the address itself."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def encode(data: dt.binary, form: dt.string) -> dt.string:
    """PostgreSQL's own: bytes as text."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def family(address: dt.inet) -> dt.int64:
    """PostgreSQL's own: the version of an address."""


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def masklen(address: dt.inet) -> dt.int64:
    """PostgreSQL's own: the bits of an address's network, all of them if it is an address alone."""


def placed(column: Column, axis: AddressAxis, engine: str) -> Placed:
    """A column of addresses on an axis."""
    if column.text is not None:
        return _within(column.read, axis)
    if column.kind.is_inet():
        return _within(_limbs(_alone(column.value, axis), axis, engine), axis)
    value, most = column.value, min(2**32 - 1, column.kind.bounds.upper)
    fits = value <= ibis.literal(most, column.kind)
    if column.kind.bounds.lower < 0:
        fits &= value >= ibis.literal(0, column.kind)
    return _within((ibis.ifelse(fits, value, ibis.null(column.kind)).cast("int64"),), axis)


def read(text: Expression, axis: AddressAxis, engine: str = "duckdb") -> tuple[Expression, ...]:
    """Text as limbs; all of them are missing if it is no address."""
    plain = casts.bare(text, engine)
    fits = plain.re_search(f"{PATTERNS[axis.version]}{END.get(engine, '$')}")
    if axis.version == 4:
        known = ibis.ifelse(fits, plain, ibis.null("string"))
        octets = [split_part(known, ".", place).cast("int64") for place in range(1, 5)]
        return (((octets[0] * whole(256) + octets[1]) * whole(256) + octets[2]) * whole(256) + octets[3],)
    digits = _digits(ibis.ifelse(fits, plain, ibis.null("string")))
    return _limbs(digits, axis, engine)


def _limbs(digits: Expression, axis: AddressAxis, engine: str) -> tuple[Expression, ...]:
    """All hexadecimal digits of an address as limbs."""
    begins, found = 1, []
    for bits in LIMBS[axis.version]:
        found.append(_hexadecimal(substr(digits, begins, bits // 4), engine))
        begins += bits // 4
    return tuple(found)


def _digits(text: Expression) -> Expression:
    """All 32 digits of an address; missing if it has too many groups, or too few.

    A double colon stands for at least one group of zeros. In front of it and behind it are as many groups as colons,
    and one more; or none.
    """
    front, back = split_part(text, "::", 1), split_part(text, "::", 2)
    before, behind = _groups(front), _groups(back)
    gap = text.contains("::")
    enough = ibis.ifelse(gap, before + behind < whole(COUNT), before == whole(COUNT))
    every = []
    for place in range(1, COUNT + 1):
        here = ibis.cases(
            (whole(place) <= before, split_part(front, ":", place)),
            (
                whole(place) > whole(COUNT) - behind,
                split_part(back, ":", ibis.greatest(whole(place - COUNT) + behind, whole(1)).cast("int32")),
            ),
            else_=ibis.literal("0"),
        )
        every.append(lpad(here, 4, "0"))
    found = every[0]
    for group in every[1:]:
        found = found + group
    return ibis.ifelse(enough, found, ibis.null("string"))


def _groups(text: Expression) -> Expression:
    """How many groups one side of an address has."""
    colons = (text.length() - text.replace(":", "").length()).cast("int64")
    return ibis.ifelse(text == "", whole(0), colons + whole(1))


def _hexadecimal(digits: Expression, engine: str) -> Expression:
    """Up to twelve hexadecimal digits as a whole number."""
    if engine == "pyspark":
        return conv(digits, 16, 10).cast("int64")
    return (ibis.literal("0x") + digits).cast("int64")


def _alone(value: Expression, axis: AddressAxis) -> Expression:
    """The digits of PostgreSQL's addresses; a network is no address, nor is one of the other version.

    As text, it would write some of IPv6 with dots.
    """
    digits = substr(encode(inet_send(value), "hex"), 2 * HEAD + 1, BITS[axis.version] // 4)
    alone = (family(value) == whole(axis.version)) & (masklen(value) == whole(BITS[axis.version]))
    return ibis.ifelse(alone, digits, ibis.null("string"))


def _within(limbs: tuple[Expression, ...], axis: AddressAxis) -> Placed:
    """Where an address that is given by its limbs falls on an axis."""
    cell, begins = None, 0
    below, above = ibis.literal(value=False), ibis.literal(value=False)
    equal: Expression = None
    for limb, bits in zip(limbs, LIMBS[axis.version], strict=True):
        ends = begins + bits
        if begins < axis.shared:  # bits that all addresses of the axis share
            head = _bits(limb, bits, begins, begins, min(axis.shared, ends))
            wanted = whole(
                (axis.first >> (axis.bits - min(axis.shared, ends))) % 2 ** (min(axis.shared, ends) - begins)
            )
            less, more = head < wanted, head > wanted
            below, above = (less, more) if equal is None else (below | (equal & less), above | (equal & more))
            equal = head == wanted if equal is None else equal & (head == wanted)
        first, last = max(begins, axis.shared), min(ends, axis.prefix)
        if first < last:
            part = _bits(limb, bits, begins, first, last) * whole(2 ** (axis.prefix - last))
            cell = part if cell is None else cell + part
        begins = ends
    inside = whole(0) if cell is None else cell
    moved = inside if equal is None else ibis.cases((below, whole(0)), (above, whole(axis.size - 1)), else_=inside)
    beyond = tuple((state, {"below": below, "above": above}[state]) for state in axis.beyond if state != "unlisted")
    return Placed(limbs[0].notnull(), moved, beyond)


def _bits(limb: Expression, bits: int, begins: int, first: int, last: int) -> Expression:
    """The bits of an address from ``first`` up to ``last``, as a number: of a limb that begins at ``begins``."""
    behind = begins + bits - last
    found = (limb // whole(2**behind)).cast("int64") if behind else limb
    return found % whole(2 ** (last - first)) if first > begins else found
