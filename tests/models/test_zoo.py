import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import models

from . import reference
from .draws import normal, random_params

SIZES = {
    (32, 32, 3): {"mlp": 317_501, "lenet": 136_121, "resnet18": 11_169_345},
    (28, 28, 1): {"mlp": 88_701, "lenet": 107_021, "resnet18": 11_168_193},
    (32, 32, 1): {"mlp": 112_701, "lenet": 135_821, "resnet18": 11_168_193},
}
CASES = [(shape, name, p) for shape, row in SIZES.items() for name, p in row.items()]
SMALL = {
    "mlp": lambda **options: models.mlp((8, 8, 2), **options),
    "lenet": lambda **options: models.lenet((8, 8, 2), **options),
    "resnet18": lambda **options: models.resnet18((8, 8, 2), width=4, **options),
}


@pytest.fixture
def published(published_once):
    """ResNet18 and its parameters, in dicts of one's own."""
    model, params = published_once
    return model, jax.tree.map(lambda leaf: leaf, params)


@pytest.fixture(scope="module")
def published_once():
    # GELU, because some ReLU channels are off on all of any few random images.
    model = models.resnet18((32, 32, 3), activation="gelu")
    return model, model.init(jax.random.key(0))


def scales_of_norms(params):
    leaves = jax.tree_util.tree_leaves_with_path(params)
    scales = [leaf for path, leaf in leaves if path[-1].key == "scale"]
    return set(np.concatenate(scales).tolist())


@pytest.mark.parametrize("shape, name, num_params", CASES)
def test_parameter_counts_are_those_of_the_paper(shape, name, num_params):
    params = jax.eval_shape(models.build(name, shape).init, jax.random.key(0))
    sizes = [math.prod(leaf.shape) for leaf in jax.tree.leaves(params)]
    assert sum(sizes) == num_params
    assert all(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves(params))


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("name", SMALL)
def test_networks_match_hand_written_ones(name, activation):
    model = SMALL[name](activation=activation, num_outputs=3)
    params, x = random_params(model), np.asarray(normal((5, 8, 8, 2)))
    plain = partial(getattr(reference, name), activation=getattr(jax.nn, activation))
    if name == "resnet18":
        plain = partial(plain, stats=model.init_state()["batch_stats"])
    expected = jax.jit(plain)(params, x)
    outputs = jax.jit(model.apply)(params, x)
    assert outputs.dtype == jnp.float64 and outputs.shape == (5, 3)
    np.testing.assert_allclose(outputs, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", SMALL)
def test_single_precision_is_the_default(name):
    model = SMALL[name]()
    params = jax.eval_shape(model.init, jax.random.key(0))
    x = jax.ShapeDtypeStruct((2, 8, 8, 2), jnp.float32)
    assert jax.eval_shape(model.apply, params, x).dtype == jnp.float32
    assert model.name == name


def test_weights_are_lecun_normal_and_biases_zero(getkey):
    params = models.mlp((50, 40), widths=(400, 300)).init(getkey())
    for layer in params.values():
        fan_in = layer["kernel"].shape[0]
        scaled = np.asarray(layer["kernel"]) * np.sqrt(fan_in)
        assert not np.any(layer["bias"])
        # A normal cut at 2 standard deviations, then scaled to variance 1.
        assert np.abs(scaled).max() < 2 / 0.8796
    large = np.asarray(params["Dense_0"]["kernel"]) * np.sqrt(2000)
    assert abs(large.std() - 1) < 0.01 and abs(large.mean()) < 0.01
    assert np.abs(large).max() > 1.99 / 0.8797


def test_convolutions_are_lecun_normal_too(published):
    kernel = published[1]["block_4_2"]["conv_2"]["kernel"]
    scaled = np.asarray(kernel) * np.sqrt(9 * 512)
    assert abs(scaled.std() - 1) < 0.01
    assert 1.99 / 0.8797 < np.abs(scaled).max() < 2 / 0.8796


def test_two_keys_give_two_networks_and_one_key_gives_one(getkey):
    model, key = models.mlp((4,)), getkey()
    same, other = model.init(key)["Dense_0"], model.init(getkey())["Dense_0"]
    assert np.array_equal(same["kernel"], model.init(key)["Dense_0"]["kernel"])
    assert not np.any(same["kernel"] == other["kernel"])


def test_lenet_takes_the_small_digits(getkey):
    model = models.lenet((8, 8, 1), num_outputs=10)
    params = model.init(getkey())
    assert params["Dense_0"]["kernel"].shape == (2 * 2 * 16, 120)
    x = normal((3, 8, 8, 1), jnp.float32)
    assert model.apply(params, x).shape == (3, 10)


def test_widths_are_followed():
    def shapes_of(model):
        return jax.eval_shape(model.init, jax.random.key(0))

    mlp = shapes_of(models.mlp((3,), widths=(7, 5, 2)))
    shapes = [mlp[f"Dense_{i}"]["kernel"].shape for i in range(4)]
    assert shapes == [(3, 7), (7, 5), (5, 2), (2, 1)]
    lenet = shapes_of(models.lenet((8, 8, 1), widths=(2, 3, 4, 5)))
    assert lenet["Conv_1"]["kernel"].shape == (5, 5, 2, 3)
    assert lenet["Dense_1"]["kernel"].shape == (4, 5)
    resnet = shapes_of(models.resnet18((8, 8, 1), width=3))
    assert resnet["stem"]["kernel"].shape == (3, 3, 1, 3)
    assert resnet["head"]["kernel"].shape == (24, 1)


def weighted_gradient(model, params, x):
    """Gradient of a random sum of outputs: 0 where every example's gradient is."""
    weights = normal((len(x), 1), x.dtype, seed=1)
    return jax.jit(jax.grad(lambda p: jnp.sum(weights * model.apply(p, x))))(params)


def test_published_resnet18_has_180_033_live_parameters_at_initialization(published):
    model, params = published
    x = normal((64, 32, 32, 3), jnp.float32)
    gradient = weighted_gradient(model, params, x)
    alive = jax.tree.map(lambda leaf: int(jnp.count_nonzero(leaf)), gradient)
    assert sum(jax.tree.leaves(alive)) == 180_033
    silent = {"conv_1", "norm_1", "conv_2"}
    for name in reference.RESNET_BLOCKS:
        for layer, counts in alive[name].items():
            assert (sum(counts.values()) == 0) == (layer in silent)


def test_with_scale_one_every_parameter_of_resnet18_is_alive(getkey):
    model = models.resnet18((16, 16, 3), activation="gelu", width=2, last_scale=1.0)
    params, x = model.init(getkey()), normal((8, 16, 16, 3), jnp.float32)
    assert scales_of_norms(params) == {1.0}
    gradient = weighted_gradient(model, params, x)
    assert all(np.all(leaf != 0) for leaf in jax.tree.leaves(gradient))


def test_the_last_scale_of_each_block_is_zero_as_published(published):
    _, params = published
    blocks = [params.pop(name) for name in reference.RESNET_BLOCKS]
    assert all(np.all(block.pop("norm_2")["scale"] == 0) for block in blocks)
    assert scales_of_norms(params) == scales_of_norms(blocks) == {1.0}


@pytest.mark.parametrize("name", SMALL)
def test_inputs_of_another_shape_are_refused(name):
    model = SMALL[name]()
    params = random_params(model)
    wanted = r"`x` must have shape \(n, 8, 8, 2\), got "
    with pytest.raises(ValueError, match=wanted + r"\(3, 128\): reshape it"):
        model.apply(params, jnp.zeros((3, 128), jnp.float32))
    with pytest.raises(ValueError, match=r"got \(8, 8, 2\): add the batch axis"):
        model.apply(params, jnp.zeros((8, 8, 2), jnp.float32))
    with pytest.raises(ValueError, match=wanted + r"\(\)"):
        jax.jit(model.apply)(params, jnp.zeros((), jnp.float32))
    with pytest.raises(ValueError, match=wanted + r"\(3, 8, 8, 1\)"):
        model.apply_train(params, model.init_state(), jnp.zeros((3, 8, 8, 1)))


def test_impossible_sizes_are_refused():
    with pytest.raises(
        ValueError, match=r"`widths` must be positive integers, got \(10, 0\)"
    ):
        models.mlp((4,), widths=(10, 0))
    with pytest.raises(ValueError, match=r"`num_outputs` must be positive int.*\(0,\)"):
        models.resnet18(num_outputs=0)
    with pytest.raises(ValueError, match=r"at least 4 x 4 pixels, got \(3, 8, 1\)"):
        models.lenet((3, 8, 1))
    with pytest.raises(ValueError, match=r"\(height, width, channels\).*got \(64,\)"):
        models.resnet18((64,))


def test_widths_of_another_kind_are_refused(no_type_checks):
    with pytest.raises(ValueError, match=r"`widths` must be four numbers.*\(6, 16\)"):
        models.lenet(widths=(6, 16))  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match=r"at least one hidden layer.*got \(\)"):
        models.mlp(widths=())
    with pytest.raises(ValueError, match=r"`widths` must be positive int.*\(10, 2.5\)"):
        models.mlp(widths=(10, 2.5))  # pyright: ignore[reportArgumentType]
