"""What training in function space refuses."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from .._checks import check_square
from .._linalg import blocks
from ..spectra.checking import finite_message
from ..spectra.multiplying import diagonal
from .dual_steps import Start
from .gram_rows import GramLike, GramRows
from .recipe import Recipe, check_is_recipe

_SAMPLED = 32  # rows and columns by which a matrix is told from another
_ROWS = 16  # of a matrix on disk that are compared with the same columns
_ROUNDING, _MOST = 1e3, 1e-3  # asymmetry: in machine epsilons; in half precision
_BLOCK = 1024


def check_recipe(recipe: Recipe, origin: Any) -> None:
    """Raise unless a recipe can be followed in function space.

    Args:
        recipe: The recipe.
        origin: What was passed as `origin`.

    Raises:
        ValueError: For Adam, or for weight decay without `origin`.
    """
    check_is_recipe(recipe)
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


def check_rates(rates: Any, recipe: Recipe, num_train: int) -> Float[np.ndarray, " k"]:
    """Raise unless there is a learning rate for each step.

    Args:
        rates: The rates.
        recipe: Its epochs and batches.
        num_train: Number of training samples.

    Returns:
        The rates.

    Raises:
        ValueError: If there are more or fewer, or one is negative or not finite.
    """
    found = np.asarray(rates)
    steps = recipe.epochs * recipe.steps_per_epoch(num_train)
    if found.shape != (steps,):
        raise ValueError(
            f"`rates` needs one learning rate for each of {steps} steps "
            f"({recipe.epochs} epochs of {steps // recipe.epochs}), got an array of "
            f"shape {found.shape}."
        )
    if not (np.isfinite(found) & (found >= 0)).all():
        raise ValueError("`rates` must be finite and at least 0.")
    return found


def check_gram(K: GramLike, n: int) -> Float[np.ndarray, " n"]:
    """Raise unless a matrix can be the Gram matrix of `n` samples.

    Args:
        K: The matrix. Symmetry of an array is looked at everywhere, that of a matrix on
            disk in some rows and columns, spread over all.
        n: Number of samples, train and test.

    Returns:
        Its diagonal, in float64.

    Raises:
        ValueError: If it is not square, not of this size, not of real numbers, not
            symmetric, or has a diagonal that is negative or not finite.
    """
    check_square("K", K)
    if K.shape[0] != n:
        raise ValueError(
            f"`K` has shape {K.shape}, the tasks have {n} samples: pass the Gram "
            "matrix of all samples, train then test, `tl.gram(apply, params, task.x)`."
        )
    if not jnp.issubdtype(jnp.dtype(K.dtype), jnp.floating):
        raise ValueError(
            f"`K` must hold floating-point numbers, got {K.dtype}: cast it, as in "
            "`K.astype(float)`."
        )
    own = diagonal(K)
    if not np.isfinite(own).all():
        raise ValueError(finite_message(int(np.isfinite(own).argmin())))
    if (own < 0).any():
        raise ValueError(
            f"`K` is no Gram matrix: entry {int(own.argmin())} of its diagonal is "
            f"{own.min():g}, a squared norm cannot be negative."
        )
    with jax.enable_x64(True):  # or JAX takes no part of a float64 array
        _check_symmetric(K, np.sqrt(own))
    return own


def _check_symmetric(K: GramLike, sizes: Float[np.ndarray, " n"]) -> None:
    n = K.shape[0]
    whole = isinstance(K, jax.Array | np.ndarray)
    chosen = _spread_over(n, _ROWS)
    strips = list(blocks(n, _BLOCK)) if whole else [slice(i, i + 1) for i in chosen]
    rounding = min(_ROUNDING * float(jnp.finfo(K.dtype).eps), _MOST)
    for strip in strips:
        rows, columns = jnp.asarray(K[strip]), jnp.asarray(K[:, strip])
        uneven = np.asarray(_uneven(rows, columns, rounding * sizes[strip], sizes))
        if uneven.any():
            at = int(uneven.argmax())
            i, row, column = strip.start + at, rows[at], columns[:, at]
            gaps = np.abs(np.asarray(row - column, np.float64))
            j = int((gaps / np.maximum(sizes[i] * sizes, 1e-300)).argmax())
            raise ValueError(
                f"`K` is not symmetric: K[{i}, {j}] = {float(row[j]):g}, K[{j}, {i}] = "
                f"{float(column[j]):g}. Compute it on one set of samples, "
                "`tl.gram(apply, params, x)`; if that is rounding, take (K + K.T) / 2."
            )


def some_entries(K: GramLike) -> Float[np.ndarray, "k k"]:
    """Entries by which a matrix is told from another one with the same diagonal.

    Args:
        K: The matrix.

    Returns:
        Those between some samples, spread over all.
    """
    chosen = _spread_over(K.shape[0], _SAMPLED)
    return np.asarray(K[np.ix_(chosen, chosen)])


def _spread_over(n: int, num: int) -> Int[np.ndarray, " k"]:
    return np.unique(np.linspace(0, n - 1, min(n, num)).astype(int))


@jax.jit
def _uneven(
    rows: Float[Array, "k n"],
    columns: Float[Array, "n k"],
    own: Float[Array, " k"],
    others: Float[Array, " n"],
) -> Bool[Array, " k"]:
    """Rows that differ from their columns; entries that are not finite do not count."""
    gaps = jnp.abs(rows - columns.T)
    limits = (own[:, None] * others[None]).astype(gaps.dtype)
    return ((gaps > limits) & jnp.isfinite(gaps)).any(axis=1)


def check_start(f_0: Any, origin: Any, rows: GramRows) -> Start:
    r"""Raise unless initial outputs fit the Gram matrix.

    Args:
        f_0: Outputs of the network.
        origin: $J \theta_0$ and $\|\theta_0\|^2$, or None.
        rows: The Gram matrix.

    Returns:
        Both, in the dtype of the Gram matrix and beside it.
    """
    outputs = _vector("f_0", f_0, "apply(params, x)", rows)
    if origin is None:
        nothing = jnp.asarray(jnp.nan, rows.dtype)
        return rows.beside(Start(outputs, jnp.zeros_like(outputs), nothing))
    q, squared_norm = _pair(origin)
    q = _vector("origin[0]", q, "tl.origin(apply, params, x)", rows)
    return rows.beside(Start(outputs, q, jnp.asarray(squared_norm, rows.dtype)))


def _pair(origin: Any) -> tuple[Any, float]:
    pair = isinstance(origin, tuple | list) and len(origin) == 2
    if not pair or np.size(origin[1]) != 1 or not 0 <= float(origin[1]) < np.inf:
        raise ValueError(
            "`origin` must be a pair, one number for each sample and the squared norm "
            "of the initial parameters: pass `tl.origin(apply, params, x)`."
        )
    return origin[0], float(origin[1])


def _vector(name: str, values: Any, source: str, rows: GramRows) -> Float[Array, " n"]:
    got = "None"
    if values is not None:
        values = jnp.asarray(values)
        got = f"shape {values.shape}"
    if values is None or values.shape not in ((rows.n,), (rows.n, 1)):
        raise ValueError(
            f"`{name}` must be one number for each of the {rows.n} samples of `K`, "
            f"train then test, got {got}: pass `{source}`."
        )
    if not jnp.isfinite(values).all():
        sample = int(jnp.isfinite(values).reshape(-1).argmin())
        raise ValueError(
            f"`{name}` holds NaN or infinite values, the first for sample {sample}: "
            "look at the parameters and at that sample."
        )
    return values.astype(rows.dtype).reshape(rows.n)
