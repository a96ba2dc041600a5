r"""Elementwise nonlinearities of Gaussian inputs.

For $(u, v)$ Gaussian with covariance $(q_1, q_{12}; q_{12}, q_2)$ a nonlinearity
$\phi$ takes covariance $q_{12}$ to $\mathbb E[\phi(u) \phi(v)]$, and the tangent kernel
$\Theta$ to $\Theta\, \mathbb E[\phi'(u) \phi'(v)]$. Which function that is, and how the
two expectations are computed, a `dual` says; see `activations/`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import jax.numpy as jnp
from jaxtyping import Array

from .covariance import Covariance, masked, outer, settled, variances
from .flow import Batch, zero_outside
from .layer import Layer
from .signal import Need, Signal, Step


@runtime_checkable
class DualLike(Protocol):
    """A function and its two Gaussian expectations."""

    @property
    def fn(self) -> Callable[[Array], Array]:
        """The function itself."""
        ...

    @property
    def pair(self) -> Callable[[Array, Array, Array], tuple[Array, Array]]:
        """`pair(q_12, q_1, q_2)`: both expectations; arrays that broadcast."""
        ...

    @property
    def single(self) -> Callable[[Array], tuple[Array, Array]]:
        """`single(q)`: both expectations where `u = v`."""
        ...


class Pointwise(Layer):
    """A nonlinearity whose `dual` is a property.

    Subclasses are frozen dataclasses whose fields are the parameters of the function:
    equal nonlinearities are then equal objects, and kernels are compiled once.
    """

    if TYPE_CHECKING:  # at run time a field or a property of the subclass

        @property
        def dual(self) -> DualLike:
            """The function and its Gaussian expectations."""
            ...

    def output_shape(self, input_shape: tuple[int, ...]) -> tuple[int, ...]:
        """A nonlinearity changes no shape.

        Args:
            input_shape: Shape of one example.

        Returns:
            The same.
        """
        return input_shape

    def signal(self, before: Signal) -> Signal:
        """Refuse inputs that are not Gaussian.

        Args:
            before: What comes in.

        Returns:
            What goes out; it is not Gaussian any more.

        Raises:
            ValueError: If channels of the input are not draws of one Gaussian process.
        """
        if not before.gaussian:
            raise ValueError(
                f"{self!r} follows a layer whose outputs are not Gaussian, not even in "
                "the limit of infinite width (the inputs of the network, another "
                "nonlinearity, a product, a concatenation, Flatten): put Dense or Conv "
                "between them."
            )
        return before._replace(gaussian=False, independent=False)

    def need(self, after: Need) -> Need:
        """Variances, whatever is wanted of the output.

        Args:
            after: What is wanted.

        Returns:
            What is needed of the input.
        """
        return max(after, Need.SAME)

    def forward(self, params: Any, batch: Batch) -> Batch:
        """Apply the function.

        Args:
            params: None.
            batch: What comes in.

        Returns:
            What goes out.
        """
        return zero_outside(batch._replace(x=self.dual.fn(jnp.asarray(batch.x))))

    def own(
        self, covariance: Covariance, step: Step
    ) -> tuple[Covariance | None, Array]:
        """Covariance of each example with itself; notes the variances before.

        Args:
            covariance: Of the input.
            step: This layer's part.

        Returns:
            Covariance of the output, and variances at each position of the input.
        """
        rank, have = step.before.rank, self.need(step.after)
        q = variances(covariance, rank, have)
        if step.after == Need.NOTHING:
            return None, q
        if step.after == Need.SAME:
            nngp, slope = self.dual.single(q)
        else:
            q_1, q_2 = outer(q, q, rank, have)
            nngp, slope = self.dual.pair(covariance.nngp, q_1, q_2)
        return _moved(covariance, nngp, slope, rank, have), q

    def cross(
        self, covariance: Covariance, notes: tuple[Array, Array], step: Step
    ) -> Covariance:
        """Covariance of two sets of examples.

        Args:
            covariance: Of the input.
            notes: Variances of either side.
            step: This layer's part.

        Returns:
            Covariance of the output.
        """
        rank = step.before.rank
        q_1, q_2 = outer(*notes, rank, step.after)
        nngp, slope = self.dual.pair(covariance.nngp, q_1, q_2)
        return _moved(covariance, nngp, slope, rank, step.after)


def _moved(
    covariance: Covariance, nngp: Array, slope: Array, rank: int, need: Need
) -> Covariance:
    ntk = None if covariance.ntk is None else covariance.ntk * slope
    nngp, ntk = settled((nngp, ntk)) if rank else (nngp, ntk)
    return masked(covariance._replace(nngp=nngp, ntk=ntk), rank, need)


@dataclass(frozen=True)
class Activation(Pointwise):
    """The nonlinearity of any dual.

    Attributes:
        dual: A function and its Gaussian expectations.
    """

    dual: DualLike  # pyright: ignore[reportIncompatibleMethodOverride]
