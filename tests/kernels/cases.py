"""How a network of the table is written down: an `apply`, and the shapes of its rest.

`@network({"w": (3, 2)}, x=(3,), outputs=2)` above `def name(p, x)` enters a case by the
name of the function. Nothing is drawn and no network library is imported before the
case is built.
"""

import contextlib
import functools
import itertools
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import tangentlab as tl

TAGS = {
    "kinks": "rounding may flip an activation, so single precision proves nothing",
    "bfloat16": "computes in bfloat16, and is compared at its resolution",
    "zero": "the kernel is exactly zero",
    "relaxed": "the library inside needs JAX's ordinary promotion of ranks and dtypes",
    "fixed": "has a dtype of its own, and is not cast to single precision",
}
CASES: dict[str, Callable[[], "Case"]] = {}
SMOOTH: list[str] = []
"""Networks that can be cast to single precision and compared there."""


class Case(NamedTuple):
    """A network at some parameters, and two sets of samples.

    Attributes:
        apply: The network.
        params: Where it is differentiated; real leaves are float64.
        x: Samples.
        x_2: Other samples, of another number.
        num_outputs: Number of logits.
        trainable: Which parameters are differentiated; None means all.
        scale: Multipliers of the parameters; None means 1.
        tags: What the tests should know, from `TAGS`.
    """

    apply: Callable[[Any, Any], jax.Array]
    params: Any
    x: Any
    x_2: Any
    num_outputs: int = 1
    trainable: Any = None
    scale: Any = None
    tags: frozenset[str] = frozenset()


class Tokens(NamedTuple):
    """Integers from 0 to `stop - 1`, in place of a shape of real numbers."""

    shape: tuple[int, ...]
    stop: int
    dtype: Any = jnp.int32


def network(
    params: Any,
    *,
    x: Any = (3,),
    outputs: int = 1,
    rows: tuple[int, int] = (3, 2),
    trainable: Any = None,
    scale: Any = None,
    tags: tuple[str, ...] = (),
    name: str | None = None,
):
    """Enter the decorated `apply` into the table.

    Trees `params` and `x` hold shapes, which are drawn; arrays are kept as they are.
    A function in place of `params` returns such a tree.
    """

    def enter(apply):
        title = name or apply.__name__

        def build() -> Case:
            draw = Draws(title)
            x_1, x_2 = (draw.samples(x, n) for n in rows)
            spec = params() if callable(params) else params
            values = draw.tree(spec, gain=0.5)
            return Case(
                apply, values, x_1, x_2, outputs, trainable, scale, frozenset(tags)
            )

        _enter(title, build, tags)
        return apply

    return enter


def library(
    *,
    x: Any = (3,),
    outputs: int = 1,
    rows: tuple[int, int] = (3, 2),
    initial: bool = False,
    shifted: bool = False,
    tags: tuple[str, ...] = (),
):
    """Enter the `Model` that the decorated function returns into the table.

    Parameters are drawn, or those of its initialization if `initial`; statistics are
    those it starts with, or others if `shifted`.
    """

    def enter(make: Callable[[], tl.Model]):
        def build() -> Case:
            draw = Draws(make.__name__)
            x_1, x_2 = (draw.samples(x, n) for n in rows)
            with promotion("relaxed" in tags):
                model = make()
                apply = model.freeze(draw.shift(model.init_state()))
                values = draw.params(model, initial)
            apply = apply if shifted else model.apply
            return Case(apply, values, x_1, x_2, outputs, tags=frozenset(tags))

        _enter(make.__name__, build, tags)
        return make

    return enter


def _enter(name: str, build: Callable[[], Case], tags: tuple[str, ...]) -> None:
    if name in CASES or not TAGS.keys() >= set(tags):
        raise ValueError(f"{name} is in the table already, or one of {tags} is no tag.")
    CASES[name] = functools.cache(build)
    if not {"kinks", "fixed"} & set(tags):
        SMOOTH.append(name)


class Draws:
    """Random numbers from numpy: JAX would compile a generator for every shape."""

    def __init__(self, name: str):
        seed = zlib.crc32(name.encode())
        self.generators = map(np.random.default_rng, itertools.count(seed))

    def normal(self, shape: tuple[int, ...]) -> jax.Array:
        return jnp.asarray(next(self.generators).normal(size=shape), jnp.float64)

    def tree(self, spec: Any, gain: float = 1.0) -> Any:
        """Draw every shape in a tree."""

        def one(leaf):
            if isinstance(leaf, Tokens):
                numbers = next(self.generators).integers(leaf.stop, size=leaf.shape)
                return jnp.asarray(numbers, leaf.dtype)
            return gain * self.normal(leaf) if _is_shape(leaf) else leaf

        return jax.tree.map(one, spec, is_leaf=_is_shape)

    def samples(self, spec: Any, n: int) -> Any:
        """Draw `n` samples."""

        def widen(leaf):
            if isinstance(leaf, Tokens):
                return leaf._replace(shape=(n, *leaf.shape))
            return (n, *leaf)

        return self.tree(jax.tree.map(widen, spec, is_leaf=_is_shape))

    def params(self, model: tl.Model, initial: bool) -> Any:
        """Parameters of a model, in float64."""
        if initial:
            return as_type(model.init(jax.random.key(0)), jnp.float64)
        shapes = jax.eval_shape(model.init, jax.random.key(0))
        return jax.tree.map(lambda leaf: 0.4 * self.normal(leaf.shape), shapes)

    def shift(self, state: Any) -> Any:
        """Statistics unlike the initial ones, variances still positive."""

        def move(leaf):
            real = jnp.issubdtype(leaf.dtype, jnp.floating)
            step = np.abs(self.normal(leaf.shape))
            return leaf + jnp.asarray(step, leaf.dtype) if real else leaf

        return jax.tree.map(move, state)


def _is_shape(spec: Any) -> bool:
    if isinstance(spec, Tokens):
        return True
    return type(spec) is tuple and all(isinstance(size, int) for size in spec)


def as_type(tree: Any, dtype: Any) -> Any:
    """Cast the real leaves of a tree and leave the others alone."""

    def cast(leaf):
        leaf = jnp.asarray(leaf)
        return leaf.astype(dtype) if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf

    return jax.tree.map(cast, tree)


@contextlib.contextmanager
def promotion(relaxed: bool) -> Iterator[None]:
    """Promote ranks and dtypes as JAX does by default, or as strictly as the tests."""
    if not relaxed:
        yield
        return
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        yield
