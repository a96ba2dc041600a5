"""Batch statistics of the zoo: trained, frozen, and frozen at the start."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import models

from . import reference
from .draws import normal, normal_like, random_params

MODEL = models.resnet18((8, 8, 2), width=2)
PLAIN = jax.jit(partial(reference.resnet18, activation=jax.nn.relu))


def shifted_state():
    """Statistics unlike the initial ones."""
    state = MODEL.init_state()
    return jax.tree.map(lambda a, b: a + jnp.abs(b), state, normal_like(state))


def test_initial_statistics_are_mean_zero_and_variance_one():
    leaves = jax.tree_util.tree_leaves_with_path(MODEL.init_state())
    assert len(leaves) == 2 * (1 + 2 * 8 + 3)
    for path, leaf in leaves:
        assert leaf.dtype == jnp.float32
        assert np.all(leaf == (1 if path[-1].key == "var" else 0))


def test_apply_is_frozen_at_the_initial_statistics():
    params, x = random_params(MODEL), normal((3, 8, 8, 2))
    expected = jax.jit(MODEL.freeze(MODEL.init_state()))(params, x)
    assert np.array_equal(jax.jit(MODEL.apply)(params, x), expected)


def test_frozen_network_uses_the_statistics_given():
    params, x, state = random_params(MODEL), normal((3, 8, 8, 2)), shifted_state()
    expected = PLAIN(params, x, stats=state["batch_stats"])
    outputs = jax.jit(MODEL.freeze(state))(params, x)
    np.testing.assert_allclose(outputs, expected, rtol=1e-9)
    assert not np.allclose(outputs, jax.jit(MODEL.apply)(params, x))


def test_training_normalizes_by_the_batch():
    params, x = random_params(MODEL), normal((6, 8, 8, 2))
    outputs, _ = jax.jit(MODEL.apply_train)(params, shifted_state(), x)
    np.testing.assert_allclose(outputs, PLAIN(params, x), rtol=1e-8)


def test_running_statistics_keep_nine_tenths_and_take_the_biased_variance():
    params, x, state = random_params(MODEL), normal((6, 8, 8, 2)), shifted_state()
    state = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), state)
    _, new_state = jax.jit(MODEL.apply_train)(params, state, x)
    images = np.asarray(reference.conv(params["stem"]["kernel"], x)).reshape(-1, 2)
    before = state["batch_stats"]["stem_norm"]
    after = new_state["batch_stats"]["stem_norm"]
    biased = np.mean((images - images.mean(axis=0)) ** 2, axis=0)
    expected = 0.9 * before["mean"] + 0.1 * images.mean(axis=0)
    np.testing.assert_allclose(after["mean"], expected, rtol=1e-12)
    expected = 0.9 * before["var"] + 0.1 * biased
    np.testing.assert_allclose(after["var"], expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_statistics_keep_their_dtype_and_can_be_carried_by_scan(dtype):
    params = jax.tree.map(lambda leaf: leaf.astype(dtype), random_params(MODEL))
    batches = normal((3, 4, 8, 8, 2), dtype)

    def step(state, x):
        outputs, state = MODEL.apply_train(params, state, x)
        return state, outputs

    state, outputs = jax.lax.scan(step, MODEL.init_state(), batches)
    assert outputs.shape == (3, 4, 1) and outputs.dtype == dtype
    assert all(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves(state))
    assert all(
        np.any(new != old)
        for new, old in zip(
            jax.tree.leaves(state), jax.tree.leaves(MODEL.init_state()), strict=True
        )
    )


def test_networks_without_statistics_have_an_empty_state():
    model = models.mlp((4,), widths=(3,))
    params, x = random_params(model), normal((5, 4))
    assert model.init_state() == {}
    outputs, state = model.apply_train(params, {}, x)
    assert state == {}
    assert np.array_equal(outputs, model.apply(params, x))
    assert np.array_equal(outputs, model.freeze({})(params, x))


def test_a_state_of_another_network_is_refused():
    with pytest.raises(ValueError, match=r"`state` must be a pytree like `init_state"):
        MODEL.freeze({})
    with pytest.raises(ValueError, match=r"lacks \['batch_stats'\]\['block_1_1'\]"):
        MODEL.apply_train(random_params(MODEL), {}, normal((3, 8, 8, 2)))
