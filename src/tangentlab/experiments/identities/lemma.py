r"""Lemma 1 on a network: norm, bound and alignment of targets by independent routes.

The norm comes from the eigenpairs of the Gram matrix, the bound from averaged
gradients, which never meet a Gram matrix.
"""

import jax
import numpy as np

from ..._types import PRNGKey
from ...analysis import (
    alignment,
    binarization_overlap,
    gram_alignment,
    kernel_norm,
    kernel_norm_bound,
)
from ...kernels import gram
from ...spectra import spectrum
from ..stages.seeds import Seed

EIGENVECTOR = "eigenvector"
"""The kind of target on which the inequality is an equality."""
_RANDOM = 5  # targets of each random kind


def check_lemma(seed: Seed, num_modes: int, *, key: PRNGKey) -> None:
    """Norm, bound and alignment of many targets, unless it was done before.

    Args:
        seed: Network, parameters and samples.
        num_modes: Eigenvectors to take as targets.
        key: Draws random targets.
    """
    if seed.has("lemma"):
        return
    apply, params, x = seed.model.apply, seed.params, np.asarray(seed.dataset.x)
    K = np.asarray(gram(apply, params, x, precision="float64"))
    V = np.asarray(spectrum(K).eigenvectors)
    kinds, targets = _targets(V, num_modes, np.asarray(seed.dataset.y), key)
    norm = kernel_norm(K, targets)
    seed.save(
        "lemma",
        kind=np.array(kinds),
        squared=norm.squared,
        outside=norm.outside,
        condition=np.array(norm.condition),
        bound=kernel_norm_bound(apply, params, x, targets, precision="float64"),
        by_gradients=alignment(apply, params, x, targets, precision="float64"),
        by_gram=gram_alignment(K, targets).biased,
        overlap=binarization_overlap(V),
    )


def _targets(
    V: np.ndarray, num_modes: int, y: np.ndarray, key: PRNGKey
) -> tuple[list[str], np.ndarray]:
    """Targets as columns, each of mean square 1, and what each is."""
    n = len(V)
    leading = np.sqrt(n) * V[:, :num_modes]
    halves = np.where(2 * y < y.max() + 1, 1.0, -1.0)
    signs, noise = (
        np.asarray(jax.random.normal(each, (n, _RANDOM)), np.float64)
        for each in jax.random.split(key)
    )
    groups = {
        EIGENVECTOR: leading,
        "sign of an eigenvector": np.where(leading > 0, 1.0, -1.0),
        "classes, halved": halves[:, None],
        "random signs": np.where(signs > 0, 1.0, -1.0),
        "Gaussian noise": noise,
    }
    kinds = [kind for kind, columns in groups.items() for _ in range(columns.shape[1])]
    return kinds, np.concatenate(list(groups.values()), axis=1)
