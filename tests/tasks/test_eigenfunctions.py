from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl
from tests.helpers import assert_close, psd_from_eigenvalues


def _dataset(n=6, num_train=4):
    x = np.arange(2.0 * n).reshape(n, 2)
    return tl.Dataset(x, np.zeros(n, int), ("only",), num_train, name="points")


def _kernel(n, seed=0):
    """A Gram matrix with well separated eigenvalues."""
    lam = jnp.asarray(2.0 ** -np.arange(n))
    return np.asarray(psd_from_eigenvalues(lam, jax.random.key(seed))[0])


def test_labels_are_signs_with_zero_in_class_zero():
    K = np.diag([1.0, 3.0, 2.0])
    task = tl.tasks.eigenfunction(tl.spectrum(K), 0, _dataset(3, 2))
    assert task.y.tolist() == [0.0, 1.0, 0.0]
    assert (task.index, task.num_train, task.unresolved) == (0, 2, False)
    assert (task.kind, task.source) == ("binary", "own")


def test_a_vector_of_one_sign_and_one_of_a_cluster_are_flagged():
    positive = tl.spectrum(np.ones((6, 6)) + np.diag(np.arange(6.0)) / 100)
    task = tl.tasks.eigenfunction(positive, 0, _dataset())
    assert task.balance == 1.0 and task.flags == ["degenerate"]
    cluster = tl.spectrum(np.diag([5.0, 3.0, 3.0, 2.0, 1.0, 0.5]))
    made = [tl.tasks.eigenfunction(cluster, i, _dataset()) for i in range(4)]
    assert [task.unresolved for task in made] == [False, True, True, False]
    assert "unresolved" in str(made[1])


@pytest.mark.parametrize("smallest", [1e-9, 0.0, -0.25])
def test_an_eigenvalue_below_the_resolution_is_flagged_though_alone(smallest):
    K = np.diag([1.0, 0.5, smallest]).astype(np.float32)
    with pytest.warns(tl.spectra.AccuracyWarning, match="1 of 3"):
        spectrum = tl.spectrum(K)
    assert not spectrum.unresolved.any()
    made = [tl.tasks.eigenfunction(spectrum, i, _dataset(3, 2)) for i in range(3)]
    assert [task.unresolved for task in made] == [False, False, True]


def test_index_is_stored_from_0_and_printed_with_the_number_of_the_paper():
    spectrum = tl.spectrum(_kernel(6))
    task = tl.tasks.eigenfunction(spectrum, 4, _dataset(), source="seed 7")
    assert task.index == 4 and task.source == "seed 7"
    assert "points eigenfunction 4 (the paper's phi_5), source: seed 7" in str(task)


def test_regression_targets_are_the_eigenfunction_itself():
    spectrum = tl.spectrum(_kernel(6))
    task = tl.tasks.eigenfunction(spectrum, 1, _dataset(), regression=True)
    assert task.kind == "regression" and task.y.dtype == np.float64
    assert_close(np.mean(np.asarray(task.y) ** 2), 1.0)
    signs = tl.tasks.eigenfunction(spectrum, 1, _dataset())
    np.testing.assert_array_equal(signs.y, np.asarray(task.y) > 0)
    assert signs.balance == task.balance


def test_complexity_of_the_regression_task_is_the_inverse_eigenvalue():
    K = _kernel(6)
    spectrum = tl.spectrum(K)
    phi = tl.tasks.eigenfunction(spectrum, 2, _dataset(), regression=True).y
    norm = phi @ np.linalg.solve(K, phi)  # n times the norm over the samples
    assert_close(norm, 6 / spectrum.eigenvalues[2])
    assert_close(norm, 1 / spectrum.mercer[2])


def test_any_kernel_may_be_the_source():
    """Another seed's, another architecture's, or that of infinite width."""
    dataset = _dataset()
    x = np.asarray(dataset.x)
    wide = tl.infinite.serial(
        tl.infinite.Dense(8), tl.infinite.Relu(), tl.infinite.Dense(1)
    )
    kernels = {"infinite width": wide.kernel(x).ntk, "seed 1": _kernel(6, 1)}
    made = {}
    for source, K in kernels.items():
        spectrum = tl.spectrum(K)
        made[source] = tl.tasks.eigenfunction(spectrum, 1, dataset, source=source)
        np.testing.assert_array_equal(made[source].y, spectrum.eigenvectors[:, 1] > 0)
        assert f"source: {source}" in str(made[source])
    assert (made["infinite width"].y != made["seed 1"].y).any()


def test_tasks_share_their_samples():
    dataset, spectrum = _dataset(), tl.spectrum(_kernel(6))
    made = [tl.tasks.eigenfunction(spectrum, i, dataset) for i in range(3)]
    assert all(task.x is dataset.x for task in made)
    assert len({tuple(task.y) for task in made}) == 3


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**16), index=st.integers(0, 3), shift=st.floats(0.1, 2))
def test_extension_solves_the_eigenproblem_at_every_sample(seed, index, shift):
    """With a kernel of finite rank, phi(x) is known: sqrt(n) f(x) . F^T v / mu."""
    features = np.random.default_rng(seed).normal(size=(9, 5)) * shift
    K = features @ features.T
    spectrum = tl.spectrum(K[:6, :6], 5)  # its rank
    task = tl.tasks.extended_eigenfunction(
        spectrum, index, _dataset(9, 6), K[6:, :6], regression=True
    )
    v, mu = spectrum.eigenvectors[:, index], spectrum.eigenvalues[index]
    whole = np.sqrt(6) * features @ (features[:6].T @ v) / mu
    assert_close(task.y, whole)
    assert task.source == "extended" and task.index == index


def test_extension_to_copies_of_training_samples_repeats_their_labels():
    K = _kernel(5)
    rows = np.array([3, 0, 3])
    task = tl.tasks.extended_eigenfunction(
        tl.spectrum(K), 2, _dataset(8, 5), jnp.asarray(K[rows])
    )
    np.testing.assert_array_equal(task.y[5:], task.y[:5][rows])
    assert task.kind == "binary" and task.y.dtype == np.float32


def test_extension_takes_a_kernel_on_disk(tmp_path):
    dataset = _dataset(9, 6)
    train, test = np.split(np.asarray(dataset.x), [6])
    params = jnp.array([[1.0], [-2.0]])

    def apply(params, x):
        return jnp.tanh(x @ params)

    spectrum = tl.spectrum(tl.gram(apply, params, train), 2)  # its rank
    stored = tl.gram(apply, params, test, train, store=tmp_path / "K")
    made = [
        tl.tasks.extended_eigenfunction(spectrum, 0, dataset, K, regression=True)
        for K in (tl.gram(apply, params, test, train), stored)
    ]
    assert isinstance(stored, tl.TiledGram)
    assert_close(made[0].y, made[1].y)


@pytest.mark.parametrize("index", [-1, 6, 1.0, True, np.array([1]), None])
def test_index_outside_the_spectrum_raises(index, no_type_checks):
    with pytest.raises(ValueError, match=r"whole number in 0\.\.5 .* paper's phi_1"):
        tl.tasks.eigenfunction(tl.spectrum(np.eye(6)), index, _dataset())


@pytest.mark.parametrize("index", [np.int64(1), jnp.array(1)])
def test_index_may_be_a_number_of_numpy_or_jax(index, no_type_checks):
    spectrum, dataset = tl.spectrum(_kernel(6)), _dataset()
    made = tl.tasks.eigenfunction(spectrum, index, dataset)
    assert str(made) == str(tl.tasks.eigenfunction(spectrum, 1, dataset))
    assert type(made.index) is int


def test_nested_lists_are_a_kernel():
    spectrum, rows = tl.spectrum(_kernel(4)), np.arange(8.0).reshape(2, 4)
    made = [
        tl.tasks.extended_eigenfunction(spectrum, 0, _dataset(), K)
        for K in (rows, rows.tolist())
    ]
    np.testing.assert_array_equal(made[0].y, made[1].y)


def test_spectrum_of_other_samples_raises():
    with pytest.raises(ValueError, match="spectrum is of 5 .*extended_eigenfunction"):
        tl.tasks.eigenfunction(tl.spectrum(np.eye(5)), 0, _dataset())


@pytest.mark.parametrize(
    ("K", "index", "rows", "message"),
    [
        (np.eye(6), 0, np.ones((2, 6)), "spectrum is of 6 .* training split has 4"),
        (np.eye(4), 0, np.ones((4, 2)), r"2 test samples .* 4 training .* \(4, 2\)"),
        (np.eye(4), 4, np.ones((2, 4)), r"whole number in 0\.\.3"),
    ],
)
def test_extension_of_what_does_not_fit_raises(K, index, rows, message, no_type_checks):
    with pytest.raises(ValueError, match=message):
        tl.tasks.extended_eigenfunction(tl.spectrum(K), index, _dataset(), rows)


def test_extension_of_an_eigenfunction_that_is_rounding_raises():
    with pytest.warns(UserWarning, match="below the resolution"):
        spectrum = tl.spectrum(np.diag([3.0, 2.0, 1.0, 0.0]))
    with pytest.raises(ValueError, match="Eigenfunction 3 has the eigenvalue 0, which"):
        tl.tasks.extended_eigenfunction(spectrum, 3, _dataset(), np.ones((2, 4)))


def test_arguments_of_other_kinds_are_named(no_type_checks):
    x: Any = np.eye(4)
    dataset: Any = tl.data.from_arrays(x, np.array([0, 1, 0, 1]), num_train=3)
    spectrum: Any = tl.spectrum(x)
    one: Any = 1
    with pytest.raises(
        TypeError, match=r"`spectrum` must be .*got ndarray.*spectrum\("
    ):
        tl.tasks.eigenfunction(x, one, dataset)
    with pytest.raises(TypeError, match=r"`spectrum` must be .*, got \w*Dataset"):
        tl.tasks.eigenfunction(dataset, spectrum, one)
    with pytest.raises(TypeError, match=r"`dataset` must be .*, got int"):
        tl.tasks.eigenfunction(spectrum, dataset, one)
