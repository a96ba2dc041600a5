"""However a computation is cut, the same numbers come out."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl
from tangentlab.kernels.features import Outer, Rows
from tangentlab.kernels.forms import choose
from tangentlab.kernels.network import read
from tangentlab.kernels.packing import pack
from tangentlab.kernels.planning import plan
from tangentlab.kernels.request import Request
from tangentlab.kernels.results import collect

from .jobs import X_1, X_2, conv_apply, conv_params, make_job, nothing


@settings(deadline=None, max_examples=20)
@given(
    panel=st.integers(1, 11),
    chunk=st.integers(1, 11),
    room=st.integers(60, 2000),
    across=st.booleans(),
    full=st.booleans(),
)
def test_panels_chunks_and_passes_change_nothing_but_rounding(
    panel, chunk, room, across, full
):
    x_2 = X_2 if across else None
    whole = np.asarray(collect(make_job(x_2, full=full), nothing))
    features = make_job(x_2).plan.passes[0]
    passes = tuple((feature,) for feature in features) if room < 500 else (features,)
    job = make_job(x_2, full=full, panel=panel, chunk=chunk, passes=passes)
    cut = np.asarray(collect(job, nothing))
    np.testing.assert_allclose(cut, whole, rtol=1e-12, atol=1e-12 * whole.max())
    if not across and not full:
        np.testing.assert_array_equal(cut, cut.T)


def test_keeping_inputs_and_deltas_saves_passes():
    """As on a GPU: what is small is kept, what is large is formed of it."""
    network = read(conv_apply, conv_params(), X_1, Request())
    problem = make_job().problem
    features = choose(network.source, network.differentiated, 10**6, 2)
    (rows,) = [f for f in features if isinstance(f, Rows)]
    direct = pack(network.source, features, problem, 2400)
    kept = pack(network.source, features, problem, 2400, keep=True)
    assert direct is not None and kept is not None
    assert rows not in kept.passes[0].later  # 144 numbers formed, 150 kept
    assert _covered([f for one in direct.passes for f in one.now]) == 4


def test_less_memory_cuts_parameters_then_examples_then_raises():
    network = read(conv_apply, conv_params(), X_1, Request())
    generous, problem = make_job().plan, make_job().problem
    memory, seen = generous.needed, []
    with pytest.raises(ValueError, match="does not fit"):
        while True:
            made = plan(network.source, generous.passes[0], problem, memory)
            assert made.needed <= memory
            assert _covered([f for one in made.passes for f in one]) == 4
            seen.append((len(made.passes), made.panel))
            memory = int(memory * 0.95)
    assert seen[0] == (1, 11)
    assert any(passes > 1 and panel == 11 for passes, panel in seen)
    assert any(panel < 11 for _, panel in seen)


def _covered(features):
    return sum(f.stop - f.start for f in features if isinstance(f, Rows))


def test_the_cheapest_form_is_chosen():
    kinds = {type(feature).__name__ for feature in make_job().plan.passes[0]}
    assert kinds == {"Rows", "Outer", "Whole"}
    dense = [f for f in make_job().plan.passes[0] if isinstance(f, Outer)]
    assert all(f.piece.positions == 1 for f in dense)


@pytest.mark.slow
def test_an_exactly_zero_residual_branch_costs_nothing_and_changes_nothing():
    model = tl.models.resnet18((8, 8, 1), width=2)
    params = model.init(jax.random.key(0))
    x = np.random.default_rng(0).normal(size=(5, 8, 8, 1)).astype(np.float32)
    parts = tl.gram_by_parameter(model.apply, params, x)
    zero = [not bool(jnp.any(K)) for K in jax.tree.leaves(parts)]
    assert sum(zero) > len(zero) / 3
    J = tl.jacobian(model.apply, params, x)[:, 0]
    total = sum(jax.tree.leaves(parts))
    np.testing.assert_allclose(total, J @ J.T, rtol=1e-4)
