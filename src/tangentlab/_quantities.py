"""Large numbers as people write them.

>>> bytes_in_words(3 * 2**30), flops_in_words(2_500_000_000)
('3 GiB', '2.5 GFLOP')
"""

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_DECIMAL = ("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP")


def bytes_in_words(count: int) -> str:
    """A number of bytes to three digits.

    Args:
        count: The number.

    Returns:
        It, with a binary unit.
    """
    return _scaled(count, 1024, _BINARY)


def flops_in_words(count: int) -> str:
    """A number of floating-point operations to three digits.

    Args:
        count: The number.

    Returns:
        It, with a decimal unit.
    """
    return _scaled(count, 1000, _DECIMAL)


def _scaled(count: int, step: int, units: tuple[str, ...]) -> str:
    value, place = float(count), 0
    while value >= 999.5 and place < len(units) - 1:
        value, place = value / step, place + 1
    return f"{value:.3g} {units[place]}"
