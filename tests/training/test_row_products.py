"""Convolutions of many networks as products of matrices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.training.row_products import for_many, with_row_products
from tests.training.problems import assert_same, binary_tasks, in_float64

KEY = jax.random.key(3)
RECIPE = tl.Recipe(epochs=2, batch_size=6, learning_rate=0.05)
LAYOUTS = [
    ("NHWC", "HWIO", "NHWC"),
    ("NCHW", "OIHW", "NCHW"),
    ("NHWC", "OIHW", "NCHW"),
]


@pytest.fixture
def accelerated(monkeypatch):
    """Train as on an accelerator."""
    for module in ("runs", "program", "row_products"):
        monkeypatch.setattr(f"tangentlab.training.{module}.backend", lambda: "gpu")


def convolutions(function, *arguments):
    """How many there are, in forward and backward passes."""
    return str(jax.make_jaxpr(function)(*arguments)).count("conv_general_dilated")


def arranged(axes, array, to):
    return array.transpose([axes.index(axis) for axis in to])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("padding", ["SAME", "VALID", ((2, 0), (1, 3))])
@pytest.mark.parametrize("dilation", [(1, 1), (2, 3)])
@pytest.mark.parametrize("stride", [(1, 1), (2, 1), (1, 3)])
def test_a_convolution_is_equal_in_value_and_gradients(
    stride, dilation, padding, layout
):
    draws = np.random.default_rng(0)
    x = arranged("NHWC", draws.normal(size=(2, 9, 11, 4)), layout[0])
    weight = arranged("HWIO", draws.normal(size=(3, 4, 4, 6)), layout[1])

    def convolve(x, weight):
        made = jax.lax.conv_general_dilated(
            x,
            weight,
            stride,
            padding,
            rhs_dilation=dilation,
            dimension_numbers=layout,
        )
        return jnp.sin(made)

    rewritten = with_row_products(convolve)
    assert convolutions(convolve, x, weight) == 1
    assert convolutions(rewritten, x, weight) == 0
    expected, back = jax.vjp(convolve, x, weight)
    value, rewritten_back = jax.vjp(rewritten, x, weight)
    np.testing.assert_allclose(value, expected, atol=1e-12)
    for got, wanted in zip(rewritten_back(expected), back(expected), strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-12)


def test_wide_and_grouped_convolutions_and_rows_of_pixels_stay_as_they_are():
    def convolve(x, weight, groups=1):
        return jax.lax.conv_general_dilated(
            x,
            weight,
            (1, 1),
            "SAME",
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
            feature_group_count=groups,
        )

    def count(x, weight, **options):
        rewritten = with_row_products(lambda x, w: convolve(x, w, **options))
        return convolutions(rewritten, jnp.ones(x), jnp.ones(weight))

    assert count((1, 8, 8, 4), (3, 3, 4, 64)) == 1  # many channels
    assert count((1, 8, 60, 4), (3, 3, 4, 8)) == 1  # wide images, a small window
    assert count((1, 8, 8, 4), (3, 3, 2, 8), groups=2) == 1
    assert count((1, 8, 8, 4), (3, 3, 4, 8)) == 0


def test_derivatives_of_the_author_stay_and_checkpoints_are_kept():
    x, weight = jnp.zeros((1, 4, 4, 1)), jnp.ones((3, 3, 1, 2))

    def network(weight, x):
        made = jax.lax.conv_general_dilated(
            x, weight, (1, 1), "SAME", dimension_numbers=LAYOUTS[0]
        )
        return jax.nn.relu(made + weight.mean() - weight.mean()).sum()

    slope = jax.grad(lambda shift: network(weight, x + shift))
    rewritten = jax.grad(lambda shift: with_row_products(network)(weight, x + shift))
    assert slope(0.0) == rewritten(0.0) == 0.0  # of relu at 0; half of it by `max`
    kept = with_row_products(jax.checkpoint(network))
    assert convolutions(kept, weight, x) == 1


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize(
    "build",
    [
        tl.models.lenet,
        pytest.param(
            lambda shape: tl.models.resnet18(shape, width=4), marks=pytest.mark.slow
        ),
    ],
    ids=["lenet", "resnet18"],
)
def test_networks_prepared_for_many_are_the_same(build, linear, accelerated):
    model = build((8, 8, 1))
    params = in_float64(model.init(jax.random.key(0)))
    if linear:
        apply = tl.linearize(model.apply, params)
        model = tl.models.from_function(model.init, apply)
    prepared = for_many(lambda start: model)(params)
    x = jax.random.normal(KEY, (3, 8, 8, 1), jax.tree.leaves(params)[0].dtype)
    state = model.init_state()
    assert convolutions(model.apply, params, x) > 0
    assert convolutions(prepared.apply, params, x) == 0

    @jax.jit
    def both(params, state, x):
        return [
            (each.apply_train(params, state, x), each.freeze(state)(params, x))
            for each in (model, prepared)
        ]

    expected, got = both(params, state, x)
    close = jax.tree.map(lambda a, b: np.allclose(a, b, rtol=1e-10), expected, got)
    assert all(jax.tree.leaves(close))


def test_lenets_trained_together_on_an_accelerator_are_those_of_a_cpu(accelerated):
    model = tl.models.lenet((8, 8, 1))
    params = in_float64(model.init(jax.random.key(0)))
    tasks = binary_tasks(2, n=20, num_train=14, shape=(8, 8, 1))
    together, alone = (
        tl.train(model, params, tasks, RECIPE, key=KEY, together=t)
        for t in (True, False)
    )
    assert_same(together, alone)


def test_a_cpu_keeps_its_convolutions():
    def network(start):
        return tl.models.lenet((8, 8, 1))

    assert for_many(network) is network
