"""Energies by the slabs of an accelerator, run here on the CPU."""

import dataclasses
from functools import partial
from typing import get_args

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.analysis.weighted_gradients import energies_of_groups
from tangentlab.kernels import (
    active,
    empirical,
    energies,
    engine,
    planning,
    preparing,
)
from tangentlab.kernels.accelerated import energies as accelerated
from tangentlab.kernels.features import Rows
from tangentlab.kernels.packing import Pass
from tangentlab.kernels.request import Precision, Request
from tests.helpers import leaf_jacobians

from .jobs import conv_apply, conv_params

N = 31
GROUPS = [slice(0, 20), slice(20, N)]
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, 5, 5, 2)).astype(np.float32)
V = RNG.normal(size=(N, 12))


@pytest.fixture(autouse=True)
def on_a_gpu(monkeypatch):
    """The path of GPUs: tiles of four examples, chunks of a few."""
    for module in (energies, planning, active, preparing):
        monkeypatch.setattr(module, "backend", lambda: "gpu")
    monkeypatch.setitem(planning._TILE, "gpu", 4)
    monkeypatch.setitem(planning._CHUNK_BYTES, "gpu", 2**13)


def by_slabs(apply, params, x, request):
    found = energies.energies_by_slabs(apply, params, x, V, GROUPS, request)
    assert found is not None
    return found


def params(dtype=jnp.float32):
    return jax.tree.map(lambda a: jnp.asarray(a, dtype), conv_params())


def by_definition(apply, params, x, v):
    """With Jacobians in full, in float64; the mean over outputs."""
    with jax.enable_x64(True):
        wide = jax.tree.map(lambda a: jnp.asarray(a, jnp.float64), params)
        jacobians = map(np.asarray, leaf_jacobians(apply, wide, x.astype(np.float64)))
    J = np.concatenate(list(jacobians), axis=-1)
    rows = [slice(0, len(x)), *GROUPS]
    summed = [np.einsum("nk,ncp->kcp", v[r], J[r]) for r in rows]
    return np.stack([(S**2).sum(axis=(1, 2)) / J.shape[1] for S in summed])


@pytest.mark.parametrize("precision", get_args(Precision))
def test_energies_are_those_of_a_gram_matrix(precision):
    request = Request(precision=precision)
    found = by_slabs(conv_apply, params(), X, request)
    wanted = by_definition(conv_apply, params(), X, V)
    within = {"float64": 1e-12, "float32": 2e-6, "high": 1e-4, "fast": 2e-2}
    np.testing.assert_allclose(found, wanted, rtol=within[precision])


@pytest.mark.parametrize("slices", [1, 2, 5])
def test_features_formed_later_count_once(monkeypatch, slices):
    """Of what a run of the network keeps, slice by slice; the last reaches back."""
    plain = planning.plan

    def later(*args, **options):
        made = plain(*args, **options)
        rows = tuple(f for f in made.features if isinstance(f, Rows))
        now = tuple(f for f in made.features if not isinstance(f, Rows))
        assert now and rows
        largest = max(f.piece.size for f in rows)
        columns = -(-2 * largest // slices)
        return dataclasses.replace(made, passes=(now,), later=(rows,), columns=columns)

    monkeypatch.setattr("tangentlab.kernels.preparing.plan", later)
    request = Request(precision="float64")
    found = by_slabs(conv_apply, params(), X, request)
    wanted = by_definition(conv_apply, params(), X, V)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_passes_that_fit_memory_add_up(monkeypatch):
    seen, plain = [], accelerated.run_network

    def counted(source, one: Pass, *rest):
        seen.append(one)
        return plain(source, one, *rest)

    monkeypatch.setattr(accelerated, "run_network", counted)
    monkeypatch.setattr(energies, "_WIDEST", 64)
    request = Request(precision="float64", memory=120_000)
    found = by_slabs(conv_apply, params(), X, request)
    assert len(set(seen)) > 2
    wanted = by_definition(conv_apply, params(), X, V)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_targets_come_in_blocks_of_one_width(monkeypatch):
    widths, plain = [], energies.energies

    def counted(*args):
        widths.append(args[6].shape[1])
        return plain(*args)

    monkeypatch.setattr(energies, "energies", counted)
    monkeypatch.setattr(energies, "_MOST", 5)
    request = Request(precision="float64")
    found = by_slabs(conv_apply, params(), X, request)
    wanted = by_definition(conv_apply, params(), X, V)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert widths == [4, 4, 4]


def test_a_feature_that_wakes_up_after_the_first_chunk_counts(monkeypatch):
    def apply(p, x):
        hidden = jax.nn.relu(x @ p["w"])
        late = jax.nn.relu(x[:, :1] @ p["late"] - 1.0)
        return hidden @ p["v"] + late @ p["u"]

    keys = iter(jax.random.split(jax.random.key(0), 4))
    shapes = {"w": (3, 5), "late": (1, 4), "v": (5, 1), "u": (4, 1)}
    p = {name: jax.random.normal(next(keys), shape) for name, shape in shapes.items()}
    p["late"] = jnp.abs(p["late"])
    x = np.array(RNG.normal(size=(N, 3)), np.float32)
    x[:, 0] = -1.0
    x[-2:, 0] = 30.0
    monkeypatch.setitem(planning._CHUNK_BYTES, "gpu", 1)
    found = by_slabs(apply, p, x, Request(precision="float64"))
    wanted = by_definition(apply, p, x, V)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_multipliers_frozen_leaves_and_outputs_count():
    start = params()

    def stretched(moved, x):
        k = 2 * moved["k"] - start["k"].astype(moved["k"].dtype)
        held = {"k": k, "b": start["b"].astype(k.dtype), "dense": moved["dense"]}
        return conv_apply(held, x).sum(axis=1, keepdims=True)

    request = Request(
        outputs="sum",
        trainable={"k": True, "b": False, "dense": True},
        scale={"k": 4.0, "b": 1.0, "dense": 1.0},
        precision="float64",
    )
    found = by_slabs(conv_apply, params(), X, request)
    wanted = by_definition(stretched, params(), X, V)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_alignment_takes_this_way(monkeypatch):
    taken, plain = [], accelerated.energies

    def counted(*args):
        taken.append(args)
        return plain(*args)

    monkeypatch.setattr(energies, "energies", counted)
    forms = tl.analysis.alignment_forms(conv_apply, params(), X, V)
    alone = tl.alignment(conv_apply, params(), X, V)
    assert len(taken) == 2
    wanted = by_definition(conv_apply, params(), X, V)[0]
    np.testing.assert_allclose(forms.rayleigh, wanted / (V**2).sum(0), rtol=1e-5)
    np.testing.assert_allclose(alone, wanted / N**2, rtol=1e-5)


@pytest.mark.parametrize("v", [V[:, :8], jnp.asarray(V[:, :3])], ids=["8", "3"])
def test_few_targets_stream_by(v):
    request = Request(precision="float64")
    assert (
        energies.energies_by_slabs(conv_apply, params(), X, v, GROUPS, request) is None
    )
    found = energies_of_groups(conv_apply, params(), X, v, GROUPS, request)
    wanted = by_definition(conv_apply, params(), X, np.asarray(v, np.float64))
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_too_little_memory_leaves_it_to_streams():
    request = Request(precision="float64", memory=60_000)
    args = conv_apply, params(), X, V, GROUPS
    assert energies.energies_by_slabs(*args, request) is None
    found = energies_of_groups(*args, request)
    wanted = by_definition(conv_apply, params(), X, V)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_traced_values_leave_it_to_streams():
    @jax.jit
    def aligned(p, v):
        return tl.alignment(conv_apply, p, X, v)

    wanted = by_definition(conv_apply, params(), X, V)[0] / N**2
    np.testing.assert_allclose(aligned(params(), V), wanted, rtol=1e-4)


def test_products_that_no_rounding_explains_are_refused(monkeypatch):
    plain = accelerated.contract_rows
    monkeypatch.setattr(
        accelerated, "contract_rows", lambda *args, **kw: 1.1 * plain(*args, **kw)
    )
    accelerated._adder.cache_clear()
    with pytest.raises(RuntimeError, match="The energies differ from those with exact"):
        by_slabs(conv_apply, params(), X, Request())
    accelerated._adder.cache_clear()


def test_a_gradient_that_is_not_finite_is_refused():
    bad = params()
    bad["k"] = bad["k"].at[0, 0, 0, 0].set(np.nan)
    with pytest.raises(ValueError, match="NaN or infinite"):
        by_slabs(conv_apply, bad, X, Request())


def test_targets_without_energy_are_no_error():
    """Eigenvectors of a kernel of rank 10: rounding leaves the other ones some."""
    p = {"w": jnp.asarray(RNG.normal(size=(10, 1)), jnp.float32)}
    x = RNG.normal(size=(N, 10)).astype(np.float32)
    vectors = np.linalg.eigh(x.astype(np.float64) @ x.T)[1]
    largest = np.square(x.T @ vectors[:, -1]).sum()
    for precision in ("float32", "high", "fast"):
        request = Request(precision=precision)
        found = energies.energies_by_slabs(
            lambda p, x: x @ p["w"], p, x, vectors, GROUPS, request
        )
        assert found is not None
        np.testing.assert_allclose(found[0, -1], largest, rtol=1e-2)
        assert np.all(found[0, :-10] < 1e-4 * largest)


def test_targets_are_not_rounded_as_gradients_are():
    """Gradients that bfloat16 holds; what it takes from labels would not cancel."""
    x = RNG.integers(-4, 5, size=(N, 6)).astype(np.float32)
    p = {"w": jnp.asarray(RNG.normal(size=(6, 1)), jnp.float32)}
    found = by_slabs(lambda p, x: x @ p["w"], p, x, Request(precision="fast"))
    wanted = by_definition(lambda p, x: x @ p["w"], p, x, V)
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


def gated(p, x, *, first):
    """A small layer on large images, one of two branches silent where the gate is."""

    def branch(name, kernel):
        numbers = ("NHWC", "HWIO", "NHWC")
        made = jax.lax.conv_general_dilated(
            x[name], kernel, (1, 1), "SAME", dimension_numbers=numbers
        )
        made = jnp.tanh(made).mean(axis=(1, 2, 3))[:, None]
        return made * x["gate"][:, None] if name == first else made

    return branch("small", p["a"]) + branch("big", p["b"])


@pytest.mark.parametrize("first", ["small", "big"])
@pytest.mark.parametrize("late", [0.0, 1.0])
def test_slices_of_a_plan_are_not_sliced_by_the_next(monkeypatch, first, late):
    """What is silent is left out of a second plan, which may cut otherwise.

    That of a Gram matrix, too, which met this first.
    """
    rng, shape = np.random.default_rng(0), (3, 3, 16, 16)
    p = {name: jnp.asarray(rng.normal(size=shape) / 3, jnp.float32) for name in "ab"}
    small, big = (rng.normal(size=(40, s, s, 16)).astype(np.float32) for s in (3, 7))
    gate = np.zeros(40, np.float32)
    gate[-2:] = late  # after the first chunk
    x, apply = {"small": small, "big": big, "gate": gate}, partial(gated, first=first)
    v = rng.normal(size=(40, 12))
    J = np.concatenate(list(map(np.asarray, leaf_jacobians(apply, p, x))), axis=-1)
    J = J[:, 0].astype(np.float64)
    wanted = np.square(v.T @ J).sum(axis=1)
    for module in (engine, empirical):
        monkeypatch.setattr(module, "backend", lambda: "gpu")
    monkeypatch.setitem(planning._CHUNK_BYTES, "gpu", 1)
    monkeypatch.setitem(planning._TILE, "gpu", 8)
    monkeypatch.setattr(energies, "_WIDEST", 64)
    for memory in (350_000, 425_000, 500_000, 575_000):
        request = Request(precision="float64", memory=memory)
        found = energies.energies_by_slabs(apply, p, x, v, [slice(0, 40)], request)
        assert found is not None
        np.testing.assert_allclose(found[0], wanted, rtol=1e-5)
        K = tl.gram(apply, p, x, precision="float64", memory=memory)
        np.testing.assert_allclose(K, J @ J.T, rtol=1e-5, atol=1e-6)


def test_rows_of_a_chunk_are_bounded(monkeypatch):
    """A dense layer has small activations and large gradients."""
    chunks, plain = [], energies.energies

    def counted(source, plan, *rest):
        chunks.append(plan.chunk)
        return plain(source, plan, *rest)

    monkeypatch.setattr(energies, "energies", counted)
    monkeypatch.setitem(planning._CHUNK_BYTES, "gpu", 2**30)
    monkeypatch.setattr(energies, "_FORMED", 3 * 4 * (50 * 20 + 20) * 7)
    p = {"w": jnp.ones((50, 20)) / 50, "v": jnp.ones((20, 1), jnp.float32)}
    p = jax.tree.map(lambda a: a.astype(jnp.float32), p)
    x = RNG.normal(size=(N, 50)).astype(np.float32)

    def apply(p, x):
        return jnp.tanh(x @ p["w"]) @ p["v"]

    found = by_slabs(apply, p, x, Request())
    assert chunks == [7]
    np.testing.assert_allclose(found, by_definition(apply, p, x, V), rtol=1e-4)


def test_a_dense_network_has_a_cheaper_gram_matrix():
    dense = tl.models.mlp((50,), widths=(40,))
    start = dense.init(jax.random.key(0))
    x = np.zeros((3000, 50), np.float32)
    assert not energies.is_cheaper(dense.apply, start, x, 1000, Request())
    assert energies.is_cheaper(dense.apply, start, x, 10, Request())
