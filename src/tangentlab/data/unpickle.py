"""Read the pickled CIFAR-10 batches without running anything that a pickle may name.

A pickle is a program that may call any importable function. The official batches call
three, all to rebuild one array of bytes. Here these names stand for inert records of
our own, and every other name is refused before it is imported.
"""

import io
import math
import pickle
from typing import Any

import numpy as np
from jaxtyping import UInt8


class _PickledDtype:
    """Stands for `numpy.dtype`; only unsigned bytes are accepted."""

    def __init__(self, code: Any, *flags: Any):
        if code not in ("u1", b"u1"):
            raise pickle.UnpicklingError(
                f"refused an array of dtype {code!r}: images are unsigned bytes, 'u1'"
            )

    def __setstate__(self, state: Any):
        """Byte order and alignment, which mean nothing for single bytes."""


class _PickledArray:
    """Stands for a `numpy.ndarray` until its bytes are known."""

    def __init__(self, *arguments: Any):
        self.array = np.empty(0, np.uint8)

    def __setstate__(self, state: Any):
        _, shape, dtype, fortran_order, data = state
        if not isinstance(dtype, _PickledDtype) or not isinstance(data, bytes):
            raise pickle.UnpicklingError("refused an array that is not of plain bytes")
        if math.prod(shape) != len(data):
            raise pickle.UnpicklingError(
                f"an array of shape {shape} cannot have {len(data)} bytes"
            )
        order = "F" if fortran_order else "C"
        self.array = np.frombuffer(data, np.uint8).reshape(shape, order=order)


def _encode(text: Any, encoding: Any) -> bytes:
    # Stand for `_codecs.encode`, by which protocol 2 of Python 3 spells bytes.
    if not isinstance(text, str) or encoding not in ("latin1", b"latin1"):
        raise pickle.UnpicklingError(f"refused the encoding {encoding!r}")
    return text.encode("latin1")


_STAND_INS = {
    ("numpy.core.multiarray", "_reconstruct"): _PickledArray,
    ("numpy._core.multiarray", "_reconstruct"): _PickledArray,
    ("numpy", "ndarray"): _PickledArray,
    ("numpy", "dtype"): _PickledDtype,
    ("_codecs", "encode"): _encode,
}


class _ArrayUnpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> Any:
        try:
            return _STAND_INS[module_name, global_name]
        except KeyError:
            raise pickle.UnpicklingError(
                f"refused to import {module_name}.{global_name}"
            ) from None


def unpickle_bytes(data: bytes) -> dict[bytes, UInt8[np.ndarray, "..."] | Any]:
    """Unpickle a dict of byte arrays and plain values, importing nothing.

    Args:
        data: A pickle of any protocol up to 4, by Python 2 or 3 and any numpy.

    Returns:
        The dict; text of Python 2 as bytes, keys as bytes, arrays as `uint8`.

    Raises:
        pickle.UnpicklingError: If the pickle names anything else, is cut off, or holds
            something else than a dict.
    """
    try:
        value = _ArrayUnpickler(io.BytesIO(data), encoding="bytes").load()
    except pickle.UnpicklingError:
        raise
    except Exception as error:  # broken pickles raise whatever their bytes lead to
        raise pickle.UnpicklingError(f"the pickle is broken: {error}") from error
    if not isinstance(value, dict):
        raise pickle.UnpicklingError(
            f"a pickled dict was expected, got {type(value).__name__}"
        )
    return {
        key.encode() if isinstance(key, str) else key: (
            item.array if isinstance(item, _PickledArray) else item
        )
        for key, item in value.items()
    }
