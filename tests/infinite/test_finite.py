"""The finite side is an ordinary network."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab import infinite as inf
from tests.helpers import jacobian_gram
from tests.infinite.networks import NETWORKS, examples


@pytest.mark.parametrize(
    "name",
    [
        "residual_dense",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("residual_shortcut", "attention_root", "conv_local")
        ),
    ],
)
def test_everything_else_takes_the_model(name):
    case = NETWORKS[name]
    model, x = case.build().model(case.shape), jnp.asarray(examples(name).x)
    params = model.init(jax.random.key(0))
    tl.models.check_apply(model.apply, params, x)
    expected = jnp.einsum("icjc->ij", jacobian_gram(model.apply, params, x))
    outputs = model.apply(params, x).shape[1]
    K = tl.gram(model.apply, params, x)
    np.testing.assert_allclose(K, expected / outputs, rtol=1e-9)


SHAPED = "conv_circular_strided conv_dilated conv_transpose conv_transpose_circular"
SHAPED += " conv_local_strided avg_pool_edges concatenate slice resize masked_pool"


@pytest.mark.parametrize("name", SHAPED.split())
def test_shapes_are_told_before_they_are_computed(name):
    case = NETWORKS[name]
    layer, x = case.build(), examples(name, 2)
    told = layer.output_shape(case.shape)
    params = jax.eval_shape(lambda key: layer.init(key, case.shape), jax.random.key(0))
    assert jax.eval_shape(layer.apply, params, x).shape == (2, *told)


@pytest.mark.parametrize("name", ["masked_conv_strided", "masked_attention"])
def test_what_lies_outside_of_a_mask_changes_nothing(name):
    case = NETWORKS[name]
    layer, batch = case.build(), examples(name)
    assert batch.mask is not None
    noise = np.random.default_rng(5).normal(size=np.shape(batch.x))
    other = batch._replace(x=batch.x + noise * ~np.asarray(batch.mask)[..., None])
    params = jax.jit(lambda key: layer.init(key, case.shape))(jax.random.key(0))
    apply = jax.jit(layer.apply)
    np.testing.assert_allclose(apply(params, batch), apply(params, other))
    for K, same in zip(layer.kernel(batch), layer.kernel(other), strict=True):
        np.testing.assert_allclose(same, K)


def test_a_masked_sequence_is_the_short_one():
    layer = NETWORKS["masked_conv"].build()
    x = np.random.default_rng(0).normal(size=(3, 6, 3))
    mask = np.broadcast_to(np.arange(6)[None] < 4, (3, 6))
    params = jax.jit(lambda key: layer.init(key, (6, 3)))(jax.random.key(0))
    short, long, apply = x[:, :4], inf.Batch(x, mask), jax.jit(layer.apply)
    np.testing.assert_allclose(apply(params, long), apply(params, short))
    for K, same in zip(layer.kernel(short), layer.kernel(long), strict=True):
        np.testing.assert_allclose(same, K)


def test_resizing_is_that_of_jax():
    x = np.random.default_rng(0).normal(size=(2, 5, 4, 3))
    for method in ("linear", "nearest", "cubic"):
        layer = inf.ImageResize((3, 7), method)
        expected = jax.image.resize(jnp.asarray(x), (2, 3, 7, 3), method)
        np.testing.assert_allclose(layer.apply((), x), expected, atol=1e-12)


def test_equal_networks_are_equal():
    assert inf.myrtle(5) == inf.myrtle(5)
    assert hash(inf.fc(2)) == hash(inf.fc(2)) != hash(inf.fc(3))
