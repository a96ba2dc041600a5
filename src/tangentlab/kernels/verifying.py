"""Every plan is checked against plain gradients before it runs."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .._types import AnyArray
from .features import Feature, Outer, Rows, Values, compute
from .network import Network

_EXAMPLES = 2
_ROUGH, _EXACT = 1e-3, 1e-8  # float32 gradients of ReLU networks jump at kinks
_COARSE = 16  # units of the last place, for a network that computes in 16 bits


def verify(
    network: Network, features: Sequence[Feature], x: Sequence[AnyArray]
) -> None:
    """Compare each parameter's kernel on a few examples with that of plain gradients.

    A mismatch in float32 is looked at again in float64, where rounding is no excuse.

    Args:
        network: The network.
        features: The features a plan would compute.
        x: Arrays of the examples; a few are used.

    Raises:
        RuntimeError: If a kernel is wrong; names the parameter.
    """
    done = (tuple(features), network.differentiated)
    if done in network.source.verified:
        return
    few, values = _on_host(([a[:_EXAMPLES] for a in x], network.values))
    coarse = _COARSE * _resolution(network)
    wrong = _mismatches(network, features, few, values, max(_ROUGH, coarse))
    if wrong and coarse < _ROUGH:
        with jax.enable_x64(True):
            values = Values(*(_on_host(_wider(part)) for part in values))
            few = _on_host(_wider(few))
            wrong = _mismatches(network, features, few, values, _EXACT)
    if wrong:
        names = ", ".join(network.names[leaf] or "params" for leaf in wrong)
        raise RuntimeError(
            f"The structured kernel of {names} differs from that of plain gradients. "
            "This is a bug in tangentlab: please report the network. Until it is "
            "fixed, `tl.jacobian` gives the exact Jacobian."
        )
    network.source.verified.add(done)


def _on_host(tree: Any) -> Any:
    """Arrays on the CPU, which works while an accelerator's programs are compiled."""
    return jax.device_put(tree, jax.local_devices(backend="cpu")[0])


def _resolution(network: Network) -> float:
    """Machine epsilon of the coarsest type the network computes in."""
    dtypes = {shape.dtype for shape in network.source.program.shapes.values()}
    real = [dtype for dtype in dtypes if jnp.issubdtype(dtype, jnp.floating)]
    return max(float(jnp.finfo(dtype).eps) for dtype in real)


def _wider(arrays: Sequence[Array]) -> list[Array]:
    real = [jnp.issubdtype(a.dtype, jnp.floating) for a in arrays]
    return [
        jnp.asarray(np.asarray(a, np.float64)) if wide else a
        for a, wide in zip(arrays, real, strict=True)
    ]


def _mismatches(network, features, x, values: Values, tolerance: float) -> list[int]:
    expected = jax.jit(lambda v, x: _plain(network, v, x))(values, x)
    found = jax.jit(lambda v, x: _structured(network, features, v, x))(values, x)
    scale = max(float(sum(jnp.abs(K).max() for K in expected.values())), 1e-30)
    return [
        leaf
        for leaf, K in expected.items()
        if not float(jnp.abs(K - found[leaf]).max()) <= tolerance * scale
    ]


def _plain(network: Network, values: Values, x: Sequence[AnyArray]) -> dict[int, Array]:
    """Kernels of the single leaves by `jax.jacrev`, one example after another."""

    def gradients(example):
        def outputs(chosen):
            leaves = list(values.leaves)
            for leaf, value in zip(network.differentiated, chosen, strict=True):
                leaves[leaf] = value
            with jax.default_matmul_precision("highest"):
                return network.function(leaves, example)

        return jax.jacrev(outputs)([values.leaves[i] for i in network.differentiated])

    rows = [gradients([a[i] for a in x]) for i in range(len(x[0]))]
    kernels = {}
    for position, leaf in enumerate(network.differentiated):
        J = jnp.stack([row[position] for row in rows])
        root = values.roots[leaf].astype(J.dtype)
        J = (J * root[None, None] if root.ndim else J * root).reshape(*J.shape[:2], -1)
        kernels[leaf] = _dot("ncp,mcp->nm", J, J)
    return kernels


def _structured(
    network, features, values: Values, x: Sequence[AnyArray]
) -> dict[int, Array]:
    """The same kernels from features; leaves formed whole are taken apart again."""
    zero = jnp.zeros((len(x[0]),) * 2, values.leaves[network.differentiated[0]].dtype)
    kernels = {leaf: zero for leaf in network.differentiated}
    for feature, arrays in zip(
        features, compute(network.source, features, values, x), strict=True
    ):
        if isinstance(feature, Outer):
            A, D = arrays
            part = _dot("ngpi,mgqi,ncgpo,mcgqo->nm", A, A, D, D)
            kernels[feature.piece.leaf] += part.astype(zero.dtype)
        elif isinstance(feature, Rows):
            part = _dot("ncp,mcp->nm", arrays[0], arrays[0])
            kernels[feature.piece.leaf] += part.astype(zero.dtype)
        else:
            sizes = [values.leaves[leaf].size for leaf in feature.leaves]
            cuts = np.cumsum(sizes)[:-1].tolist()
            parts = jnp.split(arrays[0], cuts, axis=2)
            for leaf, R in zip(feature.leaves, parts, strict=True):
                kernels[leaf] += _dot("ncp,mcp->nm", R, R).astype(zero.dtype)
    return kernels


def _dot(formula: str, *arrays: Array) -> Array:
    return jnp.einsum(formula, *arrays, precision="highest", optimize="optimal")
