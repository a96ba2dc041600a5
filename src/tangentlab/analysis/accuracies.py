"""How well an accuracy is known, and what binarizing an eigenfunction keeps."""

import numpy as np
import scipy
from jaxtyping import Float

from .._types import AnyArray


def accuracy_interval(
    accuracy: Float[AnyArray, " t"], num: int
) -> Float[np.ndarray, "2 t"]:
    """Wilson's 95 % interval of accuracies measured on `num` samples.

    It covers the finite test split alone, not the spread over initializations.

    Args:
        accuracy: Shares of correct answers.
        num: Number of test samples behind each.

    Returns:
        Lower and upper ends; never outside [0, 1].
    """
    z, p = scipy.stats.norm.ppf(0.975), np.asarray(accuracy, float)
    center = (p + z**2 / (2 * num)) / (1 + z**2 / num)
    spread = p * (1 - p) / num + z**2 / (4 * num**2)
    half = z * np.sqrt(np.maximum(spread, 0)) / (1 + z**2 / num)
    return np.clip(np.stack([center - half, center + half]), 0, 1)


def binarization_overlap(V: Float[AnyArray, "n k"]) -> Float[np.ndarray, " k"]:
    r"""How much of each unit vector its signs keep, $\|v\|_1 / \sqrt{n}$.

    Args:
        V: Vectors of unit norm, as columns.

    Returns:
        Numbers in (0, 1]; $\sqrt{2/\pi} \approx 0.798$ for Gaussian entries.
    """
    V = np.asarray(V)
    return np.abs(V).sum(axis=0) / np.sqrt(len(V))
