"""Kernels of wide finite networks, averaged over draws, by plain differentiation."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from tangentlab import infinite as inf
from tangentlab.infinite.branching import Parallel
from tangentlab.infinite.combining import Serial
from tangentlab.infinite.weights import WeightedLayer

MOST_ROUNDS = 20
MOST_EXAMPLES = 4


@dataclasses.dataclass(frozen=True)
class DrawnDropout(inf.Layer):
    """Dropout whose choice, a fresh one for each example, is drawn with the weights."""

    keep: float

    def output_shape(self, input_shape):
        return input_shape

    def init(self, key, input_shape):
        return jax.random.uniform(key, (MOST_EXAMPLES, *input_shape))

    def forward(self, params, batch):
        kept = (params[: len(batch.x)] < self.keep).astype(batch.x.dtype)
        return batch._replace(x=batch.x * kept / self.keep)

    def own(self, covariance, step):
        raise NotImplementedError

    def cross(self, covariance, notes, step):
        raise NotImplementedError


def widened(layer, factor, scale=1.0):
    """The same network, all its widths times `factor`; and the scale of its output."""
    if isinstance(layer, Serial):
        layers = []
        for each in layer.layers:
            each, scale = widened(each, factor, scale)
            layers.append(each)
        return Serial(tuple(layers)), scale
    if isinstance(layer, Parallel):
        made = [widened(branch, factor, scale) for branch in layer.branches]
        branches = tuple(branch for branch, _ in made)
        return Parallel(branches, layer.join), float(factor)
    if isinstance(layer, WeightedLayer):
        width = layer.width * factor
        return dataclasses.replace(layer, width=width, fan_in_scale=scale), float(
            factor
        )
    if isinstance(layer, inf.GlobalSelfAttention):
        names = ("width", "key_width", "value_width", "heads")
        wide = {name: getattr(layer, name) * factor for name in names[:3]}
        return dataclasses.replace(layer, **wide, heads=4 * layer.heads), float(factor)
    if isinstance(layer, inf.Dropout) and layer.training:
        return DrawnDropout(layer.keep), scale
    return layer, scale


@partial(jax.jit, static_argnums=0)
def draws(layer, x: inf.Batch, keys):
    """NNGP and NTK of the finite network for each key, `(draws, n, n)`."""

    def one(key):
        params = layer.init(key, x.x.shape[1:])

        def outputs(params):
            return layer.apply(params, x)

        f = outputs(params)
        J = jax.jacrev(lambda params: outputs(params)[:, 0])(params)
        rows = [leaf.reshape(len(f), -1) for leaf in jax.tree.leaves(J)]
        return f @ f.T / f.shape[1], sum(row @ row.T for row in rows)

    return jax.lax.map(one, keys)


def check_against_draws(layer, x, factor, num_draws):
    """Compare with the mean over draws, up to their error and what width leaves.

    Draws go on, so many at a time, until their own error is below 5 %.
    """
    wide, _ = widened(layer, factor)
    batch, exact = jax.tree.map(jnp.asarray, x), layer.kernel(x)
    rounds = []
    for key in jax.random.split(jax.random.key(0), MOST_ROUNDS):
        rounds.append(draws(wide, batch, jax.random.split(key, num_draws)))
        found = [np.concatenate(kind) for kind in zip(*rounds, strict=True)]
        errors = [kind.std(0, ddof=1) / np.sqrt(len(kind)) for kind in found]
        pairs = zip(errors, exact, strict=True)
        if all(np.mean(error) < 0.05 * np.mean(np.abs(K)) for error, K in pairs):
            break
    else:
        raise AssertionError("too few draws to tell")
    for sampled, error, K in zip(found, errors, exact, strict=True):
        size = np.sqrt(np.diag(K))
        tiny = np.finfo(K.dtype).tiny  # an example without positions has none
        allowed = 4.5 * error + np.outer(size, size) / factor + tiny
        worst = np.max(np.abs(sampled.mean(0) - K) / allowed)
        assert worst < 1, f"off by {worst:.2f} of what is allowed"
