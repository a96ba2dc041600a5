"""Mistakes say what to change."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import infinite as inf

loose: Any = inf  # what type checkers refuse is tried, too
relu, gap = inf.Relu(), inf.GlobalAvgPool()
IMAGES, VECTORS = np.ones((2, 6, 6, 3)), np.ones((2, 4))


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (inf.serial(relu, inf.Dense(1)), "not Gaussian.*put Dense or Conv between"),
        (inf.serial(inf.Dense(8), relu, relu), "not Gaussian"),
        (inf.serial(inf.Dense(8), relu, inf.LayerNorm()), "right after Dense or Conv"),
        (
            inf.serial(
                inf.parallel(inf.Dense(8), inf.Dense(8), join=inf.Product()), relu
            ),
            "a product",
        ),
        (
            inf.serial(inf.Dense(8), inf.parallel(inf.Identity(), inf.Identity())),
            "A sum of branches whose outputs are correlated",
        ),
        (
            inf.serial(inf.Dense(8), inf.residual(inf.Erf())),
            "must end in weights of their own",
        ),
        (
            inf.serial(inf.Dense(8), inf.residual(relu, inf.Dense(9))),
            r"unequal shapes \(8,\), \(9,\).*shortcut=Conv",
        ),
        (inf.serial(gap, inf.Dense(1)), "GlobalAvgPool needs axes of positions"),
        (inf.Conv(4, (3, 3)), "window with 2 axes, but one input has shape"),
        (inf.GlobalSelfAttention(4, 4, 4), "needs axes of positions"),
        (inf.Aggregate(), "needs nodes along one axis"),
        (inf.Slice(0), "has 1 indices, but one input has shape"),
        (inf.ImageResize((3,)), "gives 1 axes of positions"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_networks_without_a_kernel_on_vectors(layer, message):
    with pytest.raises(ValueError, match=message):
        layer.kernel(VECTORS)


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (
            inf.Conv(4, (3, 3)),
            r"outputs of this network have shape \(6, 6, 4\).*Flatten",
        ),
        (inf.serial(inf.Conv(4, (3, 3)), inf.Flatten(), relu), "Flatten"),
        (inf.Conv(4, (3,)), "window with 1 axes"),
        (inf.Conv(4, (3, 0)), "a window needs positions along each axis"),
        (inf.Conv(4, (3, 3), strides=(1, 2, 1)), "`strides` must be a positive number"),
        (inf.Conv(4, (3, 3), dilation=0), "`dilation` must be a positive number"),
        (inf.AvgPool((7, 7)), "reaches over 7 positions does not fit an axis of 6"),
        (inf.Slice(slice(3, 3)), "leaves nothing"),
        (inf.Slice(9), "there is no position 9 of 6"),
        (inf.serial(inf.Conv(4, (3, 3)), inf.Aggregate()), "nodes along one axis"),
        (
            inf.serial(inf.GlobalSelfAttention(4, 4, 4, scaling="root"), gap),
            "no closed form for mechanism='softmax': use mechanism=\"identity\"",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_networks_without_a_kernel_on_images(layer, message):
    with pytest.raises(ValueError, match=message):
        layer.kernel(IMAGES)


def test_unknown_names_list_the_known_ones(no_type_checks):
    with pytest.raises(ValueError, match="Unknown padding 'FULL'. Known: CIRCULAR, SA"):
        inf.Conv(4, (3, 3), padding="FULL").kernel(IMAGES)  # pyright: ignore
    with pytest.raises(ValueError, match="Unknown padding 'FULL'"):
        inf.ConvTranspose(4, (3, 3), padding="FULL").kernel(IMAGES)  # pyright: ignore
    with pytest.raises(ValueError, match="Unknown parameterization 'mup'"):
        inf.Dense(4, parameterization="mup")  # pyright: ignore
    with pytest.raises(ValueError, match="Unknown mechanism 'max'"):
        inf.GlobalSelfAttention(4, 4, 4, mechanism="max")  # pyright: ignore
    with pytest.raises(ValueError, match="Unknown scaling 'cubic'"):
        inf.GlobalSelfAttention(4, 4, 4, scaling="cubic")  # pyright: ignore
    with pytest.raises(ValueError, match="Unknown precision 'fast'"):
        inf.Dense(1).ntk(VECTORS, precision="fast")  # pyright: ignore
    with pytest.raises(ValueError, match="Unknown depth of a Myrtle network '6'"):
        inf.myrtle(6)


def test_what_is_no_layer(no_type_checks):
    with pytest.raises(TypeError, match=r"write Relu\(...\), not Relu"):
        inf.serial(inf.Dense(3), inf.Relu)  # pyright: ignore
    with pytest.raises(TypeError, match="one argument each; got 3"):
        inf.residual(3)  # pyright: ignore
    with pytest.raises(ValueError, match="`parallel` needs at least one layer"):
        inf.parallel()
    with pytest.raises(ValueError, match="`times` must be at least 1, got 0"):
        inf.repeat(relu, 0)


def test_numbers_without_meaning(no_type_checks):
    with pytest.raises(ValueError, match="`width` must be at least 1, got 0"):
        inf.Dense(0)
    with pytest.raises(ValueError, match="`width` must be a whole number, .* got 8.5"):
        loose.Dense(8.5)
    with pytest.raises(
        ValueError, match="one finite number and not negative, got -1.0"
    ):
        inf.Dense(4, -1.0)
    with pytest.raises(ValueError, match="probability of keeping a channel"):
        inf.Dropout(0.0)
    with pytest.raises(ValueError, match="at least one layer, got 0"):
        inf.fc(0)


@pytest.mark.parametrize("root", [jnp.sqrt(2.0), np.sqrt(2.0), np.float32(1.5), 2])
def test_deviations_are_any_numbers(root, no_type_checks):
    made = (
        loose.Dense(8, weight_std=root, bias_std=root),
        loose.Conv(8, (3, 3), weight_std=root, bias_std=root),
        loose.GlobalSelfAttention(4, 4, 4, value_std=root, bias_std=root),
    )
    assert {type(layer.bias_std) for layer in made} == {float}
    net = inf.serial(made[0], relu, loose.Dense(1))
    same = inf.serial(loose.Dense(8, float(root), float(root)), relu, loose.Dense(1))
    assert net == same
    np.testing.assert_array_equal(net.ntk(VECTORS), same.ntk(VECTORS))


@pytest.mark.parametrize("value", [np.nan, np.inf, "1.4", -0.1, np.ones(2), 1j, None])
def test_what_is_no_deviation(value, no_type_checks):
    with pytest.raises(ValueError, match="`weight_std` must be one finite number"):
        loose.Dense(8, weight_std=value)
    if value is not None:
        with pytest.raises(ValueError, match="`bias_std` must be one finite number"):
            loose.Conv(8, (3, 3), bias_std=value)
    with pytest.raises(ValueError, match="`key_std` must be one finite number"):
        loose.GlobalSelfAttention(4, 4, 4, key_std=value)


def test_deviations_that_are_traced(no_type_checks):
    with pytest.raises(TypeError, match=r"`weight_std` is traced.*outside `jax.jit`"):
        jax.grad(lambda s: loose.Dense(1, weight_std=s).ntk(VECTORS).sum())(1.0)


def test_windows_are_checked_where_they_are_made(no_type_checks):
    known = "Unknown padding 'same'. Known: CIRCULAR, SAME, VALID"
    for layer in (loose.Conv, loose.ConvLocal, loose.ConvTranspose):
        with pytest.raises(ValueError, match=known):
            layer(8, (3, 3), padding="same")
        with pytest.raises(TypeError, match=rf"{layer.__name__} needs .*got 3: write"):
            layer(8, 3)
    with pytest.raises(ValueError, match=known):
        loose.AvgPool((2, 2), padding="same")
    with pytest.raises(TypeError, match=r"got \(2.0, 2\): write \(3,\) for sequences"):
        loose.SumPool((2.0, 2))
    assert loose.Conv(8, [3, 3]) == loose.Conv(8, (3, 3))


def test_parameters_of_another_network(no_type_checks):
    net, key = inf.serial(loose.Dense(8), relu, loose.Dense(1)), jax.random.key(0)
    with pytest.raises(
        ValueError, match="those of 3 layers in a row, got a tuple of 0"
    ):
        net.apply((), VECTORS)
    params = net.init(key, (4,))
    with pytest.raises(ValueError, match=r"Dense\(8\) takes 3 channels here"):
        net.apply(params, IMAGES)
    with pytest.raises(ValueError, match="3 layers in a row, got a dict of 1"):
        net.apply({"params": params}, VECTORS)
    with pytest.raises(ValueError, match=r"Conv\(8\) takes 3 .*weights of shape \(\)"):
        loose.Conv(8, (3, 3)).apply((), IMAGES)
    both = inf.serial(loose.Dense(8), inf.residual(relu, loose.Dense(8)))
    params = both.init(key, (4,))
    with pytest.raises(ValueError, match="those of 2 branches, got a tuple of 1"):
        both.apply((params[0], params[1][:1]), VECTORS)


def test_arguments_in_another_order(no_type_checks):
    net, key = inf.fc(1, 8), jax.random.key(0)
    masked = inf.Batch(IMAGES, mask=np.ones(IMAGES.shape[:-1], bool))
    for x in (masked, VECTORS.tolist(), net):
        with pytest.raises(TypeError, match="`x_1` must be an array of examples"):
            loose.monte_carlo(net, x, key=key, num_draws=1)
    with pytest.raises(TypeError, match="`x_2` must be an array"):
        loose.monte_carlo(net, VECTORS, masked, key=key, num_draws=1)
    with pytest.raises(TypeError, match="`build` makes the network .* got a Serial"):
        loose.compare_widths(net, VECTORS, [8, 16], key=key)
    with pytest.raises(TypeError, match="`x` must be an array .*got a list"):
        loose.compare_widths(lambda m: inf.fc(1, m), [8, 16], VECTORS, key=key)
    with pytest.raises(TypeError, match=r"`widths` must be whole .*shape \(2, 4\)"):
        loose.compare_widths(lambda m: inf.fc(1, m), VECTORS, VECTORS, key=key)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_lists_are_no_examples(precision, no_type_checks):
    with pytest.raises(TypeError, match="must be an array .*got a list") as raised:
        loose.Dense(1).ntk(VECTORS.tolist(), precision=precision)
    assert "1.0" not in str(raised.value)


def test_examples_that_do_not_fit(no_type_checks):
    layer = inf.Dense(1)
    with pytest.raises(ValueError, match=r"\(n, \*positions, channels\), got .*int"):
        layer.kernel(np.ones((2, 3), int))
    with pytest.raises(ValueError, match=r"of shape \(3,\): give vectors as \(n, d\)"):
        layer.kernel(np.ones(3))
    with pytest.raises(
        ValueError, match="`x_1` and `x_2` must hold examples of one sh"
    ):
        layer.kernel(VECTORS, VECTORS[:, :3])
    with pytest.raises(ValueError, match="`x_2` is empty"):
        layer.kernel(VECTORS, VECTORS[:0])
    with pytest.raises(ValueError, match=r"mask of `x_1` must have shape \(2, 6, 6\)"):
        layer.kernel(inf.Batch(IMAGES, mask=np.ones((2, 6), bool)))
    with pytest.raises(ValueError, match="bring no graph along"):
        inf.serial(inf.Aggregate(), gap).kernel(np.ones((2, 4, 3)))
    with pytest.raises(ValueError, match="bring no graph along"):
        inf.Aggregate().apply((), np.ones((2, 4, 3)))
    with pytest.raises(ValueError, match="NaN or infinite for example 1 of `x_1`"):
        layer.kernel(np.array([[1.0], [np.inf]]))


def test_dropout_in_training_has_no_finite_network():
    layer = inf.serial(inf.Dense(4), inf.Dropout(0.5, training=True))
    params = layer.init(jax.random.key(0), (4,))
    with pytest.raises(ValueError, match="Build the finite one with training=False"):
        layer.apply(params, VECTORS)
    off = inf.serial(inf.Dense(4), inf.Dropout(0.5))
    np.testing.assert_array_equal(
        off.apply(params, VECTORS), inf.Dense(4).apply(params[0], VECTORS)
    )


def test_a_model_has_rows_of_outputs():
    with pytest.raises(ValueError, match="a model gives one row of numbers: end it"):
        inf.Conv(4, (3, 3)).model((6, 6, 3))
    model = inf.cntk(1, 4).model((6, 6, 3))
    with pytest.raises(ValueError, match=r"`x` must have shape \(n, 6, 6, 3\)"):
        model.apply(model.init(jax.random.key(0)), np.ones((2, 5, 6, 3)))
