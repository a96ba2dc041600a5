"""Whether a kernel is the right one."""

from pathlib import Path
from typing import Any

import numpy as np

# ReLU networks in float32 move by about 1e-3 at kinks; a wrong kernel is off by more
# than this in norm.
FROBENIUS = 1e-4
LARGEST = 1e-3
OUTPUTS = 1e-4


def difference(K: np.ndarray, L: np.ndarray) -> dict[str, float]:
    """Distance of `K` from `L`: in norm, and of the largest entry, both relative."""
    gap = K.astype(np.float64) - L
    return {
        "frobenius": float(np.linalg.norm(gap) / np.linalg.norm(L)),
        "largest": float(np.abs(gap).max() / np.abs(L).max()),
    }


def check(
    kernel_file: Path, outputs: list[float], problem: Path, ours: Path | None
) -> dict:
    """Compare a kernel with the float64 block of the problem, and wholly with ours.

    Args:
        kernel_file: The kernel.
        outputs: Outputs of the contestant's network on the first examples.
        problem: The problem's file, with outputs and kernel of those examples.
        ours: Our kernel of all examples, if there is one.

    Returns:
        The differences, and `wrong`, a sentence, or an empty one.
    """
    K = np.load(kernel_file)
    with np.load(problem) as archive:
        reference, expected = archive["reference"], archive["outputs"]
    num = min(len(reference), len(K))
    found: dict[str, Any] = {"block": difference(K[:num, :num], reference[:num, :num])}
    gap = np.abs(np.array(outputs) - expected).max() / np.abs(expected).max()
    found["outputs"] = float(gap)
    if ours is not None and ours.exists():
        found["ours"] = difference(K, np.load(ours))
    kernels = [found[name] for name in ("block", "ours") if name in found]
    wrong = ""
    if gap > OUTPUTS:
        wrong = f"the network differs: outputs are off by {gap:.0e}"
    elif any(d["frobenius"] > FROBENIUS or d["largest"] > LARGEST for d in kernels):
        off = max(d["frobenius"] for d in kernels)
        wrong = f"the kernel differs: relative Frobenius error {off:.0e}"
    return {**found, "wrong": wrong}
