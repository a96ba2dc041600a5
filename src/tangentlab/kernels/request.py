"""What is asked of a kernel, beside the network and the samples."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from .._checks import check_known

Outputs = Literal["mean", "sum"] | int | Callable[[Float[Array, "n c"]], Array]
"""How several logits make one kernel."""

Precision = Literal["float64", "float32", "high", "fast"]
"""`float64` computes everything in float64. The others run the network in the dtype it
has, float32 at full precision, and differ in the products on an accelerator: `float32`
exact, `high` three bfloat16 products, `fast` a single one. On a CPU all three are
equal."""

ERRORS: dict[Precision, float] = {"high": 3e-5, "fast": 1e-4}
"""Relative error in Frobenius norm of a Gram matrix whose products an accelerator
computed, as seen for ResNet18; where there is none, that of the dtype."""


class Request(NamedTuple):
    """Options of a kernel computation; see `tl.gram`."""

    outputs: Outputs = "mean"
    trainable: PyTree | None = None
    scale: PyTree | None = None
    precision: Precision = "float32"
    memory: int | None = None
    progress: bool = False

    def check(self) -> None:
        """Refuse what has no meaning.

        Raises:
            ValueError: For an unknown precision, a boolean as `outputs`, or memory that
                is no positive integer.
        """
        check_known("precision", self.precision, ("float64", "float32", "high", "fast"))
        if isinstance(self.outputs, bool):  # True == 1, but nobody means that
            raise ValueError(
                f"`outputs` must not be {self.outputs}: pass the index of a logit, "
                '"mean", "sum", or a function.'
            )
        whole = self.memory is None or isinstance(self.memory, int | np.integer)
        if self.memory is not None and not (whole and self.memory > 0):
            raise ValueError(
                f"`memory` must be a whole number of bytes above 0, got {self.memory}: "
                "4 GB are `memory=4 * 10**9`."
            )

    def context(self) -> AbstractContextManager[None]:
        """Where the computation has to run.

        Returns:
            A context in which float64 exists, if it was asked for.
        """
        return jax.enable_x64(True) if self.precision == "float64" else nullcontext()

    def cast(self, tree: PyTree) -> PyTree:
        """Real-valued leaves in the precision asked for.

        Args:
            tree: Parameters or samples.

        Returns:
            The tree in float64, if that was asked for; otherwise as it is.
        """
        if self.precision != "float64":
            return tree

        def one(leaf):
            real = jnp.issubdtype(jnp.result_type(leaf), jnp.floating)
            return jnp.asarray(leaf, np.float64) if real else leaf

        return jax.tree.map(one, tree)
