r"""How much of a target lies in the leading eigenvectors of a kernel.

>>> import numpy as np
>>> K = np.diag([3.0, 1.0])
>>> float(energy_concentration(K, np.array([3.0, 4.0]), 1))
0.6
>>> float(energy_concentration(K, np.array([3.0, 4.0]), 1, squared=True))
0.36
"""

import numpy as np
from jaxtyping import Float, PyTree

from .._checks import batch_size, check_same_rows
from .._types import AnyArray, Apply, Inputs, Params
from ..kernels import TiledGram
from ..kernels.request import Outputs, Precision
from ..spectra import Spectrum, energy, spectrum, spectrum_of
from ..spectra.checking import check_num
from .targets import check_targets


def energy_concentration(
    K: Float[AnyArray | TiledGram, "n n"] | Spectrum,
    y: Float[AnyArray, "n ..."],
    num: int,
    *,
    squared: bool = False,
) -> Float[np.ndarray, "..."]:
    r"""Share of a target in the leading eigenvectors of a kernel.

    $$c = \|V_k^\top y\|_2 \,/\, \|y\|_2$$

    The paper's formula is this ratio of norms, with chance level $\sqrt{k / n}$; the
    share of the energy is its square, with chance level $k / n$.

    Args:
        K: Symmetric Gram matrix, or its spectrum with at least `num` pairs.
        y: A target at the samples, `(n,)`, or several as columns; labels as $\pm 1$, or
            the constant direction rules.
        num: How many eigenvectors, from 1 to n.
        squared: Return the share of the energy.

    Returns:
        The concentration of each target, in [0, 1]; NaN for a target of zeros.
    """
    vectors = K.eigenvectors if isinstance(K, Spectrum) else K
    check_same_rows("K", vectors, "y", y)
    if isinstance(K, Spectrum):
        check_num(num, len(K.eigenvalues))
    found = K if isinstance(K, Spectrum) else spectrum(K, num)
    share = energy(found, y).cumulative[num - 1]
    return np.asarray(share if squared else np.sqrt(share))


def energy_concentration_of(
    apply: Apply,
    params: Params,
    x: Inputs,
    y: Float[AnyArray, "n ..."],
    num: int,
    *,
    squared: bool = False,
    outputs: Outputs = "mean",
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    precision: Precision = "float32",
    memory: int | None = None,
) -> Float[np.ndarray, "..."]:
    r"""The same for a network's tangent kernel, without its Gram matrix.

    A Krylov method of some `5 num` products with the kernel: for n so large that the
    Gram matrix is the problem.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x: All samples.
        y: A target at the samples, or several as columns.
        num: How many eigenvectors.
        squared: Return the share of the energy, not its root.
        outputs: With several logits, which kernel; see `tl.gram`.
        trainable: Prefix of `params` with booleans; False leaves parameters out.
        scale: Prefix of `params` with non-negative multipliers.
        precision: `"float64"`, or that of the network.
        memory: Bytes that a product may use.

    Returns:
        The concentration of each target.
    """
    check_targets("y", y, batch_size("x", x))
    kind = "float64" if precision == "float64" else "float32"
    found = spectrum_of(
        apply,
        params,
        x,
        num,
        outputs=outputs,
        trainable=trainable,
        scale=scale,
        precision=kind,
        memory=memory,
    )
    return energy_concentration(found, y, num, squared=squared)
