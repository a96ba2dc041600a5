r"""Networks that learn from a smaller network, which some of them could be.

Targets are outputs of a teacher, $\sum_j a_j \mathrm{ReLU}(w_j^\top x)$ with few units.
A student with at least as many units has the global minimum 0; whether gradient descent
finds it depends on the start, and on how many units more there are.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ... import theory
from ..._types import Params, PRNGKey

_SAMPLES, _DIM, _RATE = 20, 5, 0.2


def student_losses(
    width: int, teacher_units: int, num_starts: int, num_steps: int, seed: int
) -> Float[np.ndarray, " s"]:
    """Where gradient descent of students of one width ends.

    Both layers are trained on the mean square loss. Every start draws samples, uniform
    on the unit sphere, a teacher and a student.

    Args:
        width: Hidden units of the student.
        teacher_units: Those of the teacher.
        num_starts: How many starts.
        num_steps: Steps of gradient descent from each.
        seed: Draws everything.

    Returns:
        The loss over that of the output 0, for each start; 0 is the global minimum.
    """
    apply = theory.two_layer_both()

    def draw(key: PRNGKey, units: int) -> Params:
        outer, inner = jax.random.split(key)
        return {
            "a": jax.random.normal(outer, (units,)),
            "W": jax.random.normal(inner, (units, _DIM)),
        }

    def descend(key: PRNGKey) -> Array:
        samples, teacher, student = jax.random.split(key, 3)
        z = jax.random.normal(samples, (_SAMPLES, _DIM))
        x = z / jnp.linalg.norm(z, axis=1, keepdims=True)
        y = apply(draw(teacher, teacher_units), x)

        def loss(params: Params) -> Array:
            return jnp.sum((apply(params, x) - y) ** 2) / (2 * _SAMPLES)

        def step(_: Any, params: Params) -> Params:
            slopes = jax.grad(loss)(params)
            return jax.tree.map(lambda p, g: p - _RATE * g, params, slopes)

        end = jax.lax.fori_loop(0, num_steps, step, draw(student, width))
        return loss(end) / (jnp.sum(y**2) / (2 * _SAMPLES))

    keys = jax.random.split(jax.random.key(seed), num_starts)
    return np.asarray(jax.jit(jax.vmap(descend))(keys))
