"""A tile is written while the next is computed, and none is forgotten."""

import threading

import numpy as np
import pytest

from tangentlab.kernels.tiled.tiles import Place
from tangentlab.kernels.tiled.writing import written_meanwhile

PLACES = [Place(slice(i, i + 1), slice(0, 1)) for i in range(3)]
VALUES = np.ones((1, 1))


def test_the_next_is_computed_before_one_is_written():
    computed, wrote = threading.Event(), []

    def write(place, values):
        assert computed.wait(10)
        wrote.append(place)

    with written_meanwhile(write) as take:
        take(PLACES[0], VALUES)
        assert not wrote
        computed.set()
        take(PLACES[1], VALUES)
        assert wrote[0] == PLACES[0]  # at most one is on its way
        take(PLACES[2], VALUES)
    assert wrote == PLACES


@pytest.mark.parametrize("last", [False, True])
def test_what_cannot_be_written_is_told(last):
    def write(place, values):
        raise OSError(28, f"tile {place.rows.start} cannot be written")

    with pytest.raises(OSError, match="tile 0 cannot be written"):
        with written_meanwhile(write) as take:
            take(PLACES[0], VALUES)
            if not last:
                take(PLACES[1], VALUES)
                raise AssertionError("the second was taken")


def test_what_cannot_be_computed_is_told():
    wrote = []
    with pytest.raises(FloatingPointError, match="no number"):
        with written_meanwhile(lambda place, values: wrote.append(place)) as take:
            take(PLACES[0], VALUES)
            raise FloatingPointError("no number")
    assert wrote == PLACES[:1]  # what was computed before stays
