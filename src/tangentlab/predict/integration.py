r"""Gradient flow on any loss, by an ordinary differential equation.

>>> import numpy as np
>>> import optax
>>> flow = loss_flow(np.eye(1), np.ones(1), np.log(2.0), optax.l2_loss)
>>> flow.outputs.round(6).tolist()
[0.5]
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Real

from .._checks import is_whole
from .._linalg import HIGHEST
from .._types import AnyArray
from ..spectra import Spectrum
from ..spectra.checking import as_array, check_real, check_symmetric
from .checking import (
    check_amount,
    check_not_complex,
    check_start,
    check_times,
    check_tolerance,
)
from .problem import Kernel, Outputs, decompose, flat
from .record import Solution, assemble

Loss = Callable[[Any, Any], Array]
"""`loss(outputs, y)`: losses of the samples, of any shape; they are added up."""


def loss_flow(
    K: Kernel,
    y: Real[AnyArray, "n ..."],
    t: Any,
    loss: Loss,
    *,
    f_0: Outputs | None = None,
    ridge: float = 0.0,
    tolerance: float = 1e-8,
    solver: Any = None,
    max_steps: int = 100_000,
) -> Solution:
    r"""The linearized network after gradient flow on any loss of its outputs.

    $$\dot \beta = -\tfrac1n \left(\nabla_f \textstyle\sum_i \ell(f(x_i), y_i) + \rho
    \beta\right), \qquad f(X) = f_0(X) + K \beta$$

    from $\beta = 0$, on the loss averaged over the $n$ samples, so that $t$ = learning
    rate x steps. The kernel does not know the loss, where training ends does: square
    loss converges (`gradient_flow` has it in closed form), cross-entropy on separable
    data does not; its norm grows like $\log t$ while its direction turns to that of
    `hard_margin`. Integrated in float64 with diffrax, adaptively; a step costs `O(n^2
    c)`, or `O(n^2 c^2)` with a kernel between outputs. Explicit steps are limited to
    about $3 n / \mu_{\max}$ of time wherever the loss is curved.

    Args:
        K: Kernel of the training samples, (n, n) or (n, c, n, c): an array, a
            `TiledGram`, or `decompose(K)`.
        y: What the loss compares outputs with, n rows.
        t: A finite time, or an array of them.
        loss: `loss(outputs, y)`, differentiable by JAX, such as
            `optax.sigmoid_binary_cross_entropy`; with classes as labels, such as
            `optax.softmax_cross_entropy_with_integer_labels`, `f_0` tells the number
            of outputs. Its values are added up and divided by n.
        f_0: Outputs before training, (n,) or (n, c); zeros like `y` by default.
        ridge: $\rho$, as in `gradient_flow`.
        tolerance: Of the outputs, relative and absolute, for each step.
        solver: Any solver of diffrax; `diffrax.Tsit5()` by default. For times much
            longer than $n / \mu_{\max}$ an implicit one, `diffrax.Kvaerno5()`, takes
            fewer steps.
        max_steps: At most so many steps.

    Returns:
        The solution, times first.

    Raises:
        ImportError: If diffrax is not installed.
        TypeError: If `loss` is no function.
        ValueError: If something does not fit, a time is infinite, a label is none of
            the classes, or the integration fails.

    Reference:
        Lee et al., "Wide neural networks of any depth evolve as linear models under
        gradient descent", 2019 (arXiv:1902.06720); Soudry et al., "The implicit bias
        of gradient descent on separable data", 2018 (arXiv:1710.10345).
    """
    diffrax = _diffrax()
    times, matrix, shape = _finite(t), _matrix(K), _shape(y, f_0)
    start = check_start(f_0, shape)
    size = _check_sizes(matrix, y, shape)
    ridge = check_amount("ridge", ridge)
    check_tolerance(tolerance)
    if not (is_whole(max_steps) and max_steps > 0):
        raise ValueError(f"`max_steps` must be a whole number >= 1, got {max_steps}.")
    with jax.enable_x64(True):
        wide = jnp.asarray(matrix)
        begin = jnp.zeros(shape) if start is None else jnp.asarray(start)
        _check_loss(loss, begin, y)
        _check_classes(y, shape)

        def outputs(beta):
            return begin + jnp.matmul(wide, beta, precision=HIGHEST).reshape(shape)

        def velocity(_, beta, labels):
            slope = jax.grad(lambda f: loss(f, labels).sum())(outputs(beta))
            return -(slope.reshape(beta.shape) + ridge * beta) / len(labels)

        # An error of beta is one of the outputs times the largest eigenvalue.
        scale = max(float(np.trace(matrix)), np.finfo(np.float64).tiny)
        control = diffrax.PIDController(rtol=tolerance, atol=tolerance / scale)
        beta = _integrate(
            diffrax,
            diffrax.ODETerm(velocity),
            (jnp.zeros((size, begin.size // size)), jnp.asarray(y)),
            times,
            (solver or diffrax.Tsit5(), control, max_steps),
        )
    change = np.einsum("ij,tjk->tik", matrix, beta, optimize=True)
    return assemble(beta, change, times=times.shape, shape=shape, f_0=start)


def _diffrax() -> ModuleType:
    try:
        import diffrax
    except ImportError as error:
        raise ImportError(
            "`loss_flow` integrates with diffrax, which is not installed: "
            "`pip install diffrax`."
        ) from error
    return diffrax


def _finite(t: Any) -> np.ndarray:
    times = check_times("t", t)
    if np.isinf(times).any():
        raise ValueError(
            "A general loss has no closed form at infinite time: on separable data "
            "cross-entropy has no limit at all, its norm grows like log t. Pass a "
            "finite `t`; `tl.predict.hard_margin` is the direction it turns to, and "
            "`tl.predict.ridgeless` the limit of square loss."
        )
    return times


def _matrix(K: Any) -> np.ndarray:
    if isinstance(K, Spectrum):
        V = np.asarray(decompose(K).eigenvectors, np.float64)
        return (V * np.asarray(K.eigenvalues, np.float64)) @ V.T
    given = as_array(K)
    shape = tuple(flat(given).shape)
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        raise ValueError(
            "`K` must be the kernel of the training samples, (n, n), or (n, c, n, c) "
            f"between all outputs, got shape {tuple(given.shape)}."
        )
    check_real(given)
    matrix = np.asarray(flat(given), np.float64)
    if not np.isfinite(matrix).all():
        raise ValueError(
            "`K` holds NaN or infinite entries: look for them in the samples that it "
            "was computed from."
        )
    epsilon = float(jnp.finfo(given.dtype).eps)
    check_symmetric(np.abs(matrix - matrix.T).max(), np.abs(matrix).max(), epsilon)
    return matrix


def _shape(y: Any, f_0: Any) -> tuple[int, ...]:
    """Of the outputs; a network of one output has a last axis that targets lack."""
    if f_0 is None or np.shape(f_0) == (*np.shape(y), 1):
        return np.shape(y)
    return np.shape(f_0)


def _check_loss(loss: Loss, outputs: Array, y: Any) -> None:
    if not callable(loss):
        raise TypeError(
            f"`loss` must be a function `loss(outputs, y)`, got {loss!r}: pass one "
            "such as `optax.l2_loss`."
        )
    made = jax.eval_shape(loss, outputs, jnp.asarray(y)).shape
    if made[:1] != outputs.shape[:1] or np.prod(made) > outputs.size:
        raise ValueError(
            f"`loss` must return one number for each of the {len(y)} samples, or one "
            f"for each output, got shape {made} for outputs {outputs.shape} and labels "
            f"{np.shape(y)}: it is averaged over the samples here."
        )


def _check_classes(y: Any, shape: tuple[int, ...]) -> None:
    """Labels that are classes, one a row of several outputs, must be among them."""
    labels = np.asarray(y)
    if labels.ndim != 1 or len(shape) != 2 or labels.dtype.kind not in "iu":
        return
    if not (0 <= labels.min() and labels.max() < shape[1]):
        raise ValueError(
            f"`y` holds classes from {labels.min()} to {labels.max()}, but `f_0` has "
            f"{shape[1]} outputs: classes are counted 0..{shape[1] - 1}."
        )


def _check_sizes(matrix: np.ndarray, y: Any, shape: tuple[int, ...]) -> int:
    """Rows of the kernel, if labels and outputs fit them."""
    if np.ndim(y) == 0:
        raise ValueError(f"`y` must hold a label for each sample, got {y!r}.")
    size, n = len(matrix), len(y)
    check_not_complex("y", y)
    if not np.isfinite(np.asarray(y)).all():
        raise ValueError("`y` holds NaN or infinite values: leave out these samples.")
    total = int(np.prod(shape))
    if shape[0] != n or size not in (n, total) or len(shape) not in (1, 2):
        raise ValueError(
            f"Outputs of shape {shape} and labels `y` of shape {np.shape(y)} do not "
            f"fit a kernel of {size} rows: a kernel (n, n) takes n rows of both, one "
            "between outputs (n, c, n, c) takes outputs (n, c). Pass `f_0` where "
            "outputs are not shaped like `y`."
        )
    return size


def _integrate(
    diffrax: Any, term: Any, start: tuple[Array, Array], times: np.ndarray, how: Any
) -> np.ndarray:
    """Coefficients at each time, (number of times, s, k)."""
    beta, labels = start
    solver, control, max_steps = how
    moments, back = np.unique(np.r_[0.0, times.ravel()], return_inverse=True)
    if len(moments) == 1:
        return np.zeros((times.size, *beta.shape))
    found = diffrax.diffeqsolve(
        term,
        solver,
        t0=0.0,
        t1=float(moments[-1]),
        dt0=None,
        y0=beta,
        args=labels,
        saveat=diffrax.SaveAt(ts=jnp.asarray(moments)),
        stepsize_controller=control,
        max_steps=max_steps,
        throw=False,
    )
    made = np.asarray(found.ys)
    if found.result != diffrax.RESULTS.successful or not np.isfinite(made).all():
        raise ValueError(
            f"The integration to t = {moments[-1]:g} failed after "
            f"{int(found.stats['num_steps'])} steps (`max_steps` is {max_steps}). Ask "
            "for a shorter time, raise `tolerance` or `max_steps`, or pass an implicit "
            "solver such as `solver=diffrax.Kvaerno5()`."
        )
    return made[back[1:]]
