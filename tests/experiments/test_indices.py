import pytest

from tangentlab.experiments.stages.indices import (
    FINE_GRID,
    GRID,
    choose_indices,
    spread_indices,
)
from tangentlab.experiments.stages.kernel import num_pairs


def test_default_indices_stay_below_half_the_samples():
    assert choose_indices(None, None, 240) == (0, 1, 2, 4, 9, 19, 49, 99)
    assert choose_indices(None, None, 60_000) == GRID
    assert choose_indices(None, None, 60_000, grid=FINE_GRID) == FINE_GRID
    assert set(GRID) < set(FINE_GRID) and list(FINE_GRID) == sorted(FINE_GRID)
    assert len(FINE_GRID[1:]) >= 20  # as many as it takes to tell whether they fall


@pytest.mark.parametrize("num", [2, 11, 20, 24, 40, 48, 100, 500, 1000])
def test_any_number_of_indices_can_be_spread(num):
    found = spread_indices(num, 999)
    assert len(found) == num == len(set(found))
    assert (found[0], found[-1]) == (0, 999) and list(found) == sorted(found)
    assert choose_indices(None, num, 60_000) == found


@pytest.mark.parametrize("num", [0, 1, 101])
def test_more_indices_than_there_are_raise(num):
    with pytest.raises(ValueError, match=rf"lie in 2\.\.100, got {num}"):
        choose_indices(None, num, 200)


@pytest.mark.parametrize("indices", [(0, 240), (-1,), (1, 1), ()])
def test_indices_that_are_not_there_raise(indices):
    with pytest.raises(ValueError, match=r"different numbers in 0\.\.239"):
        choose_indices(indices, None, 240)


def test_few_samples_have_their_whole_spectrum_and_many_enough_of_it():
    assert num_pairs(1797, 499) == 1797
    assert num_pairs(60_000, 999) > 1000
    assert num_pairs(60_000, 10) == 1000
    assert num_pairs(60_000, 4999) > 5000
    assert num_pairs(5000, 4999) == 5000
