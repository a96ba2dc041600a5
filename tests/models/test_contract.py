from typing import Any

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import models
from tangentlab.models import check_apply

from .draws import normal, random_params

MIXES = "mixes examples.*`Model.apply`.*`Model.freeze"
PARAMS = {"w": normal((3, 2))}


def line(params, x):
    return x @ params["w"]


def minus_batch_mean(params, x):
    return line(params, x) - line(params, x).mean(axis=0, keepdims=True)


def minus_held_batch_mean(params, x):
    """No gradient shows this one."""
    mean = jax.lax.stop_gradient(line(params, x).mean(axis=0, keepdims=True))
    return line(params, x) - mean


def divided_by_batch_size(params, x):
    return line(params, x) / len(x)


def running_sum(params, x):
    return jnp.cumsum(line(params, x), axis=0)


def plus_row_before(params, x):
    before = jnp.concatenate([jnp.zeros_like(x[:1]), x[:-1]])
    return line(params, x + before)


def plus_row_before_around_the_end(params, x):
    return line(params, x + jnp.roll(x, 1, axis=0))


def minus_last_row(params, x):
    return line(params, x - x[-1:])


def plus_held_row_before(params, x):
    return line(params, x) + jax.lax.stop_gradient(plus_row_before(params, x))


def second_row_sees_third(params, x):
    return line(params, x.at[1].add(x[2]))


def held_second_row_sees_third(params, x):
    return line(params, x.at[1].add(jax.lax.stop_gradient(x[2])))


def plus_position(params, x):
    return line(params, x) + jnp.arange(len(x), dtype=x.dtype)[:, None]


def embedding(params, tokens):
    return params["w"][tokens].mean(axis=1)


def mixed_embedding(params, tokens):
    return embedding(params, tokens[::-1]) + embedding(params, tokens)


class Attention(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.LayerNorm()(x)
        x = nn.MultiHeadDotProductAttention(num_heads=2, qkv_features=4)(x, x)
        return nn.Dense(2)(x.mean(axis=1))


class TrainedNorm(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.BatchNorm(use_running_average=False)(x))


def through_a_gate(params, x):
    """Silent at first: the gate is closed."""
    return line(params, x) + params["gate"] * x.mean()


def with_a_head_of_zeros(params, x):
    hidden = line(params, x)
    return (hidden - hidden.mean(axis=0, keepdims=True)) @ params["head"]


def with_a_step_of_the_batch(params, x):
    return line(params, x) * jnp.where(x.mean() > 0, 1.0, 2.0)


SILENT = {**PARAMS, "gate": jnp.zeros(()), "head": jnp.zeros((2, 1))}


@pytest.mark.parametrize("n", [1, 2, 3, 7])
@pytest.mark.parametrize(
    "apply", [through_a_gate, with_a_head_of_zeros, with_a_step_of_the_batch]
)
def test_what_mixes_silently_is_refused(apply, n):
    x = 1.0 + jnp.abs(normal((n, 3)))  # all on one side of the step
    with pytest.raises(ValueError, match=MIXES):
        check_apply(apply, SILENT, x)


def test_batch_norm_before_a_head_of_zeros_is_refused():
    class Silent(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.BatchNorm(use_running_average=False)(nn.Dense(8)(x))
            return nn.Dense(1, kernel_init=nn.initializers.zeros)(nn.relu(x))

    module, x = Silent(), normal((5, 3), jnp.float32)
    variables = module.init(jax.random.key(0), x)

    def apply(params, x):
        held = {"params": params, "batch_stats": variables["batch_stats"]}
        return module.apply(held, x, mutable=["batch_stats"])[0]

    with pytest.raises(ValueError, match=MIXES):
        check_apply(apply, variables["params"], x)


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_networks_that_keep_the_contract_pass(n):
    check_apply(line, PARAMS, normal((n, 3)))
    check_apply(line, PARAMS, np.asarray(normal((n, 3))))
    check_apply(embedding, PARAMS, jnp.arange(2 * n).reshape(n, 2) % 3)


def test_layer_norm_and_attention_over_tokens_pass():
    model = models.from_flax(Attention(), (5, 4))
    params = random_params(model, jnp.float32)
    with jax.numpy_rank_promotion("allow"):  # flax adds biases to tokens
        check_apply(model.apply, params, normal((6, 5, 4), jnp.float32))


@pytest.mark.parametrize("n", [1, 2, 9])
@pytest.mark.parametrize(
    "apply", [minus_batch_mean, minus_held_batch_mean, divided_by_batch_size]
)
def test_functions_of_the_batch_are_refused(apply, n):
    with pytest.raises(ValueError, match=MIXES):
        check_apply(apply, PARAMS, normal((n, 3)))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 9])
@pytest.mark.parametrize(
    "apply",
    [
        running_sum,
        plus_row_before,
        plus_row_before_around_the_end,
        minus_last_row,
        plus_held_row_before,
        plus_position,
    ],
)
def test_no_row_may_see_another_wherever_it_stands(apply, n):
    with pytest.raises(ValueError, match=MIXES):
        check_apply(apply, PARAMS, normal((n, 3)))


@pytest.mark.parametrize("apply", [second_row_sees_third, held_second_row_sees_third])
def test_every_pair_of_the_rows_is_looked_at(apply):
    with pytest.raises(ValueError, match=MIXES):
        check_apply(apply, PARAMS, normal((7, 3)))


def test_identical_rows_do_not_hide_mixing():
    with pytest.raises(ValueError, match=MIXES):
        check_apply(minus_batch_mean, PARAMS, jnp.ones((4, 3)))


def test_batch_norm_in_training_mode_is_refused():
    module = TrainedNorm()
    x = normal((6, 3), jnp.float32)
    variables = module.init(jax.random.key(0), x)

    def apply(params, x):
        variables_now = {**variables, "params": params}
        return module.apply(variables_now, x, mutable=["batch_stats"])[0]

    with pytest.raises(ValueError, match=r"batch normalization in training mode"):
        check_apply(apply, variables["params"], x)


@pytest.mark.parametrize("tokens", [[[1]], [[0, 2]], [[0, 1], [2, 1]], [[1]] * 5])
def test_mixing_of_integer_inputs_is_seen(tokens):
    check_apply(embedding, PARAMS, jnp.array(tokens))
    with pytest.raises(ValueError, match=MIXES):
        check_apply(mixed_embedding, PARAMS, jnp.array(tokens))


def test_booleans_are_inputs_too():
    def masked(params, x):
        return jnp.where(x, 1.0, 0.5) @ params["w"]

    x = jnp.array([[True, False, True]])
    check_apply(masked, PARAMS, x)
    with pytest.raises(ValueError, match=MIXES):
        check_apply(lambda p, x: masked(p, x ^ x[::-1]), PARAMS, x)


@pytest.mark.parametrize("n", [1, 4])
def test_pytrees_of_floats_and_integers_are_inputs_too(n):
    x = {"image": normal((n, 3)), "label": jnp.arange(n) % 3}

    def conditioned(params, x):
        return line(params, x["image"]) + params["w"][x["label"]]

    def flipped(params, x):
        return line(params, x["image"]) + params["w"][x["label"][::-1]]

    check_apply(conditioned, PARAMS, x)
    with pytest.raises(ValueError, match=MIXES):
        check_apply(flipped, PARAMS, x)


def test_an_infinite_derivative_at_another_row_is_not_mixing():
    def norm(params, x):
        return jnp.sqrt(jnp.sum(x**2, axis=1, keepdims=True)) * params["w"][:1]

    check_apply(norm, PARAMS, jnp.array([[1.0, 2.0], [0.0, 0.0]]))


def test_outputs_that_cancel_to_rounding_are_not_mixing():
    def doubled(params, x):
        hidden = jnp.tanh(jnp.concatenate([line(params, x)] * 2, axis=1))
        return hidden @ jnp.array([[1.3], [0.7], [-1.3], [-0.7]], x.dtype)

    params = {"w": PARAMS["w"].astype(jnp.float32)}
    check_apply(doubled, params, normal((4, 3), jnp.float32))


def test_only_a_few_rows_are_evaluated():
    sizes = []

    def spy(params, x):
        sizes.append(len(x))
        return line(params, x)

    check_apply(spy, PARAMS, normal((100, 3)))
    assert max(sizes) == 4


def test_the_rows_come_from_both_ends():
    x = normal((100, 3))
    for row in (0, 1, 98, 99):
        with pytest.raises(ValueError, match=f"for example {row} of"):
            check_apply(line, PARAMS, x.at[row].set(jnp.nan))
    check_apply(line, PARAMS, x.at[2:98].set(jnp.nan))


@pytest.mark.parametrize(
    "apply, message",
    [
        (lambda p, x: line(p, x)[:, 0], r"got \(4,\) for n = 4: add an output axis"),
        (lambda p, x: line(p, x).T, r"got \(2, 4\) for n = 4: keep the batch axis"),
        (
            lambda p, x: line(p, x)[:, :, None],
            r"must return shape \(n, c\), got \(4, 2",
        ),
        (lambda p, x: line(p, x)[:, :0], r"got \(4, 0\)"),
        (lambda p, x: jnp.sum(line(p, x)), r"got \(\) for n = 4"),
        (
            lambda p, x: jnp.squeeze(line(p, x), 0) if len(x) == 1 else line(p, x),
            "n = 1",
        ),
        (lambda p, x: (line(p, x), {}), "must return one array .n, c., got a pytree"),
        (lambda p, x: (line(p, x), p), "return the outputs alone"),
        (lambda p, x: line(p, x).argmax(1, keepdims=True), "got int64: return logits"),
    ],
)
def test_other_outputs_are_refused_with_values_and_under_jit(apply, message):
    x = normal((4, 3))
    with pytest.raises(ValueError, match=message):
        check_apply(apply, PARAMS, x)

    @jax.jit
    def inside(params, x):
        check_apply(apply, params, x)
        return x

    with pytest.raises(ValueError, match=message):
        inside(PARAMS, x)


def test_under_jit_values_are_not_looked_at():
    @jax.jit
    def inside(params, x):
        check_apply(line, params, x)
        check_apply(minus_batch_mean, PARAMS, normal((4, 3)))
        return line(params, x)

    assert inside(PARAMS, normal((4, 3))).shape == (4, 2)


def test_nothing_to_differentiate_is_refused():
    for params in ({}, {"w": jnp.arange(6).reshape(3, 2)}):
        with pytest.raises(ValueError, match="nothing to differentiate"):
            check_apply(line, params, normal((4, 3)))


def test_a_non_finite_output_names_its_example():
    x = normal((4, 3)).at[2, 1].set(jnp.nan)
    with pytest.raises(
        ValueError, match=r"infinite values for example 2 of `x` \(1 of"
    ):
        check_apply(line, PARAMS, x)
    with pytest.raises(ValueError, match=r"example 98 of `x` \(2 of the 4 examples"):
        check_apply(line, PARAMS, normal((100, 3)).at[98:].set(jnp.nan))
    with pytest.raises(ValueError, match=r"for example 0 of `x` \(1 of the 1 examples"):
        check_apply(line, PARAMS, jnp.full((1, 3), jnp.inf))


def test_empty_or_ragged_batches_are_refused():
    with pytest.raises(ValueError, match="`x` is empty"):
        check_apply(line, PARAMS, jnp.zeros((0, 3)))
    with pytest.raises(ValueError, match="same leading batch axis"):
        check_apply(line, PARAMS, [jnp.zeros((2, 3)), jnp.zeros((3, 3))])


def test_a_model_in_place_of_its_apply_is_refused(no_type_checks):
    model = models.mlp((3,))
    with pytest.raises(TypeError, match="got Model: pass its `.apply`"):
        check_apply(model, PARAMS, normal((4, 3)))  # pyright: ignore
    with pytest.raises(TypeError, match="got int: pass a function"):
        check_apply(3, PARAMS, normal((4, 3)))  # pyright: ignore


def test_messages_are_about_what_was_passed_and_not_about_the_rows_looked_at():
    model = models.mlp((8, 8, 1), widths=(4,))
    params = model.init(jax.random.key(0))
    with pytest.raises(ValueError, match=r"got \(8, 8, 1\): add the batch axis with"):
        check_apply(model.apply, params, np.zeros((8, 8, 1), np.float32))
    with pytest.raises(ValueError, match=r"got \(50,\) for n = 50"):
        check_apply(lambda params, x: line(params, x)[:, 0], PARAMS, jnp.ones((50, 3)))


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float8_e4m3fn"])
def test_parameters_of_few_bits(name):
    """numpy promotes them by other rules than JAX."""
    dtype = jnp.dtype(name)
    params = {"w": normal((3, 2)).astype(dtype), "b": jnp.zeros(2, dtype)}

    def apply(p, x):
        return jnp.tanh(x @ p["w"].astype(x.dtype)) + p["b"].astype(x.dtype)[None]

    check_apply(apply, params, normal((4, 3), jnp.bfloat16))

    def strict(p, x):
        return jax.lax.add(x @ p["w"], p["b"][None])

    if name != "float8_e4m3fn":
        check_apply(strict, params, normal((1, 3)).astype(dtype))


def test_parameters_close_by_may_be_refused():
    """A variance below zero is no variance."""

    def apply(p, x):
        variance = eqx.error_if(p["variance"], p["variance"] < 0, "negative variance")
        return line(p, x / jnp.sqrt(variance + 1e-5)[None])

    check_apply(apply, {"variance": jnp.zeros(3), **PARAMS}, normal((4, 3)))


def test_inside_a_trace_nothing_has_a_value():
    x = normal((4, 3))

    @jax.jit
    def inside(s):
        check_apply(line, PARAMS, x)  # known, but computed when `inside` is
        return 2 * s

    assert inside(1.0) == 2.0


def test_a_flax_module_takes_no_parameters_itself():
    module: Any = nn.Dense(2)
    with pytest.raises(TypeError, match=r"got Dense: pass its `.apply`"):
        check_apply(module, {"params": PARAMS}, normal((4, 3)))


def test_a_number_is_no_shape(no_type_checks):
    number: Any = 5
    with pytest.raises(ValueError, match="must be several positive .* such as"):
        models.mlp(number)
