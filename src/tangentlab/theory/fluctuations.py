r"""How much a finite network differs from one initialization to the next.

>>> round(norm_fluctuation([100] * 20), 3)  # depth over width decides
1.653
"""

import math
from collections.abc import Sequence

from .checking import check_at_least


def norm_fluctuation(widths: Sequence[int]) -> float:
    r"""Relative variance of the squared norm of a ReLU network's last hidden layer.

    $$\frac{\mathbb E \|h\|^4}{(\mathbb E \|h\|^2)^2} - 1 = \prod_\ell \Big(1 +
      \frac{5}{m_\ell}\Big) - 1 \approx \exp\Big(5 \sum_\ell \frac{1}{m_\ell}\Big) - 1$$

    exact for independent centered Gaussian weights of any variances, without biases: a
    layer multiplies the squared norm by $\frac{2}{m} \sum_j (g_j)_+^2$ with standard
    normal $g$, of mean 1 and variance $5 / m$, and a constant. The diagonal of the
    tangent kernel fluctuates with the same exponent: a network is near its
    infinite-width limit if depth over width is small, not if it is wide.

    Args:
        widths: $m_\ell$ of the hidden layers.

    Returns:
        The relative variance.

    Reference:
        Hanin and Nica, "Finite depth and width corrections to the neural tangent
        kernel", ICLR 2020, arXiv 1909.05989.
    """
    for width in widths:
        check_at_least("each width", width, 1)
    return math.expm1(sum(math.log1p(5 / width) for width in widths))
