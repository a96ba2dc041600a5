"""What activations refuse."""

from ..nonlinear import Pointwise


def check_degree(layer: Pointwise, degree: object) -> None:
    """Raise unless a degree is a whole number from 0 on.

    Args:
        layer: The activation, for the message.
        degree: What was given.

    Raises:
        ValueError: If it is anything else.
    """
    if not isinstance(degree, int) or degree < 0:
        raise ValueError(
            f"{type(layer).__name__} needs a whole number 0, 1, 2, ... as its degree, "
            f"got {degree!r}."
        )
