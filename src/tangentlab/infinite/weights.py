r"""Random weights: how they are drawn, and what they add to the tangent kernel.

Two parameterizations of the same random function, with $k$ the mean of the input's
covariance over what a weight sees, and $\Theta$ that of its tangent kernel:

- `"ntk"`: $\sigma_w / \sqrt{d}\; W x + \sigma_b b$, all entries standard normal; the
  covariance is $\sigma_w^2 k + \sigma_b^2$, the tangent kernel that plus
  $\sigma_w^2 \Theta$.
- `"standard"`: $W x + b$, with variances $\sigma_w^2 / d$ and $\sigma_b^2$; the
  covariance is the same, the tangent kernel $d k + 1 + \sigma_w^2 \Theta$.

$d$ is the fan-in. The plain standard parameterization has no limit: $d$ grows with the
width. In the improved one of Sohl-Dickstein et al. (2020, arXiv:2001.07301) a layer of
base width $d$ is made $s$ times wider and multiplied by $1 / \sqrt s$, so that $d$
stays what it is in the network one writes down. At `fan_in_scale` 1 the finite network
is the ordinary standard one.

The parts of a finite Gram matrix are related by the squared ratio of the two scales:
that of a weight in `"standard"` is $d / \sigma_w^2$ times that in `"ntk"`, that of a
bias $1 / \sigma_b^2$ times.
"""

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

from .._checks import check_known, is_whole
from .._types import Params, PRNGKey
from .covariance import Covariance, masked
from .layer import LinearLayer
from .signal import Need, Signal

Parameterization = Literal["ntk", "standard"]


def as_deviation(name: str, value: Any) -> float:
    """A standard deviation as a float: layers are compared, and compiled once.

    Args:
        name: Of the argument, for the message.
        value: A number, or an array without axes.

    Returns:
        The number.

    Raises:
        TypeError: If it is traced, as under `jax.grad`.
        ValueError: If it is no number, negative or not finite.
    """
    if isinstance(value, Tracer):
        raise TypeError(
            f"`{name}` is traced, but kernels are compiled for each value of it: build "
            "the layer outside `jax.jit`, `jax.grad` and `jax.vmap`, of a float."
        )
    is_number = np.ndim(value) == 0 and np.asarray(value).dtype.kind in "iuf"
    if not (is_number and 0 <= value < math.inf):
        raise ValueError(
            f"`{name}` must be one finite number and not negative, got {value!r}: "
            "write a float, such as 1.4."
        )
    return float(value)


@dataclass(frozen=True)
class WeightedLayer(LinearLayer):
    """A layer with weights and, unless told otherwise, biases.

    Attributes:
        width: Number of outputs at each position; infinite in the kernel.
        weight_std: Of the weights.
        bias_std: Of the biases; None for no biases. With 0 there are none in the `ntk`
            parameterization, and biases that start at 0 in the `standard` one.
        parameterization: `"ntk"` or `"standard"`; see `weights.py`.
        fan_in_scale: How many times wider than its base the layer before is, for the
            `standard` parameterization.
    """

    fixed: ClassVar[bool] = False

    width: int
    _: KW_ONLY
    weight_std: float = 1.0
    bias_std: float | None = 0.0
    parameterization: Parameterization = "ntk"
    fan_in_scale: float = 1.0

    def __post_init__(self):
        """Refuse what has no meaning.

        Raises:
            TypeError: For a deviation that is traced.
            ValueError: For a width that is no whole number from 1 on, a deviation that
                is no number from 0 on, or an unknown parameterization.
        """
        check_known("parameterization", self.parameterization, ("ntk", "standard"))
        if not is_whole(self.width) and self.width != math.inf:
            raise ValueError(
                f"`width` must be a whole number, such as 512, got {self.width!r}."
            )
        if self.width < 1:
            raise ValueError(f"`width` must be at least 1, got {self.width}.")
        for name in ("weight_std", "bias_std", "fan_in_scale"):
            value = getattr(self, name)
            if name != "bias_std" or value is not None:
                object.__setattr__(self, name, as_deviation(name, value))
        if self.fan_in_scale == 0:
            raise ValueError("`fan_in_scale` must be positive, got 0.")

    def weight_of(self, params: Params, channels: int) -> Array:
        """The weights, if they are those of this layer.

        Args:
            params: The parameters.
            channels: Of the input.

        Returns:
            The weights, `(..., channels, width)`.

        Raises:
            ValueError: If parameters are of another layer, or of other inputs.
        """
        weight: Any = params.get("weight", 0.0) if isinstance(params, dict) else 0.0
        shape = jnp.shape(weight)
        if shape[-2:] != (channels, self.width):
            raise ValueError(
                f"{type(self).__name__}({self.width}) takes {channels} channels here, "
                f"which its parameters do not fit (weights of shape {shape}): pass "
                "those of `init(key, input_shape)`, for inputs of this shape."
            )
        return weight

    @property
    def has_bias(self) -> bool:
        """Whether there are biases among the parameters."""
        return self.bias_std is not None and (
            self.bias_std > 0 or self.parameterization == "standard"
        )

    def signal(self, before: Signal) -> Signal:
        """Sums of many random weights are Gaussian.

        Args:
            before: What comes in.

        Returns:
            What goes out.
        """
        return Signal(self.output_shape(before.shape), gaussian=True, independent=True)

    def draw(
        self, key: PRNGKey, weight: tuple[int, ...], bias: tuple[int, ...], fan_in: int
    ) -> dict[str, Array]:
        """Draw parameters.

        Args:
            key: Random key.
            weight: Shape of the weights.
            bias: Shape of the biases.
            fan_in: Number of inputs of each output.

        Returns:
            `weight`, and `bias` if there is one.
        """
        weight_key, bias_key = jax.random.split(key)
        params = {"weight": jax.random.normal(weight_key, weight)}
        if self.has_bias:
            params["bias"] = jax.random.normal(bias_key, bias)
        if self.parameterization == "standard":
            std = self.weight_std * math.sqrt(self.fan_in_scale / fan_in)
            params["weight"] *= std
            if self.has_bias:
                params["bias"] *= self.bias_std or 0.0
        return params

    def scaled(self, sums: Array, params: dict[str, Array], fan_in: int) -> Array:
        """Outputs, of the sums of weights times inputs.

        Args:
            sums: The sums, `(n, *positions, width)`.
            params: The parameters.
            fan_in: Number of inputs of each output.

        Returns:
            Outputs of the same shape.
        """
        by_hand = self.parameterization == "standard"
        weight_std = 1 / math.sqrt(self.fan_in_scale)
        if not by_hand:
            weight_std = self.weight_std / math.sqrt(fan_in)
        outputs = sums if weight_std == 1 else sums * weight_std
        if not self.has_bias:
            return outputs
        bias = params["bias"] if by_hand else params["bias"] * (self.bias_std or 0.0)
        axes = range(outputs.ndim - bias.ndim)
        return outputs + jnp.expand_dims(bias, axes)

    def weighted(
        self, mean: Covariance, fan_in: int, rank: int, need: Need, *, with_ntk: bool
    ) -> Covariance:
        """Covariance after the weights.

        Args:
            mean: Covariance of the input, averaged over what a weight sees.
            fan_in: Number of inputs of each output of the finite layer.
            rank: Number of axes of positions of the output.
            need: What is wanted of the output.
            with_ntk: Whether the tangent kernel is.

        Returns:
            Covariance of the output.
        """
        bias = (self.bias_std or 0.0) ** 2
        nngp = self.weight_std**2 * mean.nngp
        nngp = nngp + bias if bias else nngp
        ntk = None
        if with_ntk:
            ntk = nngp
            if self.parameterization == "standard":
                ntk = (fan_in / self.fan_in_scale) * mean.nngp
                ntk = ntk + 1.0 if self.has_bias else ntk
            if mean.ntk is not None:
                ntk = ntk + self.weight_std**2 * mean.ntk
        return masked(mean._replace(nngp=nngp, ntk=ntk), rank, need)
