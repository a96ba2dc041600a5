"""What a computation would cost on this device if nothing but arithmetic took time."""

import math
import time

import jax
import jax.numpy as jnp
from jax import lax

import tangentlab as tl
from tangentlab.kernels.features import Feature, Whole
from tangentlab.kernels.forms import choose, cost
from tangentlab.kernels.network import read
from tangentlab.kernels.request import Request

_SIDE = 8192


def rates() -> dict[str, float]:
    """Measured: multiply-adds a second of large products, bytes a second of copies."""
    found = {}
    for name, dtype in (("bfloat16", jnp.bfloat16), ("float32", jnp.float32)):
        a = jnp.ones((_SIDE, _SIDE), dtype)
        product = jax.jit(
            lambda a, b: lax.dot_general(
                a,
                b,
                (((1,), (1,)), ((), ())),
                precision="highest" if a.dtype == jnp.float32 else None,
                preferred_element_type=jnp.float32,
            )
        )
        found[name] = _SIDE**3 / _fastest(lambda a=a, f=product: f(a, a))
    many = jnp.ones(1 << 30, jnp.float32)
    found["bytes"] = 2 * many.nbytes / _fastest(lambda: _twice(many))
    return found


@jax.jit
def _twice(a):
    return 2 * a


def _fastest(call, repeats: int = 5) -> float:
    call().block_until_ready()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call().block_until_ready()
        times.append(time.perf_counter() - start)
    return min(times)


def floor(model: tl.Model, params, x, precision: str, rate: dict[str, float]) -> dict:
    """Seconds of arithmetic and of memory traffic of a Gram matrix of `x`.

    Multiply-adds: the cheapest exact form of each parameter that has a gradient, over
    one triangle, at the rate of the products (`high` is three), and one run of the
    network forth and back at that of float32. Bytes: the features written and read
    once, the matrix once.
    """
    n = len(x)
    network = read(model.apply, params, x, Request())
    features = choose(network.source, network.differentiated, n, 1)
    gradient = jax.tree.leaves(_gradient(model, params, x[:8]))
    active = [f for f in features if _has_gradient(f, gradient)]
    counted = [cost(network.source, feature, 1) for feature in active]
    products = sum(c.per_pair for c in counted) * n * (n + 1) / 2
    forth = sum(math.prod(f.piece[2:]) for f in features if not isinstance(f, Whole))
    once = n * (sum(c.per_example for c in counted) + 2 * forth)
    fast = rate["float32"] if precision == "float32" else rate["bfloat16"]
    products_time = (3 if precision == "high" else 1) * products / fast
    item = 2 if precision == "fast" else 4
    moved = 2 * item * n * sum(c.numbers for c in counted) + 4 * n * n
    return {
        "multiply_adds": products + once,
        "arithmetic": products_time + once / rate["float32"],
        "traffic": moved / rate["bytes"],
    }


def _has_gradient(feature: Feature, gradient: list) -> bool:
    leaves = feature.leaves if isinstance(feature, Whole) else (feature.piece.leaf,)
    return any(bool(jnp.any(gradient[leaf] != 0)) for leaf in leaves)


def _gradient(model: tl.Model, params, x):
    return jax.grad(lambda p: model.apply(p, jnp.asarray(x)).sum())(params)
