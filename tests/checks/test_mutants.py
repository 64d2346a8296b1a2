"""The mutants of ``checks.mutants``: which there are, and that tests which notice little let them survive."""

import ast
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from checks.mutants.accepted import ACCEPTED, Accepted, reason, unknown
from checks.mutants.mutant import found, mutated
from checks.mutants.reach import Reach
from checks.mutants.report import Part, page, survivors
from checks.mutants.scopes import DAWA
from checks.mutants.trials import Order, Outcome, Verdict

ROOT = Path(__file__).parents[2]

SUMS = '''
    """A module with known mutants: 1 < 2."""

    from fractions import Fraction
    from functools import cache

    SHARE: Fraction = Fraction(1, 10)


    class Narrow(int):
        """Numbers below a border."""

        most: int = 5

        def fits(self, least=0):
            if not least <= self < self.most:
                raise ValueError(f"{self + 1} is not between {least + 1} and {self.most}")
            return True

        def __neg__(self):
            return super().__neg__() + 0


    @cache
    def rest(total, part):
        """What is left."""
        while part > total:
            part -= total
        return total - part


    def nobody_asks():
        return 1
'''
STRICT = """
    import pytest
    from fractions import Fraction
    from tiny.sums import SHARE, Narrow, rest

    def test_share():
        assert SHARE == Fraction(1, 10)

    def test_border():
        assert Narrow(0).fits() and Narrow(4).fits()
        for wrong in (-1, 5):
            with pytest.raises(ValueError):
                Narrow(wrong).fits()

    def test_rest():
        assert [rest(5, part) for part in (2, 5, 12)] == [3, 0, 3]

    def test_negative():
        assert -Narrow(1) == -1
"""
WEAK = """
    from tiny.sums import Narrow, rest

    def test_border():
        assert Narrow(2).fits()

    def test_rest():
        assert rest(5, 2) > 0
"""


def project(folder, tests):
    """A tiny project in a folder."""
    for path, text in (("src/tiny/__init__.py", ""), ("src/tiny/sums.py", SUMS), ("tests/test_sums.py", tests)):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(dedent(text).lstrip(), encoding="utf-8")
    return folder


def run(*arguments):
    """The command, in a process of its own: it forks."""
    everything = [sys.executable, "-m", "checks.mutants", *map(str, arguments)]
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
    return subprocess.run(everything, cwd=ROOT, capture_output=True, text=True, check=False, env=plain)  # noqa: S603


def changes(text):
    return [one.change for one in found("a.py", dedent(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = a < b", ["x = a < b → x = a <= b", "x = a < b → x = a >= b"]),
        ("x = a == b", ["x = a == b → x = a != b"]),
        ("x = a + b", ["x = a + b → x = a - b"]),
        ("x = a and b", ["x = a and b → x = a or b"]),
        ("x = not a", ["x = not a → x = a"]),
        ("x = 3", ["x = 3 → x = 4", "x = 3 → x = 2"]),
        ("x = 0.5", ["x = 0.5 → x = 1.0", "x = 0.5 → x = 0.25"]),
        ("x = 2**20", ["x = 2 ** 20 → x = 2 ** 21", "x = 2 ** 20 → x = 2 ** 19"]),
        ("x = True", ["x = True → x = False"]),
        ("x = Fraction(1, 3)", ["x = Fraction(1, 3) → x = Fraction(2, 3)", "x = Fraction(1, 3) → x = Fraction(1, 6)"]),
        ("x = Fraction(3)", ["x = Fraction(3) → x = Fraction(6)", "x = Fraction(3) → x = Fraction(3, 2)"]),
        ("x = Fraction(0)", ["x = Fraction(0) → x = Fraction(1)", "x = Fraction(0) → x = Fraction(-1)"]),
        ("x = f(a, b)", ["x = f(a, b) → x = f(b, a)"]),
        ("x = a[b:c]", ["x = a[b:c] → x = a[:c]", "x = a[b:c] → x = a[b:]"]),
        ("x = b if a else c", ["a → True", "a → False"]),
        ("check.within(a)", ["check.within(a) → pass"]),
        ("a[b] = c", ["a[b] = c → pass"]),
        ("a += b", ["a += b → a -= b", "a += b → pass"]),
        ("raise Wrong(1 + 2, f'{3}')", ["raise Wrong(1 + 2, f'{3}') → pass"]),
        ("if a:\n    pass", ["a → True", "a → False"]),
        ("while a:\n    pass", ["a → False"]),
        ("def f(a=False):\n    return a", ["def f(a=False): → def f(a=True):", "return a → return None"]),
    ],
)
def test_what_is_changed(text, expected):
    assert changes(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        '"""1 < 2"""',
        "x: Annotated[int, Whole(1, 2)]",
        "def f(a: Whole(1)) -> Whole(2): ...",
        "@dataclass(frozen=True)\nclass A: ...",
        "x = OptionError(f'{a + 1}', 1)",
        "x = f'{a + 1}'",
        "__all__ = ['a'] + [1]",
        "if TYPE_CHECKING:\n    x = 1",
        "def __repr__(self):\n    return 1 + 2",
        "x = max(a, b)",
        "Kind = Fraction | int",
        "x = 'a' + b",
    ],
)
def test_what_is_not_changed(text):
    assert changes(text) == []


def test_a_mutant_is_the_module_with_one_change():
    text = dedent(SUMS)
    same = ast.unparse(ast.parse(text)).splitlines()
    for one in found("sums.py", text):
        other = ast.unparse(mutated(text, one)).splitlines()
        assert len({*enumerate(other)} - {*enumerate(same)}) == 1, one
        compile(mutated(text, one), "sums.py", "exec")


def test_a_mutant_knows_where_it_is():
    places = {(one.function, one.outermost) for one in found("sums.py", dedent(SUMS))}
    assert places == {
        *(("", ""), ("Narrow", ""), ("Narrow.fits", ""), ("Narrow.fits", "Narrow.fits")),
        *(("Narrow.__neg__", ""), ("rest", "rest"), ("nobody_asks", "nobody_asks")),
    }


def survived(ended):
    """What the command says survived, without lines."""
    lines = [line.removeprefix("survived").strip() for line in ended.stdout.splitlines()]
    return {line.partition(" ")[2] for line in lines}


@pytest.mark.long
def test_tests_that_notice_much_let_equal_code_alone_survive(tmp_path):
    page_file = tmp_path / "page.md"
    ended = run("--root", project(tmp_path, STRICT), "--report", page_file)
    assert survived(ended) == {"Narrow.__neg__: return super().__neg__() + 0 → return super().__neg__() - 0"}, (
        ended.stderr
    )
    assert ended.returncode == 1
    assert "- `tiny/sums.py`, `nobody_asks`: 3" in page_file.read_text(encoding="utf-8")


@pytest.mark.long
def test_weak_tests_are_found_to_be_weak(tmp_path):
    ended = run("--root", project(tmp_path, WEAK))
    assert ended.returncode == 1
    assert survived(ended) >= {
        "module: SHARE: Fraction = Fraction(1, 10) → SHARE: Fraction = Fraction(2, 10)",
        "Narrow: most: int = 5 → most: int = 6",
        "Narrow.fits: not least <= self < self.most → False",
        "Narrow.fits: least <= self < self.most → least <= self <= self.most",
        "rest: part > total → part >= total",
        "rest: return total - part → return total + part",
    }, ended.stderr
    assert "rest: return total - part → return None" not in survived(ended), "even weak tests notice that"


@pytest.mark.long
def test_a_test_that_fails_on_the_unchanged_code_is_not_asked(tmp_path):
    tests = dedent(STRICT) + "\n\ndef test_wrong():\n    assert rest(5, 2) == 4\n"
    ended = run("--root", project(tmp_path, tests), "sums", "--sample", 2)
    assert "test_wrong is not asked" in ended.stderr
    assert "drawn from 28" in ended.stderr


def verdicts(outcomes):
    listed = found("src/tiny/sums.py", dedent(SUMS))
    return [Verdict(one, outcome) for one, outcome in zip(listed, outcomes, strict=False)]


def test_a_survivor_is_accepted_by_what_is_written():
    killed, *left = verdicts([Outcome.KILLED, Outcome.SURVIVED, Outcome.SURVIVED, Outcome.UNREACHED])
    one = left[0].mutant
    entry = Accepted(one.path, one.function, "The same.", (one.change,))
    assert survivors([killed, *left], ()) == left[:2]
    assert survivors([killed, *left], [entry]) == left[1:2]
    assert reason(killed.mutant, [entry]) is None
    assert survivors([killed, *left], [entry._replace(function="other")]) == left[:2]


def test_an_entry_without_a_mutant_is_refused():
    mutants = found("src/tiny/sums.py", dedent(SUMS))
    entry = Accepted("src/tiny/sums.py", "rest", "The same.", ("a → b", "*"))
    assert unknown(mutants, [entry]) == ["src/tiny/sums.py rest: a → b"]
    assert unknown(mutants, [entry._replace(path="elsewhere.py")]) == []


def test_every_entry_about_the_package_is_about_a_mutant_and_says_why():
    texts = {one.path: (ROOT / one.path).read_text(encoding="utf-8") for one in ACCEPTED}
    assert unknown([one for path, text in texts.items() for one in found(path, text)], ACCEPTED) == []
    assert all(len(one.reason) > 20 and one.changes for one in ACCEPTED)


@pytest.mark.parametrize(("noticed", "tried"), [(90, 100), (0, 10), (10, 10), (450, 500)])
def test_the_interval_is_wilsons(noticed, tried):
    outcomes = [Outcome.KILLED] * noticed + [Outcome.SURVIVED] * (tried - noticed)
    mutants = [found("a.py", "x = 1")[0]] * tried
    part = Part("part", [Verdict(*one) for one in zip(mutants, outcomes, strict=True)], 10**6)
    for end in part.interval:  # where the observed rate is just not surprising
        deviation = (end * (1 - end) / tried) ** 0.5
        assert abs(abs(noticed / tried - end) - 1.959964 * deviation) < 1e-6


def test_a_page_says_what_became_of_each_module():
    them = verdicts([Outcome.KILLED, Outcome.STOPPED, Outcome.SURVIVED, Outcome.SURVIVED, Outcome.UNREACHED])
    accepted = them[2].mutant
    entry = Accepted(accepted.path, accepted.function, "It is the same.", (accepted.change,))
    text = page([Part("all", them, 28)], [entry], "the command", "# About")
    assert "| `tiny/sums.py` | 5 | 1 | 1 | 1 | 1 | 1 | 40% |" in text
    assert "It is the same." in text
    assert "40.0% of 5 mutants were noticed, drawn from 28" in text


def test_tests_that_noticed_much_are_asked_first_and_fast_ones_then():
    one = found("src/tiny/sums.py", dedent(SUMS))[-1]
    names = ["tests/test_sums.py::fast", "tests/test_sums.py::slow", "tests/other.py::fast"]
    reach = Reach(dict(zip(names, (0.001, 1.0, 0.001), strict=True)))
    reach.lines[one.path][one.line].update(names)
    order = Order(reach)
    assert order.of(one) == names
    order.remember(one, names[2])
    assert order.of(one) == [names[2], *names[:2]]


def test_every_part_has_modules_and_tests():
    for name, scope in DAWA.scopes.items():
        assert DAWA.chosen([name])
        assert all((ROOT / one).exists() for one in scope.tests)
    with pytest.raises(ValueError, match="no module or part 'nothing'"):
        DAWA.chosen(["nothing"])


@pytest.mark.long
def test_mistakes_in_measuring_and_in_the_gates_are_noticed(tmp_path):
    """A sample; all of it is ``make mutants``."""
    ended = run(
        "measure", "noise/gates", "--sample", 10, "--kept", tmp_path, "--tests", "tests/test_measure.py", "tests/noise"
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
