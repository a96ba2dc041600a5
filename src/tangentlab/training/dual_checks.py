"""What training in function space refuses."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .._checks import check_square
from .._linalg import blocks
from .gram_rows import GramLike, GramRows
from .recipe import Recipe

_SAMPLED = 32  # rows and columns on which symmetry is looked at
_TOLERANCE = 1e-3  # of a Gram matrix in half precision
_BLOCK = 1024


class Start(NamedTuple):
    r"""The network where training starts.

    Attributes:
        f_0: Its outputs.
        q: $J \theta_0$; zeros where nobody told.
        squared_norm: $\|\theta_0\|^2$; NaN where nobody told.
    """

    f_0: Float[Array, " n"]
    q: Float[Array, " n"]
    squared_norm: Float[Array, ""]


def check_recipe(recipe: Recipe, origin: Any) -> None:
    """Raise unless a recipe can be followed in function space.

    Args:
        recipe: The recipe.
        origin: What was passed as `origin`.

    Raises:
        ValueError: For Adam, or for weight decay without `origin`.
    """
    if recipe.optimizer != "sgd":
        raise ValueError(
            f"{recipe.optimizer!r} depends on the coordinates of weight space, which a "
            "Gram matrix does not know: train the linearization with "
            "`tl.train(tl.linearize(apply, params), params, ...)`, or use "
            "`Recipe(optimizer='sgd')`."
        )
    if recipe.weight_decay and origin is None:
        raise ValueError(
            f"Weight decay ({recipe.weight_decay:g}) pulls toward 0 and leaves the "
            "span of the examples' gradients: pass `origin=tl.origin(apply, params, "
            "x)`, or pull toward the initial parameters with `Recipe(start_decay=...)`."
        )


def check_gram(K: GramLike, n: int) -> Float[np.ndarray, " n"]:
    """Raise unless a matrix can be the Gram matrix of `n` samples.

    Symmetry is looked at on a sample of the entries.

    Args:
        K: The matrix.
        n: Number of samples, train and test.

    Returns:
        Its diagonal, in float64.

    Raises:
        ValueError: If it is not square, not of this size, not of real numbers, not
            finite, not symmetric, or has a negative diagonal.
    """
    check_square("K", K)
    if K.shape[0] != n:
        raise ValueError(
            f"`K` has shape {K.shape}, the tasks have {n} samples: pass the Gram "
            "matrix of all samples, train then test, `tl.gram(apply, params, task.x)`."
        )
    if not jnp.issubdtype(jnp.dtype(K.dtype), jnp.floating):
        raise ValueError(f"`K` must hold floating-point numbers, got {K.dtype}.")
    diagonal = _diagonal(K)
    chosen = np.unique(np.linspace(0, n - 1, min(n, _SAMPLED)).astype(int))
    entries = np.asarray(K[np.ix_(chosen, chosen)], np.float64)
    if not (np.isfinite(entries).all() and np.isfinite(diagonal).all()):
        raise ValueError("`K` holds NaN or infinite entries.")
    if (diagonal < 0).any():
        raise ValueError(
            f"`K` is no Gram matrix: entry {int(diagonal.argmin())} of its diagonal is "
            f"{diagonal.min():g}, a squared norm cannot be negative."
        )
    scale = np.sqrt(np.outer(diagonal[chosen], diagonal[chosen]))
    if (np.abs(entries - entries.T) > _TOLERANCE * scale).any():
        worst = np.abs(entries - entries.T).argmax()
        i, j = chosen[list(np.unravel_index(worst, entries.shape))]
        raise ValueError(
            f"`K` is not symmetric: K[{i}, {j}] = {float(K[i, j]):g}, K[{j}, {i}] = "
            f"{float(K[j, i]):g}. Compute it on one set of samples, "
            "`tl.gram(apply, params, x)`."
        )
    return diagonal


def _diagonal(K: GramLike) -> Float[np.ndarray, " n"]:
    if hasattr(K, "diagonal"):
        return np.asarray(K.diagonal(), np.float64)  # pyright: ignore[reportAttributeAccessIssue]
    squares = [np.asarray(K[b, b]) for b in blocks(K.shape[0], _BLOCK)]
    return np.concatenate([np.diagonal(s) for s in squares]).astype(np.float64)


def check_start(f_0: Any, origin: Any, rows: GramRows) -> Start:
    r"""Raise unless initial outputs fit the Gram matrix.

    Args:
        f_0: Outputs of the network.
        origin: $J \theta_0$ and $\|\theta_0\|^2$, or None.
        rows: The Gram matrix.

    Returns:
        Both, in the dtype of the Gram matrix.
    """
    outputs = _vector("f_0", f_0, "apply(params, x)", rows)
    if origin is None:
        nothing = jnp.asarray(jnp.nan, rows.dtype)
        return Start(outputs, jnp.zeros_like(outputs), nothing)
    q, squared_norm = origin
    q = _vector("origin[0]", q, "tl.origin(apply, params, x)", rows)
    return Start(outputs, q, jnp.asarray(squared_norm, rows.dtype))


def _vector(name: str, values: Any, source: str, rows: GramRows) -> Float[Array, " n"]:
    values = jnp.asarray(values)
    if values.shape not in ((rows.n,), (rows.n, 1)):
        raise ValueError(
            f"`{name}` must be one number for each of the {rows.n} samples of `K`, "
            f"train then test, got shape {values.shape}: pass `{source}`."
        )
    if not jnp.isfinite(values).all():
        raise ValueError(f"`{name}` holds NaN or infinite values.")
    return values.astype(rows.dtype).reshape(rows.n)
