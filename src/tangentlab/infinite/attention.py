r"""Self-attention over all positions, at infinite width.

With $\bar k(x)$ the covariance between the positions of one example and $k$ that of
two, and $\zeta$ the softmax or another function of the logits, outputs have covariance

$$\zeta(\bar k(x))\; k\; \zeta(\bar k(x'))^\top$$

if logits are divided by the width $d$ of the keys and queries are keys: they converge
to constants then. Divided by $\sqrt d$, with queries of their own, logits are Gaussian;
without a softmax the covariance is $k \sum_{ij} k_{ij}^2$. Number of heads and widths
are infinite in the kernel.

Reference: Hron, Bahri, Sohl-Dickstein, Novak, "Infinite attention: NNGP and NTK for
deep attention networks", ICML 2020, arXiv:2006.10540.
"""

import math
from dataclasses import KW_ONLY, dataclass
from typing import Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array

from .._checks import check_known
from .._types import Params, PRNGKey
from .covariance import Covariance, equal_positions, from_matrix, masked, to_matrix
from .flow import Batch, zero_outside
from .layer import Layer
from .signal import Need, Signal, Step
from .weights import as_deviation

_MECHANISMS = ("softmax", "identity", "abs", "relu")
_FAR_BELOW = -1e30  # a logit that a softmax takes to zero, in float32 too


@dataclass(frozen=True)
class GlobalSelfAttention(Layer):
    """Every position looks at all others.

    Attributes:
        width: Number of output channels.
        key_width: Of the keys of each head.
        value_width: Of the values of each head.
        heads: Number of heads.
        mechanism: What is made of the logits: `"softmax"`, `"identity"`, `"abs"` or
            `"relu"`.
        scaling: `"linear"` divides logits by `key_width`; `"root"` by its root, and
            has a kernel for `"identity"` alone.
        key_std: Of the weights of the keys; for `"linear"` those of queries as well.
        query_std: Of the weights of the queries.
        value_std: Of the weights of the values.
        output_std: Of the weights of the output.
        bias_std: Of the biases of the output; 0 for none.
    """

    width: int
    key_width: int
    value_width: int
    heads: int = 1
    mechanism: Literal["softmax", "identity", "abs", "relu"] = "softmax"
    scaling: Literal["linear", "root"] = "linear"
    _: KW_ONLY
    key_std: float = 1.0
    query_std: float = 1.0
    value_std: float = 1.0
    output_std: float = 1.0
    bias_std: float = 0.0

    def __post_init__(self):
        """Refuse what is unknown, or no deviation."""
        check_known("mechanism", self.mechanism, _MECHANISMS)
        check_known("scaling", self.scaling, ("linear", "root"))
        for name in ("key_std", "query_std", "value_std", "output_std", "bias_std"):
            value = as_deviation(name, getattr(self, name))
            object.__setattr__(self, name, value)

    def output_shape(self, input_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of one output.

        Args:
            input_shape: Shape of one input.

        Returns:
            The same positions, `width` channels.

        Raises:
            ValueError: If there are no positions.
        """
        if len(input_shape) < 2:
            raise ValueError(
                "GlobalSelfAttention needs axes of positions before the channels, but "
                f"one input has shape {input_shape}: give sequences as (n, length, "
                "channels)."
            )
        return (*input_shape[:-1], self.width)

    def signal(self, before: Signal) -> Signal:
        """Outputs of many heads are Gaussian.

        Args:
            before: What comes in.

        Returns:
            What goes out.

        Raises:
            ValueError: If there is no closed form.
        """
        if self.scaling == "root" and self.mechanism != "identity":
            raise ValueError(
                'With scaling="root" logits stay random, and there is no closed form '
                f'for mechanism={self.mechanism!r}: use mechanism="identity", or '
                'scaling="linear".'
            )
        return Signal(self.output_shape(before.shape), gaussian=True, independent=True)

    def need(self, after: Need) -> Need:
        """All pairs of positions; where logits become constants, in any case.

        Args:
            after: What is wanted of the output.

        Returns:
            What is needed of the input.
        """
        return Need.PAIRS if after or self.scaling == "linear" else Need.NOTHING

    def init(self, key: PRNGKey, input_shape: tuple[int, ...]) -> Params:
        """Draw weights of keys, queries, values and outputs, all standard normal.

        Args:
            key: Random key.
            input_shape: Shape of one input.

        Returns:
            The parameters; no queries where they are the keys.
        """
        self.output_shape(tuple(input_shape))
        channels, heads = input_shape[-1], self.heads
        shapes = {
            "key": (heads, channels, self.key_width),
            "query": (heads, channels, self.key_width),
            "value": (heads, channels, self.value_width),
            "output": (heads * self.value_width, self.width),
            "bias": (self.width,),
        }
        if self.scaling == "linear":
            del shapes["query"]
        if not self.bias_std:
            del shapes["bias"]
        keys = jax.random.split(key, len(shapes))
        return {
            name: jax.random.normal(each, shape)
            for each, (name, shape) in zip(keys, shapes.items(), strict=True)
        }

    def forward(self, params: Params, batch: Batch) -> Batch:
        """The finite layer.

        Args:
            params: The parameters.
            batch: What comes in.

        Returns:
            What goes out.
        """
        x = jnp.asarray(batch.x)
        flat = x.reshape(len(x), -1, x.shape[-1])
        along = "npc,hcd->nhpd"
        keys = jnp.einsum(along, flat, params["key"])
        linear = self.scaling == "linear"
        queries = keys if linear else jnp.einsum(along, flat, params["query"])
        values = jnp.einsum(along, flat, params["value"])
        size = x.shape[-1] * (self.key_width if linear else math.sqrt(self.key_width))
        logits = jnp.einsum("nhpd,nhqd->nhpq", queries, keys)
        mask = None
        if batch.mask is not None:
            mask = jnp.asarray(batch.mask).reshape(len(x), 1, 1, -1)
        seen = self._attend(logits * (self.key_std * self.query_std / size), mask)
        heads = jnp.einsum("nhpq,nhqd->nphd", seen, values)
        size = math.sqrt(self.value_width * self.heads * x.shape[-1])
        outputs = heads.reshape(*flat.shape[:2], -1) @ params["output"]
        outputs = outputs * (self.value_std * self.output_std / size)
        if self.bias_std:
            outputs = outputs + self.bias_std * params["bias"][None, None]
        outputs = outputs.reshape(*x.shape[:-1], self.width)
        return zero_outside(batch._replace(x=outputs))

    def _attend(self, logits: Array, mask: Array | None) -> Array:
        if mask is not None:
            away = _FAR_BELOW if self.mechanism == "softmax" else 0.0
            logits = jnp.where(mask > 0, logits, away)
        if self.mechanism == "softmax":
            return jax.nn.softmax(logits, axis=-1)
        functions = {"identity": lambda x: x, "abs": jnp.abs, "relu": jax.nn.relu}
        return functions[self.mechanism](logits)

    def own(
        self, covariance: Covariance, step: Step
    ) -> tuple[Covariance | None, Array | None]:
        """Covariance of each example with itself; notes what attention becomes.

        Args:
            covariance: Of the input.
            step: This layer's part.

        Returns:
            Covariance of the output, and the attention between positions.
        """
        if self.scaling == "root":
            return self.cross(covariance, (None, None), step), None
        positions = step.before.shape[:-1]
        logits = self.key_std * self.query_std * to_matrix(covariance.nngp, positions)
        mask = covariance.sides[0].mask
        if mask is not None:
            mask = mask.reshape(len(mask), 1, -1)
        seen = self._attend(logits, mask)
        if step.after == Need.NOTHING:
            return None, seen
        return self.cross(covariance, (seen, seen), step), seen

    def cross(
        self,
        covariance: Covariance,
        notes: tuple[Array | None, Array | None],
        step: Step,
    ) -> Covariance:
        """Covariance of two sets of examples.

        Args:
            covariance: Of the input.
            notes: The attention of either side.
            step: This layer's part.

        Returns:
            Covariance of the output.
        """
        positions, rank = step.before.shape[:-1], step.before.rank
        k = to_matrix(covariance.nngp, positions)
        theta = covariance.ntk
        theta = None if theta is None else to_matrix(theta, positions)
        made = (
            self._random(k, theta) if notes[0] is None else self._fixed(k, theta, notes)
        )
        bias = self.bias_std**2

        def finish(matrix: Array | None) -> Array | None:
            if matrix is None:
                return None
            pairs = from_matrix(matrix + bias if bias else matrix, positions)
            return equal_positions(pairs, rank) if step.after == Need.SAME else pairs

        nngp, ntk = map(finish, made)
        assert nngp is not None
        ntk = ntk if step.with_ntk else None
        moved = covariance._replace(nngp=nngp, ntk=ntk)
        return masked(moved, rank, step.after)

    def _fixed(self, k: Array, theta: Array | None, notes) -> tuple[Array, Array]:
        """Logits are constants: only weights of values and outputs are felt."""
        factor = (self.value_std * self.output_std) ** 2
        first, second = notes

        def weigh(matrix: Array) -> Array:
            return factor * (first @ matrix @ jnp.swapaxes(second, -1, -2))

        nngp = weigh(k)
        ntk = 2 * nngp
        return nngp, ntk if theta is None else ntk + weigh(theta)

    def _random(self, k: Array, theta: Array | None) -> tuple[Array, Array]:
        """Logits are Gaussian, and there is nothing but products."""
        stds = self.key_std, self.query_std, self.value_std, self.output_std
        factor = math.prod(stds) ** 2
        squares = (k * k).sum((-1, -2), keepdims=True)
        nngp = factor * squares * k
        ntk = 4 * nngp
        if theta is not None:
            products = (k * theta).sum((-1, -2), keepdims=True)
            ntk = ntk + factor * (squares * theta + 2 * products * k)
        return nngp, ntk
