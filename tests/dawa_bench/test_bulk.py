"""Keeping and asking a release of many buckets is measured beside sorting."""

import numpy as np
import pytest

from dawa_bench import bulk


@pytest.mark.long
def test_a_line_for_each_measurement(capsys):
    bulk.main(["--buckets", "64", "--ranges", "50", "--repeats", "1"])
    head, yardstick, *lines = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["seconds", "ratio"]
    assert yardstick.split()[-1] == "1.0" or float(yardstick.split()[-2]) == 0  # a clock may be coarse
    names = [line[:40].strip() for line in lines]
    assert names[:4] == ["save json", "save npz", "load json", "load npz"]
    assert names[4:] == list(bulk.questions(64, 50))
    json, npz = (float(line.split()[-1]) for line in lines[:2])
    assert npz < json


@pytest.mark.long
def test_every_question_is_asked_of_a_release_that_knows_nothing_yet():
    release, asked = bulk.made(32), []

    def fresh():
        asked.append("fresh")
        return release

    bulk.processor_seconds(lambda _: asked.append("asked"), fresh, 2)
    assert asked == ["fresh", "asked"] * 3


def test_ranges_are_the_same_every_time_and_never_empty():
    release = bulk.made(64)
    variances = bulk.questions(64, 50)["rel.variances, 50 ranges"]
    np.testing.assert_array_equal(variances(release), variances(release))
    assert (variances(release) > 0).all()
