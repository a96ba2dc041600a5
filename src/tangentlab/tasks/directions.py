r"""Linearly separable tasks along one direction of input space, $\mathcal D(u)$.

The labels of every such task are equally easy to tell for a linear classifier; networks
find some directions far harder than others, and their neural anisotropy directions
(NADs) order them.

Reference:
    Ortiz-Jimenez, Moosavi-Dezfooli and Frossard, "What can linearized neural networks
    actually say about generalization?", NeurIPS 2021, arXiv:2106.06770, and
    "Neural anisotropy directions", NeurIPS 2020, arXiv:2006.09717.
"""

from typing import Literal, get_args

import jax
import numpy as np
from jaxtyping import Float

from .._checks import check_known, is_whole
from .._keys import AnyKey, as_key
from .._linalg import blocks
from .._types import AnyArray
from .randomness import draw, sample_keys
from .record import Task

Margin = Literal["text", "code"]
"""Class means at +-epsilon along the direction, or at half of it."""

_SCALE = {"text": 1.0, "code": 0.5}
_BLOCK = 1024  # samples in float64 at once


def direction(
    u: Float[AnyArray, "..."],
    num_train: int = 10_000,
    num_test: int = 10_000,
    *,
    key: AnyKey,
    margin: Margin = "text",
    epsilon: float = 1.0,
    noise: float = 1.0,
    index: int | None = None,
) -> Task:
    r"""Samples that one direction alone labels, noise in all others.

    $$x = \epsilon\,s\,u + w, \quad w \sim \mathcal N(0, \sigma^2 (I - u u^\top))$$

    with $s = \pm 1$ by a fair coin and label $y = 1[s > 0]$. The noise has no component
    along $u$: the sign of $u^\top x$ is the label, always. The text of the paper has
    $\epsilon$; its code has $\epsilon / 2$, so that classes are half as far apart. The
    text writes $\sigma$ for the variance, the code for the standard deviation; both
    take 1, where they agree.

    Args:
        u: The direction, of the shape of a sample; only its direction matters, not its
            norm.
        num_train: Number of training samples.
        num_test: Number of test samples.
        key: Draws labels and noise; the test split does not depend on `num_train`.
        margin: `"text"` for $\epsilon$, `"code"` for $\epsilon / 2$.
        epsilon: The margin $\epsilon$.
        noise: The standard deviation $\sigma$ of each coordinate orthogonal to $u$.
        index: Number of the direction, from 0, to be kept in the task.

    Returns:
        The task, samples as float32.

    Raises:
        ValueError: If `u` is zero or not finite, a number is not positive (`noise` may
            be 0) or not whole where it counts, `key` is no random key, or `margin` is
            unknown.
    """
    key = as_key(key)
    check_known("margin", margin, get_args(Margin))
    _check_numbers(num_train, num_test, epsilon, noise)
    unit = _normalized(u)
    flat = unit.ravel()
    coins, noises = (
        sample_keys(each, num_train, num_test) for each in jax.random.split(key)
    )
    positive = draw(jax.random.uniform, coins) < 0.5
    x = draw(jax.random.normal, noises, flat.shape)
    along = np.where(positive, 1.0, -1.0) * epsilon * _SCALE[margin]
    for rows in blocks(len(x), _BLOCK):
        w = noise * x[rows].astype(np.float64)
        x[rows] = w + np.outer(along[rows] - w @ flat, flat)
    return Task(
        x=x.reshape(-1, *unit.shape),
        y=positive.astype(np.float32),
        num_train=int(num_train),
        name="direction" if index is None else f"direction {index}",
        index=index,
        symbol="u",
    )


def _normalized(u: Float[AnyArray, "..."]) -> Float[np.ndarray, "..."]:
    if np.iscomplexobj(u):
        raise ValueError(f"`u` must be real-valued, got dtype {np.asarray(u).dtype}.")
    wide = np.asarray(u, np.float64)
    norm = np.linalg.norm(wide)
    if not (wide.ndim and np.isfinite(norm) and norm > 0):
        raise ValueError(
            "`u` must be a finite array other than 0, of the shape of a sample, got "
            f"shape {wide.shape} and norm {norm:g}."
        )
    return wide / norm


def _check_numbers(num_train: int, num_test: int, epsilon: float, noise: float) -> None:
    if not all(is_whole(num) and num > 0 for num in (num_train, num_test)):
        raise ValueError(
            "Both splits need samples, a whole number of them, got num_train = "
            f"{num_train} and num_test = {num_test}."
        )
    if not (0 < epsilon < np.inf and 0 <= noise < np.inf):
        raise ValueError(
            "`epsilon` must be above 0 and `noise` at least 0, both finite, got "
            f"epsilon = {epsilon:g} and noise = {noise:g}."
        )
