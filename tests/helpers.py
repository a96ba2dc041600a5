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
    J_1 = leaf_jacobians(apply, params, x_1)
    J_2 = J_1 if x_2 is None else leaf_jacobians(apply, params, x_2)
    pairs = zip(J_1, J_2, strict=True)
    parts = [jnp.einsum("acp,bdp->acbd", *pair) for pair in pairs]
    return jnp.sum(jnp.stack(parts), axis=0)


def leaf_jacobians(apply, params, x):
    """Dense Jacobian `(n, c, p)` for each real-valued leaf of `params`, in order."""
    leaves, structure = jax.tree.flatten(params)
    real = [i for i, leaf in enumerate(leaves) if is_real(leaf)]

    def outputs(chosen):
        changed = dict(enumerate(leaves)) | dict(zip(real, chosen, strict=True))
        return apply(jax.tree.unflatten(structure, changed.values()), x)

    found = jax.jacrev(outputs)([jnp.asarray(leaves[i]) for i in real])
    return [J.reshape(*J.shape[:2], -1) for J in found]


def is_real(leaf):
    return jnp.issubdtype(jnp.asarray(leaf).dtype, jnp.floating)


def last_scales(params) -> set[float]:
    """Scales of the last batch norm in each block of a resnet18."""
    found = jax.tree_util.tree_leaves_with_path(params)
    last = [leaf for at, leaf in found if "norm_2']['scale" in jax.tree_util.keystr(at)]
    return {float(scale) for leaf in last for scale in leaf}
