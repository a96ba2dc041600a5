r"""Batch statistics are frozen in the linearization of a ResNet18.

With frozen statistics the linear model is affine in the parameters, so that
$\hat f(\theta_0 + a + b) - \hat f(\theta_0 + a) - \hat f(\theta_0 + b) + \hat
f(\theta_0) = 0$, and an image's output does not depend on the images beside it. Both
are compared with what the network itself does, for which neither holds.
"""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..._types import Apply, Params
from ...models import Model, linearize, resnet18
from ..stages.seeds import Seed

_IMAGES = 4


def check_frozen(seed: Seed, width: int) -> None:
    """Second differences and effects of a batch, unless it was done before.

    Args:
        seed: Its number, and samples to look at.
        width: Channels of the first stage of the network.
    """
    if seed.has("frozen"):
        return
    shape = _as_image(seed.dataset.shape)
    model = resnet18(shape, width=width)
    params = model.init(jax.random.key(seed.number))
    x = np.asarray(seed.dataset.x[:_IMAGES]).reshape(-1, *shape)
    with jax.enable_x64(True):
        # Arithmetic on parameters is numpy's: JAX compiles it for each of 60 shapes.
        params = jax.tree.map(partial(np.asarray, dtype=np.float64), params)
        found = _measure(model, params, jnp.asarray(x, np.float64), seed.number)
    seed.save("frozen", **{name: np.asarray(value) for name, value in found.items()})


def second_difference(
    apply: Apply, params: Params, steps: tuple[Params, Params], x: Array
) -> Array:
    """How far a model is from affine in its parameters.

    Args:
        apply: The model.
        params: Where to start.
        steps: Two steps.
        x: Samples.

    Returns:
        The second difference along both steps, over the change along both.
    """
    a, b = steps

    def at(*taken: Params) -> Array:
        moved = params
        for step in taken:
            moved = jax.tree.map(np.add, moved, step)
        return apply(moved, x)

    start, end = at(), at(a, b)
    bend = end - at(a) - at(b) + start
    return jnp.max(jnp.abs(bend)) / jnp.max(jnp.abs(end - start))


def _measure(model: Model, params: Params, x: Array, number: int) -> dict[str, Array]:
    rng = np.random.default_rng([number, 0])
    first, second = _step(params, rng), _step(params, rng)
    linear, network = jax.jit(linearize(model.apply, params)), jax.jit(model.apply)
    state = model.init_state()
    moved = jax.tree.map(np.add, params, first)

    @jax.jit
    def trained(params: Params, x: Array) -> Array:
        return model.apply_train(params, state, x)[0]

    return {
        "linearized": second_difference(linear, params, (first, second), x),
        "network": second_difference(network, params, (first, second), x),
        "linearized_beside": _beside(linear, moved, x),
        "network_beside": _beside(trained, moved, x),
    }


def _beside(apply: Apply, params: Params, x: Array) -> Array:
    """How far the outputs of two images change when those beside them do."""
    others = jnp.concatenate([x[:2], -x[2:]])
    before, after = (apply(params, each)[:2] for each in (x, others))
    return jnp.max(jnp.abs(before - after)) / jnp.max(jnp.abs(before))


def _as_image(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Samples that are no images become images one pixel wide."""
    return shape if len(shape) == 3 else (math.prod(shape), 1, 1)


def _step(params: Params, rng: np.random.Generator) -> Params:
    """A random step, in each array as long as the array itself, or of length 1."""

    def draw(leaf: np.ndarray) -> np.ndarray:
        step = rng.normal(size=leaf.shape)
        return step * (np.linalg.norm(leaf) or 1.0) / np.linalg.norm(step)

    return jax.tree.map(draw, params)
