"""A Gram matrix as training reads it: the rows of a batch, train then test.

A matrix that fits stays on the device, or on the devices it is sharded over. Of any
other, the rows of as many batches as fit are fetched at once, from host memory or from
disk.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec
from jaxtyping import Array, Float, Int

from .._compiling import compiled
from .._linalg import HIGHEST, blocks

_BLOCK = 4096  # rows multiplied at once
_FEWEST = 128  # likewise where memory is small: products of fewer round differently
Tree = TypeVar("Tree")


@runtime_checkable
class GramLike(Protocol):
    """A square matrix that can be sliced: an array, or a `TiledGram` on disk."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        ...

    @property
    def dtype(self) -> Any:
        """Type of the entries."""
        ...

    def __getitem__(self, key: Any, /) -> Any:
        """Part of the matrix."""
        ...


class Part(NamedTuple):
    """Some steps of an epoch and the rows they need.

    Attributes:
        rows: Rows of the Gram matrix, at least the columns of the training samples.
        places: Where among `rows` the samples of each batch are.
        batches: The samples themselves.
    """

    rows: Float[Array, "k m"]
    places: Int[Array, "steps b"]
    batches: Int[Array, "steps b"]


@dataclass(frozen=True)
class GramRows:
    """Rows of a Gram matrix, restricted to the columns of the training samples.

    Attributes:
        K: The matrix.
        num_train: Number of training samples.
        dtype: In which everything is computed.
        steps: Batches whose rows are fetched at once; None if all of it stays on the
            device.
        room: Bytes that are left for tasks.
        most: Rows multiplied at once.
    """

    K: Any
    num_train: int
    dtype: Any
    steps: int | None
    room: int
    most: int = _BLOCK

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.K.shape[0]

    def beside(self, tree: Tree) -> Tree:
        """Put small arrays on every device of the matrix.

        Args:
            tree: Arrays.

        Returns:
            The same arrays, beside each part of a sharded matrix.
        """
        mesh = self._mesh
        if mesh is None:
            return tree
        return jax.device_put(tree, NamedSharding(mesh, PartitionSpec()))

    def parts(self, batches: Int[Array, "steps b"]) -> Iterator[Part]:
        """Cut an epoch into parts whose rows fit.

        Args:
            batches: Samples of each step.

        Yields:
            The parts, in order.
        """
        if self.steps is None:
            batches = self.beside(batches)
            yield Part(self.K, batches, batches)
            return
        for some in blocks(len(batches), self.steps):
            chosen = batches[some]
            places = jnp.arange(chosen.size).reshape(chosen.shape)
            yield Part(self._fetch(np.asarray(chosen).ravel()), places, chosen)

    def product(self, rows: slice, V: Float[Array, "m t"]) -> Float[Array, "k t"]:
        """Multiply some rows with vectors over the training samples.

        Args:
            rows: Which rows.
            V: The vectors, as columns.

        Returns:
            The products.
        """
        size = self.most if self._mesh is None else self.n  # all devices at once
        return jnp.concatenate(
            [
                _product(
                    self._fetch(slice(rows.start + b.start, rows.start + b.stop)), V
                )
                for b in blocks(rows.stop - rows.start, size)
            ]
        )

    def _fetch(self, rows: slice | np.ndarray) -> Float[Array, "k m"]:
        if self.steps is None:
            return self.K[rows]
        return jnp.asarray(np.asarray(self.K[rows, : self.num_train]), self.dtype)

    @property
    def _mesh(self) -> Any:
        sharding = getattr(self.K, "sharding", None)
        return sharding.mesh if isinstance(sharding, NamedSharding) else None


def open_rows(K: GramLike, num_train: int, batch_size: int, memory: int) -> GramRows:
    """Put a Gram matrix on the device, if it fits.

    Args:
        K: The matrix, train then test.
        num_train: Number of training samples.
        batch_size: Samples of a batch.
        memory: Bytes that may be used, beside a matrix that is there already.

    Returns:
        Its rows.
    """
    wide = np.promote_types(K.dtype, np.float32)
    dtype = jax.dtypes.canonicalize_dtype(wide)
    row = num_train * dtype.itemsize
    if isinstance(K, jax.Array):
        return GramRows(K.astype(dtype), num_train, dtype, None, memory)
    if K.shape[0] * row <= memory // 2:
        resident = jnp.asarray(np.asarray(K[:, :num_train]), dtype)
        return GramRows(resident, num_train, dtype, None, memory - resident.nbytes)
    steps = max(1, memory // 4 // (batch_size * row))
    most = min(_BLOCK, max(_FEWEST, memory // 4 // row))
    return GramRows(K, num_train, dtype, steps, 3 * memory // 4, most)


@compiled
def _product(R: Float[Array, "k n"], V: Float[Array, "m t"]) -> Float[Array, "k t"]:
    return jnp.matmul(R[:, : len(V)], V, precision=HIGHEST)
