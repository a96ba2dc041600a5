"""What follows a Gram matrix that fits no memory reads it tile by tile."""

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.linalg

import tangentlab as tl
from tangentlab.kernels.tiled.tiles import Grid
from tests.helpers import assert_close
from tests.networks import dense_apply, dense_params

N, TRAIN, SIDE = 1200, 1000, 150
X = np.random.default_rng(0).normal(size=(N, 6))
Y = np.sign(X[:, 0])


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A kernel in memory, in float64, and its tiles on disk."""
    squares = (X**2).sum(1)
    distances = squares[:, None] + squares[None] - 2 * X @ X.T
    K = (np.exp(-0.1 * distances) + 0.1 * np.eye(N)).astype(np.float32)
    folder = tmp_path_factory.mktemp("tiles")
    grid = Grid(folder, "seal", K.shape, True, K.dtype, SIDE)
    for place in grid.places():
        grid.write(place, K[place])
    return K.astype(np.float64), grid


@pytest.fixture
def streamed(pair, monkeypatch):
    """Apply a function to the tiles; to read them all into memory is an error."""

    def refuse(*_args, **_options):
        raise AssertionError("an array was made of all of it")

    def apply(function):
        monkeypatch.setattr(tl.TiledGram, "__array__", refuse)
        function(tl.TiledGram(pair[1]))  # what is compiled does not count
        tracemalloc.start()
        found = function(tl.TiledGram(pair[1]))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < N * N * 4 / 2, f"{peak:,} bytes were used at once"
        return found

    return apply


def test_leading_eigenpairs(pair, streamed):
    found = streamed(lambda K: tl.spectrum(K, num=3))
    lam, V = scipy.linalg.eigh(pair[0], subset_by_index=[N - 3, N - 1])
    assert_close(found.eigenvalues, lam[::-1])
    assert_close(found.eigenvectors @ found.eigenvectors.T, V @ V.T)


def test_ridge_regression(pair, streamed):
    solve, options = tl.predict.conjugate_gradients, {"rank": 20, "tolerance": 1e-10}
    found = streamed(lambda K: solve(K, Y, ridge=0.5, **options))
    assert_close(found.coefficients, np.linalg.solve(pair[0] + 0.5 * np.eye(N), Y))


def test_alignment(pair, streamed):
    found = streamed(lambda K: tl.analysis.gram_alignment(K, Y))
    assert_close(found.biased, Y @ pair[0] @ Y / N**2)


def test_training_in_function_space(pair, streamed, getkey):
    labels = [(X[:, i] > 0).astype(np.float32) for i in range(2)]
    tasks = [tl.tasks.Task(X, y, num_train=TRAIN) for y in labels]
    recipe = tl.Recipe(epochs=2, batch_size=64, learning_rate=0.01)
    key, start = getkey(), np.zeros(N, np.float32)
    found = streamed(
        lambda K: tl.train_dual(K, start, tasks, recipe, key=key, memory=2**20)
    )
    whole = pair[0].astype(np.float32)
    wanted = tl.train_dual(whole, start, tasks, recipe, key=key)
    assert_close(found.outputs, wanted.outputs)
    assert_close(found.test_accuracy, wanted.test_accuracy)
    assert found.train_loss[0, -1] < found.train_loss[0, 0]


def test_a_matrix_travels_as_its_folder(tmp_path, monkeypatch, getkey):
    """To a worker that stands in another folder."""
    monkeypatch.chdir(tmp_path)
    params = dense_params(getkey(), (3, 4, 1))
    x = np.random.default_rng(0).normal(size=(20, 3))
    K = tl.gram(dense_apply, params, x, store="gram")
    sent, known = pickle.dumps(K), K[3:5]
    assert len(sent) < 500
    monkeypatch.chdir(tmp_path.parent)
    np.testing.assert_array_equal(pickle.loads(sent)[3:5], known)
