"""Which features are not exactly zero: at initialization, often few.

The published ResNet18 has no gradient in 98 % of its parameters at initialization,
because the last scale of each residual branch is zero. One pass over the examples finds
out, and nothing is computed for what is zero everywhere.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp

from .._types import AnyArray
from .accelerator import compiled_factors
from .features import Feature, Source, Values, Whole


def active_features(
    source: Source,
    features: Sequence[Feature],
    values: Values,
    x: Sequence[Sequence[AnyArray]],
    chunk: int,
) -> list[Feature]:
    """Leave out features that are exactly zero on all examples.

    Args:
        source: The network.
        features: All features.
        values: Values of the parameters.
        x: Batches of examples; a feature must be zero on all of one to be left out.
        chunk: Examples that run through the network at once.

    Returns:
        The features that matter.
    """
    alive = None
    for batch in x:
        found = jnp.zeros(len(source.sites), bool)
        n = len(batch[0])
        for start in range(0, n, chunk):
            at = max(0, min(start, n - chunk))
            part = [jnp.asarray(a[at : at + chunk]) for a in batch]
            found = found | _nonzero_sites(source)(values, part)
        alive = found if alive is None else alive & found
    assert alive is not None
    flags = alive.tolist()
    return [f for f in features if any(flags[i] for i in _sites(source, f))]


@lru_cache(maxsize=32)
def _nonzero_sites(source: Source) -> Any:
    made = compiled_factors(source)

    @jax.jit
    def nonzero(deltas):
        return jnp.stack([jnp.any(delta != 0) for delta in deltas])

    return lambda values, x: nonzero(made(values, x).deltas)


def _sites(source: Source, feature: Feature) -> Sequence[int]:
    if not isinstance(feature, Whole):
        return feature.piece.sites
    leaves = feature.leaves
    return [i for i, s in enumerate(source.sites) if s.leaves.intersection(leaves)]
