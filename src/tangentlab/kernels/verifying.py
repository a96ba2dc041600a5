"""Every plan is checked against plain gradients before it runs."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .._types import AnyArray
from .features import Feature, Outer, Rows, Values, compute
from .network import Network, read_again
from .traced import widened

_EXAMPLES = 2
_ROUGH, _EXACT = 1e-3, 1e-8  # float32 gradients of ReLU networks jump at kinks
_CANCELED = 1e-2  # of all leaves' kernels: what rounding leaves of one that is zero
_COARSE = 16  # units of the last place, for a network that computes in 16 bits
Kernels = dict[int, Any]
"""Of the single leaves."""


def verify(
    network: Network, features: Sequence[Feature], x: Sequence[AnyArray]
) -> None:
    """Compare each parameter's kernel on a few examples with that of plain gradients.

    A mismatch in float32 is looked at again in float64, where rounding is no excuse. A
    gradient that is NaN both ways decides nothing: the run says which example has it.

    Args:
        network: The network.
        features: The features a plan would compute.
        x: Arrays of the examples; a few are used.

    Raises:
        RuntimeError: If a kernel is wrong; names the parameter.
    """
    if (tuple(features), network.differentiated) in network.source.verified:
        return
    few, values = _on_host(([a[:_EXAMPLES] for a in x], network.values))
    coarse = _COARSE * _resolution(network)
    kernels = _kernels(network, features, few, values)
    wrong = _mismatches(*kernels, max(_ROUGH, coarse))
    if wrong and coarse < _ROUGH:
        with jax.enable_x64(True):
            values = Values(*(_on_host(_wider(part)) for part in values))
            few = _on_host(_wider(few))
            exact = _reread(network, values, few)
            if exact is not None:
                kernels = _kernels(exact, features, few, values)
                wrong = _mismatches(*kernels, _EXACT)
    if wrong:
        names = ", ".join(network.names[leaf] or "params" for leaf in wrong)
        raise RuntimeError(
            f"The structured kernel of {names} differs from that of plain gradients. "
            "This is a bug in tangentlab: please report the network. Until it is "
            "fixed, `tl.jacobian` gives the exact Jacobian."
        )
    if all(np.isfinite(K).all() for K in kernels[0].values()):
        network.source.verified.add((tuple(features), network.differentiated))


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


def _reread(network: Network, values: Values, x: Sequence[AnyArray]) -> Network | None:
    """The network for numbers of these types; None if it has other sites then."""
    source = read_again(network, values.leaves, [a[0] for a in x])
    sites, others = (
        [(site.leaves, site.meeting is None, site.chain is None) for site in one.sites]
        for one in (network.source, source)
    )
    return network._replace(source=source) if sites == others else None


def _kernels(network, features, x, values: Values) -> tuple[Kernels, Kernels]:
    """By plain gradients, and by features; both are compiled at the same time."""
    plain = jax.jit(lambda v, x: _plain(network, v, x))
    structured = jax.jit(lambda v, x: _structured(network, features, v, x))
    with ThreadPoolExecutor(1) as aside:
        compiled = aside.submit(structured.lower(values, x).compile)
        made = plain(values, x), compiled.result()(values, x)
    expected, found = (
        {leaf: np.asarray(K) for leaf, K in part.items()} for part in made
    )
    return expected, found


def _mismatches(expected: Kernels, found: Kernels, tolerance: float) -> list[int]:
    sizes = {leaf: _largest(K) for leaf, K in expected.items()}
    rest = max(_CANCELED * sum(sizes.values()), 1e-30)
    return [
        leaf
        for leaf, K in expected.items()
        if not _agree(K, found[leaf], tolerance * (sizes[leaf] + rest))
    ]


def _largest(K: np.ndarray) -> float:
    return float(np.where(np.isfinite(K), np.abs(K), 0).max())


def _agree(K: np.ndarray, found: np.ndarray, bound: float) -> bool:
    undecided = ~(np.isfinite(K) | np.isfinite(found))
    with np.errstate(invalid="ignore"):  # infinite minus infinite
        close = np.abs(K - found) <= bound
    return bool((undecided | close).all())


def _plain(network: Network, values: Values, x: Sequence[AnyArray]) -> Kernels:
    """Kernels of the single leaves by `jax.jacrev`, one example after another."""

    def gradients(example):
        def outputs(chosen):
            leaves = list(values.leaves)
            for leaf, value in zip(network.differentiated, chosen, strict=True):
                leaves[leaf] = value
            with jax.default_matmul_precision("highest"):
                return network.function(leaves, example)

        return jax.jacrev(outputs)([values.leaves[i] for i in network.differentiated])

    Js = jax.lax.map(gradients, list(x))
    kernels = {}
    for J, leaf in zip(Js, network.differentiated, strict=True):
        root = values.roots[leaf].astype(J.dtype)
        J = (J * root[None, None] if root.ndim else J * root).reshape(*J.shape[:2], -1)
        (J,) = widened([J], jnp.float32)
        kernels[leaf] = _dot("ncp,mcp->nm", J, J)
    return kernels


def _structured(network, features, values: Values, x: Sequence[AnyArray]) -> Kernels:
    """The same kernels from features; leaves formed whole are taken apart again."""
    (one,) = widened([values.leaves[network.differentiated[0]]], jnp.float32)
    zero = jnp.zeros((len(x[0]),) * 2, one.dtype)
    kernels = {leaf: zero for leaf in network.differentiated}
    for feature, made in zip(
        features, compute(network.source, features, values, x), strict=True
    ):
        arrays = widened(made, jnp.float32)
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
