r"""One layer: a finite network, and what becomes of it at infinite width.

The outputs of a network with many random weights are draws of a Gaussian process. Its
covariance is the NNGP kernel; the tangent kernel, which at finite width depends on the
weights drawn, converges to a fixed one, the NTK. Both follow from layer to layer:

1. `signal` says what a layer makes of shapes, and refuses what has no kernel.
2. `need` says, backwards, which covariances between positions are needed.
3. `own` takes each example's covariance with itself through the layer, and notes what
   pairs of examples will have to know of either (variances, for a nonlinearity).
4. `cross` takes the covariances of pairs through it, with the notes of both sides.

Layers are frozen and compare by value.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array

from .._types import Params, PRNGKey
from ..models.model import Model
from .calls import Examples, KernelCalls
from .covariance import Covariance
from .flow import Batch, as_batch
from .signal import Need, Signal, Step


class Layer(KernelCalls, ABC):
    """A layer, or a network of layers."""

    @abstractmethod
    def output_shape(self, input_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of one output.

        Args:
            input_shape: Shape of one input, without the axis of examples.

        Returns:
            Its shape, channels last.
        """

    def init(self, key: PRNGKey, input_shape: tuple[int, ...]) -> Params:
        """Draw parameters.

        Args:
            key: Random key.
            input_shape: Shape of one input, without the axis of examples.

        Returns:
            Parameters of the finite network; an empty tuple if there are none.
        """
        del key
        self.output_shape(tuple(input_shape))  # refuses what does not fit
        return ()

    @abstractmethod
    def forward(self, params: Params, batch: Batch) -> Batch:
        """The finite layer on a batch, with masks and graphs.

        Args:
            params: From `init`.
            batch: What comes in.

        Returns:
            What goes out.
        """

    def apply(self, params: Params, x: Examples) -> Array:
        """The finite network.

        Args:
            params: From `init`.
            x: Examples, `(n, *positions, channels)`.

        Returns:
            Outputs, one row an example.
        """
        return jnp.asarray(self.forward(params, as_batch("x", x)).x)

    def model(self, input_shape: tuple[int, ...], *, name: str = "network") -> Model:
        """The finite network as every other part of the library takes it.

        Args:
            input_shape: Shape of one input, without the axis of examples.
            name: What it is called in tables and figures.

        Returns:
            The model.
        """
        from .finite import model_of

        return model_of(self, tuple(input_shape), name)

    def signal(self, before: Signal) -> Signal:
        """What a layer makes of the law of its input.

        Args:
            before: What comes in.

        Returns:
            What goes out.
        """
        return before._replace(shape=self.output_shape(before.shape))

    def need(self, after: Need) -> Need:
        """What has to be known of the input.

        Args:
            after: What is wanted of the output.

        Returns:
            What is needed of the input.
        """
        return after

    @abstractmethod
    def own(self, covariance: Covariance, step: Step) -> tuple[Covariance | None, Any]:
        """Take the covariance of each example with itself through the layer.

        Args:
            covariance: Of the input, with one axis of examples; holds what `need` says.
            step: This layer's part.

        Returns:
            Covariance of the output, None if nothing is wanted of it; and what `cross`
            has to know of each example.
        """

    @abstractmethod
    def cross(self, covariance: Covariance, notes: Any, step: Step) -> Covariance:
        """Take the covariance of pairs of examples through the layer.

        Args:
            covariance: Of the input, with two axes of examples.
            notes: What `own` has noted, of either side, shaped to broadcast.
            step: This layer's part.

        Returns:
            Covariance of the output.
        """


class LinearLayer(Layer):
    """A layer that takes covariances to covariances without knowing anything else.

    `fixed` says that the finite layer is a fixed linear map of the positions, with
    neither weights nor chance. At the very start of a network it may be applied to the
    inputs themselves, which are fewer than their covariances.
    """

    fixed: ClassVar[bool] = True

    @abstractmethod
    def propagate(self, covariance: Covariance, step: Step) -> Covariance:
        """Take covariances of any examples through the layer.

        Args:
            covariance: Of the input.
            step: This layer's part.

        Returns:
            Covariance of the output.
        """

    def own(self, covariance: Covariance, step: Step) -> tuple[Covariance, None]:
        """Covariance of each example with itself; there is nothing to note.

        Args:
            covariance: Of the input.
            step: This layer's part.

        Returns:
            Covariance of the output, and None.
        """
        return self.propagate(covariance, step), None

    def cross(self, covariance: Covariance, notes: Any, step: Step) -> Covariance:
        """Covariance of two sets of examples.

        Args:
            covariance: Of the input.
            notes: None.
            step: This layer's part.

        Returns:
            Covariance of the output.
        """
        return self.propagate(covariance, step)
