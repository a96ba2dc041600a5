"""A fully connected network."""

from collections.abc import Callable

import flax.linen as nn
import jax


class MLP(nn.Module):
    """Flatten, then dense layers with biases and an activation between them."""

    widths: tuple[int, ...]
    num_outputs: int
    activation: Callable[[jax.Array], jax.Array]

    @nn.compact
    def __call__(self, x):
        """Return the logits of a batch."""
        x = x.reshape(x.shape[0], -1)
        for width in self.widths:
            x = self.activation(nn.Dense(width)(x))
        return nn.Dense(self.num_outputs)(x)
