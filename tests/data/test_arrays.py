import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab.data import from_arrays, load

X = np.arange(24, dtype=np.float64).reshape(4, 3, 2)
Y = np.array([0, 2, 1, 2])


def test_arrays_keep_their_floats_and_become_training_samples():
    dataset = from_arrays(X, Y)
    np.testing.assert_array_equal(dataset.x, X)
    assert dataset.x.dtype == np.float64
    np.testing.assert_array_equal(dataset.y, Y)
    assert dataset.names == ("0", "1", "2")
    assert (dataset.num_train, dataset.num_test) == (4, 0)
    assert dataset.name == "arrays"


def test_split_names_and_jax_arrays():
    dataset = from_arrays(
        jnp.asarray(X), jnp.asarray(Y), num_train=3, names=list("abcd"), name="mine"
    )
    assert dataset.names == ("a", "b", "c", "d")
    assert (dataset.num_train, dataset.num_test, dataset.name) == (3, 1, "mine")


def test_bytes_are_images():
    x = np.array([[0, 51], [102, 255]], np.uint8)
    dataset = from_arrays(x, np.array([0, 1], np.uint8))
    assert dataset.x.dtype == np.float32
    np.testing.assert_allclose(dataset.x, [[0, 0.2], [0.4, 1]], rtol=1e-7)
    assert dataset.y.dtype == np.int32


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (X.astype(int), Y, "samples must be floats, or uint8 images, got int64"),
        (X > 3, Y, "got bool"),
        (X, Y[:, None], r"one integer for each sample, .* shape \(4, 1\)"),
        (X, Y.astype(float), "got float64 of shape"),
        (X, Y[:3], "4 samples but 3 labels"),
        (X, Y - 1, r"labels must lie in 0..1 .* got -1..1"),
        (X, Y * 10**6, "the largest label is 2000000, with 4 samples"),
        (X, Y + 2**40, "the largest label is 2147483647"),
        (np.where(X == 5, np.nan, X), Y, "sample 0 holds NaN"),
    ],
)
def test_arrays_that_make_no_data_set(no_type_checks, x, y, message):
    with pytest.raises(ValueError, match=message):
        from_arrays(x, y)


def test_names_that_do_not_cover_the_labels():
    with pytest.raises(ValueError, match="labels must lie in 0..1 .2 classes."):
        from_arrays(X, Y, names=["a", "b"])


def test_npz_with_all_its_fields(tmp_path):
    path = tmp_path / "mine.npz"
    np.savez(path, x=X, y=Y, num_train=3, names=np.array(["a", "b", "c"]))
    dataset = load(path)
    np.testing.assert_array_equal(dataset.x, X)
    np.testing.assert_array_equal(dataset.y, Y)
    assert dataset.names == ("a", "b", "c")
    assert (dataset.num_train, dataset.name) == (3, "mine")


def test_npz_with_x_and_y_alone_is_all_training(tmp_path):
    np.savez_compressed(tmp_path / "mine.npz", x=X, y=Y)
    dataset = load("mine.npz", directory=tmp_path)
    assert (dataset.num_train, dataset.num_test) == (4, 0)


def test_npz_of_two_splits(tmp_path):
    path = tmp_path / "mine.npz"
    np.savez(path, x_train=X[:3], y_train=Y[:3], x_test=X[3:], y_test=Y[3:])
    dataset = load(str(path))
    np.testing.assert_array_equal(dataset.x, X)
    np.testing.assert_array_equal(dataset.y, Y)
    assert dataset.num_train == 3


def test_npz_of_a_training_split_alone(tmp_path):
    np.savez(tmp_path / "mine.npz", x_train=X, y_train=Y)
    assert load(tmp_path / "mine.npz").num_train == 4


def test_relative_npz_path_starts_at_the_working_directory(tmp_path, monkeypatch):
    np.savez(tmp_path / "mine.npz", x=X, y=Y)
    monkeypatch.chdir(tmp_path)
    assert load("mine.npz").name == "mine"
    with pytest.raises(FileNotFoundError, match="Relative paths start at"):
        load("other.npz")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": X}, r"needs arrays `x` and `y`, or .* it has `x`\."),
        ({}, "it has no arrays"),
        ({"images": X, "labels": Y}, "it has `images`, `labels`"),
        ({"x_train": X, "y_train": Y, "x_test": X}, "both `x_test` and `y_test`"),
        (
            {"x_train": X, "y_train": Y, "x_test": X[:, :1], "y_test": Y},
            r"`x_train` and `x_test` must agree .* \(4, 3, 2\) and float64 \(4, 1, 2\)",
        ),
        (
            {"x_train": X, "y_train": Y, "x_test": X, "y_test": Y.astype(np.int8)},
            "`y_train` and `y_test` must agree .* int64 .* int8",
        ),
        ({"x": X, "y": Y, "num_train": [3, 1]}, "`num_train` must be one integer"),
        ({"x": X, "y": Y, "num_train": 0.8}, "`num_train` must be one integer"),
        ({"x": X, "y": Y, "num_train": 7}, r"num_train must lie in 1..4, got 7"),
        ({"x": X, "y": Y, "names": "abc"}, "`names` must be one string for each"),
        ({"x": X, "y": Y, "names": [1, 2, 3]}, "`names` must be one string for each"),
        ({"x": X * np.nan, "y": Y}, "NaN or infinite values"),
        ({"x": X, "y": Y + 0.5}, "labels must be one integer"),
        ({"x": X.astype(object), "y": Y}, "no Python objects"),
        ({"x": X, "y": Y.astype(object)}, "no Python objects"),
    ],
)
def test_npz_errors_name_the_file(tmp_path, arrays, message):
    path = tmp_path / "mine.npz"
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=message) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_object_arrays_execute_nothing(tmp_path):
    class Touch:
        def __reduce__(self):
            return (open, (str(tmp_path / "witness"), "w"))

    np.savez(tmp_path / "evil.npz", x=np.array([Touch()]), y=np.array([0]))
    with pytest.raises(ValueError, match="no Python objects"):
        load(tmp_path / "evil.npz")
    assert not (tmp_path / "witness").exists()


def test_cut_off_npz(tmp_path):
    path = tmp_path / "mine.npz"
    np.savez(path, x=X, y=Y)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ValueError, match="not an .npz archive, or was cut off"):
        load(path)


def test_npz_with_flipped_bits(tmp_path):
    path = tmp_path / "mine.npz"
    np.savez(path, x=X, y=Y)
    data = bytearray(path.read_bytes())
    data[200] ^= 0xFF
    path.write_bytes(bytes(data))
    with pytest.raises(ValueError, match="mine.npz cannot be read: Bad CRC-32"):
        load(path)
