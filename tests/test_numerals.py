"""Numbers from outside: one parser, one limit, wherever they come in."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa import budget, check, numerals
from dawa.axis import Axis, readings
from dawa.cli import specs
from dawa.errors import DawaError
from dawa.limits import MOST_NUMERAL_DIGITS
from dawa.numerals import NotANumberError
from dawa.spec import toml

READ = {
    "1": 1,
    " 12 ": 12,
    "-0": 0,
    "+3": 3,
    "1_000": 1000,
    ".5": Fraction(1, 2),
    "5.": 5,
    "1/3": Fraction(1, 3),
    "-7/14": Fraction(-1, 2),
    "1e-3": Fraction(1, 1000),
    "2.50E+2": 250,
    "1e299": 10**299,
    "1e-299": Fraction(1, 10**299),
    "0" * 900 + "1": 1,
    "0." + "0" * 200 + "1": Fraction(1, 10**201),
}
REFUSED = (
    "", " ", "nan", "NaN", "inf", "-Infinity", "1e400", "1e300", "1e-400", "1e99999999", "-1e99999999", "1e-99999999",
    "1e" + "9" * 5000, "9" * 301, "9" * 5000, "0." + "0" * 400 + "1", "1/0", "1/" + "9" * 301, "1/-3", "1 / 3", "1/3/5",
    "0x10", "0b1", "١٢", "\uff11\uff12", "½", "1__0", "_1", "1_", "1 000", "1,5", "e5", "1e", "1e1.5", "--1", ".", "1j",
    "None", "2 0",
)  # fmt: skip
VALUES = {
    0.1: Fraction(1, 10),
    5: 5,
    Fraction(2, 6): Fraction(1, 3),
    Decimal("0.10"): Fraction(1, 10),
    np.float32(0.1): Fraction(1, 10),
    np.float64(0.1): Fraction(1, 10),
    np.int8(-3): -3,
    np.uint64(2**64 - 1): 2**64 - 1,
    -0.0: 0,
}
NO_VALUES = (
    None, True, np.bool_(1), float("nan"), float("inf"), Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity"), 1j,
    Decimal("1E+999999999"), Decimal("1E-999999999"), 10**300, 10**5000, Fraction(1, 10**300), b"1", [1], object(),
    np.timedelta64(1), np.datetime64("2013"), np.array([1]), np.complex64(1), 5e-324, 1.7e308,
)  # fmt: skip


@pytest.mark.parametrize("text", READ)
def test_text_is_read_as_it_is_written(text):
    assert numerals.exact(text) == READ[text]


@pytest.mark.parametrize("value", VALUES)
def test_numbers_of_every_library_are_read_by_their_shortest_form(value):
    assert numerals.exact(value) == VALUES[value]


@pytest.mark.parametrize("value", [*REFUSED, *NO_VALUES], ids=lambda value: numerals.told(value)[:20])
def test_everything_else_is_refused_at_once(value):
    with pytest.raises(NotANumberError):
        numerals.exact(value)
    assert not numerals.is_number(value)
    assert len(numerals.told(value)) < 100
    assert len(numerals.brief(value)) < 100


@given(st.fractions())
def test_what_is_accepted_is_accepted_again_as_a_file_writes_it(number):
    assert numerals.exact(str(numerals.exact(number))) == number


@given(st.text("0123456789+-./eE_ \u0661", max_size=12))
def test_what_is_accepted_is_what_python_reads(text):
    """Python's own reader accepts more, and never something else."""
    if numerals.is_number(text):
        assert numerals.exact(text) == Fraction(text.strip())


def test_every_accepted_number_fits_in_a_float():
    largest = 10**MOST_NUMERAL_DIGITS - 1
    for number in (Fraction(largest), Fraction(1, largest), Fraction(largest, largest - 1)):
        assert 0 < numerals.real(number) < float("inf")


# --- everywhere the same --------------------------------------------------------------------------------------------

SPEC = """
[source]
file = "people.csv"
[[axes]]
column = "age"
start = 0
stop = {stop}
[privacy]
epsilon = {epsilon}
"""


def release():
    return dawa.release({"age": [1, 2, 3]}, dawa.Axis("age", 0, 10), epsilon=1, seed=0)


ENTRANCES = {
    "epsilon": budget.exact,
    "share": lambda value: budget.share(value, "share"),
    "option": lambda value: check.positive(value, "tolerance", 2),
    "axis": lambda value: readings.exact(value, "start"),
    "range": lambda value: Axis("age", 0, value),
    "step": lambda value: Axis("age", 0, 10, value),
    "edges": lambda value: Axis.edges("age", [-1, 0, value]),
    "auto": lambda value: Axis.auto("age", step=value),
    "answer": lambda value: release().answer(0, value),
    "spec": lambda value: [axis.axis() for axis in toml.parsed(SPEC.format(stop=f'"{value}"', epsilon=1)).axes],
    "budget in a spec": lambda value: toml.parsed(SPEC.format(stop=9, epsilon=f'"{value}"')),
    "flag": lambda value: specs.axes([("column", "age"), ("range", f"0..{value}")])[0].axis(),
    "typed range": lambda value: dawa.spec.ranges.answered(
        release(), [dawa.spec.ranges.typed(f"0..{value}", release().axes)]
    ),
    "rows": lambda value: dawa.bounds.search.kept(("who",), f"{value}%"),
}


@pytest.mark.long_but(28)
@pytest.mark.parametrize("entrance", ENTRANCES)
@pytest.mark.parametrize("text", ["nan", "inf", "1e99999999", "1e-99999999", "9" * 5000, "١٢", "0x10", "1/0"])
def test_the_same_numbers_are_refused_wherever_they_come_in(entrance, text):
    with pytest.raises(DawaError, match="Hint:") as caught:
        ENTRANCES[entrance](text)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("entrance", [name for name in ENTRANCES if name not in {"rows", "step"}])
def test_the_same_numbers_are_read_wherever_they_come_in(entrance):
    assert ENTRANCES[entrance]("9/10" if entrance == "share" else "1") is not None


def test_whole_numbers_of_flags():
    assert specs._option("branching=4") == ("branching", 4)
    assert specs._option(f"branching={'9' * 5000}")[1] == "9" * 5000
    assert specs._option("branching=٤")[1] == "٤"


@pytest.mark.parametrize(
    "value", [float("nan"), "0.95", 10**400, np.complex128(0.9), True, None, np.timedelta64(1), 1.0]
)
def test_what_is_no_confidence_and_no_fraction_is_refused(value):
    rel = release()
    with pytest.raises(DawaError, match="Hint:"):
        rel.answer(0, 5, confidence=value)
    if value != 1.0:
        with pytest.raises(DawaError, match="Hint:"):
            rel.quantile(value)


def test_budgets_leave_room_for_products_of_shares():
    long = Fraction(10**79, 3 * 10**79 + 1)
    assert budget.exact(long) == long
    with pytest.raises(DawaError, match="80 digits"):
        budget.exact(Fraction(10**80, 3 * 10**80 + 1))
