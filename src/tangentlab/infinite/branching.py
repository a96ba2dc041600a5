"""Layers side by side.

>>> from tangentlab.infinite import Dense, Relu, residual, serial
>>> block = residual(Relu(), Dense(8))
>>> serial(Dense(8), block, Dense(1)).output_shape((3,))
(1,)
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from .._types import Params, PRNGKey
from .combining import Serial, check_layers, check_params, through
from .covariance import Covariance, reduced
from .flow import Batch
from .joining import Join, Sum
from .layer import Layer
from .shaping import Identity
from .signal import Need, Signal, Step


@dataclass(frozen=True)
class Parallel(Layer):
    """Branches that all see the same input.

    Attributes:
        branches: The branches.
        join: What is made of their outputs.
    """

    branches: tuple[Layer, ...]
    join: Join

    def __repr__(self) -> str:
        parts = ", ".join(map(repr, self.branches))
        return f"parallel({parts}, join={self.join!r})"

    def output_shape(self, input_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of one output.

        Args:
            input_shape: Shape of one input.

        Returns:
            What the join makes of the branches'.
        """
        return self.join.shape([b.output_shape(input_shape) for b in self.branches])

    def init(self, key: PRNGKey, input_shape: tuple[int, ...]) -> Params:
        """Draw parameters.

        Args:
            key: Random key.
            input_shape: Shape of one input.

        Returns:
            Those of each branch.
        """
        self.output_shape(tuple(input_shape))
        keys = jax.random.split(key, len(self.branches))
        pairs = zip(self.branches, keys, strict=True)
        return tuple(branch.init(each, input_shape) for branch, each in pairs)

    def forward(self, params: Params, batch: Batch) -> Batch:
        """The finite network.

        Args:
            params: Those of each branch.
            batch: What comes in.

        Returns:
            What goes out.
        """
        check_params(params, len(self.branches), "branches")
        pairs = zip(self.branches, params, strict=True)
        outputs = [branch.forward(each, batch) for branch, each in pairs]
        values = self.join.values([jnp.asarray(each.x) for each in outputs])
        mask = _in_any([each.mask for each in outputs])
        return outputs[0]._replace(x=values, mask=mask)

    def signal(self, before: Signal) -> Signal:
        """What branches and join make of the law of their input.

        Args:
            before: What comes in.

        Returns:
            What goes out.
        """
        fresh = before._replace(independent=False)  # branches share all of it
        made = self.join.signal([b.signal(fresh) for b in self.branches])
        outside = all(b.signal(before).independent for b in self.branches)
        return made._replace(independent=outside)

    def need(self, after: Need) -> Need:
        """The most that any branch needs.

        Args:
            after: What is wanted of the output.

        Returns:
            What is needed of the input.
        """
        return max(branch.need(after) for branch in self.branches)

    def own(
        self, covariance: Covariance, step: Step
    ) -> tuple[Covariance | None, tuple[Any, ...]]:
        """Covariance of each example with itself.

        Args:
            covariance: Of the input.
            step: The part of all branches.

        Returns:
            Covariance of the output, and what each branch noted.
        """
        made, notes = [], []
        for branch in self.branches:
            given = self._given(branch, covariance, step)
            out, note = through(branch, given, step)
            made.append(out)
            notes.append(note)
        if step.after == Need.NOTHING:
            return None, tuple(notes)
        return self._joined(made, step), tuple(notes)

    def cross(self, covariance: Covariance, notes: Any, step: Step) -> Covariance:
        """Covariance of two sets of examples.

        Args:
            covariance: Of the input.
            notes: What each branch noted, of either side.
            step: The part of all branches.

        Returns:
            Covariance of the output.
        """
        made = []
        for number, branch in enumerate(self.branches):
            each = tuple(None if side is None else side[number] for side in notes)
            given = self._given(branch, covariance, step)
            made.append(branch.cross(given, each, step))
        return self._joined(made, step)

    def _given(self, branch: Layer, covariance: Covariance, step: Step) -> Covariance:
        have, need = self.need(step.after), branch.need(step.after)
        return reduced(covariance, step.before.rank, have, need)

    def _joined(self, made: Sequence[Covariance], step: Step) -> Covariance:
        shapes = [branch.output_shape(step.before.shape) for branch in self.branches]
        nngp, ntk = self.join.moments(
            [each.nngp for each in made],
            [each.ntk for each in made],
            [shape[-1] for shape in shapes],
        )
        first, second = (
            side._replace(mask=_in_any([each.sides[number].mask for each in made]))
            for number, side in enumerate(made[0].sides)
        )
        return made[0]._replace(nngp=nngp, ntk=ntk, sides=(first, second))


def _in_any(masks: Sequence[Any]) -> Array | None:
    """Positions that are there in any branch; None if all are."""
    if any(mask is None for mask in masks):
        return None
    return functools.reduce(jnp.maximum, map(jnp.asarray, masks))


def parallel(*branches: Layer, join: Join = Sum()) -> Layer:  # noqa: B008
    """Put layers side by side; all see the same input.

    Args:
        *branches: The branches.
        join: What is made of their outputs: `Sum()`, `Product()` or `Concatenate()`.

    Returns:
        A layer.
    """
    check_layers("parallel", branches)
    return Parallel(branches, join)


def residual(*layers: Layer, shortcut: Layer | None = None) -> Layer:
    """Add the output of some layers to their input.

    Args:
        *layers: The layers, first to last.
        shortcut: What the input goes through on its way around; nothing by default.

    Returns:
        A layer.
    """
    check_layers("residual", layers)
    around = Identity() if shortcut is None else shortcut
    return Parallel((around, Serial(layers)), Sum())
