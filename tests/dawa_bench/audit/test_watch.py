"""Watching does not change what happens, and saying it again makes the same."""

import numpy as np
import pytest

import dawa
from dawa.noise import gates
from dawa_bench.audit.subjects import ON_MAPS, QUICK
from dawa_bench.audit.transcripts import transcripts
from dawa_bench.audit.watch import GATES, Interrupted, drawn, replaying, watched

LINE, MAP = np.array([3, 0, 0, 9, 1, 0, 4, 4]), np.array([[3, 0, 0, 9], [1, 0, 4, 4]])


def run(name, seed=5):
    counts = MAP if name in ON_MAPS else LINE
    return dawa.estimate(counts, epsilon="1", mechanism=name, seed=seed, **QUICK.get(name, {})).cells.tolist()


@pytest.mark.parametrize("name", dawa.mechanisms.names())
def test_a_watched_run_is_the_run(name):
    alone = run(name)
    with watched(drawn) as seen:
        assert run(name) == alone
    assert seen.asked
    with watched(replaying(seen.given)) as again:
        assert run(name, seed=6) == alone
    assert again.asked == seen.asked
    assert {asking.gate for asking in seen.asked} <= set(GATES)


def test_a_run_stops_where_its_answer_is_not_known():
    with watched(drawn) as seen:
        run("privtree")
    with pytest.raises(Interrupted) as stopped, watched(replaying(seen.given[:-1])):
        run("privtree")
    assert stopped.value.asking == seen.asked[-1]


def test_gates_are_put_back_whatever_happens():
    own = {name: getattr(gates, name) for name in GATES}
    replaced = {}

    def fails():
        replaced.update({name: getattr(gates, name) for name in GATES})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), watched(drawn):
        fails()
    assert not {replaced[name] for name in GATES} & set(own.values())
    assert {name: getattr(gates, name) for name in GATES} == own


def test_every_gate_is_watched():
    """Whoever adds a gate adds it here."""
    public = {name for name, one in vars(gates).items() if getattr(one, "__module__", "") == gates.__name__}
    assert {name for name in public if not name.startswith("_")} == set(GATES)


def test_all_outcomes_of_a_few_coins_are_followed():
    """Two coins one after the other: four transcripts."""

    def said():
        first = gates.tossed(np.array([2**63], np.uint64), None)
        second = gates.tossed(np.array([2**62], np.uint64), None)
        return first.tolist(), second.tolist()

    found = list(transcripts(said, said, 50, seed=0))
    assert len(found) == 4
    assert all(each.loss == 0 and each.gates == 2 and not each.differs for each in found)


def test_neighbours_that_ask_for_different_things_are_endlessly_apart():
    def asks(count):
        return lambda: gates.tossed(np.full(count, 2**63, np.uint64), None).tolist()

    (found,) = transcripts(asks(1), asks(2), 50, seed=0)
    assert found.loss.is_infinite()
    assert found.differs == "what is asked at gate 1"
