"""The tracker records what the functions say, in anybody's loop."""

import runpy
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.analysis import (
    Tracker,
    centered_alignment,
    cka,
    gram_alignment,
    kernel_norm,
    kernel_size,
    kernel_velocity,
    rotation,
    subspace_overlap,
    trace_shares,
)
from tests.networks import dense_apply

from .problems import N, network, vectors

EXAMPLE = Path(__file__).parents[2] / "examples" / "track_training.py"
STEPS = (0, 2, 5)
NAMES = {
    "step",
    "trace",
    "participation_ratio",
    "alignment",
    "unbiased_alignment",
    "centered_alignment",
    "energy_concentration",
    "distance",
    "velocity",
    "cka",
    "subspace_overlap",
}


def course():
    """Parameters at each step of an invented training."""
    params, _, _ = network()
    return [jax.tree.map(lambda a, s=s: (1 + 0.1 * s) * a, params) for s in STEPS]


@pytest.mark.parametrize("several", [False, True])
def test_history_is_what_the_functions_say(several):
    _, x, _ = network()
    y = vectors(0, N, 3) if several else vectors(0, N)
    tracker = Tracker(dense_apply, x, y, num=3)
    assert tracker.history() == {}
    seen = [tracker(*pair) for pair in zip(STEPS, course(), strict=True)]
    history = tracker.history()
    assert set(history) == NAMES
    kernels = [tl.gram(dense_apply, params, x) for params in course()]
    forms = [gram_alignment(K, y) for K in kernels]
    expected = {
        "step": STEPS,
        "trace": [kernel_size(K).trace for K in kernels],
        "participation_ratio": [kernel_size(K).participation_ratio for K in kernels],
        "alignment": [f.biased for f in forms],
        "unbiased_alignment": [f.unbiased for f in forms],
        "centered_alignment": [centered_alignment(K, y) for K in kernels],
        "energy_concentration": [tl.energy_concentration(K, y, 3) for K in kernels],
        "distance": [tl.kernel_distance(kernels[0], K) for K in kernels],
        "velocity": [np.nan, *kernel_velocity(kernels, STEPS)],
        "cka": [cka(kernels[0], K) for K in kernels],
        "subspace_overlap": [
            subspace_overlap(leading(kernels[0]), leading(K)) for K in kernels
        ],
    }
    for name, values in expected.items():
        np.testing.assert_allclose(history[name], values, rtol=1e-10, err_msg=name)
        assert history[name].dtype == np.float64
        np.testing.assert_array_equal(history[name][-1], seen[-1][name])
    assert history["alignment"].shape == ((3, 3) if several else (3,))
    assert history["distance"][0] == 0 and history["distance"][-1] > 0


def leading(K):
    """Three eigenvectors, by a dense decomposition."""
    return np.linalg.eigh(np.asarray(K, np.float64))[1][:, -3:]


def test_measures_of_ones_own_see_the_kernel_now_and_the_first():
    _, x, _ = network()
    y = vectors(0, N)

    def turned(now, first):
        quotients = gram_alignment(now.K, first.spectrum.eigenvectors).rayleigh
        return rotation(quotients, first.spectrum.eigenvalues, 1).gains

    measures = {
        "norm": lambda now, first: kernel_norm(now.K, y).squared,
        "layers": lambda now, first: trace_shares(dense_apply, now.params, x).shares,
        "gains": turned,
    }
    tracker = Tracker(dense_apply, x, y, num=3, measures=measures)
    for step, params in zip(STEPS, course(), strict=True):
        tracker(step, params)
    history = tracker.history()
    assert set(history) == NAMES | set(measures)
    kernels = [np.asarray(tl.gram(dense_apply, p, x), np.float64) for p in course()]
    norms = [y @ np.linalg.pinv(K, rcond=1e-12, hermitian=True) @ y for K in kernels]
    np.testing.assert_allclose(history["norm"], norms, rtol=1e-6)
    np.testing.assert_allclose(history["layers"].sum(axis=1), 1, rtol=1e-10)
    lam, V = np.linalg.eigh(kernels[0])
    quotients = np.einsum("ij,ik,kj->j", V, kernels[-1], V)
    gains = (quotients / lam)[::-1][:3]
    np.testing.assert_allclose(history["gains"][-1], gains, rtol=1e-8)
    np.testing.assert_allclose(history["gains"][0], 1, rtol=1e-10)


def test_batch_statistics_beside_the_parameters():
    params, x, full = network()

    def apply(p, x):
        return dense_apply(p["params"], x - p["state"][None])

    still, moved = jnp.zeros(3), jnp.ones(3)
    tracker = Tracker(
        apply, x, vectors(0, N), num=1, trainable={"params": True, "state": False}
    )
    tracker(0, {"params": params, "state": still})
    tracker(1, {"params": params, "state": moved})
    shifted = tl.gram_diagonal(dense_apply, params, x - moved[None]).sum()
    expected = [np.trace(full[:, 0, :, 0]), float(shifted)]
    np.testing.assert_allclose(tracker.history()["trace"], expected, rtol=1e-10)


def test_the_example_trains_and_the_kernel_turns_to_the_labels(capsys):
    main = runpy.run_path(str(EXAMPLE))["main"]
    with jax.numpy_dtype_promotion("standard"):  # optax's Adam counts in integers
        history = main(num_steps=60, num_samples=80, every=20)
    assert history["step"].tolist() == [0, 20, 40, 60]
    assert history["centered_alignment"][-1] > history["centered_alignment"][0]
    assert (np.diff(history["distance"]) > 0).all()
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_messages(no_type_checks):
    params, x, _ = network()
    y = vectors(0, N)
    tracker = Tracker(dense_apply, x, y)
    tracker(3, params)
    with pytest.raises(ValueError, match="must increase, got 3 after 3"):
        tracker(3, params)
    assert len(tracker.history()["step"]) == 1
    with pytest.raises(TypeError, match=r"got list: call `tracker\(step, params\)`"):
        tracker(params, 4)  # pyright: ignore
    tracker(jnp.asarray(4), params)  # pyright: ignore
    with pytest.raises(ValueError, match="`y` holds labels 0 and 1"):
        Tracker(dense_apply, x, (y > 0).astype(float))
    with pytest.raises(ValueError, match=r"`y` must hold .* got shape \(3,\)"):
        Tracker(dense_apply, x, np.ones(3))
    with pytest.raises(ValueError, match=r"`num` must lie in 1\.\.11"):
        Tracker(dense_apply, x, y, num=50)
    with pytest.raises(ValueError, match="recorded anyway, cka, trace: choose other"):
        own = {name: lambda now, first: 0.0 for name in ("trace", "cka", "own")}
        Tracker(dense_apply, x, y, measures=own)
    with pytest.raises(TypeError, match="must be a function"):
        Tracker(params, x, jnp.asarray(y))  # pyright: ignore
