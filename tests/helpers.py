"""Constructors of problems whose answer is known, and one tolerance policy."""

import jax
import jax.numpy as jnp
import numpy as np


def psd_from_eigenvalues(lam, key):
    """Return `(K, V)` with `K = V diag(lam) V^T` and orthonormal columns in `V`."""
    V, _ = jnp.linalg.qr(jax.random.normal(key, (lam.size, lam.size)))
    return (V * lam[None, :]) @ V.T, V


def assert_close(actual, desired):
    tol = 10 * np.sqrt(np.finfo(np.asarray(actual).dtype).eps)
    np.testing.assert_allclose(actual, desired, rtol=tol, atol=tol)


def jacobian_gram(apply, params, x_1, x_2=None):
    """Dense oracle: `(n, c, m, c)` from full Jacobians, nothing clever."""
    x_2 = x_1 if x_2 is None else x_2

    def rows(x):
        leaves = jax.tree.leaves(jax.jacrev(lambda p: apply(p, x))(params))
        return jnp.concatenate([J.reshape(*J.shape[:2], -1) for J in leaves], axis=-1)

    return jnp.einsum("acp,bdp->acbd", rows(x_1), rows(x_2))
