"""Every activation, one Gram matrix to try it on, and an obvious way to integrate."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from tangentlab.infinite import activations as act

CLOSED = {
    "relu": act.Relu(),
    "leaky_relu": act.LeakyRelu(0.2),
    "abrelu": act.ABRelu(-0.5, 1.5),
    "abs": act.Abs(),
    "step": act.RectifiedMonomial(0),
    "rectified_1": act.RectifiedMonomial(1),
    "rectified_2": act.RectifiedMonomial(2),
    "rectified_4": act.RectifiedMonomial(4),
    "sign": act.Sign(),
    "erf": act.Erf(),
    "erf_affine": act.Erf(0.7, 1.3, 0.4),
    "sigmoid_like": act.SigmoidLike(),
    "gelu": act.Gelu(),
    "sin": act.Sin(),
    "sin_affine": act.Sin(0.8, 1.2, 0.3),
    "cos": act.Cos(),
    "cos_affine": act.Cos(0.8, 1.2, 0.3),
    "rbf": act.Rbf(0.7),
    "gabor": act.Gabor(),
    "exp": act.Exp(0.5, 0.6),
    "gaussian": act.Gaussian(1.5, -0.4),
    "hermite_0": act.Hermite(0),
    "hermite_3": act.Hermite(3),
    "monomial_1": act.Monomial(1),
    "monomial_3": act.Monomial(3),
    "polynomial": act.Polynomial((0.5, -1.0, 0.3, 0.2)),
    "by_kernel": act.Elementwise(jnp.square, lambda c, p, q: p * q + 2 * c * c),
}
NUMERICAL = {
    "tanh": act.Tanh(),
    "silu": act.Silu(),
    "elu": act.Elu(),
    "softplus": act.Softplus(),
    "gelu_tanh": act.GeluTanh(),
}
FEW_TERMS = {"few_terms": act.Tanh(16)}
KERNEL_ALONE = {"exp_normalized": act.ExpNormalized(0.8, -0.6)}
EVERY = CLOSED | FEW_TERMS | KERNEL_ALONE
JUMPS = {"step", "sign"}


@functools.cache
def covariances():
    """`(q_12, q_1, q_2)` of all pairs of 6 vectors, flat; a copy, an opposite, a 0."""
    x = np.random.default_rng(0).normal(size=(6, 3)) * 0.8
    x[3], x[4], x[5] = x[0], -1.5 * x[1], 0.0
    gram = (x[:, None] * x[None]).sum(-1)
    q = np.diag(gram)
    q_1, q_2 = np.broadcast_arrays(q[:, None], q[None, :])
    return tuple(jnp.asarray(array.ravel()) for array in (gram, q_1, q_2))


GENERAL = [1, 8, 12, 24, 16]  # of these pairs: neither parallel nor zero
POSITIVE = [i for i in range(36) if i // 6 != 5 and i % 6 != 5]  # no zero variance


@functools.cache
def with_slopes(name):
    """`(q_12, q_1, q_2) -> (k, kdot)`, and what each is differentiated by the three."""
    pair = EVERY[name].dual.pair

    def both(*q):
        values, pull = jax.vjp(pair, *q)
        ones, zeros = jnp.ones_like(values[0]), jnp.zeros_like(values[0])
        return values, (pull((ones, zeros)), pull((zeros, ones)))

    return jax.jit(both)


@functools.cache
def _jitted(fn):
    return jax.jit(lambda x: jax.jvp(fn, (x,), (jnp.ones_like(x),)))


def function_and_slope(fn, x, size=2**16):
    """Both at some points; padded, so that there is one compilation a function."""
    padded = np.zeros(size)
    padded[: x.size] = x.ravel()
    return [np.asarray(v)[: x.size].reshape(x.shape) for v in _jitted(fn)(padded)]


def integrals(fn, q_12, q_1, q_2, num_nodes=160, reach=10.0):
    """`(k, kdot)`: a fine grid over each quadrant, and the density."""
    x, w = np.polynomial.legendre.leggauss(num_nodes)
    x, w = reach * (x + 1) / 2, reach * w / 2
    z, w = np.concatenate([-x[::-1], x]), np.concatenate([w[::-1], w])
    rho = q_12 / np.sqrt(q_1 * q_2)
    u, v = z[:, None], z[None, :]
    exponent = (u**2 - 2 * rho * u * v + v**2) / (2 * (1 - rho**2))
    density = np.exp(-exponent) / (2 * np.pi * np.sqrt(1 - rho**2))
    roots = np.sqrt([q_1, q_2])
    values = function_and_slope(fn, roots[:, None] * z[None])
    return [(w * f[0]) @ density @ (w * f[1]) for f in values]


def check_samples(fn, q, found):
    """Monte Carlo over pairs, within five standard errors."""
    q_12, q_1, q_2 = (float(each) for each in q)
    z = np.random.default_rng(2).normal(size=(2, 2**16))
    u = np.sqrt(q_1) * z[0]
    v = q_12 / q_1 * u + np.sqrt(q_2 - q_12**2 / q_1) * z[1]
    pairs = zip(*(function_and_slope(fn, each) for each in (u, v)), strict=True)
    for (f_u, f_v), value in zip(pairs, found, strict=True):
        drawn = f_u * f_v
        error = 5 * drawn.std() / np.sqrt(drawn.size)
        assert abs(drawn.mean() - value) <= error + 1e-12
