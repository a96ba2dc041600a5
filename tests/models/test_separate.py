import gc
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab.models import check_apply
from tangentlab.models.separate import remember, remembers


def gated(params, x):
    """Mixes examples as soon as its gate is open."""
    return x @ params["w"] + params["gate"] * jnp.mean(x)


@pytest.fixture
def params():
    return {"w": jnp.ones((3, 1)), "gate": jnp.zeros(())}


X = jnp.arange(12.0).reshape(4, 3)


def test_what_was_checked_is_remembered(params):
    assert not remembers(gated, params, X)
    check_apply(gated, params, X)
    assert remembers(gated, params, X)
    assert remembers(gated, dict(params), X + 1)  # the arrays count, not their tree


def test_other_parameters_are_looked_at_again(params):
    check_apply(gated, params, X)
    with pytest.raises(ValueError, match="mixes examples"):
        check_apply(gated, params | {"gate": jnp.ones(())}, X)


def test_other_functions_and_shapes_are_looked_at_again(params):
    check_apply(gated, params, X)
    assert not remembers(lambda params, x: gated(params, x), params, X)
    assert not remembers(gated, params, X[:, None])
    assert not remembers(gated, params, X.astype("float32"))


def test_a_network_that_mixes_is_not_remembered(params):
    opened = params | {"gate": jnp.ones(())}
    for _ in range(2):
        with pytest.raises(ValueError, match="mixes examples"):
            check_apply(gated, opened, X)


def test_arrays_that_may_change_are_not_remembered(params):
    changing = params | {"gate": np.zeros(())}
    check_apply(gated, changing, X)
    changing["gate"][...] = 1
    with pytest.raises(ValueError, match="mixes examples"):
        check_apply(gated, changing, X)


def test_values_are_looked_at_every_time(params):
    check_apply(gated, params, X)
    with pytest.raises(ValueError, match="NaN or infinite values"):
        check_apply(gated, params, X.at[3].set(jnp.nan))


def test_nothing_is_kept_alive():
    leaf = jax.random.normal(jax.random.key(0), (3, 1))

    def apply(w, x):
        return x @ w

    remember(apply, leaf, X)
    assert remembers(apply, leaf, X)
    watched = [weakref.ref(apply), weakref.ref(leaf)]
    del apply, leaf
    gc.collect()
    assert [w() for w in watched] == [None, None]
