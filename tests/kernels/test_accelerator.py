"""The path of GPUs, run here on the CPU, gives the numbers of the host."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.kernels import engine, planning, preparing
from tangentlab.kernels.accelerated import accelerator
from tangentlab.kernels.accelerated.device import Precision
from tangentlab.kernels.features import Outer, Rows
from tangentlab.kernels.forms import choose
from tangentlab.kernels.network import read
from tangentlab.kernels.packing import Problem
from tangentlab.kernels.panels import Panels
from tangentlab.kernels.planning import plan
from tangentlab.kernels.request import Request
from tangentlab.kernels.results import check_finite, collect
from tangentlab.kernels.tiled.tiles import Place
from tangentlab.kernels.tiled.units import in_order

from .jobs import X_2, make_job, nothing


def _on_accelerator(job, precision: Precision = "float32"):
    """The path of GPUs, run here on the CPU."""
    x = [job.x_1, job.x_2]
    return accelerator.run(
        job.source, job.plan, job.problem, job.values, x, precision, nothing
    )


@pytest.mark.parametrize("x_2", [None, X_2], ids=["symmetric", "across"])
@pytest.mark.parametrize("tile", [2, 4, 16])
@pytest.mark.parametrize("chunk", [3, 11])
def test_accelerator_agrees_with_the_host(x_2, tile, chunk):
    job = make_job(x_2, tile=tile, chunk=chunk)
    slices = [
        part
        for feature in job.plan.passes[0]
        for part in (
            [feature._replace(stop=2), feature._replace(start=2)]
            if isinstance(feature, Rows)
            else [feature]
        )
    ]
    passes = tuple(slices[:2]), tuple(slices[2:])
    later = ((),) * 2
    job = job._replace(plan=dataclasses.replace(job.plan, passes=passes, later=later))
    expected = collect(make_job(x_2), nothing)
    np.testing.assert_allclose(_on_accelerator(job), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("x_2", [None, X_2], ids=["symmetric", "across"])
@pytest.mark.parametrize("columns", [36, 110, 1000])
def test_features_formed_later_agree_with_the_host(x_2, columns, full):
    """Slices of one output feature, of three (the last reaches back), and of all."""
    job = make_job(x_2, full=full, tile=4, chunk=4)
    (features,) = job.plan.passes
    now = tuple(f for f in features if not isinstance(f, Outer | Rows))
    later = tuple(f for f in features if isinstance(f, Outer | Rows))
    assert len(now) == 1 and len(later) == 3
    made = dataclasses.replace(job.plan, passes=(now,), later=(later,), columns=columns)
    expected = collect(make_job(x_2, full=full), nothing)
    found = _on_accelerator(job._replace(plan=made))
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("x_2", [None, X_2], ids=["symmetric", "across"])
def test_a_feature_that_wakes_up_after_the_first_chunk_counts(x_2):
    job = make_job(x_2, tile=4, chunk=4)
    (features,) = job.plan.passes
    expected = collect(make_job(x_2), nothing)
    made = dataclasses.replace(
        job.plan, passes=(features[1:],), later=((),), idle=features[:1]
    )
    found = _on_accelerator(job._replace(plan=made))
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


def _as_on_a_gpu(job):
    """Features of two kinds formed at once, those of the others later."""
    (features,) = job.plan.passes
    now = tuple(f for f in features if not isinstance(f, Rows))
    later = tuple(f for f in features if isinstance(f, Rows))
    assert len(now) == 3 and len(later) == 1
    made = dataclasses.replace(job.plan, passes=(now,), later=(later,), columns=36)
    return job._replace(plan=made)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("x_2", [None, X_2], ids=["symmetric", "across"])
@pytest.mark.parametrize("kept", [1, 2, 4])
def test_the_accelerator_keeps_panels_while_they_serve(monkeypatch, kept, x_2, full):
    """Panels of three, the last of two or one, shorter than a chunk."""
    expected = np.asarray(collect(make_job(x_2, full=full), nothing))
    monkeypatch.setattr(engine, "backend", lambda: "gpu")
    runs, run_network = [], accelerator.run_network

    def counted(*args):
        runs.append(len(args[6][0]))
        return run_network(*args)

    monkeypatch.setattr(accelerator, "run_network", counted)
    job = _as_on_a_gpu(make_job(x_2, full=full, panel=3, chunk=3, tile=4))
    pairs = in_order(
        [Place(*pair) for pair in engine.panel_pairs(job.problem, 3)], 3, kept
    )
    found = np.full_like(expected, np.nan)
    for rows, columns, values in engine.run(job, pairs, nothing, kept):
        at = (rows, slice(None), columns) if full else (rows, columns)
        found[at] = values
        if x_2 is None:
            mirrored = values.transpose(2, 3, 0, 1) if full else values.T
            found[(columns, *at[1:-1], rows)] = mirrored
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)
    across = 3 if x_2 is not None else {1: 5, 2: 2, 4: 0}[kept]
    groups = {1: 4, 2: 2, 4: 1}[kept] if x_2 is not None else 1
    assert len(runs) == 4 + groups * across


def test_an_accelerator_keeps_nothing_of_a_single_block(monkeypatch):
    """Its result is copied when features are gone."""
    job, kept = _as_on_a_gpu(make_job(chunk=4, tile=4)), []
    monkeypatch.setattr(engine, "backend", lambda: "gpu")
    plain = accelerator._finish

    def finish(*args):
        kept.append(sum(a.nbytes for a in jax.live_arrays()))
        return plain(*args)

    monkeypatch.setattr(accelerator, "_finish", finish)
    collect(job, nothing)
    monkeypatch.setattr(Panels, "pair", _remembering(Panels.pair, []))
    collect(job, nothing)
    assert kept[1] > kept[0]


def _remembering(function, memory):
    def remembers(*args):
        memory.append(function(*args))
        return memory[-1]

    return remembers


def test_accelerator_refuses_a_result_that_no_rounding_explains(monkeypatch):
    job = make_job(tile=4, chunk=4)
    add = accelerator._add_rows
    monkeypatch.setattr(
        accelerator, "_add_rows", lambda K, *rest: add(add(K, *rest), *rest)
    )
    with pytest.raises(
        RuntimeError, match="more than the precision 'float32' explains"
    ):
        _on_accelerator(job)


@pytest.mark.parametrize(
    ("precision", "least", "most"), [("fast", 1e-5, 1e-2), ("high", 1e-7, 5e-5)]
)
def test_accelerator_logs_the_error_of_its_products(caplog, precision, least, most):
    with caplog.at_level("INFO", logger="tangentlab"):
        found = _on_accelerator(make_job(tile=4, chunk=4), precision)
    (message,) = caplog.messages
    assert message.startswith(f"precision {precision!r}: relative error")
    error = float(message.split("relative error ")[1].split(",")[0])
    exact = np.asarray(collect(make_job(), nothing))[:4, :4]
    off = np.linalg.norm(np.asarray(found)[:4, :4] - exact) / np.linalg.norm(exact)
    assert least < off < most
    assert error == pytest.approx(off, rel=0.1)


def _job_of(apply, params, x):
    network = read(apply, params, x, Request())
    problem = Problem(len(x), len(x), network.num_outputs, True, 4, 4)
    features = choose(network.source, network.differentiated, len(x), 1)
    made = plan(network.source, features, problem, None)
    made = dataclasses.replace(made, chunk=4, tile=4)
    return engine.Job(
        network.source, network.values, made, problem, [x], [x], "float32"
    )


def test_accelerator_takes_random_keys_among_parameters():
    def apply(p, x):
        return x @ jax.random.normal(p["key"], (3, 3), jnp.float32) @ p["w"]

    params = {"key": jax.random.key(2), "w": jnp.ones((3, 1), jnp.float32)}
    x = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    job = _job_of(apply, params, x)
    np.testing.assert_allclose(_on_accelerator(job), collect(job, nothing), rtol=1e-5)


def test_accelerator_is_not_blamed_for_a_network_in_16_bits(caplog):
    """Exact products of what such a network makes are not those of 16 bits."""

    def apply(p, x):
        low = [a.astype(jnp.bfloat16) for a in (x, p["w"], p["v"])]
        return (jnp.tanh(low[0] @ low[1]) @ low[2]).astype(jnp.float32)

    keys = jax.random.split(jax.random.key(0), 2)
    sizes = {"w": (300, 20), "v": (20, 1)}
    params = {
        name: jax.random.normal(key, size, jnp.float32) / 10
        for key, (name, size) in zip(keys, sizes.items(), strict=True)
    }
    x = np.random.default_rng(0).normal(size=(6, 300)).astype(np.float32)
    job = _job_of(apply, params, x)
    with caplog.at_level("INFO", logger="tangentlab"):
        found = _on_accelerator(job)
    (message,) = caplog.messages
    assert float(message.split("relative error ")[1].split(",")[0]) < 1e-6
    np.testing.assert_allclose(found, collect(job, nothing), rtol=1e-5)


def test_accelerator_leaves_an_example_without_a_gradient_to_be_named():
    def apply(p, x):  # the slope of a square root at zero is infinite
        below = jnp.where(x[:, :1] == 0, 0.0, 1.0)
        return x @ p["w"] + jnp.sqrt(jnp.abs(p["b"][None] + below))

    params = {"w": jnp.ones((3, 1), jnp.float32), "b": jnp.zeros(1, jnp.float32)}
    x = np.ones((6, 3), np.float32)
    x[2, 0] = 0
    K = _on_accelerator(_job_of(apply, params, x))
    with pytest.raises(ValueError, match=r"example 2 of `x_1` \(1 in all"):
        check_finite(K, symmetric=True)


def _deep_apply(params, x):
    """Convolutions whose gradients are larger than what they are formed of."""
    for kernel in params:
        x = jnp.tanh(
            jax.lax.conv_general_dilated(
                x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
        )
    return x.mean(axis=(1, 2, 3))[:, None]


@pytest.mark.parametrize(
    "function", [tl.gram, tl.gram_full, tl.gram_diagonal, tl.gram_by_parameter]
)
def test_nothing_is_left_out_where_features_are_formed_later(monkeypatch, function):
    keys = jax.random.split(jax.random.key(0), 3)
    shapes = (3, 3, 2, 24), (3, 3, 24, 24), (3, 3, 24, 24)
    params = [jax.random.normal(k, s) / 8 for k, s in zip(keys, shapes, strict=True)]
    x = np.random.default_rng(0).normal(size=(12, 3, 3, 2))
    expected = function(_deep_apply, params, x)
    made = []

    def counted(*args, **options):
        made.append(plan(*args, **options))
        return made[-1]

    for module in (planning, engine):
        monkeypatch.setattr(module, "backend", lambda: "gpu")
    monkeypatch.setattr(planning, "free_memory", lambda: 10**6)
    monkeypatch.setattr(preparing, "plan", counted)
    found = function(_deep_apply, params, x)
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12),
        found,
        expected,
    )
    assert any(made[0].later) == (function is not tl.gram_by_parameter)
