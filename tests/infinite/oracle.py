"""Kernels of wide networks, dense and obvious: all examples, all pairs of positions.

Layers without weights are matrices between positions, taken from JAX's own operations
on images that are 1 at a single position. A convolution is one such matrix an offset.
"""

import itertools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tangentlab import infinite as inf
from tangentlab.infinite.branching import Parallel
from tangentlab.infinite.combining import Serial
from tests.infinite.oracle_masks import joined, made_of, there


class State:
    """Covariances `(N, N, P, P)` of all examples with each other."""

    def __init__(self, K, T, positions, channels, mask, graph):
        self.K, self.T = K, T
        self.positions, self.channels = tuple(positions), channels
        self.mask, self.graph = mask, graph

    def change(self, **fields):
        return State(**{**self.__dict__, **fields})

    def masked(self):
        if self.mask is None:
            return self
        both = np.einsum("np,mq->nmpq", self.mask, self.mask)
        return self.change(K=self.K * both, T=self.T * both)


def kernels(layer, x_1, x_2=None):
    """NNGP and NTK between two batches (`inf.Batch`), `(n, m)` each."""
    n, both = len(x_1.x), x_1
    if x_2 is not None:
        parts: Any = zip(x_1, x_2, strict=True)
        joined: Any = [None if a is None else np.concatenate([a, b]) for a, b in parts]
        both = inf.Batch(*joined)
    x = np.asarray(both.x)
    mask = None
    if both.mask is not None:
        mask = np.asarray(both.mask, float).reshape(len(x), -1)
        x = x * np.asarray(both.mask, float)[..., None]
    flat = x.reshape(len(x), -1, x.shape[-1])
    K = np.einsum("npc,mqc->nmpq", flat, flat) / x.shape[-1]
    start = State(K, np.zeros_like(K), x.shape[1:-1], x.shape[-1], mask, both.graph)
    end = through(layer, start)
    assert end.K.shape[2:] == (1, 1)
    K, T = end.K[:, :, 0, 0], end.T[:, :, 0, 0]
    if x_2 is None:
        return K, T
    return K[:n, n:], T[:n, n:]


def through(layer, s):
    for kind, function in RULES.items():
        if isinstance(layer, kind):
            return function(layer, s)
    raise NotImplementedError(layer)


def serial(layer, s):
    for each in layer.layers:
        s = through(each, s)
    return s


def parallel(layer, s):
    made = [through(branch, s) for branch in layer.branches]
    first = made[0].change(mask=joined(made))
    if isinstance(layer.join, inf.Sum):
        return first.change(K=sum(b.K for b in made), T=sum(b.T for b in made))
    if isinstance(layer.join, inf.Product):
        a, b = made
        return first.change(K=a.K * b.K, T=a.T * b.K + a.K * b.T)
    total = sum(b.channels for b in made)
    K = sum(b.K * b.channels / total for b in made)
    T = sum(b.T * b.channels / total for b in made)
    return first.change(K=K, T=T, channels=total)


def weights(layer, s, K, T, fan_in, where: Any = 1.0):
    """`where` is 1 at the pairs of positions that share a bias."""
    bias = layer.bias_std or 0.0
    nngp = layer.weight_std**2 * K + bias**2 * where
    if layer.parameterization == "ntk":
        ntk = nngp + layer.weight_std**2 * T
    else:
        ntk = fan_in * K + layer.weight_std**2 * T
        ntk = ntk + (layer.bias_std is not None) * where
    return s.change(K=nngp, T=ntk, channels=layer.width).masked()


def dense(layer, s):
    return weights(layer, s, s.K, s.T, s.channels)


def numbers(rank):
    letters = "XYZ"[:rank]
    return f"N{letters}C", f"{letters}IO", f"N{letters}C"


def pixels(positions):
    """One image a position, 1 there."""
    P = math.prod(positions)
    return jnp.eye(P).reshape(P, *positions, 1)


def matrix(function, positions):
    """Matrix `(outputs, inputs)` of a linear map between positions, and its shape."""
    made = function(pixels(positions))
    return np.asarray(made).reshape(math.prod(positions), -1).T, made.shape[1:-1]


def offsets(layer, positions):
    """One matrix for each offset of the window."""
    rank = len(positions)
    strides = layer.strides
    strides = (strides,) * rank if isinstance(strides, int) else strides
    dilation = getattr(layer, "dilation", 1)
    dilation = (dilation,) * rank if isinstance(dilation, int) else dilation
    found, shape = [], ()
    for at in itertools.product(*map(range, layer.window)):
        weight = jnp.zeros((*layer.window, 1, 1)).at[at].set(1.0)

        def convolve(x, weight=weight):
            if layer.padding == "CIRCULAR":
                x, padding = wrapped(x, layer.window, strides, dilation), "VALID"
            else:
                padding = layer.padding
            return lax.conv_general_dilated(
                x,
                weight,
                strides,
                padding,
                rhs_dilation=dilation,
                dimension_numbers=numbers(rank),
            )

        def transposed(x, weight=weight):
            if layer.padding == "CIRCULAR":
                return around(x, weight, strides)
            return lax.conv_transpose(
                x, weight, strides, layer.padding, dimension_numbers=numbers(rank)
            )

        is_transposed = isinstance(layer, inf.ConvTranspose)
        M, shape = matrix(transposed if is_transposed else convolve, positions)
        found.append(M)
    return found, shape


def wrapped(x, window, strides, dilation=None):
    dilation = dilation or (1,) * len(window)
    reach = [(w - 1) * d + 1 for w, d in zip(window, dilation, strict=True)]
    pads = lax.padtype_to_pads(x.shape[1:-1], reach, strides, "SAME")
    return jnp.pad(x, [(0, 0), *pads, (0, 0)], mode="wrap")


def around(x, weight, strides):
    """A transposed convolution of the image repeated three times, its middle part."""
    rank, sizes = x.ndim - 2, x.shape[1:-1]
    x = jnp.tile(x, (1, *(3,) * rank, 1))
    made = lax.conv_transpose(
        x, weight, strides, "SAME", dimension_numbers=numbers(rank)
    )
    middle = tuple(
        slice(size * stride, 2 * size * stride)
        for size, stride in zip(sizes, strides, strict=True)
    )
    return made[(slice(None), *middle)]


def sandwich(M, K):
    return np.einsum("ap,nmpq,bq->nmab", M, K, M)


def conv(layer, s):
    found, shape = offsets(layer, s.positions)
    K = np.mean([sandwich(M, s.K) for M in found], axis=0)
    T = np.mean([sandwich(M, s.T) for M in found], axis=0)
    fan_in, mask = s.channels * len(found), there(layer, s, offsets)
    where = 1.0
    if isinstance(layer, inf.ConvLocal):
        where = np.eye(K.shape[-1])[None, None]
        K, T = K * where, T * where
    return weights(layer, s.change(positions=shape, mask=mask), K, T, fan_in, where)


def pool(layer, s):
    rank = len(s.positions)
    strides = layer.strides
    strides = (strides,) * rank if isinstance(strides, int) else strides

    def add(x):
        padding = layer.padding
        if padding == "CIRCULAR":
            x, padding = wrapped(x, layer.window, strides), "VALID"
        window, steps = (1, *layer.window, 1), (1, *strides, 1)
        return lax.reduce_window(x, 0.0, lax.add, window, steps, padding)

    M, shape = matrix(add, s.positions)
    if isinstance(layer, inf.AvgPool):
        M = M / (math.prod(layer.window) if layer.count_padding else M.sum(1)[:, None])
    mask = there(layer, s, offsets)
    K, T = sandwich(M, s.K), sandwich(M, s.T)
    return s.change(K=K, T=T, positions=shape, mask=mask).masked()


def global_pool(layer, s):
    size = np.ones(len(s.K))
    if isinstance(layer, inf.GlobalAvgPool):
        size = np.full(len(s.K), s.K.shape[-1])
        size = size if s.mask is None else s.mask.sum(1)
    both = np.outer(size, size)[:, :, None, None]
    K, T = (A.sum((2, 3), keepdims=True) / both for A in (s.K, s.T))
    return s.change(K=K, T=T, positions=(), mask=None)


def flatten(layer, s):
    K, T = (
        np.einsum("nmpp->nm", A)[:, :, None, None] / A.shape[-1] for A in (s.K, s.T)
    )
    channels = s.channels * s.K.shape[-1]
    return s.change(K=K, T=T, positions=(), channels=channels, mask=None)


def resize(layer, s):
    def function(x):
        shape = (len(x), *layer.positions, 1)
        return jax.image.resize(x, shape, layer.method, antialias=layer.antialias)

    M, shape = matrix(function, s.positions)
    K, T = sandwich(M, s.K), sandwich(M, s.T)
    return s.change(K=K, T=T, positions=shape, mask=made_of(s, M))


def cut(layer, s):
    index = tuple(p if isinstance(p, int) else slice(*p) for p in layer.index)
    chosen = np.arange(math.prod(s.positions)).reshape(s.positions)[index]
    at = chosen.ravel()
    K, T = (A[:, :, at][..., at] for A in (s.K, s.T))
    mask = None if s.mask is None else s.mask[:, at]
    return s.change(K=K, T=T, positions=chosen.shape, mask=mask)


def spread(s):
    """Standard deviations of both sides, shaped like covariances."""
    q = np.einsum("nnpp->np", s.K)
    return q[:, None, :, None], q[None, :, None, :]


def relu(layer, s):
    q_1, q_2 = spread(s)
    size = np.sqrt(q_1 * q_2)
    cosine = np.clip(s.K / np.where(size > 0, size, 1.0), -1, 1)
    angle = np.arccos(cosine)
    K = size * (np.sin(angle) + (np.pi - angle) * cosine) / (2 * np.pi)
    return s.change(K=K, T=s.T * (np.pi - angle) / (2 * np.pi)).masked()


def erf(layer, s):
    q_1, q_2 = spread(s)
    both = (1 + 2 * q_1) * (1 + 2 * q_2)
    K = 2 / np.pi * np.arcsin(2 * s.K / np.sqrt(both))
    slope = 4 / np.pi / np.sqrt(both - 4 * s.K**2)
    return s.change(K=K, T=s.T * slope).masked()


def layer_norm(layer, s):
    q = np.einsum("nnpp->np", s.K)
    if layer.over_positions:
        mask = np.ones_like(q) if s.mask is None else s.mask
        q = np.ones_like(q) * ((q * mask).sum(1) / mask.sum(1))[:, None]
    both = np.sqrt(np.einsum("np,mq->nmpq", q + layer.epsilon, q + layer.epsilon))
    return s.change(K=s.K / both, T=s.T / both)


def dropout(layer, s):
    N, _, P, _ = s.K.shape
    same = np.einsum("nm,pq->nmpq", np.eye(N), np.eye(P))
    factor = 1 + (1 / layer.keep - 1) * same * layer.training
    return s.change(K=s.K * factor, T=s.T * factor)


def attention(layer, s):
    both = (layer.value_std * layer.output_std) ** 2
    bias = layer.bias_std**2
    s = s.change(channels=layer.width)
    if layer.scaling == "root":
        c = both * (layer.key_std * layer.query_std) ** 2
        squares = (s.K**2).sum((2, 3), keepdims=True)
        products = (s.K * s.T).sum((2, 3), keepdims=True)
        K = c * s.K * squares
        T = 4 * K + c * (s.T * squares + 2 * s.K * products)
        return s.change(K=K + bias, T=T + bias).masked()
    seen = []
    for i in range(len(s.K)):
        logits = layer.key_std * layer.query_std * s.K[i, i]
        there = np.ones(len(logits), bool) if s.mask is None else s.mask[i] > 0
        zeta = {
            "identity": lambda a: a,
            "abs": np.abs,
            "relu": lambda a: np.maximum(a, 0),
            "softmax": lambda a: np.exp(a) / np.exp(a).sum(1, keepdims=True),
        }[layer.mechanism]
        A = np.zeros_like(logits)
        A[:, there] = zeta(logits[:, there])
        seen.append(A)
    seen = np.stack(seen)
    K = both * np.einsum("npq,nmqr,msr->nmps", seen, s.K, seen)
    T = 2 * K + both * np.einsum("npq,nmqr,msr->nmps", seen, s.T, seen)
    return s.change(K=K + bias, T=T + bias).masked()


def aggregate(layer, s):
    K, T = (np.einsum("npq,nmqr,msr->nmps", s.graph, A, s.graph) for A in (s.K, s.T))
    return s.change(K=K, T=T).masked()


RULES = {
    Serial: serial,
    Parallel: parallel,
    inf.Dense: dense,
    inf.Conv: conv,
    inf.ConvTranspose: conv,
    inf.ConvLocal: conv,
    inf.SumPool: pool,
    inf.GlobalSumPool: global_pool,
    inf.Flatten: flatten,
    inf.ImageResize: resize,
    inf.Slice: cut,
    inf.Identity: lambda layer, s: s,
    inf.Relu: relu,
    inf.Erf: erf,
    inf.LayerNorm: layer_norm,
    inf.Dropout: dropout,
    inf.GlobalSelfAttention: attention,
    inf.Aggregate: aggregate,
}
