"""What is made of the outputs of layers side by side: sums, products, more channels.

Outputs are added or multiplied as if they were uncorrelated, which they are if each
branch but one ends in weights of its own: what is drawn anew has mean zero.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import jax.numpy as jnp
from jaxtyping import Array

from .signal import Signal


@runtime_checkable
class Join(Protocol):
    """What is made of the outputs of branches."""

    def shape(self, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """Shape of one output, of the shapes that come in."""
        ...

    def signal(self, signals: Sequence[Signal]) -> Signal:
        """What goes out, of what comes in."""
        ...

    def values(self, outputs: Sequence[Array]) -> Array:
        """Outputs of the finite network."""
        ...

    def moments(
        self, nngps: Sequence[Array], ntks: Sequence[Array | None], widths: list[int]
    ) -> tuple[Array, Array | None]:
        """Covariance and tangent kernel; None stands for zero."""
        ...


def _equal_shape(what: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    if len(set(shapes)) > 1:
        raise ValueError(
            f"{what} of branches with outputs of unequal shapes "
            f"{', '.join(map(str, shapes))}: give all of them the same width, strides "
            "and padding, for instance by a Conv in the shortcut, "
            "`residual(..., shortcut=Conv(...))`."
        )
    return shapes[0]


def _check_independent(what: str, signals: Sequence[Signal]) -> None:
    if sum(not signal.independent for signal in signals) > 1:
        raise ValueError(
            f"{what} of branches whose outputs are correlated: all branches but one "
            "must end in weights of their own, Dense or Conv, with no nonlinearity "
            "behind them."
        )


def _total(parts: Sequence[Array | None]) -> Array | None:
    there = [part for part in parts if part is not None]
    return sum(there[1:], start=there[0]) if there else None


@dataclass(frozen=True)
class Sum:
    """Outputs are added."""

    def shape(self, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """All alike.

        Args:
            shapes: Of the outputs of the branches.

        Returns:
            Their shape.
        """
        return _equal_shape("A sum", shapes)

    def signal(self, signals: Sequence[Signal]) -> Signal:
        """Gaussian if all are.

        Args:
            signals: What comes in.

        Returns:
            What goes out.
        """
        _check_independent("A sum", signals)
        shape = self.shape([signal.shape for signal in signals])
        return Signal(shape, all(signal.gaussian for signal in signals))

    def values(self, outputs: Sequence[Array]) -> Array:
        """Add.

        Args:
            outputs: Of the branches.

        Returns:
            Their sum.
        """
        return sum(outputs[1:], start=outputs[0])

    def moments(
        self, nngps: Sequence[Array], ntks: Sequence[Array | None], widths: list[int]
    ) -> tuple[Array, Array | None]:
        """Add both.

        Args:
            nngps: Covariances.
            ntks: Tangent kernels.
            widths: Numbers of channels.

        Returns:
            Those of the sum.
        """
        return self.values(nngps), _total(ntks)


@dataclass(frozen=True)
class Product:
    """Outputs are multiplied."""

    def shape(self, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """All alike.

        Args:
            shapes: Of the outputs of the branches.

        Returns:
            Their shape.
        """
        return _equal_shape("A product", shapes)

    def signal(self, signals: Sequence[Signal]) -> Signal:
        """A product of Gaussians is not Gaussian.

        Args:
            signals: What comes in.

        Returns:
            What goes out.
        """
        _check_independent("A product", signals)
        return Signal(self.shape([signal.shape for signal in signals]))

    def values(self, outputs: Sequence[Array]) -> Array:
        """Multiply.

        Args:
            outputs: Of the branches.

        Returns:
            Their product.
        """
        return math.prod(outputs[1:], start=outputs[0])  # pyright: ignore

    def moments(
        self, nngps: Sequence[Array], ntks: Sequence[Array | None], widths: list[int]
    ) -> tuple[Array, Array | None]:
        """Multiply covariances; the tangent kernel by the product rule.

        Args:
            nngps: Covariances.
            ntks: Tangent kernels.
            widths: Numbers of channels.

        Returns:
            Those of the product.
        """
        parts = [
            None if ntk is None else self.values([ntk, *nngps[:i], *nngps[i + 1 :]])
            for i, ntk in enumerate(ntks)
        ]
        return self.values(nngps), _total(parts)


@dataclass(frozen=True)
class Concatenate:
    """Channels are put side by side."""

    def shape(self, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """Equal positions; channels add up.

        Args:
            shapes: Of the outputs of the branches.

        Returns:
            Shape of one output.
        """
        positions = [(*shape[:-1], 1) for shape in shapes]
        together = _equal_shape("A concatenation of the channels", positions)
        return (*together[:-1], sum(shape[-1] for shape in shapes))

    def signal(self, signals: Sequence[Signal]) -> Signal:
        """Channels of different branches have different variances.

        Args:
            signals: What comes in.

        Returns:
            What goes out.
        """
        return Signal(self.shape([signal.shape for signal in signals]))

    def values(self, outputs: Sequence[Array]) -> Array:
        """Concatenate.

        Args:
            outputs: Of the branches.

        Returns:
            All channels.
        """
        return jnp.concatenate(outputs, axis=-1)

    def moments(
        self, nngps: Sequence[Array], ntks: Sequence[Array | None], widths: list[int]
    ) -> tuple[Array, Array | None]:
        """The mean over channels.

        Args:
            nngps: Covariances.
            ntks: Tangent kernels.
            widths: Numbers of channels.

        Returns:
            Those of all channels.
        """
        shares = [width / sum(widths) for width in widths]
        pairs = zip(shares, ntks, strict=True)
        parts = [None if ntk is None else share * ntk for share, ntk in pairs]
        scaled = [share * k for share, k in zip(shares, nngps, strict=True)]
        return sum(scaled[1:], start=scaled[0]), _total(parts)
