"""Kernels of finite networks, averaged over draws of their weights."""

import jax
import jax.numpy as jnp

from .._checks import batch_size
from .._keys import AnyKey, as_key
from .._progress import progress_bar
from .._types import AnyArray
from ..kernels import gram
from .calls import Kernels
from .flow import check_array
from .layer import Layer


def monte_carlo(
    layer: Layer,
    x_1: AnyArray,
    x_2: AnyArray | None = None,
    *,
    key: AnyKey,
    num_draws: int,
    progress: bool = False,
) -> Kernels:
    """Average kernels of the finite network over draws of its weights.

    They differ from those at infinite width by what random draws leave, and by
    something that vanishes with the width. Several outputs are averaged, too.

    Args:
        layer: The network.
        x_1: Examples.
        x_2: Other examples; None means `x_1` again.
        key: Random key.
        num_draws: Number of draws.
        progress: Show a progress bar.

    Returns:
        The mean of products of outputs, and of the tangent kernel.

    Raises:
        TypeError: If examples are no arrays.
        ValueError: If nothing is to be drawn, or `key` is no random key.
    """
    if num_draws < 1:
        raise ValueError(f"`num_draws` must be at least 1, got {num_draws}.")
    for name, x in {"x_1": x_1, "x_2": x_1 if x_2 is None else x_2}.items():
        check_array(name, x)
    batch_size("x_1", x_1)
    model = layer.model(tuple(x_1.shape[1:]))
    nngp = ntk = jnp.zeros(())
    title = "Finite networks"
    with progress_bar(title, num_draws, show=progress, unit="draws") as advance:
        for each in jax.random.split(as_key(key), num_draws):
            params = model.init(each)
            f_1 = model.apply(params, jnp.asarray(x_1))
            f_2 = f_1 if x_2 is None else model.apply(params, jnp.asarray(x_2))
            nngp = nngp + f_1 @ f_2.T / f_1.shape[1]
            ntk = ntk + gram(model.apply, params, x_1, x_2)
            advance(1)
    return Kernels(nngp / num_draws, ntk / num_draws)
