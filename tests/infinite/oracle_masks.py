"""Which positions are there after a layer, for the dense oracle."""

import dataclasses

import numpy as np

from tangentlab import infinite as inf


def there(layer, s, offsets):
    """A window is there if its middle is; `offsets` gives one matrix an offset."""
    if s.mask is None:
        return None
    if isinstance(layer, inf.ConvTranspose):
        return copied(layer, s)
    layer = filled(layer)
    middle = tuple((size - 1) // 2 for size in layer.window)
    found, _ = offsets(layer, s.positions)
    M = found[np.ravel_multi_index(middle, layer.window)]
    return (s.mask @ M.T > 0).astype(float)


def filled(layer):
    """A convolution whose windows reach as far, without steps in them."""
    dilation = getattr(layer, "dilation", 1)
    if dilation == 1:
        return layer
    window = tuple((size - 1) * dilation + 1 for size in layer.window)
    return dataclasses.replace(layer, window=window, dilation=1)


def copied(layer, s):
    """As many outputs as the stride says are there with each input."""
    assert layer.padding != "VALID"
    mask, rank = s.mask.reshape(-1, *s.positions), len(s.positions)
    strides = layer.strides
    strides = (strides,) * rank if isinstance(strides, int) else strides
    for axis, stride in enumerate(strides):
        mask = np.repeat(mask, stride, axis + 1)
    return mask.reshape(len(mask), -1)


def made_of(s, M):
    """A position is there if any is of those that count in it."""
    if s.mask is None:
        return None
    return (s.mask @ (np.abs(M) > 1e-6).T > 0).astype(float)


def joined(states):
    """A position is there if it is in any branch."""
    if states[0].mask is None:
        return None
    return np.max([state.mask for state in states], axis=0)
