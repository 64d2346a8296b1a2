"""What accountants of dp_accounting make of releases: never less than pure privacy allows, and no δ at epsilon."""

import math
import sys
from fractions import Fraction

import pytest
from dp_accounting import NeighboringRelation, dp_event, pld, rdp
from dp_accounting.pld import common, privacy_loss_distribution

import dawa as library
from dawa.publish.records.events import event

AGE = library.Axis("age", 0, 100, 10)
ADD, SPECIAL = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_SPECIAL
GRID = 1e-4
"""Losses are rounded up to multiples of this."""


def made(epsilon, **options):
    return library.release({"age": [31, 45], "who": [1, 2]}, AGE, epsilon=epsilon, **options)


def composed(*events, relation=ADD):
    accountant = pld.PLDAccountant(relation, value_discretization_interval=GRID)
    for one in events:
        accountant.compose(one)
    return accountant


@pytest.mark.parametrize("relation", [ADD, SPECIAL])
@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1/3", "4"])
def test_the_exact_accountant_finds_no_delta_at_epsilon(epsilon, relation):
    accountant = composed(event(made(epsilon)), relation=relation)
    spent = float(Fraction(epsilon))
    assert accountant.get_delta(spent + GRID) == 0
    assert accountant.get_epsilon(0) == pytest.approx(spent, abs=2 * GRID)
    assert accountant.get_delta(spent - 0.01) > 0


@pytest.mark.parametrize("at", [0.0, 0.3, 0.9])
def test_it_is_the_worst_that_pure_privacy_allows(at):
    """The library's own distribution of pure privacy, and the formula of one bit told with odds exp(epsilon)."""
    found = composed(event(made(1))).get_delta(at)
    own = privacy_loss_distribution.from_privacy_parameters(
        common.DifferentialPrivacyParameters(1.0, 0.0), value_discretization_interval=GRID
    )
    formula = (math.e - math.exp(at)) / (1 + math.e)
    assert found == pytest.approx(formula, abs=1e-9)
    assert own.get_delta_for_epsilon(at) == pytest.approx(formula, abs=1e-9)


def test_a_laplace_event_would_promise_too_much():
    """Why the event is not the one that is named first: its δ is smaller than that of a private mechanism may be."""
    assert composed(dp_event.LaplaceDpEvent(1.0)).get_delta(0.0) < composed(event(made(1))).get_delta(0.0) - 0.05


def test_several_releases_compose_to_the_sum_of_their_epsilons():
    releases = [made("0.5"), made("0.25"), made("0.25", by="who", groups=[1, 2])]
    together = event(*releases)
    assert isinstance(together, dp_event.ComposedDpEvent)
    accountant, each = composed(together), composed(*map(event, releases))
    assert accountant.get_delta(1 + 3 * GRID) == 0
    assert accountant.get_epsilon(0) == pytest.approx(1, abs=4 * GRID)
    assert accountant.get_epsilon(1e-6) == pytest.approx(each.get_epsilon(1e-6), abs=GRID)
    many = composed(dp_event.SelfComposedDpEvent(event(made("0.1")), 20))
    assert many.get_epsilon(1e-6) < 2, "composition with δ gains on the sum"


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_the_accountant_of_renyi_privacy_takes_what_follows_from_it(epsilon):
    """Its losses bound those of the exact one, and epsilon at a small δ is no less than the exact."""
    release = made(epsilon)
    renyi = rdp.RdpAccountant()
    renyi.compose(event(release, accountant="rdp"))
    exact = composed(event(release))
    for delta in (1e-3, 1e-6):
        assert renyi.get_epsilon(delta) >= exact.get_epsilon(delta) - 2 * GRID


def test_epsilon_is_rounded_up():
    assert Fraction(event(made("1/3")).noise_parameter) >= Fraction(1, 3)


def test_a_release_from_a_seed_is_not_private():
    assert composed(event(made(1, seed=3))).get_epsilon(1e-3) == math.inf


def test_what_protects_others_does_not_add_up():
    with pytest.raises(library.OptionError, match="different units"):
        event(made(1), made(1, unit="who", max_rows_per_unit=1))
    with pytest.raises(library.OptionError, match="no release"):
        event()
    with pytest.raises(library.OptionError, match="something else"):
        event("release.json")
    with pytest.raises(library.OptionError, match="accountant"):
        event(made(1), accountant="moments")


def test_without_the_library_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(library.InstallationError, match=r"pip install 'dawa\[accounting\]'"):
        event(made(1))
