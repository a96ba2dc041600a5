"""Convolutions of many networks as products of matrices."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.training.convolving import Few
from tangentlab.training.row_products import for_many, for_one, with_row_products
from tests.training.problems import assert_same, binary_tasks, in_float64

KEY = jax.random.key(3)
RECIPE = tl.Recipe(epochs=2, batch_size=6, learning_rate=0.05)
FEW = (Few(63, 63),)
WAYS = {
    "rows": FEW,
    "parts": (Few(63, 63, columns=4, bias=True),),
    "squares": (Few(63, 63, rows=3, columns=4, excess=99),),
    "whole": (Few(63, 63, rows=9, excess=99, bias=True),),
}
LAYOUTS = [
    ("NHWC", "HWIO", "NHWC"),
    ("NCHW", "OIHW", "NCHW"),
    ("NHWC", "OIHW", "NCHW"),
]
BESIDE_CHANNELS = {"NHWC": (0, 1, 2), "NCHW": (0, 2, 3)}
PADDINGS = {
    "same": ("SAME", LAYOUTS[0]),
    "valid": ("VALID", LAYOUTS[1]),
    "uneven": (((2, 0), (1, 3)), LAYOUTS[2]),
    "cut": (((-1, 2), (3, -2)), LAYOUTS[0]),
}
STRIDES, DILATIONS = ((1, 1), (2, 1), (1, 3)), ((1, 1), (2, 3))
# Parts of a row have everything that whole rows have, and more: they meet every case.
CASES = [
    *itertools.product(["parts"], STRIDES, DILATIONS, PADDINGS),
    *itertools.product(["squares"], STRIDES, DILATIONS, PADDINGS),
    *itertools.product(["rows"], STRIDES[1:], DILATIONS[1:], ["uneven"]),
    *itertools.product(["rows"], STRIDES[:1], DILATIONS[:1], ["same"]),
    *itertools.product(["whole"], STRIDES[1:], DILATIONS, ["same", "uneven", "cut"]),
]


@pytest.fixture
def accelerated(monkeypatch):
    """Train as on an accelerator."""
    for module in ("runs", "program", "row_products"):
        monkeypatch.setattr(f"tangentlab.training.{module}.backend", lambda: "gpu")


def convolutions(function, *arguments):
    """How many there are, in forward and backward passes."""
    return str(jax.make_jaxpr(function)(*arguments)).count("conv_general_dilated")


def measured(function, *arguments):
    """Value, gradients and a derivative along a direction."""
    value, back = jax.vjp(function, *arguments)
    _, moved = jax.jvp(function, arguments, tuple(map(jnp.cos, arguments)))
    return value, *back(jnp.cos(value)), moved


def arranged(axes, array, to):
    return array.transpose([axes.index(axis) for axis in to])


@pytest.mark.parametrize("way, stride, dilation, padding", CASES)
def test_a_convolution_is_equal_in_value_and_gradients(way, stride, dilation, padding):
    padding, layout = PADDINGS[padding]
    draws = np.random.default_rng(0)
    x = jnp.asarray(arranged("NHWC", draws.normal(size=(2, 9, 17, 4)), layout[0]))
    weight = jnp.asarray(arranged("HWIO", draws.normal(size=(3, 4, 4, 6)), layout[1]))
    bias = jnp.asarray(draws.normal(size=6))

    def convolve(x, weight, bias):
        made = jax.lax.conv_general_dilated(
            x,
            weight,
            stride,
            padding,
            rhs_dilation=dilation,
            dimension_numbers=layout,
        )
        return jnp.sin(made + jnp.expand_dims(bias, BESIDE_CHANNELS[layout[2]]))

    rewritten = with_row_products(convolve, WAYS[way])
    given = x, weight, bias
    assert convolutions(convolve, *given) == 1
    assert convolutions(rewritten, *given) == 0

    @jax.jit
    def both(*given):
        return measured(convolve, *given), measured(rewritten, *given)

    for got, wanted in zip(*both(*given), strict=True):
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

    def count(x, weight, few=FEW[0], **options):
        rewritten = with_row_products(lambda x, w: convolve(x, w, **options), (few,))
        return convolutions(rewritten, jnp.ones(x), jnp.ones(weight))

    assert count((1, 8, 8, 4), (3, 3, 4, 64)) == 1  # many channels
    assert count((1, 8, 60, 4), (3, 3, 4, 8)) == 1  # wide images, a small window
    assert count((1, 8, 8, 4), (3, 3, 2, 8), groups=2) == 1
    assert count((1, 8, 8, 4), (3, 3, 4, 8), Few(4, 8, least=9)) == 1
    assert count((1, 8, 8, 4), (3, 3, 4, 8), Few(3, 8)) == 1
    assert count((1, 8, 8, 4), (3, 3, 4, 8), Few(4, 7)) == 1
    assert count((1, 8, 8, 4), (3, 3, 4, 8), Few(4, 8, least=8)) == 0
    assert count((1, 8, 60, 4), (3, 3, 4, 8), Few(4, 8, columns=6)) == 0


def test_derivatives_of_the_author_stay_and_checkpoints_are_kept():
    x, weight = jnp.zeros((1, 4, 4, 1)), jnp.ones((3, 3, 1, 2))

    def network(weight, x):
        made = jax.lax.conv_general_dilated(
            x, weight, (1, 1), "SAME", dimension_numbers=LAYOUTS[0]
        )
        return jax.nn.relu(made + weight.mean() - weight.mean()).sum()

    slope = jax.grad(lambda shift: network(weight, x + shift))
    same = with_row_products(network, FEW)
    rewritten = jax.grad(lambda shift: same(weight, x + shift))
    assert slope(0.0) == rewritten(0.0) == 0.0  # of relu at 0; half of it by `max`
    kept = with_row_products(jax.checkpoint(network), FEW)
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


@pytest.mark.parametrize("prepare, side", [(for_one, 7), (for_many, 8)])
def test_a_cpu_keeps_convolutions_of_narrow_images(prepare, side):
    model = tl.models.lenet((side, side, 1))
    params = in_float64(model.init(KEY))
    x = jnp.ones((2, side, side, 1))
    prepared = prepare(lambda start: model)(params)
    assert convolutions(prepared.apply, params, x) == 2


def test_a_cpu_keeps_convolutions_of_small_windows():
    model = tl.models.resnet18((16, 16, 3), width=4)
    params, x = model.init(KEY), jnp.ones((2, 16, 16, 3), jnp.float32)
    prepared = for_one(lambda start: model)(params)
    both = [convolutions(m.apply, params, x) for m in (model, prepared)]
    assert both[0] == both[1] > 0


def test_a_cpu_finds_a_first_convolution_by_products():
    model = tl.models.lenet((16, 16, 3))
    params = in_float64(model.init(KEY))
    x = jax.random.normal(KEY, (2, 16, 16, 3), jax.tree.leaves(params)[0].dtype)
    prepared = for_one(lambda start: model)(params)
    compiled = jax.jit(prepared.apply).lower(params, x).as_text()
    assert compiled.count("stablehlo.convolution") == 1  # the second of two

    def slopes(apply):
        return jax.grad(lambda params: jnp.sin(apply(params, x)).sum())(params)

    both = slopes(model.apply), slopes(prepared.apply)
    close = jax.tree.map(lambda a, b: np.allclose(a, b, rtol=1e-10), *both)
    assert all(jax.tree.leaves(close))


def test_an_accelerator_keeps_the_convolutions_of_one_lenet(accelerated):
    model = tl.models.lenet((16, 16, 3))
    params, x = model.init(KEY), jnp.ones((2, 16, 16, 3), jnp.float32)
    prepared = for_one(lambda start: model)(params)
    assert convolutions(prepared.apply, params, x) == 2


def test_an_accelerator_finds_the_first_of_many_channels_by_a_product(accelerated):
    model = tl.models.resnet18((8, 8, 3), width=32)
    params = in_float64(model.init(KEY))
    state, x = model.init_state(), jax.random.normal(KEY, (3, 8, 8, 3))
    prepared = for_one(lambda start: model)(params)

    def outputs(m):
        return lambda params: m.apply_train(params, state, x)[0]

    kept, left = (convolutions(outputs(m), params) for m in (model, prepared))
    assert kept - left == 1
    both = [
        jax.grad(lambda params, m=m: jnp.sin(outputs(m)(params)).sum())(params)["stem"]
        for m in (model, prepared)
    ]
    np.testing.assert_allclose(both[0]["kernel"], both[1]["kernel"], rtol=1e-8)


def additions(function, *arguments):
    return str(jax.make_jaxpr(function)(*arguments)).count(" add ")


@pytest.mark.parametrize("same_images, biases", [(False, 0), (True, 1)])
def test_one_product_for_images_of_all_adds_biases(same_images, biases, accelerated):
    """On an accelerator; those of networks' own arrays are added as they were."""
    model = tl.models.lenet((8, 8, 3))
    params, x = model.init(jax.random.key(0)), jnp.ones((2, 8, 8, 3), jnp.float32)
    prepared = for_many(lambda start: model, same_images=same_images)(params)
    assert convolutions(prepared.apply, params, x) == 0
    sums = [additions(m.apply, params, x) for m in (model, prepared)]
    assert sums[0] - sums[1] == biases
    wanted = model.apply(params, x)
    np.testing.assert_allclose(prepared.apply(params, x), wanted, rtol=1e-5)


def test_images_of_all_networks_are_cut_once(accelerated):
    model = tl.models.lenet((8, 8, 3))
    params = jax.vmap(model.init)(jax.random.split(KEY, 5))
    prepared = for_many(lambda start: model, same_images=True)(None)
    every = jax.vmap(prepared.apply, (0, None))
    products = str(jax.make_jaxpr(every)(params, jnp.ones((2, 8, 8, 3), jnp.float32)))
    assert "dot_general" in products
    first = next(line for line in products.splitlines() if "dot_general" in line)
    assert "f32[16,5,48]" in first  # rows of two images, networks, 8 results of 6


def test_only_a_bias_is_added_by_a_product():
    x, weight = jnp.ones((2, 8, 8, 3)), jnp.ones((3, 3, 3, 4))
    ways = (Few(4, 8, bias=True),)

    def convolve(x, weight):
        return jax.lax.conv_general_dilated(
            x, weight, (1, 1), "SAME", dimension_numbers=LAYOUTS[0]
        )

    def kept(function, *others):
        given = x, weight, *others
        rewritten = with_row_products(function, ways)
        np.testing.assert_allclose(rewritten(*given), function(*given), atol=1e-12)
        assert convolutions(rewritten, *given) == 0
        return additions(rewritten, *given) == additions(function, *given)

    bias = jnp.arange(4.0)[None, None, None]
    assert not kept(lambda x, w, b: convolve(x, w) + b, bias)
    assert not kept(lambda x, w, b: b + convolve(x, w), bias)
    assert kept(
        lambda x, w, b: convolve(x, w) + b[:, 0, 0, :2].T[..., None, None], bias
    )
    assert kept(lambda x, w: convolve(x, w) + 1.0)
    assert kept(lambda x, w: convolve(x, w) + convolve(x, 2 * w))

    def used_twice(x, weight, bias):
        made = convolve(x, weight)
        return made * (made + bias)

    assert kept(used_twice, bias)
