"""Exact losses: what is sound stays below its claim, and whatever is broken on purpose is found."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dawa
from dawa import check, measure
from dawa.noise import discrete
from dawa.partition import Halves, walk
from dawa.partition.filled import Filled
from dawa_bench.audit import exact, search
from dawa_bench.audit.exact import Effort
from dawa_bench.audit.subjects import ON_MAPS, Subject, pairs, subjects

FEW = Effort(pairs=2, transcripts=6, runs=200)
SLOW = ("dawa-2014", "dawa-2014-all", "php", "mwem")


def quick(name):
    return Subject(name, (2, 2) if name in ON_MAPS else (3,), "1", {"effort": "fast"} if name == "dawa" else {})


@pytest.mark.long_but(8)
@pytest.mark.parametrize("name", dawa.mechanisms.names())
def test_every_mechanism_keeps_its_claim(name):
    found = exact.audited(quick(name), FEW)
    assert not found.wrong
    assert found.runs >= 2
    if name not in SLOW:
        assert found.confidence == 1
        assert 0.3 < found.loss <= 1


@pytest.mark.long
@pytest.mark.parametrize("epsilon", ["0.1", "4"])
@pytest.mark.parametrize("name", dawa.mechanisms.names())
def test_every_mechanism_keeps_its_claim_with_all_its_options(name, epsilon):
    for subject in subjects((name,), (epsilon,)):
        assert not exact.audited(subject, Effort(runs=200), seed=7).wrong, subject


@pytest.mark.parametrize("epsilon", ["0.001", "1/3", "50"])
def test_what_uses_all_of_epsilon_is_told_exactly(epsilon):
    """One cell's scale is a multiple of a public unit, so that a little of epsilon may be left."""
    found = exact.audited(Subject("identity", (2,), epsilon), FEW)
    assert not found.wrong
    assert found.loss / float(Fraction(epsilon)) == pytest.approx(1, rel=1e-3)


@pytest.fixture
def unchecked(monkeypatch):
    """Nothing refuses to lose too much."""
    monkeypatch.setattr(check, "within", lambda *_: None)


@pytest.mark.usefixtures("unchecked")
def test_half_the_noise_of_what_is_measured_is_found(monkeypatch):
    own = discrete.coarsened
    monkeypatch.setattr(measure.discrete, "coarsened", lambda scale: own(scale / 2))
    for name in ("identity", "hb"):
        found = exact.audited(Subject(name, (8,)), FEW)
        assert found.wrong
        assert found.loss == pytest.approx(2, rel=1e-3)
    assert exact.audited(Subject("dawa", (8,), "1", {"effort": "fast"}), FEW).wrong


@pytest.mark.long
@pytest.mark.usefixtures("unchecked")
def test_a_walk_with_tables_for_four_times_its_budget_is_found(monkeypatch):
    own = walk.Walk.tables
    monkeypatch.setattr(walk.Walk, "tables", lambda self, epsilon: own(self, 4 * epsilon))
    assert exact.audited(Subject("dawa", (8,), "1", {"effort": "fast"}), Effort(pairs=2, transcripts=40)).wrong


@pytest.mark.long
@pytest.mark.usefixtures("unchecked")
def test_one_wrong_entry_of_a_table_is_found_by_every_number_of_records(monkeypatch):
    subject, own = Subject("dawa", (2,), "4", {"partition": Halves()}), walk.Walk.tables
    sound = exact.swept(subject, range(20, 60))
    assert not sound.wrong
    assert sound.loss > 0.9 * 4

    def wrong(self, epsilon):
        coarse, fine = own(self, epsilon)
        words = coarse.thresholds.copy()
        words[coarse.offset + 30] //= 16
        return replace(coarse, thresholds=words), fine

    monkeypatch.setattr(walk.Walk, "tables", wrong)
    found = exact.swept(subject, range(20, 60))
    assert found.wrong
    assert "records beside" in found.event


@pytest.mark.usefixtures("unchecked")
def test_a_scale_that_looks_at_records_is_found(monkeypatch):
    own = measure.measure

    def looks(counts, partition, strategy, epsilon, randomness):
        return own(counts, partition, strategy, epsilon / (1 + int(counts.exposed.counts.sum()) % 2), randomness)

    monkeypatch.setattr(measure, "measure", looks)
    found = exact.audited(Subject("identity", (3,)), FEW)
    assert found.wrong
    assert "gate 1" in found.event


def test_a_number_beside_the_answers_that_is_not_noisy_is_found():
    """The gates are as they should be, but the estimate differs."""

    class Telling(Subject):
        def on(self, counts):
            return lambda: (*Subject.on(self, counts)(), int(counts.sum()))

    found = exact.audited(Telling("identity", (3,)), FEW)
    assert found.wrong
    assert found.event == "differs in the end"


def leaked(estimate, part):
    """The same estimate, with something in it that looks at records."""

    def one(counts, *given, **options):
        made, odd = estimate(counts, *given, **options), int(np.sum(counts)) % 2
        if part == "halves":
            stops = replace(made.buckets.stops, halves=made.buckets.stops.halves + odd)
            return replace(made, buckets=replace(made.buckets, stops=stops))
        told = {"unbiased": made.unbiased + odd * 1e-9, "randomness": made.randomness + odd * " "}
        return replace(made, **{part: told[part]})

    return one


@pytest.mark.parametrize("part", ["unbiased", "halves", "randomness"])
def test_whatever_an_estimate_holds_is_looked_at_and_not_only_what_it_answers(part, monkeypatch):
    subject = Subject("dawa", (3,), "1", {"effort": "fast", "partition": Halves()})
    assert not exact.audited(subject, FEW).wrong
    monkeypatch.setattr(dawa, "estimate", leaked(dawa.estimate, part))
    found = exact.audited(subject, FEW)
    assert found.wrong
    assert found.event == "differs in the end"


@pytest.mark.long
def test_counted_choices_that_differ_too_much_are_found(monkeypatch):
    """A mechanism whose buckets show whether there are records at all."""
    monkeypatch.setattr(exact, "hides", lambda *_: True)
    rng = np.random.default_rng(3)

    class Telling(Subject):
        def on(self, counts):
            def said():
                often = rng.random() < (0.9 if counts.sum() else 0.1)
                return ((0, 1, 2) if often else (0, 2)), Subject.on(self, counts)()

            return said

    found = exact.judged(Telling("identity", (2,)), np.array([0, 0]), np.array([1, 0]), Effort(runs=1000))
    assert found.wrong
    assert found.confidence == exact.CONFIDENCE
    assert "buckets that end at" in found.event


def test_pairs_are_neighbours():
    for shape in ((1,), (8,), (2, 4)):
        found = list(pairs(shape, 9, seed=3))
        assert len(found) == 9
        for one, two in found:
            assert one.shape == two.shape == shape
            assert one.min() >= 0
            assert (two - one).min() >= 0
            assert (two - one).sum() == 1


def test_single_cells_are_a_choice_like_any_other():
    """With one cell there is no other, and all that is told is what measuring tells: three quarters of epsilon."""
    found = exact.audited(Subject("dawa-2014", (1,)), FEW)
    assert found.event == "buckets that end at 1"
    assert found.loss == pytest.approx(0.75)


@pytest.mark.long
@pytest.mark.usefixtures("unchecked")
def test_a_search_finds_what_tiny_domains_do_not_have(monkeypatch):
    """Broken only where a block is dense, which takes sixty-four cells and more."""
    searched = search.searched("dawa")
    assert searched.shape == search.LONG
    sound = search.climbed(searched, 3)
    assert not sound.wrong
    assert sound.loss > 0.5
    own = discrete.coarsened
    monkeypatch.setattr(measure.discrete, "coarsened", lambda scale: own(scale / 2))
    assert search.climbed(searched, 3).wrong


def test_a_search_climbs():
    subject = search.searched("privtree")
    assert search.climbed(subject, 12, seed=1).loss >= search.climbed(subject, 1, seed=1).loss


def test_titles_tell_options_and_domains():
    subject = Subject("dawa", (2, 4), "1", {"partition": Filled(), "aim": "guarantee"})
    assert subject.title == "dawa partition=Filled aim='guarantee'"
    assert subject.domain == "2 × 4"
