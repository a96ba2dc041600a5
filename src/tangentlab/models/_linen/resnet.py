"""ResNet18 for small images: a 3x3 stem and no max-pool."""

from collections.abc import Callable

import flax.linen as nn
import jax
import jax.numpy as jnp

from .batch_norm import BatchNorm


class BasicBlock(nn.Module):
    """Two 3x3 convolutions beside a shortcut, which is projected when shapes differ."""

    channels: int
    stride: int
    activation: Callable[[jax.Array], jax.Array]
    last_scale: float

    @nn.compact
    def __call__(self, x, train: bool):
        """Return the feature maps after the block."""
        branch = _conv(x, self.channels, 3, "conv_1", stride=self.stride)
        branch = BatchNorm(self.activation, name="norm_1")(branch, train)
        branch = _conv(branch, self.channels, 3, "conv_2")
        if x.shape != branch.shape:
            x = _conv(x, self.channels, 1, "projection", stride=self.stride)
            x = BatchNorm(_identity, name="projection_norm")(x, train)
        last = BatchNorm(self.activation, self.last_scale, name="norm_2")
        return last(branch, train, shortcut=x)


class ResNet18(nn.Module):
    """A stem, four stages of two basic blocks, global average pooling, one dense layer.

    Stage widths are 1, 2, 4 and 8 times `width`; stages 2 to 4 halve the image.
    """

    width: int
    num_outputs: int
    activation: Callable[[jax.Array], jax.Array]
    last_scale: float

    @nn.compact
    def __call__(self, x, train: bool):
        """Return the logits of a batch of images."""
        x = _conv(x, self.width, 3, "stem")
        x = BatchNorm(self.activation, name="stem_norm")(x, train)
        for stage in range(4):
            for block in range(2):
                x = BasicBlock(
                    channels=self.width * 2**stage,
                    stride=2 if stage > 0 and block == 0 else 1,
                    activation=self.activation,
                    last_scale=self.last_scale,
                    name=f"block_{stage + 1}_{block + 1}",
                )(x, train)
        return nn.Dense(self.num_outputs, name="head")(jnp.mean(x, axis=(1, 2)))


def _conv(x, channels: int, window: int, name: str, *, stride: int = 1):
    # With stride 2 on even sizes SAME pads (0, 1), not (1, 1).
    conv = nn.Conv(
        channels,
        (window, window),
        strides=(stride, stride),
        padding="SAME",
        use_bias=False,
        name=name,
    )
    return conv(x)


def _identity(x):
    return x
