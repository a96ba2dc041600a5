r"""Random labels: what they cost in the norm of any kernel.

>>> import numpy as np
>>> H = np.diag([4.0, 1.0, 0.25, 0.25, 0.5])
>>> round(random_label_complexity(H), 9), round(random_label_floor(H), 9)
(11.25, 4.166666667)
"""

import jax
import numpy as np
from jaxtyping import Float

from .._checks import check_square
from .._types import AnyArray, PRNGKey
from .checking import check_at_least, check_finite, check_positive
from .solving import inverse_forms, inverse_trace


def random_label_complexity(H: Float[AnyArray, "n n"]) -> float:
    r"""Expected `label_complexity` of random signs, $\operatorname{tr} H^{-1}$.

    At least `random_label_floor`.

    Args:
        H: Gram matrix on the training samples.

    Returns:
        The expectation.

    Reference:
        $\mathbb E[Y Y^\top] = I$ in the complexity of the CentraleSupelec lecture
        (class 5, January 2025).
    """
    return inverse_trace(H)


def random_label_floor(H: Float[AnyArray, "n n"]) -> float:
    r"""What random signs cost at least, whatever the kernel.

    $$\mathbb E[Y^\top H^{-1} Y] = \operatorname{tr} H^{-1} \ge n^2 / \operatorname{tr}
      H$$

    so that the mean square of the bound's leading term, $4 Y^\top H^{-1} Y
    \operatorname{tr} H / n^2$, is at least 4: random labels make it vacuous.

    Args:
        H: Gram matrix on the training samples.

    Returns:
        $n^2 / \operatorname{tr} H$.

    Reference:
        Of arithmetic and harmonic mean of the eigenvalues; the bound is that of the
        CentraleSupelec lecture (class 5, January 2025).
    """
    check_square("H", H)
    check_finite("H", H)
    trace = float(np.trace(np.asarray(H, np.float64)))
    check_positive("the trace of `H`", trace)
    return H.shape[0] ** 2 / trace


def permuted_complexities(
    H: Float[AnyArray, "n n"],
    y: Float[AnyArray, " n"],
    *,
    key: PRNGKey,
    num: int = 200,
    jitter: float | int = 0.0,
) -> Float[np.ndarray, " s"]:
    r"""`label_complexity` of shuffled labels, to compare that of the labels with.

    Permutations keep the balance of the classes, which fresh random signs do not.

    Args:
        H: Gram matrix on the training samples.
        y: Labels.
        key: Draws the permutations.
        num: How many.
        jitter: As in `label_complexity`.

    Returns:
        A complexity for each permutation.

    Reference:
        Zhang et al., "Understanding deep learning requires rethinking generalization",
        ICLR 2017, for the question.
    """
    check_at_least("num", num, 1)
    keys = jax.random.split(key, num)
    orders = np.asarray(jax.vmap(lambda k: jax.random.permutation(k, len(y)))(keys))
    return inverse_forms(H, np.asarray(y)[orders].T, jitter)
