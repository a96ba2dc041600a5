"""One Gram matrix over several devices of a host: samples that are sharded along rows.

The computation follows the data, as elsewhere in JAX: each device computes the rows of
its own samples against all samples, and the result is sharded as they are. Inside
`shard_map` the gradients are those of single examples; its check of varying values is
off, because with it on, the transpose of replicated parameters sums gradients over
devices, and every entry would be wrong.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jax.sharding import NamedSharding, PartitionSpec
from jaxtyping import Array

from .._linalg import blocks
from .forms import cost
from .planning import free_memory
from .preparing import Prepared, prepare
from .request import Request
from .results import check_finite
from .traced import gram
from .verifying import verify


def sharding_of(x: Any) -> NamedSharding | None:
    """How samples are spread over devices along their leading axis.

    Args:
        x: Samples.

    Returns:
        Their sharding; None if they lie on one device, or are traced.
    """
    for leaf in jax.tree.leaves(x):
        if isinstance(leaf, Tracer) or not isinstance(leaf, jax.Array):
            continue
        sharding = leaf.sharding
        if isinstance(sharding, NamedSharding) and len(sharding.device_set) > 1:
            if sharding.spec and sharding.spec[0] is not None:
                return sharding
    return None


def gram_sharded(
    apply: Any, params: Any, x_1: Any, x_2: Any, request: Request, at: NamedSharding
) -> Array:
    """A Gram matrix whose rows are spread over devices as the samples are.

    Args:
        apply: The network.
        params: Where to differentiate it.
        x_1: Samples along the rows, sharded.
        x_2: Samples along the columns; None means `x_1` again.
        request: The options.
        at: The sharding of `x_1`.

    Returns:
        The Gram matrix, sharded along its rows.
    """
    everywhere, along = PartitionSpec(), PartitionSpec(at.spec[0])
    mesh, rows = at.mesh, NamedSharding(at.mesh, along)
    params, x_1, x_2 = (request.cast(tree) for tree in (params, x_1, x_2))
    other = x_1 if x_2 is None else x_2
    prepared = _checked(apply, params, x_1, other, request)
    replicated = NamedSharding(mesh, everywhere)
    params, other = jax.device_put((params, other), replicated)
    x_1 = jax.device_put(x_1, rows)
    part = partial(_rows, apply, request)
    # No check of varying values: see above.
    spread = jax.jit(
        jax.shard_map(
            part,
            mesh=mesh,
            in_specs=(everywhere, along, everywhere),
            out_specs=along,
            check_vma=False,
        )
    )
    width = _width(prepared, request.memory, len(at.device_set))
    parts = [
        spread(params, x_1, jax.tree.map(lambda a, c=columns: a[c], other))
        for columns in blocks(len(jax.tree.leaves(other)[0]), width)
    ]
    joined = jax.jit(
        _mirrored if x_2 is None else jnp.concatenate,
        static_argnums=() if x_2 is None else 1,
        out_shardings=rows,
    )
    K = joined(parts) if x_2 is None else joined(parts, 1)
    return check_finite(K, symmetric=x_2 is None)


def _checked(apply: Any, params: Any, x_1: Any, x_2: Any, request: Request) -> Prepared:
    """The network, read and verified on two samples."""
    two = jax.tree.map(lambda a: jax.device_get(a[:2]), x_1)
    other = jax.tree.map(lambda a: jax.device_get(a[:2]), x_2)
    host = jax.device_get(params)
    prepared = prepare(apply, host, two, other, request, full=False)
    verify(prepared.network, prepared.features, prepared.x_1)
    return prepared


def _rows(apply: Any, request: Request, params: Any, mine: Any, other: Any) -> Array:
    prepared = prepare(apply, params, mine, other, request, full=False)
    batches = prepared.x_1, prepared.x_2
    return gram(prepared.network, prepared.features, prepared.problem, batches)


def _width(prepared: Prepared, memory: int | None, devices: int) -> int:
    """Columns at once, so that their features fit a quarter of a device."""
    memory = free_memory() // devices if memory is None else memory
    source, outputs = prepared.network.source, prepared.problem.num_outputs
    numbers = sum(cost(source, f, outputs).numbers for f in prepared.features)
    each = numbers * prepared.problem.feature_itemsize
    return max(1, memory // 4 // max(1, each))


def _mirrored(parts: list[Array]) -> Array:
    K = jnp.concatenate(parts, axis=1)
    return jnp.tril(K) + jnp.tril(K, -1).T
