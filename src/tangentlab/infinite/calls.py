"""The calls by which every network of layers gives its kernels."""

from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, overload

from jaxtyping import Array, Float

from .._types import AnyArray
from ..kernels.request import Request
from ..kernels.tiled.folder import check_shared
from ..kernels.tiled.tiled_gram import TiledGram
from .flow import Batch

Examples = Batch | AnyArray
"""An array `(n, *positions, channels)`, or a `Batch`."""

Precision = Literal["float32", "float64"]
"""`float64` computes in float64; `float32` in the dtype of the examples, whichever, but
in float32 where that is float64 and 64-bit types of JAX are off."""


class Kernels(NamedTuple):
    """Both kernels of a wide network.

    Attributes:
        nngp: Covariance of its outputs at initialization.
        ntk: Its neural tangent kernel.
    """

    nngp: Float[Array, "..."]
    ntk: Float[Array, "..."]


class KernelCalls:
    """What a layer offers beside its parts; `evaluating.py` does the work."""

    def kernel(
        self,
        x_1: Examples,
        x_2: Examples | None = None,
        *,
        precision: Precision = "float32",
        memory: int | None = None,
        progress: bool = False,
    ) -> Kernels:
        """Both kernels of the network at infinite width.

        Under `jit` and `grad` everything is one expression: pairs of examples are not
        cut into tiles then, and memory is not looked at.

        Args:
            x_1: Examples, `(n, *positions, channels)`.
            x_2: Other examples; None means `x_1` again, of which one triangle is
                computed.
            precision: `"float64"` computes in float64 whatever the dtype of `x_1`;
                otherwise its dtype is kept, but float64 becomes float32 where 64-bit
                types of JAX are off, as they are by default.
            memory: Bytes that may be used; a share of what is free by default.
            progress: Show a progress bar.

        Returns:
            Two Gram matrices `(n, m)`.
        """
        from .evaluating import evaluate

        request = Request(precision=precision, memory=memory, progress=progress)
        return Kernels(*evaluate(_layer(self), ("nngp", "ntk"), x_1, x_2, request))

    @overload
    def nngp(
        self,
        x_1: Examples,
        x_2: Examples | None = None,
        *,
        precision: Precision = "float32",
        memory: int | None = None,
        store: None = None,
        cluster: None = None,
        progress: bool = False,
    ) -> Float[Array, "n m"]: ...
    @overload
    def nngp(
        self,
        x_1: Examples,
        x_2: Examples | None = None,
        *,
        precision: Precision = "float32",
        memory: int | None = None,
        store: str | PathLike[str],
        cluster: Any = None,
        progress: bool = False,
    ) -> TiledGram: ...
    def nngp(
        self,
        x_1: Examples,
        x_2: Examples | None = None,
        *,
        precision: Precision = "float32",
        memory: int | None = None,
        store: str | PathLike[str] | None = None,
        cluster: Any = None,
        progress: bool = False,
    ) -> Float[Array | TiledGram, "n m"]:
        """The covariance of the outputs at initialization, alone.

        Args:
            x_1: Examples, `(n, *positions, channels)`.
            x_2: Other examples; None means `x_1` again.
            precision: See `kernel`.
            memory: Bytes that may be used.
            store: Folder for the result, tile by tile; a call that was stopped is
                called again and goes on. See `tl.gram`.
            cluster: Whose workers compute, with `store`. See `tl.gram`.
            progress: Show a progress bar.

        Returns:
            A Gram matrix; with `store` a `TiledGram`.
        """
        request = Request(precision=precision, memory=memory, progress=progress)
        return _one(self, "nngp", x_1, x_2, request, store, cluster)

    @overload
    def ntk(
        self,
        x_1: Examples,
        x_2: Examples | None = None,
        *,
        precision: Precision = "float32",
        memory: int | None = None,
        store: None = None,
        cluster: None = None,
        progress: bool = False,
    ) -> Float[Array, "n m"]: ...
    @overload
    def ntk(
        self,
        x_1: Examples,
        x_2: Examples | None = None,
        *,
        precision: Precision = "float32",
        memory: int | None = None,
        store: str | PathLike[str],
        cluster: Any = None,
        progress: bool = False,
    ) -> TiledGram: ...
    def ntk(
        self,
        x_1: Examples,
        x_2: Examples | None = None,
        *,
        precision: Precision = "float32",
        memory: int | None = None,
        store: str | PathLike[str] | None = None,
        cluster: Any = None,
        progress: bool = False,
    ) -> Float[Array | TiledGram, "n m"]:
        """The neural tangent kernel, alone.

        Args:
            x_1: Examples, `(n, *positions, channels)`.
            x_2: Other examples; None means `x_1` again.
            precision: See `kernel`.
            memory: Bytes that may be used.
            store: Folder for the result, tile by tile; a call that was stopped is
                called again and goes on. See `tl.gram`.
            cluster: Whose workers compute, with `store`. See `tl.gram`.
            progress: Show a progress bar.

        Returns:
            A Gram matrix; with `store` a `TiledGram`.
        """
        request = Request(precision=precision, memory=memory, progress=progress)
        return _one(self, "ntk", x_1, x_2, request, store, cluster)

    def diagonal(self, x: Examples, *, precision: Precision = "float32") -> Kernels:
        """Both kernels of each example with itself, at the cost of n entries.

        Args:
            x: Examples, `(n, *positions, channels)`.
            precision: See `kernel`.

        Returns:
            The diagonals of both Gram matrices, `(n,)`.
        """
        from .evaluating import diagonals

        return Kernels(*diagonals(_layer(self), x, Request(precision=precision)))


def _layer(calls: KernelCalls) -> Any:
    """The layer that these calls belong to; only layers have them."""
    return calls


def _one(
    calls: KernelCalls,
    kind: Literal["nngp", "ntk"],
    x_1: Examples,
    x_2: Examples | None,
    request: Request,
    store: str | PathLike[str] | None,
    cluster: Any,
) -> Array | TiledGram:
    from .evaluating import evaluate
    from .on_disk import store_kernel

    if cluster is not None:
        check_shared(cluster, store)
    if store is not None:
        folder = Path(store)
        if cluster is not None:
            from .on_cluster import kernel_on_cluster

            return kernel_on_cluster(
                _layer(calls), (kind,), x_1, x_2, request, folder, cluster
            )
        return store_kernel(_layer(calls), (kind,), x_1, x_2, request, folder)
    return evaluate(_layer(calls), (kind,), x_1, x_2, request)[0]
