r"""Kernels of random ReLU layers in closed form.

All of them are functions of the norms and of the angle $\theta = \arccos \xi$ between
two inputs. Weights are standard normal, $w \sim \mathcal N(0, I_d)$, without factors of
2: Cho and Saul's kernels are twice `arccosine_kernel`, and kernels in the $\sqrt{2/m}$
convention twice `both_layers_kernel`.

>>> import jax.numpy as jnp
>>> x = jnp.array([[1.0, 0.0], [0.0, 1.0]])
>>> first_layer_kernel(x).tolist()
[[0.5, 0.0], [0.0, 0.5]]
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._linalg import HIGHEST
from .._types import AnyArray

_SNAP = 8  # cosines this many roundings from 1 are 1: arccos would make 1e-8 of them


class ReluKernels(eqx.Module):
    """The two kernels of a wide network.

    Attributes:
        nngp: Covariance of the outputs at initialization.
        ntk: Neural tangent kernel, all layers trained.
    """

    nngp: Float[Array, "n m"]
    ntk: Float[Array, "n m"]


def arccosine_kernel(
    x_1: Float[AnyArray, "n d"],
    x_2: Float[AnyArray, "m d"] | None = None,
    *,
    degree: int,
) -> Float[Array, "n m"]:
    r"""Expected product of two rectified powers.

    $$\mathbb E_w[(w^\top x)_+^k\, (w^\top x')_+^k]
      = \frac{1}{2 \pi} \|x\|^k \|x'\|^k J_k(\theta)$$

    with $J_0 = \pi - \theta$, $J_1 = \sin\theta + (\pi - \theta) \cos\theta$ and
    $J_2 = 3 \sin\theta \cos\theta + (\pi - \theta)(1 + 2 \cos^2\theta)$; $z_+^0$ is 1
    for $z > 0$, else 0. Degree 0 is $\mathbb E[\sigma' \sigma']$ and degree 1
    $\mathbb E[\sigma \sigma]$ of ReLU. The lecture has degree 0 for unit vectors; here
    $\xi$ is the cosine, whatever the norms.

    Args:
        x_1: Inputs, as rows.
        x_2: Other inputs; None for `x_1` again.
        degree: $k$: 0, 1 or 2.

    Returns:
        The kernel; 0 where an input is 0.

    Raises:
        ValueError: If the degree is another one.

    Reference:
        Cho and Saul, "Kernel methods for deep learning", NeurIPS 2009, equations 4-7.
    """
    if degree not in (0, 1, 2):
        raise ValueError(
            f"`degree` must be 0, 1 or 2, got {degree}: 0 for derivatives of ReLU, 1 "
            "for ReLU, 2 for its square."
        )
    xi, norms = _cosines_and_norms(x_1, x_2)
    theta = jnp.arccos(xi)
    sine = jnp.sqrt(1 - xi**2)
    if degree == 0:
        return jnp.where(norms > 0, (jnp.pi - theta) / (2 * jnp.pi), 0)
    if degree == 1:
        angular = sine + (jnp.pi - theta) * xi
    else:
        angular = 3 * sine * xi + (jnp.pi - theta) * (1 + 2 * xi**2)
    return norms**degree * angular / (2 * jnp.pi)


def first_layer_kernel(
    x_1: Float[AnyArray, "n d"], x_2: Float[AnyArray, "m d"] | None = None
) -> Float[Array, "n m"]:
    r"""NTK of a wide ReLU network whose first layer alone is trained.

    $$k(x, x') = x^\top x'\, \Big(\frac12 - \frac{1}{2 \pi} \arccos \xi\Big)$$

    the limit of `tl.gram(two_layer(a), W_0, x)` for $a_j = \pm 1$; the lecture drops
    $a_j^2$ from the finite sum, which is 1. Homogeneous: $k(x, x) = \|x\|^2 / 2$. On
    the sphere it has no odd degrees above 1 and is universal only with a constant
    coordinate (`with_constant_coordinate`).

    Args:
        x_1: Inputs, as rows.
        x_2: Other inputs; None for `x_1` again.

    Returns:
        The kernel.

    Reference:
        The UBC lecture (CPSC 532S, March 2022); Telgarsky, "Deep learning theory
        lecture notes", section 4.
    """
    xi, norms = _cosines_and_norms(x_1, x_2)
    return norms * xi * (jnp.pi - jnp.arccos(xi)) / (2 * jnp.pi)


def both_layers_kernel(
    x_1: Float[AnyArray, "n d"], x_2: Float[AnyArray, "m d"] | None = None
) -> Float[Array, "n m"]:
    r"""NTK of a wide ReLU network, both layers trained, standard normal weights.

    $$k(x, x') = \langle x, x' \rangle \mathbb E[\sigma' \sigma'] + \mathbb E[\sigma
      \sigma] = \|x\| \|x'\|\, \kappa(\xi), \quad \kappa(\xi) = \frac{\xi}{\pi} (\pi -
      \arccos \xi) + \frac{\sqrt{1 - \xi^2}}{2 \pi}$$

    for $f = m^{-1/2} \sum_j a_j \sigma(w_j^\top x)$. The CentraleSupelec lecture (class
    5, January 2025) prints twice this $\kappa$, which belongs to the factor
    $\sqrt{2 / m}$ and not to its own $m^{-1/2}$.

    Args:
        x_1: Inputs, as rows.
        x_2: Other inputs; None for `x_1` again.

    Returns:
        The kernel.

    Reference:
        The CentraleSupelec lecture (class 5, January 2025); Cho and Saul, "Kernel
        methods for deep learning", NeurIPS 2009, for both expectations.
    """
    xi, norms = _cosines_and_norms(x_1, x_2)
    return norms * relu_kernel_function(xi)


def relu_kernel_function(xi: Float[AnyArray, "..."]) -> Float[Array, "..."]:
    r"""$\kappa(\xi)$ of `both_layers_kernel`, as a function of the cosine.

    Args:
        xi: Cosines, in [-1, 1].

    Returns:
        $\kappa$, from 0 at -1 to 1 at 1. Cosines that rounding moved out of [-1, 1] are
        its ends; what is further out has no angle and gives NaN.

    Reference:
        The CentraleSupelec lecture (class 5, January 2025), which prints twice this.
    """
    xi = _snapped(jnp.asarray(xi))
    turned = xi * (jnp.pi - jnp.arccos(xi)) / jnp.pi
    return turned + jnp.sqrt(1 - xi**2) / (2 * jnp.pi)


def one_dimensional_kernel(
    x_1: Float[AnyArray, " n"], x_2: Float[AnyArray, " m"] | None = None
) -> Float[Array, "n m"]:
    r"""`both_layers_kernel` of numbers: $|x x'|$ where both have one sign, else 0.

    A sum of two products, $x_+ x'_+ + x_- x'_-$, so that the Gram matrix of more than
    two numbers is singular: without a bias, a wide ReLU network of one input has two
    features. Append a constant coordinate where the kernel is to be inverted. (The
    lecture's variance $v_a / n$ is $v_a / m$.)

    Args:
        x_1: Inputs.
        x_2: Other inputs; None for `x_1` again.

    Returns:
        The kernel, of rank 2 at most.

    Reference:
        The CentraleSupelec lecture (class 5, January 2025); the closed form is ours.
    """
    x_1 = jnp.asarray(x_1)
    x_2 = x_1 if x_2 is None else jnp.asarray(x_2)
    return jnp.maximum(x_1[:, None] * x_2[None], 0)


def deep_relu_kernels(
    x_1: Float[AnyArray, "n d"],
    x_2: Float[AnyArray, "m d"] | None = None,
    *,
    depth: int,
) -> ReluKernels:
    r"""Kernels of a wide ReLU network of any depth, without biases.

    Each hidden layer has the factor $\sqrt{2 / m_\ell}$. From $\Sigma^0 = \Theta^0 =
    x^\top x'$,

    $$\Sigma^{\ell} = \|x\| \|x'\|\, \kappa_1(\xi), \quad \Theta^{\ell} = \Sigma^{\ell}
      + \kappa_0(\xi)\, \Theta^{\ell - 1}$$

    with $\xi = \Sigma^{\ell - 1} / \|x\| \|x'\|$, since the factor keeps norms, and
    $\kappa_0 = (\pi - \arccos \xi) / \pi$, $\kappa_1 = (\xi (\pi - \arccos \xi) +
    \sqrt{1 - \xi^2}) / \pi$. Depth 1 is twice `both_layers_kernel`.

    Args:
        x_1: Inputs, as rows.
        x_2: Other inputs; None for `x_1` again.
        depth: Number of hidden layers, 0 for the linear kernel.

    Returns:
        Both kernels, of the output.

    Raises:
        ValueError: If the depth is below 0.

    Reference:
        Arora et al., "On exact computation with an infinitely wide neural net", NeurIPS
        2019, section 3.
    """
    if depth < 0:
        raise ValueError(f"`depth` must be 0 or more hidden layers, got {depth}.")
    xi, norms = _cosines_and_norms(x_1, x_2)
    theta = xi
    for _ in range(depth):
        turned = (jnp.pi - jnp.arccos(xi)) / jnp.pi
        xi, theta = xi * turned + jnp.sqrt(1 - xi**2) / jnp.pi, turned * theta
        xi = jnp.minimum(xi, 1)  # rounding at coincident inputs
        theta = xi + theta
    return ReluKernels(norms * xi, norms * theta)


def origin_kernel(
    x_1: Float[AnyArray, "n d"],
    x_2: Float[AnyArray, "m d"] | None = None,
    *,
    slope: float | int = 1.0,
) -> Float[Array, "n m"]:
    r"""First-layer NTK of a network expanded at 0, not at its initialization.

    All units have the derivative $\sigma'(0)$, and the kernel is linear:
    $\sigma'(0)^2\, x^\top x'$ for $a_j = \pm 1$. Expanding elsewhere is the point.

    Args:
        x_1: Inputs, as rows.
        x_2: Other inputs; None for `x_1` again.
        slope: $\sigma'(0)$.

    Returns:
        The kernel.

    Reference:
        The UBC lecture (CPSC 532S, March 2022).
    """
    x_1 = jnp.asarray(x_1)
    x_2 = x_1 if x_2 is None else jnp.asarray(x_2)
    return slope**2 * jnp.matmul(x_1, x_2.T, precision=HIGHEST)


def _cosines_and_norms(
    x_1: Float[AnyArray, "n d"], x_2: Float[AnyArray, "m d"] | None
) -> tuple[Float[Array, "n m"], Float[Array, "n m"]]:
    """Cosines between inputs (0 for a zero input), and products of their norms."""
    x_1 = jnp.asarray(x_1)
    x_2 = x_1 if x_2 is None else jnp.asarray(x_2)
    for name, x in (("x_1", x_1), ("x_2", x_2)):
        if x.ndim != 2:
            fix = "add an axis, `x[None]` for one input" if x.ndim == 1 else "flatten"
            raise ValueError(
                f"`{name}` must hold inputs as rows, (n, d), got shape {x.shape}: "
                f"{fix}{'' if x.ndim == 1 else ' them, `x.reshape(len(x), -1)`'}."
            )
    sizes = [jnp.linalg.norm(x, axis=1, keepdims=True) for x in (x_1, x_2)]
    units = [
        x / jnp.where(size > 0, size, 1)
        for x, size in zip((x_1, x_2), sizes, strict=True)
    ]
    xi = jnp.matmul(units[0], units[1].T, precision=HIGHEST)
    return _snapped(jnp.clip(xi, -1, 1)), sizes[0] * sizes[1].T


def _snapped(xi: Float[Array, "..."]) -> Float[Array, "..."]:
    """Cosines, of which those a rounding away from an end are that end."""
    near = jnp.abs(jnp.abs(xi) - 1) < _SNAP * jnp.finfo(xi.dtype).eps
    return jnp.where(near, jnp.sign(xi), xi)
