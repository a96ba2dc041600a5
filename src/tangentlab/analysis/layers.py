r"""Which layers a kernel is made of: it is a sum over parameters, $K = \sum_l K_l$.

>>> import jax.numpy as jnp
>>> params = {"a": {"w": jnp.ones((2, 1))}, "b": {"w": jnp.ones((2, 1))}}
>>> apply = lambda p, x: x @ p["a"]["w"] + 2.0 * (x @ p["b"]["w"])
>>> shares = trace_shares(apply, params, jnp.ones((3, 2)))
>>> shares.names, shares.shares.tolist()
(('a', 'b'), [0.2, 0.8])
"""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from .._checks import batch_size, check_known, check_square
from .._types import AnyArray, Apply, Inputs, Params
from ..kernels.features import Feature, Source, Whole, compute
from ..kernels.matrix_free.lanes import windows
from ..kernels.planning import plan
from ..kernels.preparing import prepare
from ..kernels.request import Outputs, Precision, Request
from ..kernels.verifying import verify
from .strips import inner_product
from .targets import check_targets
from .weighted_gradients import energies_by_leaf

_MOST = 512  # samples whose gradients are formed at once


class Shares(eqx.Module):
    """Parts of a whole.

    Attributes:
        names: What each part is called: the path of a layer in the parameter tree.
        shares: Part of each, adding up to 1; NaN if the whole is zero.
        total: The whole.
    """

    names: tuple[str, ...] = eqx.field(static=True)
    shares: Float[np.ndarray, " l"]
    total: float


def trace_shares(
    apply: Apply,
    params: Params,
    x: Inputs,
    *,
    by: str = "layer",
    outputs: Outputs = "mean",
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    precision: Precision = "float32",
) -> Shares:
    r"""Share of each layer in the trace of the kernel, without a Gram matrix.

    $$\mathrm{tr} K_l = \sum_i \|\nabla_{\theta_l} f_\theta(x_i)\|^2$$

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x: All samples.
        by: `"layer"` adds up parameters that share all of their path but its end;
            `"parameter"` keeps them apart.
        outputs: With several logits, which kernel; see `tl.gram`.
        trainable: Prefix of `params` with booleans; parameters that
            are left out have no share.
        scale: Prefix of `params` with non-negative multipliers.
        precision: See `tl.gram`.

    Returns:
        The shares; the total is the trace.
    """
    request = Request(outputs, trainable, scale, precision)
    return _shares(params, _traces(apply, params, x, request), by)


def alignment_shares(
    apply: Apply,
    params: Params,
    x: Inputs,
    target: Float[AnyArray, " n"],
    *,
    by: str = "layer",
    outputs: Outputs = "mean",
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    precision: Precision = "float32",
) -> Shares:
    r"""Share of each layer in the alignment with a target, without a Gram matrix.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x: All samples.
        target: Its values at the samples.
        by: `"layer"` or `"parameter"`, as in `trace_shares`.
        outputs: With several logits, which kernel; see `tl.gram`.
        trainable: Prefix of `params` with booleans; parameters that
            are left out have no share.
        scale: Prefix of `params` with non-negative multipliers.
        precision: See `tl.gram`.

    Returns:
        The shares; the total is $f^\top K f / n^2$.
    """
    n = batch_size("x", x)
    columns = check_targets("target", target, n)
    request = Request(outputs, trainable, scale, precision)
    energies = np.asarray(energies_by_leaf(apply, params, x, columns, request))
    return _shares(params, energies[:, 0] / n**2, by)


def kernel_shares(
    grams: PyTree[Float[AnyArray, "n n"]], *, by: str = "layer"
) -> Shares:
    r"""Share of each layer in the kernel as a matrix.

    $$\langle K_l, K\rangle_F \,/\, \|K\|_F^2, \quad K = \sum_l K_l$$

    The length of a layer's part along the whole: where the trace counts each eigenvalue
    once, this counts it by its size.

    Args:
        grams: A tree of Gram matrices, `tl.gram_by_parameter(apply, params, x)`.
        by: `"layer"` or `"parameter"`, as in `trace_shares`.

    Returns:
        The shares; the total is $\|K\|_F^2$.
    """
    leaves = jax.tree.leaves(grams)
    for K in leaves:
        check_square("grams", K)
    whole = np.sum([np.asarray(K, np.float64) for K in leaves], axis=0)
    parts = [float(inner_product(K, whole)) for K in leaves]
    return _shares(grams, np.array(parts), by)


def _traces(apply: Apply, params: Params, x: Inputs, request: Request) -> np.ndarray:
    """Trace of each leaf's kernel, zero for buffers."""
    with request.context():
        prepared = prepare(
            apply, params, x, None, request, full=False, apart=True, single=True
        )
        network, features = prepared.network, tuple(prepared.features)
        verify(network, features, prepared.x_1)
        n = prepared.problem.n
        few = replace(prepared.problem, n=min(n, _MOST), m=min(n, _MOST))
        chunk = plan(network.source, features, few, request.memory).chunk
        function, parts = _compiled(network.source, features), np.zeros(len(features))
        for window in windows(n, chunk):
            batch = [jnp.asarray(a[window.items]) for a in prepared.x_1]
            made = function(network.values, batch)
            energies = np.stack([np.asarray(energy, np.float64) for energy in made])
            parts += energies[:, window.done :].sum(axis=1)
    traces = np.zeros(len(network.values.leaves))
    for feature, part in zip(features, parts, strict=True):
        whole = isinstance(feature, Whole)
        traces[feature.leaves[0] if whole else feature.piece.leaf] += part
    return traces


@lru_cache(maxsize=32)
def _compiled(source: Source, features: tuple[Feature, ...]) -> Any:
    def energies(values: Any, x: list[Array]) -> list[Array]:
        made = compute(source, features, values, x)
        return [_energies(*arrays) for arrays in made]

    return jax.jit(energies)


def _energies(*arrays: Array) -> Array:
    """Squared norms of the gradients of each example, the mean over outputs."""
    if len(arrays) == 1:
        (R,) = arrays
        return jnp.einsum("ncp,ncp->n", R, R, precision="highest") / R.shape[1]
    A, D = arrays
    T = jnp.einsum("ngpi,ngqi->ngpq", A, A, precision="highest").astype(D.dtype)
    S = jnp.einsum("ncgpo,ncgqo->ngpq", D, D, precision="highest")
    return (S * T).sum(axis=(1, 2, 3)) / D.shape[1]


def _shares(tree: PyTree, parts: np.ndarray, by: str) -> Shares:
    check_known("grouping", by, ("layer", "parameter"))
    paths = [path for path, _ in jax.tree_util.tree_leaves_with_path(tree)]
    grouped: dict[str, float] = {}
    for path, part in zip(paths, parts, strict=True):
        kept = path[:-1] if by == "layer" and len(path) > 1 else path
        name = jax.tree_util.keystr(kept, simple=True, separator="/") or "params"
        grouped[name] = grouped.get(name, 0.0) + float(part)
    total = float(sum(grouped.values()))
    with np.errstate(invalid="ignore"):
        shares = np.array(list(grouped.values())) / total if total else np.nan
    return Shares(tuple(grouped), np.broadcast_to(shares, (len(grouped),)), total)
