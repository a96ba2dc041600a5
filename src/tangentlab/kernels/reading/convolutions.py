r"""Convolutions as products of matrices.

XLA's convolutions are made for one weight and a batch. Gradients of single examples,
and on a CPU convolutions of few features, are faster as products of matrices, for which
the input is copied once for each offset of the window. Along an axis without strides an
offset can be a shift of the output instead, so that a window of $k \times k$ takes $k$
copies of the input and $k$ of the deltas, not $k^2$ of the input:

$$\nabla_W f[u, v] = \sum_{y, x} a[y, x + v] \otimes \delta[y - u, x]$$
"""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

_FEW_FEATURES = 64 * 64  # up to here XLA's convolutions use a fraction of a CPU


class Convolution(NamedTuple):
    """What a convolution does; inside, arrays are `(batch, *spatial, channels)`.

    Attributes:
        data: Axes of the data: batch, channels, spatial ones.
        weight: Axes of the weight: outputs, inputs, spatial ones.
        result: Axes of the result, as those of the data.
        groups: Independent convolutions side by side.
        batch: Length of the batch axis.
        spatial: Sides of the result.
        window: Sides of the window.
        channels: Input channels of a group.
        fan_out: Output channels of a group.
        strides: Steps of the window.
        padding: Zeros before, after and between the data, for each spatial axis.
        dilation: Distance of the window's elements.
    """

    data: tuple[int, ...]
    weight: tuple[int, ...]
    result: tuple[int, ...]
    groups: int
    batch: int
    spatial: tuple[int, ...]
    window: tuple[int, ...]
    channels: int
    fan_out: int
    strides: tuple[int, ...]
    padding: tuple[tuple[int, int, int], ...]
    dilation: tuple[int, ...]

    @property
    def positions(self) -> int:
        """Places at which the window stands."""
        return self.batch * math.prod(self.spatial)

    @property
    def fan_in(self) -> int:
        """Numbers in a patch."""
        return math.prod(self.window) * self.channels

    @property
    def shifts(self) -> int:
        """Offsets along the first axis that become shifts of the output."""
        first, *rest = self.window
        copies = first * self.fan_out + math.prod(rest) * self.channels
        fewer = copies < self.fan_out + self.fan_in
        return first if fewer and self.strides[0] == 1 else 1


def read(params, shapes, out: tuple[int, ...]) -> Convolution:
    """Read the equation of a convolution.

    Args:
        params: Its parameters.
        shapes: Shapes of data and weight.
        out: Shape of the result.

    Returns:
        What it does.
    """
    numbers = params["dimension_numbers"]
    data, weight, result = numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec
    groups = params["feature_group_count"]
    inner = [step - 1 for step in params["lhs_dilation"]]
    return Convolution(
        data,
        weight,
        result,
        groups,
        shapes[0][data[0]],
        tuple(out[i] for i in result[2:]),
        tuple(shapes[1][i] for i in weight[2:]),
        shapes[1][weight[1]],
        shapes[1][weight[0]] // groups,
        tuple(params["window_strides"]),
        tuple(
            (*ends, zeros) for ends, zeros in zip(params["padding"], inner, strict=True)
        ),
        tuple(params["rhs_dilation"]),
    )


def patches(conv: Convolution, a: Array) -> Array:
    """Cut the data into patches.

    Args:
        conv: The convolution.
        a: The data.

    Returns:
        Patches `(groups, positions, fan_in)`.
    """
    copies = [s.reshape(conv.positions, -1) for s in _copies(conv, a, conv.window)]
    cut = jnp.stack(copies, axis=1).reshape(
        conv.positions, len(copies), conv.groups, conv.channels
    )
    return cut.transpose(2, 0, 1, 3).reshape(conv.groups, conv.positions, conv.fan_in)


def cut_deltas(conv: Convolution, delta: Array) -> Array:
    """Cut the gradient of the result.

    Args:
        conv: The convolution.
        delta: The gradient.

    Returns:
        Deltas `(groups, positions, fan_out)`.
    """
    last = delta.transpose(conv.result[0], *conv.result[2:], conv.result[1])
    return last.reshape(conv.positions, conv.groups, conv.fan_out).swapaxes(0, 1)


def gradient(conv: Convolution, a: Array, cut: Array) -> Array:
    """The gradient of one example.

    Args:
        conv: The convolution.
        a: The data.
        cut: Deltas, or some of them along their last axis.

    Returns:
        The gradient `(groups, fan_in, fan_out)`.
    """
    if jax.default_backend() == "cpu":
        return _gradient_at_once(conv, a, cut)
    pieces = [
        jnp.einsum(
            "pgi,gpo->gio", s.reshape(conv.positions, conv.groups, conv.channels), cut
        )
        for s in _copies(conv, a, conv.window)
    ]
    return jnp.stack(pieces, axis=1).reshape(conv.groups, conv.fan_in, cut.shape[2])


def _gradient_at_once(conv: Convolution, a: Array, cut: Array) -> Array:
    """The gradient as a single product; on a CPU the best form at all sizes tried."""
    g, shifts, width = conv.groups, conv.shifts, cut.shape[2]
    copies = _copies(conv, a, (conv.window[0] // shifts, *conv.window[1:]))
    A = jnp.stack([s.reshape(-1, g * conv.channels).T for s in copies])
    A = A.reshape(len(copies), g, conv.channels, -1).swapaxes(0, 1)
    D = jnp.stack(_shifted(conv, cut, shifts), axis=-2)
    G = jnp.einsum(
        "gip,gpo->gio",
        A.reshape(g, len(copies) * conv.channels, -1),
        D.reshape(g, -1, shifts * width),
    )
    G = G.reshape(g, len(copies) * conv.channels, shifts, width)
    return G.swapaxes(1, 2).reshape(g, conv.fan_in, width)


def _shifted(conv: Convolution, cut: Array, shifts: int) -> list[Array]:
    """Deltas `(groups, batch, *spatial, outputs)`, moved down by each shift."""
    grid = cut.reshape(conv.groups, conv.batch, *conv.spatial, cut.shape[2])
    step, zero = conv.dilation[0], jnp.zeros((), cut.dtype)
    still = [(0, 0, 0)] * (grid.ndim - 3)
    return [
        jax.lax.pad(
            grid,
            zero,
            [(0, 0, 0), (0, 0, 0), (u * step, (shifts - 1 - u) * step, 0), *still],
        )
        for u in range(shifts)
    ]


def _copies(conv: Convolution, a: Array, window: Sequence[int]) -> list[Array]:
    """The data as each offset of a window sees it, `(batch, *spatial, channels)`."""
    # Where the window is shorter than the convolution's along the first axis, which
    # must have no strides then, all of the padded data along that axis is seen.
    last = a.transpose(conv.data[0], *conv.data[2:], conv.data[1])
    zero = jnp.zeros((), a.dtype)
    padded = jax.lax.pad(last, zero, [(0, 0, 0), *conv.padding, (0, 0, 0)])
    more = (conv.window[0] - window[0]) * conv.dilation[0]
    spatial = conv.spatial[0] + more, *conv.spatial[1:]
    made = []
    for offset in itertools.product(*map(range, window)):
        start = [o * d for o, d in zip(offset, conv.dilation, strict=True)]
        stop = [
            first + (n - 1) * step + 1
            for first, n, step in zip(start, spatial, conv.strides, strict=True)
        ]
        ends = (0, *start, 0), (len(padded), *stop, padded.shape[-1])
        made.append(jax.lax.slice(padded, *ends, (1, *conv.strides, 1)))
    return made


def is_product(conv: Convolution) -> bool:
    """Whether `product` is faster than XLA's convolution.

    Args:
        conv: The convolution.

    Returns:
        True on a CPU where features are few.
    """
    few = conv.channels * conv.fan_out <= _FEW_FEATURES
    plain = conv.groups == 1 and conv.strides[0] == 1
    return few and plain and jax.default_backend() == "cpu"


def product(conv: Convolution, a: Array, w: Array) -> Array:
    """The convolution, as a product of matrices.

    Args:
        conv: The convolution, of a single group.
        a: The data.
        w: The weight.

    Returns:
        The result.
    """
    shifts = conv.shifts
    copies = _copies(conv, a, (conv.window[0] // shifts, *conv.window[1:]))
    A = jnp.stack(copies, axis=-2)
    weight = w.transpose(*conv.weight[2:], conv.weight[1], conv.weight[0])
    W = weight.reshape(shifts, -1, conv.fan_out).swapaxes(0, 1)
    Y = A.reshape(-1, len(W)) @ W.reshape(len(W), -1)
    Y = Y.reshape(*A.shape[:-2], shifts, conv.fan_out)
    step, rows = conv.dilation[0], conv.spatial[0]
    total = sum(Y[:, u * step : u * step + rows, ..., u, :] for u in range(shifts))
    order = (conv.result[0], *conv.result[2:], conv.result[1])
    return jnp.asarray(total).transpose(np.argsort(order))


def assemble(conv: Convolution, g: Array) -> Array:
    """Bring a gradient into the weight's shape.

    Args:
        conv: The convolution.
        g: The gradient `(groups, fan_in, fan_out)`.

    Returns:
        The same, as the weight is.
    """
    rank = len(conv.window)
    g = g.reshape(conv.groups, *conv.window, conv.channels, conv.fan_out)
    g = g.transpose(0, rank + 2, rank + 1, *range(1, rank + 1))
    g = g.reshape(conv.groups * conv.fan_out, conv.channels, *conv.window)
    return g.transpose(np.argsort(conv.weight))
