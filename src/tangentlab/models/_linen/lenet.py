"""LeNet as in the paper's code: SAME padding and average pooling."""

from collections.abc import Callable

import flax.linen as nn
import jax


class LeNet(nn.Module):
    """Two 5x5 convolutions, each with a 2x2 average pool, then three dense layers."""

    widths: tuple[int, int, int, int]
    num_outputs: int
    activation: Callable[[jax.Array], jax.Array]

    @nn.compact
    def __call__(self, x):
        """Return the logits of a batch of images."""
        for channels in self.widths[:2]:
            x = self.activation(nn.Conv(channels, (5, 5), padding="SAME")(x))
            x = _average_pool(x)
        x = x.reshape(x.shape[0], -1)
        for width in self.widths[2:]:
            x = self.activation(nn.Dense(width)(x))
        return nn.Dense(self.num_outputs)(x)


def _average_pool(x):
    """Return the mean of each 2 x 2 square, in the dtype of `x`."""
    return nn.pool(x, 0.0, jax.lax.add, (2, 2), (2, 2), "VALID") / 4
