"""Where random words come from, and what it says of itself."""

import numpy as np

from dawa.noise import discrete, discrete_laplace
from dawa.noise.randomness import OperatingSystem, Seeded, randomness_for


def test_a_seed_repeats_and_another_does_not():
    first = discrete_laplace(1000, 100, seed=1)
    assert (first == discrete_laplace(1000, 100, seed=1)).all()
    assert (first != discrete_laplace(1000, 100, seed=2)).any()
    assert (first[:10] == discrete_laplace(1000, 10, seed=1)).all()


def test_a_seeded_source_moves_on():
    source = Seeded(1)
    assert (discrete.laplace(1000, 100, source) != discrete.laplace(1000, 100, source)).any()
    assert not set(source.words(100).tolist()) & set(source.words(100).tolist())


def test_the_operating_system_never_repeats():
    assert (discrete_laplace(2**50, 20) != discrete_laplace(2**50, 20)).any()
    source = OperatingSystem()
    assert source.words(3).shape == (3,)
    assert source.words(3).dtype == np.uint64
    assert not set(source.words(100).tolist()) & set(source.words(100).tolist())


def test_sources_say_what_they_are():
    assert randomness_for(None).secure
    assert not randomness_for(0).secure
    assert "NOT private" in randomness_for(0).description
    assert (OperatingSystem().secure, Seeded(0).secure) == (True, False)
    assert Seeded(1) == Seeded(1) != Seeded(2)
