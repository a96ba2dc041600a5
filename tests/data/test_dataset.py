import numpy as np
import pytest

from tangentlab.data import Dataset


def make(x=None, y=None, **options):
    x = np.zeros((4, 2, 2, 1), np.float32) if x is None else x
    y = np.array([0, 1, 1, 0]) if y is None else y
    return Dataset(x, y, **{"names": ("a", "b"), "num_train": 3, **options})


def test_sizes_and_shape():
    dataset = make()
    assert (dataset.num_train, dataset.num_test, dataset.shape) == (3, 1, (2, 2, 1))


def test_record_cannot_be_changed():
    with pytest.raises(AttributeError):
        make().num_train = 2  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": np.array([0, 1])}, "4 samples but 2 labels"),
        ({"y": np.eye(4, 2, dtype=int)}, r"one integer .* shape \(4,\), .* \(4, 2\)"),
        ({"y": np.array([[0], [1], [1], [0]])}, r"got int64 of shape \(4, 1\). Use"),
        ({"y": np.array([0.0, 1.0, 1.0, 0.0])}, r"one integer .* got float64 of"),
        ({"y": np.array([0, np.nan, 1, 0])}, r"one integer .* got float64 of"),
        ({"y": np.array(1)}, r"one integer for each sample, .* of shape \(\)"),
        ({"x": np.zeros((4, 2), int)}, "must be floating-point numbers, got int64"),
        ({"x": np.zeros((4, 2), np.uint8)}, "got uint8. Convert .* divided by 255"),
        ({"x": np.zeros((0, 2))}, r"there are no samples, got `x` of shape \(0, 2\)"),
        ({"x": np.array(1.0)}, r"there are no samples, got `x` of shape \(\)"),
        ({"y": np.array([0, 1, 2, 0])}, r"labels must lie in 0..1 .* got 0..2"),
        ({"y": np.array([0, -1, 1, 0])}, r"labels must lie in 0..1 .* got -1..1"),
        ({"num_train": 0}, r"num_train must lie in 1..4, got 0"),
        ({"num_train": 5}, r"num_train must lie in 1..4, got 5"),
    ],
)
def test_unusable_records_are_refused(no_type_checks, options, message):
    with pytest.raises(ValueError, match=message):
        make(**options)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_non_finite_pixels_name_the_sample(value):
    x = np.zeros((4, 2, 2, 1), np.float32)
    x[2, 1, 0, 0] = value
    with pytest.raises(ValueError, match="mine: sample 2 holds NaN or infinite values"):
        make(x, name="mine")
