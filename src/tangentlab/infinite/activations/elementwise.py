r"""Any function as an activation: by an integral in closed form, or by quadrature."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..nonlinear import Pointwise
from .angles import root_or_zero
from .dual import Dual, Function, PairKernel, Values, dual_of_kernel
from .series import derivative, hermite_dual, largest_error

_NUM_TERMS = 64


@dataclass(frozen=True)
class Elementwise(Pointwise):
    r"""Any elementwise function.

    Without `integral`, the Gaussian integrals are sums of Hermite polynomials whose
    coefficients come from Gauss quadrature; `error` says how far off they may be, and
    kernels of examples warn (`AccuracyWarning`) where that is more than 0.1 %.
    With `integral`, the kernel is what it says, and the derivative kernel its
    derivative with respect to the covariance (Price's theorem) unless given too.

    Attributes:
        fn: The function, on arrays, written with `jax.numpy`. A corner is best at zero.
        integral: $E[\phi(u)\phi(v)]$ as a function of `(q_12, q_1, q_2)`, arrays that
            broadcast; differentiable up to and including coincident inputs.
        derivative_integral: $E[\phi'(u)\phi'(v)]$, likewise.
        num_terms: Number of Hermite polynomials, even; a pair costs two multiply-adds
            for each of them and for either kernel.

    Example:
        >>> import jax.numpy as jnp
        >>> layer = Elementwise(jnp.tanh)
        >>> k, kdot = layer.dual.single(jnp.array(1.0))
        >>> round(float(k), 4), round(float(kdot), 4)
        (0.3943, 0.4644)
        >>> all(error < 1e-4 for error in layer.error(jnp.array(1.0)))
        True
    """

    fn: Function
    integral: PairKernel | None = None
    derivative_integral: PairKernel | None = None
    num_terms: int = _NUM_TERMS

    def __post_init__(self):
        if self.num_terms < 2 or self.num_terms % 2:
            raise ValueError(
                "Elementwise needs an even number of Hermite polynomials, 2 or more, "
                f"got num_terms={self.num_terms}."
            )
        if self.integral is None and self.derivative_integral is not None:
            raise ValueError(
                "Elementwise got `derivative_integral` without `integral`: give both, "
                "`integral` alone (its derivative is then taken), or neither."
            )

    def __repr__(self) -> str:
        name = getattr(self.fn, "__name__", repr(self.fn))
        return f"Elementwise({name})"

    @property
    def dual(self) -> Dual:
        """The function and its Gaussian integrals."""
        if self.integral is None:
            return hermite_dual(self.fn, self.num_terms)
        return dual_of_kernel(self.fn, self.integral, self.derivative_integral)

    def error(self, q: Float[Array, "..."]) -> Values:
        r"""How far off the kernels may be at most, by quadrature.

        Args:
            q: Variances of the inputs, the same for both of a pair.

        Returns:
            Bounds for $k$ and for $\dot k$ over all covariances, up to rounding; 0 if
            the integral was given.
        """
        if self.integral is not None:
            return jnp.zeros_like(q), jnp.zeros_like(q)
        functions, root = (self.fn, derivative(self.fn)), root_or_zero(q)
        k, kdot = (largest_error(fn, root, self.num_terms) for fn in functions)
        return k, kdot


def Tanh(num_terms: int = _NUM_TERMS) -> Elementwise:
    """The hyperbolic tangent, by quadrature.

    Args:
        num_terms: Number of Hermite polynomials.

    Returns:
        The layer.
    """
    return Elementwise(jnp.tanh, num_terms=num_terms)


def Silu(num_terms: int = _NUM_TERMS) -> Elementwise:
    """The sigmoid linear unit (swish), by quadrature.

    Args:
        num_terms: Number of Hermite polynomials.

    Returns:
        The layer.
    """
    return Elementwise(jax.nn.silu, num_terms=num_terms)


def Elu(num_terms: int = _NUM_TERMS) -> Elementwise:
    """The exponential linear unit, by quadrature.

    Its derivative has a corner: the terms of that fall slowly, see `Elementwise.error`.

    Args:
        num_terms: Number of Hermite polynomials.

    Returns:
        The layer.
    """
    return Elementwise(jax.nn.elu, num_terms=num_terms)


def Softplus(num_terms: int = _NUM_TERMS) -> Elementwise:
    """The soft rectifier, by quadrature.

    Args:
        num_terms: Number of Hermite polynomials.

    Returns:
        The layer.
    """
    return Elementwise(jax.nn.softplus, num_terms=num_terms)


def GeluTanh(num_terms: int = _NUM_TERMS) -> Elementwise:
    """The gelu in its approximation by a hyperbolic tangent, by quadrature.

    Args:
        num_terms: Number of Hermite polynomials.

    Returns:
        The layer.
    """
    return Elementwise(_gelu_tanh, num_terms=num_terms)


def _gelu_tanh(x: Array) -> Array:
    return jax.nn.gelu(x, approximate=True)
