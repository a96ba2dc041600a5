"""A plan says what the engine does, and needs no samples to say so."""

import functools
import re
import resource
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab._quantities import bytes_in_words, flops_in_words
from tangentlab.kernels.features import Whole
from tangentlab.kernels.preparing import job_of, prepare
from tangentlab.kernels.request import Request
from tests.networks import dense_apply, dense_params

S = jax.ShapeDtypeStruct
PARAMS = dense_params(jax.random.key(0), (3, 5, 2), jnp.float32)
X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
TABLE = """\
Gram matrix of 40 x 40 samples, 2 outputs, float32, on cpu

parameter  shape  form               positions       FLOPs  per example  pass
0/b        5      whole                         17.2 kFLOP         40 B     1
0/w        3x5    inputs and deltas          1  21.3 kFLOP         52 B     1
1/b        2      whole                         6.88 kFLOP         16 B     1
1/w        5x2    inputs and deltas          1  14.8 kFLOP         36 B     1
total                                           60.2 kFLOP        144 B

The network runs once over the samples, 40 at once; products in tiles of 40.
{needed} at peak, 977 KiB allowed."""


@functools.cache
def lenet():
    model = tl.models.lenet((8, 8, 1), num_outputs=2)
    return model.apply, model.init(jax.random.key(0))


def test_a_plan_prints_as_a_table():
    plan = tl.plan_gram(dense_apply, PARAMS, X, memory=10**6)
    assert str(plan) == TABLE.format(needed=bytes_in_words(plan.needed))
    assert repr(plan) == str(plan)


def test_operations_are_counted_pair_by_pair():
    first, second = dense_params(jax.random.key(0), (3, 5, 2), jnp.float32)
    plan = tl.plan_gram(dense_apply, [first, second], X, X[:7])
    flops = {row.name: row.flops for row in plan.parameters}
    assert flops["0/w"] == 2 * 40 * 7 * (3 + 2 * 5)  # inputs, and deltas of two outputs
    assert flops["1/w"] == 2 * 40 * 7 * (5 + 2 * 2)
    assert flops["0/b"] == 2 * (40 * 7 + 47) * 2 * 5
    full = tl.plan_gram(dense_apply, [first, second], X, X[:7], full=True)
    assert {row.name: row.flops for row in full.parameters}["0/w"] == (
        2 * 40 * 7 * (3 + 4 * 5)
    )


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("m", [None, 30])
@pytest.mark.parametrize("memory", [10**9, 1_500_000, 400_000])
def test_a_plan_is_what_the_engine_runs(full, m, memory):
    apply, params = lenet()
    x = np.random.default_rng(0).normal(size=(50, 8, 8, 1)).astype(np.float32)
    request = Request(memory=memory)
    x_2 = None if m is None else x[:m]
    prepared = prepare(apply, params, x, x_2, request, full=full)
    job = job_of(prepared, request)
    plan = tl.plan_gram(apply, params, 50, m, memory=memory, full=full)
    runs = (job.plan.panel, job.plan.chunk, job.plan.tile, job.plan.needed)
    assert (plan.panel, plan.chunk, plan.tile, plan.needed) == runs
    assert plan.num_passes == len(job.plan.passes)
    assert plan.memory == memory >= plan.needed
    names = [name.strip("[']").replace("']['", "/") for name in prepared.network.names]
    passes = {row.name: row.passes for row in plan.parameters}
    assert sorted(passes) == sorted(names)
    for number, features in enumerate(job.plan.passes, start=1):
        for feature in features:
            whole = isinstance(feature, Whole)
            for leaf in feature.leaves if whole else [feature.piece.leaf]:
                assert number in passes[names[leaf]]
    assert {p for row in passes.values() for p in row} == set(
        range(1, plan.num_passes + 1)
    )


def test_totals_are_sums_and_do_not_change_with_passes():
    generous = tl.plan_gram(*lenet(), 2000, memory=10**9)
    tight = tl.plan_gram(*lenet(), 2000, memory=150 * 10**6)
    assert tight.num_passes > generous.num_passes == 1
    assert tight.flops == generous.flops == sum(r.flops for r in tight.parameters)
    assert tight.bytes_per_example == generous.bytes_per_example
    assert generous.bytes_per_example == sum(
        row.bytes_per_example for row in generous.parameters
    )
    kept = generous.n * generous.bytes_per_example
    assert kept + 2 * 4 * 2000**2 < generous.needed <= generous.memory


def test_blocks_form_what_they_need_again():
    whole = tl.plan_gram(*lenet(), 500, memory=10**9)
    cut = tl.plan_gram(*lenet(), 500, memory=2_600_000)
    assert cut.num_blocks > whole.num_blocks == 1
    assert cut.flops > whole.flops
    assert f"of each of {cut.num_blocks} blocks of {cut.panel}" in str(cut)


@pytest.mark.parametrize(
    "samples",
    [
        lambda: {"n": 60_000},
        lambda: {"n": S((60_000, 32, 32, 3), jnp.float32)},
        lambda: {"n": 60_000, "x": np.zeros((1, 32, 32, 3), np.float32)},
    ],
    ids=["number", "shapes", "example"],
)
def test_planning_resnet18_for_60_000_images_takes_seconds_and_no_memory(samples):
    model = tl.models.resnet18()
    params = jax.eval_shape(model.init, jax.random.key(0))
    start, before = time.perf_counter(), _peak_memory()
    plan = tl.plan_gram(model.apply, params, **samples(), memory=140 * 2**30)
    assert time.perf_counter() - start < 10
    assert _peak_memory() - before < 200 * 2**20  # the images alone are 700 MiB
    assert plan.n == plan.m == 60_000 and plan.num_passes > 1
    shapes = sorted(row.shape for row in plan.parameters)
    assert shapes == sorted(leaf.shape for leaf in jax.tree.leaves(params))
    assert max(map(len, str(plan).splitlines())) <= 100
    deep = next(row for row in plan.parameters if row.name == "block_4_2/conv_2/kernel")
    assert (deep.form, deep.positions) == ("inputs and deltas", 16)
    assert (deep.fan_in, deep.fan_out, deep.groups) == (9 * 512, 512, 1)
    assert re.search(
        r"block_3_1/conv_2/kernel +3x3x256x256 +rows +64 .* \d+-\d+$", str(plan), re.M
    )


def _peak_memory():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_adapters_that_know_their_samples_pass_them_on():
    import haiku as hk

    model = tl.models.from_haiku(lambda x: hk.Linear(2)(x), (3,))
    params = model.init(jax.random.key(0))
    plan = tl.plan_gram(model.apply, params, 100, memory=10**6)
    assert plan.n == 100 and "linear/w" in str(plan)
    for apply in (jax.jit(model.apply), model.freeze(model.init_state())):
        assert tl.plan_gram(apply, params, 100, memory=10**6) == plan


def test_options_are_those_of_gram():
    apply, params = lenet()
    plan = tl.plan_gram(apply, params, 100, outputs="sum", precision="float64")
    assert plan.num_outputs == 1 and plan.precision == "float64"
    single = tl.plan_gram(apply, params, 100, outputs="sum")
    assert plan.bytes_per_example == 2 * single.bytes_per_example
    kept = {name: name == "Dense_0" for name in params}
    rows = tl.plan_gram(apply, params, 100, trainable=kept).parameters
    assert {row.name for row in rows} == {"Dense_0/kernel", "Dense_0/bias"}
    scale: dict[str, Any] = {name: 1.0 for name in params}
    scale["Dense_0"] = {"kernel": np.ones(params["Dense_0"]["kernel"].shape), "bias": 1}
    rows = tl.plan_gram(apply, params, 100, scale=scale).parameters
    forms = {row.name: row.form for row in rows}
    assert (forms["Dense_0/kernel"], forms["Dense_1/kernel"]) == (
        "whole",
        "inputs and deltas",
    )


def test_a_plan_is_a_table_in_notebooks_too():
    plan = tl.plan_gram(lambda p, x: x @ p["<w>"], {"<w>": jnp.ones((3, 1), "f4")}, X)
    page = plan._repr_html_()
    assert page.count("<tr>") == 3 and "&lt;w&gt;" in page and "<w>" not in page


def test_an_unnamed_parameter_and_a_scalar_have_names():
    plan = tl.plan_gram(lambda w, x: x @ w, jnp.ones((3, 1), jnp.float32), X)
    assert plan.parameters[0].name == "params"
    plan = tl.plan_gram(lambda p, x: x[:, :1] * p["a"], {"a": jnp.float32(2)}, X)
    assert re.search("^a +scalar", str(plan), re.M)


def test_long_names_are_shortened_in_the_middle():
    name = "a" * 80 + "end"
    plan = tl.plan_gram(lambda p, x: x @ p[name], {name: jnp.ones((3, 1), "f4")}, X)
    lines = str(plan).splitlines()
    assert max(map(len, lines)) <= 100
    assert re.search(r"^a+\.\.a+end ", lines[3])


def test_too_many_samples_for_the_memory_raise():
    with pytest.raises(ValueError, match=r"does not fit 954 MiB: at least 2.* GiB"):
        tl.plan_gram(*lenet(), 60_000, memory=10**9)


def test_a_number_is_not_enough_for_any_network():
    with pytest.raises(ValueError, match=r"60,000 samples .* pass a batch .* as `x=`"):
        tl.plan_gram(dense_apply, PARAMS, 60_000)
    plan = tl.plan_gram(dense_apply, PARAMS, 60, 30, x=X[:1])
    assert (plan.n, plan.m) == (60, 30)
    shown = tl.plan_gram(dense_apply, PARAMS, X[:6], 3)  # by the samples of the rows
    assert (shown.n, shown.m) == (6, 3)


@pytest.mark.parametrize("n", [0, -3, True])
def test_impossible_numbers_raise(n):
    with pytest.raises(ValueError, match="`n` must be a number of samples >= 1"):
        tl.plan_gram(*lenet(), n)
    with pytest.raises(ValueError, match="`m` must be a number of samples >= 1"):
        tl.plan_gram(*lenet(), 5, n)


def test_a_model_is_not_its_apply(no_type_checks):
    model: Any = tl.models.mlp((3,))
    with pytest.raises(TypeError, match="pass its `.apply`"):
        tl.plan_gram(model, {}, 5)


def test_the_contract_is_checked_by_shapes():
    with pytest.raises(ValueError, match=r"must return shape \(n, c\)"):
        tl.plan_gram(lambda w, x: x @ w, jnp.ones(3, jnp.float32), X)
    with pytest.raises(ValueError, match="`x` is empty"):
        tl.plan_gram(dense_apply, PARAMS, 5, x=X[:0])


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "0.977 KiB"),
        (2**20, "1 MiB"),
        (10**30, "8.88e+14 PiB"),
    ],
)
def test_bytes_in_words(count, words):
    assert bytes_in_words(count) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [(7, "7 FLOP"), (999_600, "1 MFLOP"), (12_340, "12.3 kFLOP"), (10**18, "1 EFLOP")],
)
def test_flops_in_words(count, words):
    assert flops_in_words(count) == words
