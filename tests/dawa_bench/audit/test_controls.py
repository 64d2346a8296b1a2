"""What is known to be wrong is caught, and the same done right is not."""

import math

import numpy as np
import pytest
from scipy import stats

import dawa
from dawa_bench import published
from dawa_bench.audit import controls
from dawa_bench.audit.controls import CONTROLS
from dawa_bench.audit.events import lowest_bits
from dawa_bench.audit.finding import Finding
from dawa_bench.audit.tampered import half_the_noise

SLOW = {"published stage 1", "half the noise, published"}
EACH = [pytest.param(each, marks=pytest.mark.long if each.name in SLOW else (), id=each.name) for each in CONTROLS]


@pytest.mark.parametrize("control", EACH)
def test_what_is_wrong_is_caught(control):
    found = control.audit(1)
    assert found.wrong
    assert found.loss > found.claimed == control.claimed


@pytest.mark.parametrize("control", EACH)
def test_the_same_done_right_is_not(control):
    assert not control.sound(1).wrong


def test_controls_say_what_they_are():
    assert len({control.name for control in CONTROLS}) == len(CONTROLS)
    assert all(control.wrong.endswith(".") for control in CONTROLS)


@pytest.mark.long
def test_half_the_noise_is_caught_in_few_runs(monkeypatch):
    monkeypatch.setattr(controls, "RUNS", 4000)
    assert controls.halved_estimates(1).wrong
    assert not controls.whole_estimates(1).wrong


def test_a_finding_is_wrong_if_it_loses_more_or_does_not_fit():
    assert not Finding("it", 1.0, 1.0, 1.1, "an event", 0.99, fit=0.02).wrong
    assert Finding("it", 1.0, 1.01, 1.1, "an event", 0.99).wrong
    assert Finding("it", 1.0, 0.5, 0.5, "an event", 0.99, fit=0.009).wrong
    assert Finding("it", 1.0, math.inf, math.inf, "an event").wrong


def test_half_the_noise_has_half_the_scale():
    with half_the_noise():
        draws = dawa.noise.discrete_laplace(100, 100_000, seed=1)
        mixed = dawa.noise.discrete_laplace((np.full(100_000, 300), np.full(100_000, 3)), 100_000, seed=2)
    whole = dawa.noise.discrete_laplace(100, 100_000, seed=1)
    for found, scale in ((draws, 50), (mixed, 50), (whole, 100)):
        assert abs(np.abs(found).mean() / scale - 1) < 5 / math.sqrt(100_000)


def single_cells(counts):
    """The chance of single cells alone, if each of the wider buckets has to cost more than its cells."""
    chance = 1.0
    for lo, hi in ((0, 2), (1, 3), (2, 4), (0, 4)):
        cells = np.array(counts[lo:hi])
        chance *= stats.laplace.sf((len(cells) - 1) / controls.REST - np.abs(cells - cells.mean()).sum(), 0, 2)
    return chance


def test_the_published_stage_loses_what_its_control_says():
    flat, raised = single_cells(controls.FLAT), single_cells(controls.RAISED)
    assert (round(flat, 4), round(raised, 4), round(math.log(raised / flat), 2)) == (0.0230, 0.1064, 1.53)
    generator = np.random.default_rng(3)
    for counts, chance in ((controls.FLAT, flat), (controls.RAISED, raised)):
        bounds = [published.stage_one(np.array(counts), controls.FIRST, controls.REST, generator) for _ in range(3000)]
        seen = sum(len(each) == 5 for each in bounds)
        assert abs(seen - 3000 * chance) < 5 * math.sqrt(3000 * chance)


def test_last_bits_are_certain(monkeypatch):
    """With a count of 1, no output of the noise in floats has a bit below 2^-53; with 0, every fourth has one."""
    outputs = {}

    def kept(one, two, *_, **__):
        outputs[0], outputs[1] = one(200_000)[:, 0], two(200_000)[:, 0]

    monkeypatch.setattr(controls.outside, "shown", kept)
    controls.float_noise(1)
    assert lowest_bits(outputs[1]).min() >= -53
    assert (lowest_bits(outputs[0]) < -53).mean() > 0.25


def test_whole_noise_is_whole(monkeypatch):
    monkeypatch.setattr(controls.outside, "shown", lambda one, two, *_, **__: (one(1000), two(1000)))
    assert all((each % 1 == 0).all() for each in controls.whole_noise(1))
