r"""How far two subspaces overlap.

>>> import numpy as np
>>> axes = np.eye(3)
>>> float(subspace_overlap(axes[:, :2], axes[:, 1:]))
0.5
"""

import numpy as np
import scipy
from jaxtyping import Float

from .._checks import check_same_rows
from .._types import AnyArray

_RANK = 1e-10  # singular values below this share of the largest are rounding


def principal_angles(
    U: Float[AnyArray, "n k"], V: Float[AnyArray, "n m"]
) -> Float[np.ndarray, " a"]:
    """Angles between the spans of two sets of columns, the smallest first.

    Exact for small angles too, where the arc cosine is not.

    Args:
        U: Vectors as columns, linearly independent; any norm.
        V: Likewise; of a spectrum, its leading eigenvectors.

    Returns:
        As many angles as the smaller subspace has dimensions, in radians: 0 for a
        direction that both share, pi / 2 for one that the other lacks.
    """
    left, right = _bases(U, V)
    return np.sort(scipy.linalg.subspace_angles(left, right))


def subspace_overlap(
    U: Float[AnyArray, "n k"], V: Float[AnyArray, "n m"]
) -> Float[np.ndarray, ""]:
    r"""Mean squared cosine of the principal angles.

    $$\|Q_U^\top Q_V\|_F^2 \,/\, \min(k, m)$$

    Args:
        U: Vectors as columns, linearly independent; any norm.
        V: Likewise.

    Returns:
        1 where one span holds the other, 0 where they are orthogonal;
        $\max(k, m) / n$ is what random subspaces have on average.
    """
    left, right = _bases(U, V)
    cosines = left.T @ right
    return np.asarray((cosines**2).sum() / min(cosines.shape))


def _bases(U: AnyArray, V: AnyArray) -> tuple[np.ndarray, np.ndarray]:
    check_same_rows("U", U, "V", V)
    return _basis("U", U), _basis("V", V)


def _basis(name: str, U: AnyArray) -> np.ndarray:
    """Orthonormal columns with the same span."""
    wide = np.asarray(U, np.float64)
    if wide.ndim != 2 or 0 in wide.shape:
        raise ValueError(
            f"`{name}` must hold vectors as columns, (n, k), got shape {wide.shape}."
        )
    if not np.isfinite(wide).all():
        raise ValueError(f"`{name}` holds NaN or infinite entries.")
    basis, singular, _ = np.linalg.svd(wide, full_matrices=False)
    rank = int((singular > _RANK * singular[0]).sum())
    if rank < wide.shape[1]:
        raise ValueError(
            f"The {wide.shape[1]} columns of `{name}` span only {rank} dimensions: "
            "leave out those that depend on others."
        )
    return basis
