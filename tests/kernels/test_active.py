"""Features that are exactly zero are left out on a CPU, and computed if they wake."""

import dataclasses
import shutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.kernels import active, engine, preparing
from tangentlab.kernels.request import Request
from tangentlab.kernels.tiled.manifest import read_manifest
from tangentlab.kernels.tiled.written_plan import plan_from_json
from tests.helpers import leaf_jacobians

N, NARROW, WIDE = 90, 20, 400
MEMORY = {False: 5 * 2**18, True: 5 * 2**19}  # too little for all, in full or not
LOOKED_AT = 5
RARE = sorted({*range(N)} - {*np.linspace(0, N - 1, LOOKED_AT).astype(int)})[1::3]


def apply(params, x):
    """A dense layer, and a branch behind a gate that rare examples open."""
    h = jnp.tanh(x @ params["in"])
    gate = params["scale"] * jnp.where(x[:, :1] > 5, 1.0, 0.0)
    branch = jnp.tanh(h @ params["branch"]) @ params["back"]
    return (h + (gate + params["open"]) * branch) @ params["out"]


def make(*, rare: int = 1, open_: float = 0.0):
    """A branch with no gradient but on `rare` examples, or on all if it is open."""
    rng = np.random.default_rng(0)
    sizes = {"in": (6, NARROW), "branch": (NARROW, WIDE), "back": (WIDE, NARROW)}
    params = {name: rng.normal(size=size) / 3 for name, size in sizes.items()}
    params |= {"out": rng.normal(size=(NARROW, 2)), "scale": np.ones((1, 1))}
    x = rng.normal(size=(N, 6)).clip(-4, 4)
    x[RARE[:rare], 0] = 6.0
    params["open"] = np.full((1, 1), open_)
    return jax.tree.map(jnp.asarray, params), x


def dense(params, x, x_2):
    sides = zip(
        *(leaf_jacobians(apply, params, each) for each in (x, x_2)), strict=True
    )
    return sum(np.einsum("ncp,mdp->ncmd", J, J_2) for J, J_2 in sides)


@pytest.fixture(autouse=True)
def looked_at(monkeypatch):
    """A look pays for any network, and sees few examples."""
    monkeypatch.setattr(active, "_LARGE", 0)
    monkeypatch.setattr(active, "_LOOKED_AT", LOOKED_AT)


def _job(params, x, x_2=None, *, full=False, memory=True):
    prepared = preparing.prepare(apply, params, x, x_2, Request(), full=full)
    job = preparing.job_of(prepared, Request(memory=MEMORY[full] if memory else None))
    return job, active.without_idle(job, prepared)


def _leaves(features):
    pieces = {f.piece.leaf for f in features if hasattr(f, "piece")}
    return pieces | {leaf for f in features for leaf in getattr(f, "leaves", ())}


def test_what_is_zero_is_left_out_and_the_rest_planned_again():
    params, x = make(rare=0)
    before, after = _job(params, x)
    names = sorted(params)
    idle = {names[leaf] for leaf in _leaves(after.plan.idle)}
    assert idle == {"back", "branch"}  # `scale` multiplies zero, `open` does not
    assert after.plan.panel > before.plan.panel or len(after.plan.passes) < len(
        before.plan.passes
    )
    assert after.plan.needed <= before.plan.memory // 2
    assert {*_leaves(after.plan.features), *_leaves(after.plan.idle)} == {
        *_leaves(before.plan.features)
    }


def test_nothing_is_left_out_of_a_network_without_zeros():
    before, after = _job(*make(open_=1.0))
    assert after.plan == before.plan and not after.plan.idle


def test_no_look_where_one_pass_holds_all(monkeypatch):
    monkeypatch.setattr(active, "_alive_on_some", None)
    before, after = _job(*make(), memory=False)
    assert after is not before and after.plan == before.plan


@pytest.mark.parametrize("rare", [0, 1, 28])
@pytest.mark.parametrize("full", [False, True], ids=["mean", "full"])
@pytest.mark.parametrize("across", [False, True], ids=["symmetric", "across"])
def test_in_memory_as_dense(rare, full, across):
    params, x = make(rare=rare)
    x_2 = x[::-1][:80] if across else None
    job = _job(params, x, x_2, full=full)[1]
    assert job.plan.idle
    function = tl.gram_full if full else tl.gram
    K = function(apply, params, x, x_2, memory=MEMORY[full])
    expected = dense(params, x, x if x_2 is None else x_2)
    if not full:
        expected = np.einsum("ncmc->nm", expected) / 2
    np.testing.assert_allclose(K, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("rare", [0, 1, 28])
def test_on_disk_as_in_memory_and_to_the_same_bits_by_whoever_comes_next(
    tmp_path, rare, monkeypatch
):
    params, x = make(rare=rare)
    monkeypatch.setattr("tangentlab.kernels.tiled.units._LEAST", 16)
    whole = tl.gram(apply, params, x, store=tmp_path / "whole", memory=MEMORY[False])
    plan = plan_from_json(read_manifest(tmp_path / "whole").plan)
    assert plan.idle and plan.panel < N
    expected = np.einsum("ncmc->nm", dense(params, x, x)) / 2
    np.testing.assert_allclose(whole.to_array(), expected, rtol=1e-11, atol=1e-11)
    shutil.copytree(tmp_path / "whole", tmp_path / "part")
    tiles = sorted((tmp_path / "part").glob("tile-*"))
    for tile in tiles[1::2]:
        tile.unlink()
    # Memory that is left then decides nothing of what tiles are made of.
    again = tl.gram(apply, params, x, store=tmp_path / "part", memory=4 * MEMORY[False])
    for tile in tiles:
        assert tile.read_bytes() == (tmp_path / "whole" / tile.name).read_bytes()
    np.testing.assert_array_equal(again.to_array(), whole.to_array())


def test_what_wakes_up_is_computed_for_the_blocks_that_need_it(monkeypatch):
    job = _job(*make())[1]
    job = job._replace(plan=dataclasses.replace(job.plan, panel=30))
    added, add = [], engine._add_woken

    def watch(K, job, part, pair, woken):
        added.append((pair[0].start, pair[1].start))
        add(K, job, part, pair, woken)

    monkeypatch.setattr(engine, "_add_woken", watch)
    pairs = engine.panel_pairs(job.problem, 30)
    assert len(list(engine.run(job, pairs, lambda _: None))) == 6
    assert added == [(0, 0)]  # where it is not zero along rows and columns


def test_too_little_memory_for_what_might_wake_up_leaves_the_plan(monkeypatch):
    params, x = make()
    plan, calls = active.plan, []

    def cramped(source, features, *rest):
        calls.append(features)
        if len(calls) == 2:  # of what might wake up
            raise ValueError("does not fit")
        return plan(source, features, *rest)

    monkeypatch.setattr(active, "plan", cramped)
    before, after = _job(params, x)
    assert len(calls) == 2 and after.plan == before.plan


def test_resnet18_as_published_is_planned_for_its_active_parameters():
    model = tl.models.resnet18((8, 8, 3), activation="gelu")
    params = model.init(jax.random.key(0))
    x = np.random.default_rng(0).normal(size=(64, 8, 8, 3)).astype(np.float32)
    request = Request(memory=2**27)
    prepared = preparing.prepare(model.apply, params, x, None, request, full=False)
    job = active.without_idle(preparing.job_of(prepared, request), prepared)
    sizes = [leaf.size for leaf in jax.tree.leaves(params)]
    silent = 3_840  # of norms, whose scales and biases are all formed together
    counted = sum(sizes[leaf] for leaf in _leaves(job.plan.features))
    assert counted == 180_033 + silent
