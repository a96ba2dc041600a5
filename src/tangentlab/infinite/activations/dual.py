r"""The record every activation rests on: a function and its two Gaussian integrals."""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Function = Callable[[Array], Array]
"""An elementwise function of an array, written with `jax.numpy`."""

PairKernel = Callable[[Array, Array, Array], Array]
"""`kernel(q_12, q_1, q_2)`, elementwise over arrays of equal rank that broadcast."""

Values = tuple[Float[Array, "..."], Float[Array, "..."]]
"""The kernel and its derivative kernel."""


@dataclass(frozen=True)
class Dual:
    r"""A nonlinearity $\phi$ and what it makes of Gaussian inputs.

    $$k = E[\phi(u)\,\phi(v)], \qquad \dot k = E[\phi'(u)\,\phi'(v)], \qquad
    (u, v) \sim N\Big(0, \begin{pmatrix} q_1 & q_{12} \\ q_{12} & q_2 \end{pmatrix}
    \Big)$$

    The covariances are arrays of equal rank that broadcast: `q_1` is usually `(n, 1)`,
    `q_2` `(1, m)` and `q_12` `(n, m)`. Under `jit`, a value that nobody uses is not
    computed: whoever wants the kernel alone drops the second one.

    Gradients are finite everywhere, at coincident inputs (`q_12 == q_1 == q_2`) and at
    zero variance too. Where the derivative kernel has a cusp (that of a ReLU has one at
    coincident inputs), its gradient there is the mean of both sides, 0.

    Attributes:
        fn: The nonlinearity itself, on arrays.
        pair: `pair(q_12, q_1, q_2) -> (k, kdot)`.
        single: `single(q) -> (k, kdot)` of one variable with itself, which is
            `pair(q, q, q)` at less cost.
    """

    fn: Function
    pair: Callable[[Array, Array, Array], Values]
    single: Callable[[Array], Values]


def dual_of_kernel(
    fn: Function, kernel: PairKernel, derivative_kernel: PairKernel | None = None
) -> Dual:
    r"""A dual known by its kernel; the derivative kernel follows by itself.

    Price's theorem: $E[\phi'(u)\,\phi'(v)] = \partial k / \partial q_{12}$.

    Args:
        fn: The nonlinearity.
        kernel: $E[\phi(u)\phi(v)]$ as a function of `(q_12, q_1, q_2)`, differentiable
            in `q_12` up to and including coincident inputs.
        derivative_kernel: $E[\phi'(u)\phi'(v)]$; differentiates `kernel` if not given.

    Returns:
        The record.

    Example:
        >>> import jax.numpy as jnp
        >>> dual = dual_of_kernel(jnp.square, lambda c, p, q: p * q + 2 * c**2)
        >>> [float(value) for value in dual.single(jnp.array(1.0))]
        [3.0, 4.0]
    """

    def pair(q_12: Array, q_1: Array, q_2: Array) -> Values:
        if derivative_kernel is not None:
            return kernel(q_12, q_1, q_2), derivative_kernel(q_12, q_1, q_2)
        ones = jnp.ones_like(q_12)
        return jax.jvp(lambda q: kernel(q, q_1, q_2), (q_12,), (ones,))

    return Dual(fn, pair, lambda q: pair(q, q, q))
