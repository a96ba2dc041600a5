r"""The networks that the lectures prove things about.

One hidden layer of $m$ units with the factor $m^{-1/2}$ outside. Inputs are rows:

>>> import jax.numpy as jnp
>>> apply = two_layer(jnp.array([1.0, -1.0, 1.0, -1.0]))
>>> W = jnp.array([[1.0], [1.0], [3.0], [-1.0]])
>>> apply(W, jnp.array([[2.0]])).tolist()  # (2 - 2 + 6 - 0) / 2
[[3.0]]
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._linalg import HIGHEST
from .._types import AnyArray, Apply, Params, PRNGKey

Elementwise = Callable[[Array], Array]
"""An activation: acts on each number of an array."""


def two_layer(a: Float[AnyArray, " m"], activation: Elementwise = jax.nn.relu) -> Apply:
    r"""A network with one hidden layer, of which the first layer alone is trained.

    $$f(x; W) = \frac{1}{\sqrt m} \sum_{j=1}^m a_j\, \sigma(w_j^\top x)$$

    Args:
        a: Output weights, fixed; the theorems want $|a_j| \le 1$.
        activation: $\sigma$, elementwise.

    Returns:
        `apply(W, x) -> (n, 1)` with `W` of shape (m, d).

    Reference:
        The UBC lecture (CPSC 532S, March 2022); Telgarsky, "Deep learning theory
        lecture notes", section 4.
    """
    a = jnp.asarray(a)

    def apply(W: Float[Array, "m d"], x: Float[AnyArray, "n d"]):
        hidden = activation(jnp.asarray(x) @ W.T)
        return (hidden @ a.astype(hidden.dtype))[:, None] / a.size**0.5

    return apply


def two_layer_both(activation: Elementwise = jax.nn.relu) -> Apply:
    r"""A network with one hidden layer, of which both layers are trained.

    The same function as `two_layer`, without biases.

    Args:
        activation: $\sigma$, elementwise.

    Returns:
        `apply(params, x) -> (n, 1)` with `params = {"a": (m,), "W": (m, d)}`.

    Reference:
        The CentraleSupelec lecture (class 5, January 2025), for one input and for
        several.
    """

    def apply(params: Params, x: Float[AnyArray, "n d"]):
        return two_layer(params["a"], activation)(params["W"], x)

    return apply


def two_layer_kernel(
    W_0: Float[AnyArray, "m d"],
    a: Float[AnyArray, " m"],
    x_1: Float[AnyArray, "n d"],
    x_2: Float[AnyArray, "k d"] | None = None,
    activation: Elementwise = jax.nn.relu,
) -> Float[Array, "n k"]:
    r"""Tangent kernel of `two_layer` at finite width, written out.

    $$k_m(x, x') = x^\top x' \, \frac1m \sum_{j=1}^m a_j^2\, \sigma'(w_{0,j}^\top x)\,
      \sigma'(w_{0,j}^\top x')$$

    What `tl.gram(two_layer(a, activation), W_0, x_1, x_2)` is, from the UBC lecture,
    which drops $a_j^2$: that is 1 for $a_j = \pm 1$. As $m$ grows it tends, almost
    surely, to $x^\top x' \mathbb E[\sigma' \sigma']$; `first_layer_kernel` for ReLU.

    Args:
        W_0: Weights, a row a unit.
        a: Output weights.
        x_1: Inputs, as rows.
        x_2: Other inputs; None for `x_1` again.
        activation: $\sigma$, elementwise.

    Returns:
        The kernel.

    Reference:
        The UBC lecture (CPSC 532S, March 2022); Telgarsky, "Deep learning theory
        lecture notes", section 4.
    """
    W_0, x_1 = jnp.asarray(W_0), jnp.asarray(x_1)
    x_2 = x_1 if x_2 is None else jnp.asarray(x_2)

    def slopes(x: Float[Array, "n d"]) -> Float[Array, "n m"]:
        inside = jnp.matmul(x, W_0.T, precision=HIGHEST)
        return jax.jvp(activation, (inside,), (jnp.ones_like(inside),))[1]

    weighted = slopes(x_1) * jnp.asarray(a, W_0.dtype)[None] ** 2
    both = jnp.matmul(weighted, slopes(x_2).T, precision=HIGHEST) / len(W_0)
    return jnp.matmul(x_1, x_2.T, precision=HIGHEST) * both


def draw_two_layer(
    key: PRNGKey, width: int, dim: int
) -> tuple[Float[Array, " m"], Float[Array, "m d"]]:
    r"""Random weights as the theorems draw them.

    Args:
        key: Draws them.
        width: Number of hidden units $m$.
        dim: Number of inputs $d$.

    Returns:
        Output weights $a_j = \pm 1$ with equal chances, and $W_0$ of independent
        standard normal entries.

    Reference:
        The UBC lecture (CPSC 532S, March 2022); Telgarsky, "Deep learning theory
        lecture notes", section 4.
    """
    signs, weights = jax.random.split(key)
    W_0 = jax.random.normal(weights, (width, dim))
    return jax.random.rademacher(signs, (width,), W_0.dtype), W_0


def doubled(apply: Apply) -> Apply:
    r"""Two copies of a network whose outputs are subtracted.

    $$\big(f_{\theta_1}(x) - f_{\theta_2}(x)\big) / \sqrt 2$$

    With equal copies the output is exactly 0 and the tangent kernel that of one copy.

    Args:
        apply: The network.

    Returns:
        An `apply` of pairs of parameters; start it at `(params, params)`.

    Reference:
        Chizat, Oyallon and Bach, "On lazy training in differentiable programming",
        NeurIPS 2019.
    """

    def difference(params: tuple[Params, Params], x):
        first, second = params
        return (apply(first, x) - apply(second, x)) / 2**0.5

    return difference
