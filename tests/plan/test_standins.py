"""Stand-ins have the number of records and the kind that they are said to have."""

import numpy as np
import pytest

import dawa
from dawa.limits import MOST_RECORDS_DRAWN
from dawa.plan.standins import KINDS, standin
from dawa.plan.trial import Trial

SHAPES = [(1,), (2,), (37,), (4096,), (2**40,), (16, 9), (1, 50), (2**20, 2**20), (4, 3, 5, 2)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_domain_has_stand_ins_of_every_kind(kind, shape):
    for records in (1, 7, 3000):
        data = standin(kind, shape, records, 0)
        assert data.records == records
        assert data.counts.shape == shape, "every cell lies in the domain"


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_number_has_the_same_stand_in_and_another_has_another(kind):
    one, same, other = (standin(kind, (500,), 3000, number) for number in (0, 0, 1))
    assert (one.cells == same.cells).all()
    assert (one.held == same.held).all()
    assert len(one.cells) != len(other.cells) or (one.held != other.held).any()


def test_very_many_records_are_exactly_as_many():
    records = 10 * MOST_RECORDS_DRAWN + 17
    assert standin("smooth", (500,), records, 0).records == records


def dense(kind, number=0, cells=1000):
    data = standin(kind, (cells,), 100_000, number)
    found = np.zeros(cells)
    found[data.cells] = data.held
    return found


@pytest.mark.parametrize("number", range(5))
def test_kinds_are_as_they_are_called(number):
    smooth, sparse, spiky = (dense(kind, number) for kind in ("smooth", "sparse", "spiky"))
    jumps = np.abs(np.diff(smooth)).sum() / smooth.sum()
    assert jumps < 0.15, "neighbours hardly differ"
    assert np.searchsorted(np.cumsum(sparse), 0.9 * sparse.sum()) < 160, "most is in a small part"
    assert np.sort(spiky)[-300:].sum() > 0.75 * spiky.sum(), "few cells have most of the records"


def test_hours_come_back_every_day():
    axis = dawa.Axis.dates("when", "2013-01-01", "2014-01-01", step="1 hour")
    data = Trial.on_standins([axis], 500_000, ["periodic"]).samples["periodic"][0]
    found = np.zeros(axis.size)
    found[data.cells] = data.held
    days = found.reshape(-1, 24)
    assert np.corrcoef(days[10], days[200])[0, 1] > 0.8


@pytest.mark.parametrize(("step", "period"), [("1 minute", 1440), ("1 hour", 24), ("1 day", 7), ("1 week", 0)])
def test_periods_of_dates(step, period):
    from dawa.plan.trial import _period  # noqa: PLC0415  beside its use

    assert _period(dawa.Axis.dates("when", "2013-01-07", "2013-04-01", step=step)) == period
    if step != "1 week":
        assert _period(dawa.Axis.dates("when", "2013-01-07", "2013-02-04", step=step, zone="Europe/Berlin")) == period
    assert _period(dawa.Axis("x", 0, 10)) == 0
    assert _period(dawa.Axis.dates("when", "2013-01-07", "2013-01-08")) == 0, "one cell has no period"
