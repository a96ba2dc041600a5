"""What `tl.gram` would do, before it does it.

>>> import jax.numpy as jnp
>>> apply, params = lambda w, x: x @ w, jnp.ones((2, 1))
>>> plan = plan_gram(apply, params, jnp.ones((100, 2)), memory=10**9)
>>> plan.num_passes, plan.flops  # 100 x 101 / 2 pairs and 100 gradients of 2 numbers
(1, 20600)
"""

from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple

import jax
from jaxtyping import PyTree

from ..._checks import batch_size
from ..._jaxprs import shape_of
from ..._types import Apply, Inputs, Params
from ...models import sample_of
from ...models.contract import check_callable
from ..engine import panel_pairs
from ..features import Feature, Outer, Rows, Values, Whole
from ..forms import cost
from ..packing import Problem, feature_bytes, kept_bytes
from ..planning import Plan, backend, plan
from ..preparing import Prepared, prepare
from ..reading.sites import Piece
from ..request import Outputs, Precision, Request
from .record import GramPlan, PlannedParameter

_FORMS = {Outer: "inputs and deltas", Rows: "rows", Whole: "whole"}


def plan_gram(
    apply: Apply,
    params: Params,
    n: int | Inputs,
    m: int | Inputs | None = None,
    *,
    x: Inputs | None = None,
    outputs: Outputs = "mean",
    full: bool = False,
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    precision: Precision = "float32",
    memory: int | None = None,
) -> GramPlan:
    """Say what `tl.gram` would do: methods, operations, memory, runs of the network.

    Nothing is computed and no samples are needed, so that a plan for 60,000 images
    takes a second or two. A computation on a GPU also leaves out what turns out to be
    exactly zero, which no plan can know.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Its parameters, or `jax.ShapeDtypeStruct`s in their place.
        n: Number of samples along the rows; or samples, or `jax.ShapeDtypeStruct`s of
            samples. A number is enough for the zoo and for networks of `from_flax` and
            `from_haiku`, which know the shape of a sample; others need `x`.
        m: Likewise along the columns; None means the rows again.
        x: A batch of any length, or `jax.ShapeDtypeStruct`s, that shows what samples
            look like where `n` is a number.
        outputs: See `tl.gram`.
        full: Plan `tl.gram_full` in place of `tl.gram`.
        trainable: Prefix of `params` with booleans.
        scale: Prefix of `params` with non-negative multipliers.
        precision: See `tl.gram`.
        memory: Bytes that may be used; a share of what is free now by default.

    Returns:
        The plan.

    Raises:
        ValueError: If the shape of a sample is not known, `apply` breaks the contract,
            or memory is too small (says what would fit).
    """
    request = Request(
        outputs=outputs,
        trainable=trainable,
        scale=scale,
        precision=precision,
        memory=memory,
    )
    check_callable(apply)
    like = x if x is not None else None if _is_number(n) else n
    x_1 = _samples("n", n, like, apply)
    x_2 = None if m is None else _samples("m", m, like, apply)
    with request.context():
        prepared = _prepare(apply, params, x_1, x_2, request, full=full)
        problem, source = prepared.problem, prepared.network.source
        made = plan(source, prepared.features, problem, memory)
    return _describe(prepared, made, _names(params), precision)


def _is_number(n: Any) -> bool:
    return isinstance(n, Integral)


def _samples(name: str, n: Any, like: Inputs | None, apply: Apply) -> Inputs:
    """Shapes and dtypes of samples."""
    if not _is_number(n):
        batch_size(name, n)
        return jax.tree.map(lambda a: shape_of(a, a.shape), n)
    if isinstance(n, bool) or n < 1:
        raise ValueError(f"`{name}` must be a number of samples >= 1, got {n}.")
    sample = sample_of(apply)
    if like is not None:
        batch_size("x", like)
        sample = jax.tree.map(lambda a: shape_of(a, a.shape[1:]), like)
    if sample is None:
        raise ValueError(
            f"A plan for {n:,} samples needs to know what a sample looks like, and "
            "this network does not say: pass a batch of any length as `x=`, or in "
            f"place of `{name}` samples or `jax.ShapeDtypeStruct(({n}, ...), dtype)`, "
            "which takes no memory."
        )
    return jax.tree.map(lambda one: shape_of(one, (int(n), *one.shape)), sample)


def _prepare(apply, params, x_1, x_2, request: Request, *, full: bool) -> Prepared:
    """Prepare as a computation does, on shapes alone: values are left out."""
    found: list[Prepared] = []

    def look(params: Params, x_1: Inputs, x_2: Inputs | None) -> None:
        made = prepare(apply, params, x_1, x_2, request, full=full)
        network = made.network._replace(values=Values((), ()))
        found.append(made._replace(network=network, x_1=[], x_2=[]))

    jax.eval_shape(look, params, x_1, x_2)
    return found[0]


def _names(params: Params) -> list[str]:
    paths = [path for path, _ in jax.tree.leaves_with_path(params)]
    names = [jax.tree_util.keystr(p, simple=True, separator="/") for p in paths]
    return [name or "params" for name in names]


class _Part(NamedTuple):
    """A parameter's part in one pass.

    Attributes:
        leaf: The parameter.
        feature: What is formed of it alone.
        number: Of the pass.
        bytes: Kept for each example.
        later: Whether it is formed after the pass.
    """

    leaf: int
    feature: Feature
    number: int
    bytes: int
    later: bool

    @property
    def key(self) -> tuple[int, Piece | None]:
        """Parts with the same key make one row."""
        feature = self.feature
        return self.leaf, None if isinstance(feature, Whole) else feature.piece


def _parts(prepared: Prepared, made: Plan) -> Iterator[_Part]:
    source, problem = prepared.network.source, prepared.problem
    for number, step in enumerate(made.steps, start=1):
        for feature in step.now:
            for leaf, alone in _alone(feature):
                size = feature_bytes(source, alone, problem)
                yield _Part(leaf, alone, number, size, later=False)
        for feature in step.later:
            assert not isinstance(feature, Whole)
            size = kept_bytes(source, feature.piece, problem)
            yield _Part(feature.piece.leaf, feature, number, size, later=True)


def _alone(feature: Feature) -> list[tuple[int, Feature]]:
    """A feature by parameter: leaves that are formed together, one by one."""
    if isinstance(feature, Whole):
        return [(leaf, Whole((leaf,))) for leaf in feature.leaves]
    return [(feature.piece.leaf, feature)]


class _Work(NamedTuple):
    """How often something is done.

    Attributes:
        pairs: Pairs of examples that meet.
        formed: Examples whose features are formed, once for each block.
    """

    pairs: int
    formed: int


def _work(problem: Problem, blocks: list[tuple[slice, slice]]) -> _Work:
    n, m, formed = problem.n, problem.m, 0
    for rows, columns in blocks:
        formed += rows.stop - rows.start
        if not problem.symmetric or rows != columns:
            formed += columns.stop - columns.start
    return _Work(n * (n + 1) // 2 if problem.symmetric else n * m, formed)


def _flops(feature: Feature, prepared: Prepared, work: _Work) -> int:
    """Operations of a feature, two for each multiply-add."""
    problem, source = prepared.problem, prepared.network.source
    c = problem.num_outputs
    meeting = cost(source, feature, c * c if problem.full else c).per_pair
    forming = cost(source, feature, c).per_example
    return 2 * (work.pairs * meeting + work.formed * forming)


def _row(
    name: str, parts: list[_Part], prepared: Prepared, work: _Work
) -> PlannedParameter:
    leaf, piece = parts[0].key
    program = prepared.network.source.program
    return PlannedParameter(
        name,
        program.shapes[program.leaves[leaf]].shape,
        _FORMS[type(parts[0].feature)],
        *(piece[2:] if piece else ()),
        flops=sum(_flops(part.feature, prepared, work) for part in parts),
        bytes_per_example=sum(part.bytes for part in parts),
        passes=tuple(sorted({part.number for part in parts})),
        later=parts[0].later,
    )


def _describe(
    prepared: Prepared, made: Plan, names: list[str], precision: Precision
) -> GramPlan:
    problem = prepared.problem
    blocks = panel_pairs(problem, made.panel)
    work = _work(problem, blocks)
    grouped: dict[tuple[int, Piece | None], list[_Part]] = {}
    for part in _parts(prepared, made):
        grouped.setdefault(part.key, []).append(part)
    rows = [
        _row(names[leaf], parts, prepared, work)
        for (leaf, _), parts in sorted(grouped.items(), key=lambda item: item[0][0])
    ]
    return GramPlan(
        parameters=tuple(rows),
        n=problem.n,
        m=problem.m,
        num_outputs=problem.num_outputs,
        precision=precision,
        device=backend(),
        num_passes=len(made.passes),
        num_blocks=len(blocks),
        panel=made.panel,
        chunk=made.chunk,
        tile=made.tile,
        needed=made.needed,
        memory=made.memory,
    )
