"""What flows between layers, as far as it is known before any number is.

A kernel is computed backwards first: each layer says what it needs to know of its
input when so much is wanted of its output. Covariances between all pairs of positions
cost the square of the number of positions, and only layers that mix positions of one
example (pooling, attention) ask for them; everywhere else equal positions are enough.
"""

from enum import IntEnum
from typing import NamedTuple


class Need(IntEnum):
    """Which covariances between the positions of two examples are wanted."""

    NOTHING = 0
    SAME = 1
    """Between equal positions alone: an array `(..., height, width)`."""
    PAIRS = 2
    """Between all pairs: `(..., height, height', width, width')`."""


class Signal(NamedTuple):
    """The output of a layer, or the input of the network.

    Attributes:
        shape: Of one example: positions, then channels.
        gaussian: Whether channels are independent draws of one Gaussian process, as
            those of a layer with many random weights are. Nonlinearities need that.
        independent: Whether it is uncorrelated, over weights drawn since the last
            branching, with everything that does not pass through these weights.
    """

    shape: tuple[int, ...]
    gaussian: bool = False
    independent: bool = False

    @property
    def rank(self) -> int:
        """The number of axes along which positions lie."""
        return len(self.shape) - 1


class Step(NamedTuple):
    """One layer's part in the computation of a kernel.

    Attributes:
        before: What comes in.
        after: What is wanted of the output.
        with_ntk: Whether the tangent kernel is wanted, beside the covariance.
    """

    before: Signal
    after: Need
    with_ntk: bool
