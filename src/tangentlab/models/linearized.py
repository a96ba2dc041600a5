r"""Taylor expansions of a network around its parameters at initialization.

The linearization is an `apply` again, so it trains and is measured like the network:

>>> import jax.numpy as jnp
>>> square = lambda params, x: x * params**2
>>> linear = linearize(square, 1.0)
>>> linear(1.5, jnp.ones((1, 1))).tolist()  # 1 + 2 (1.5 - 1)
[[2.0]]
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._types import Apply, Inputs, Params
from .contract import check_callable
from .trees import check_same_leaves, split_differentiable


def linearize(apply: Apply, params_0: Params, *, centered: bool = False) -> Apply:
    r"""First-order Taylor expansion of a network in its parameters.

    $$\hat f_\theta(x) = f_{\theta_0}(x) + J_{\theta_0}(x)\,(\theta - \theta_0)$$

    An evaluation is one Jacobian-vector product, about two forward passes; `J` is never
    formed. Integer and boolean leaves are buffers and stay as in `params_0`.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params_0: Where it is expanded.
        centered: Leave out $f_{\theta_0}$, so that the output is 0 at `params_0`.

    Returns:
        An `apply` that is affine in the parameters and tangent to the network.
    """
    check_callable(apply)
    params_0 = jax.tree.map(jnp.asarray, params_0)

    def linearized(params: Params, x: Inputs) -> Float[Array, "n c"]:
        f_0, change = _derivatives(apply, params_0, params, x, order=1)
        return change if centered else f_0 + change

    return linearized


def taylor_expand(apply: Apply, params_0: Params, degree: int) -> Apply:
    r"""Taylor expansion of a network in its parameters to any degree.

    $$\sum_{k=0}^{\text{degree}} \frac{1}{k!}\, D^k f_{\theta_0}(x)
    [\theta - \theta_0, \dots, \theta - \theta_0]$$

    Nested Jacobian-vector products: the cost grows as `2**degree` forward passes.
    Integer and boolean leaves are buffers and stay as in `params_0`.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params_0: Where it is expanded.
        degree: 0 for the constant, 1 for `linearize`, 2 for the quadratic, ...

    Returns:
        An `apply` that is a polynomial of that degree in the parameters.

    Raises:
        ValueError: If `degree` is not an integer of at least 0.
    """
    check_callable(apply)
    if not isinstance(degree, int) or isinstance(degree, bool) or degree < 0:
        raise ValueError(f"`degree` must be an integer >= 0, got {degree!r}.")
    params_0 = jax.tree.map(jnp.asarray, params_0)

    def expanded(params: Params, x: Inputs) -> Float[Array, "n c"]:
        terms = _derivatives(apply, params_0, params, x, order=degree)
        total = terms[0]
        for k, term in enumerate(terms[1:], start=1):
            total = total + term / math.factorial(k)
        return total

    return expanded


def _derivatives(
    apply: Apply, params_0: Params, params: Params, x: Inputs, order: int
) -> tuple[Float[Array, "n c"], ...]:
    """Return derivatives 0 to `order` at `params_0` in the direction of `params`."""
    check_same_leaves("params", params, "params_0", params_0)
    start, buffers = split_differentiable(params_0)
    direction = jax.tree.map(jnp.subtract, split_differentiable(params)[0], start)

    def along(k, theta):
        if k == 0:
            return (apply(eqx.combine(theta, buffers), x),)
        lower, higher = jax.jvp(lambda t: along(k - 1, t), (theta,), (direction,))
        return (lower[0], *higher)

    return along(order, start)
