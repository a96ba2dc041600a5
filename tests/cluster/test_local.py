"""Workers on this machine: whose cores, whose GPU, and who may reach them."""

import pytest

from tangentlab.cluster.local import cores_of, gpu_of


@pytest.mark.parametrize(
    "count, cores, wanted",
    [
        (2, [0, 1], [[0], [1]]),
        (2, [4, 5, 6, 7, 9], [[4, 5], [6, 7]]),
        (3, [0, 1], [[0], [1], [0]]),
        (1, [2, 3], [[2, 3]]),
        (2, [], [[], []]),
    ],
)
def test_workers_have_equal_shares_of_the_cores(count, cores, wanted):
    assert [cores_of(number, count, cores) for number in range(count)] == wanted


def _devices(count, found, visible):
    variables = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    told = [gpu_of(number, count, found, variables) for number in range(count)]
    return [one.get("CUDA_VISIBLE_DEVICES") for one in told]


def test_each_worker_has_a_gpu_of_its_own():
    assert _devices(4, 4, None) == ["0", "1", "2", "3"]
    assert _devices(2, 8, "5,7") == ["5", "7"]
    assert _devices(2, 0, None) == [None, None]
    assert _devices(2, 4, "") == [None, None]  # switched off, and stays so


def test_workers_that_share_a_gpu_share_its_memory():
    assert _devices(4, 2, None) == ["0", "1", "0", "1"]
    assert _shares(4, 2, {}) == ["0.100"] * 4
    assert _shares(2, 2, {}) == ["0.200"] * 2


def _shares(count, found, variables):
    told = [gpu_of(number, count, found, variables) for number in range(count)]
    return [one.get("XLA_PYTHON_CLIENT_MEM_FRACTION") for one in told]


def test_a_client_on_the_gpu_leaves_its_workers_the_rest():
    assert _shares(2, 1, {"XLA_PYTHON_CLIENT_MEM_FRACTION": ".15"}) == ["0.400"] * 2
    with pytest.raises(ValueError, match=r"93% of a GPU.*MEM_FRACTION=\.1"):
        _shares(2, 1, {"XLA_PYTHON_CLIENT_MEM_FRACTION": ".93"})


def test_a_client_kept_to_the_cpu_has_workers_there():
    assert gpu_of(0, 2, 1, {"JAX_PLATFORMS": "cpu"}) == {}
