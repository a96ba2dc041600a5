"""Layers one after the other.

>>> from tangentlab.infinite import Dense, Relu, serial
>>> import jax.numpy as jnp
>>> network = serial(Dense(512), Relu(), Dense(1))
>>> network.ntk(jnp.eye(2)).round(4).tolist()
[[0.5, 0.0796], [0.0796, 0.5]]
"""

from dataclasses import dataclass
from typing import Any

import jax

from .._types import Params, PRNGKey
from .covariance import Covariance
from .flow import Batch
from .layer import Layer
from .signal import Need, Signal, Step


@dataclass(frozen=True)
class Serial(Layer):
    """Layers one after the other.

    Attributes:
        layers: The layers, first to last.
    """

    layers: tuple[Layer, ...]

    def __repr__(self) -> str:
        return f"serial({', '.join(map(repr, self.layers))})"

    def output_shape(self, input_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of one output.

        Args:
            input_shape: Shape of one input.

        Returns:
            What the last layer makes of it.
        """
        for layer in self.layers:
            input_shape = layer.output_shape(input_shape)
        return input_shape

    def init(self, key: PRNGKey, input_shape: tuple[int, ...]) -> Params:
        """Draw parameters.

        Args:
            key: Random key.
            input_shape: Shape of one input.

        Returns:
            Those of each layer.
        """
        params = []
        for layer, each in zip(
            self.layers, jax.random.split(key, len(self.layers)), strict=True
        ):
            params.append(layer.init(each, tuple(input_shape)))
            input_shape = layer.output_shape(tuple(input_shape))
        return tuple(params)

    def forward(self, params: Params, batch: Batch) -> Batch:
        """The finite network.

        Args:
            params: Those of each layer.
            batch: What comes in.

        Returns:
            What goes out.
        """
        check_params(params, len(self.layers), "layers in a row")
        for layer, each in zip(self.layers, params, strict=True):
            batch = layer.forward(each, batch)
        return batch

    def signal(self, before: Signal) -> Signal:
        """What the layers make of the law of their input.

        Args:
            before: What comes in.

        Returns:
            What goes out.
        """
        for layer in self.layers:
            before = layer.signal(before)
        return before

    def need(self, after: Need) -> Need:
        """What has to be known of the input.

        Args:
            after: What is wanted of the output.

        Returns:
            What is needed of the input.
        """
        for layer in reversed(self.layers):
            after = layer.need(after)
        return after

    def steps(self, step: Step) -> list[Step]:
        """Each layer's part.

        Args:
            step: That of all together.

        Returns:
            One a layer.
        """
        before, signals = step.before, []
        for layer in self.layers:
            signals.append(before)
            before = layer.signal(before)
        after, steps = step.after, []
        for layer, signal in zip(reversed(self.layers), reversed(signals), strict=True):
            steps.append(Step(signal, after, step.with_ntk))
            after = layer.need(after)
        return steps[::-1]

    def own(
        self, covariance: Covariance, step: Step
    ) -> tuple[Covariance | None, tuple[Any, ...]]:
        """Covariance of each example with itself.

        Args:
            covariance: Of the input.
            step: The part of all layers.

        Returns:
            Covariance of the output, and what each layer noted.
        """
        now: Covariance | None = covariance
        notes = []
        for layer, part in zip(self.layers, self.steps(step), strict=True):
            now, note = through(layer, now, part)
            notes.append(note)
        return now, tuple(notes)

    def cross(self, covariance: Covariance, notes: Any, step: Step) -> Covariance:
        """Covariance of two sets of examples.

        Args:
            covariance: Of the input.
            notes: What each layer noted, of either side.
            step: The part of all layers.

        Returns:
            Covariance of the output.
        """
        for number, part in enumerate(self.steps(step)):
            layer = self.layers[number]
            each = tuple(None if side is None else side[number] for side in notes)
            covariance = layer.cross(covariance, each, part)
        return covariance


def through(
    layer: Layer, covariance: Covariance | None, step: Step
) -> tuple[Covariance | None, Any]:
    """Take each example's own covariance through a layer, if anybody needs it.

    Args:
        layer: The layer.
        covariance: Of its input; None where nothing is needed of it.
        step: Its part.

    Returns:
        Covariance of the output, and what the layer noted.
    """
    if layer.need(step.after) == Need.NOTHING:
        return None, None
    assert covariance is not None
    return layer.own(covariance, step)


def check_params(params: Any, num: int, what: str) -> None:
    """Raise unless there are parameters for each layer.

    Args:
        params: What was given.
        num: How many layers there are.
        what: What they are, for the message.

    Raises:
        ValueError: If there are more or fewer.
    """
    if not isinstance(params, tuple | list) or len(params) != num:
        many = f" of {len(params)}" if isinstance(params, tuple | list | dict) else ""
        raise ValueError(
            f"`params` must hold those of {num} {what}, got a {type(params).__name__}"
            f"{many}: pass what `init(key, input_shape)` of this network returns."
        )


def check_layers(what: str, layers: tuple[Any, ...]) -> None:
    """Refuse what is no layer.

    Args:
        what: Who takes them, for the message.
        layers: The layers received.

    Raises:
        TypeError: If one is not a layer.
        ValueError: If there is none.
    """
    if not layers:
        raise ValueError(f"`{what}` needs at least one layer.")
    for layer in layers:
        if isinstance(layer, type) and issubclass(layer, Layer):
            name = layer.__name__
            raise TypeError(f"`{what}` takes layers: write {name}(...), not {name}.")
        if not isinstance(layer, Layer):
            raise TypeError(
                f"`{what}` takes layers of `tl.infinite`, such as Dense(512) or "
                f"Relu(), one argument each; got {layer!r}."
            )


def serial(*layers: Layer) -> Layer:
    """Put layers one after the other.

    Args:
        *layers: The layers, first to last.

    Returns:
        A network, itself a layer.
    """
    check_layers("serial", layers)
    return Serial(layers)


def repeat(layer: Layer, times: int) -> Layer:
    """Put a layer several times, each with weights of its own.

    Args:
        layer: The layer.
        times: How often.

    Returns:
        A network, itself a layer.

    Raises:
        ValueError: If it is not to be there at all.
    """
    check_layers("repeat", (layer,))
    if times < 1:
        raise ValueError(f"`times` must be at least 1, got {times}.")
    return Serial((layer,) * times)
