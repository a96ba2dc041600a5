"""What a network computes decides whether it is looked at again, not its name."""

import gc
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab.models import check_apply, mixing, separate


@pytest.fixture
def looked(monkeypatch):
    """How often a network was looked at."""
    monkeypatch.setattr(separate, "_SEEN", type(separate._SEEN)())
    calls, whole = [], mixing.mixes

    def counted(*args):
        calls.append(len(args))  # and no arrays
        return whole(*args)

    monkeypatch.setattr("tangentlab.models.contract.mixes", counted)
    return calls


X = jnp.arange(12.0).reshape(4, 3)
W = jnp.ones((3, 1))


def test_a_network_is_looked_at_once_whatever_its_parameters(looked):
    def apply(w, x):
        return jnp.tanh(x @ w)

    for w in (W, 2 * W, np.zeros((3, 1))):
        check_apply(apply, w, X)
        check_apply(lambda w, x: apply(w, x), w, X + 1)
    assert len(looked) == 1
    check_apply(apply, W.astype("float32"), X.astype("float32"))
    check_apply(lambda w, x: jnp.sin(x @ w), W, X)
    assert len(looked) == 3


def test_another_tree_of_the_same_parameters_is_the_same_network(looked):
    check_apply(lambda w, x: jnp.tan(x @ w), W, X)
    check_apply(lambda p, x: jnp.tan(x @ p["w"]), {"w": W, "none": {}}, X)
    check_apply(lambda p, x: jnp.tan(x["images"] @ p[0]), (W,), {"images": X})
    assert len(looked) == 1


def test_a_network_that_mixes_is_refused_every_time(looked):
    for times in (1, 2):
        with pytest.raises(ValueError, match="mixes examples"):
            check_apply(lambda w, x: x @ w - x.mean(), W, X)
        assert len(looked) == times


def test_what_a_function_reads_may_change(looked):
    class Centered:
        mean: float | None = 0.0

        def apply(self, w, x):
            return x @ w - (x.mean() if self.mean is None else self.mean)

    network = Centered()
    check_apply(network.apply, W, X)
    network.mean = 1.0
    check_apply(network.apply, W, X)
    network.mean = None
    with pytest.raises(ValueError, match="mixes examples"):
        check_apply(network.apply, W, X)
    assert len(looked) == 3


GATES = {
    "float": (-5.0, 5.0, jax.nn.relu),
    "step": (0.1, 0.9, lambda gate: (gate > 0.5).astype(float)),
    "flag": (jnp.array(False), jnp.array(True), lambda gate: gate.astype(float)),
    "number": (jnp.array(0), jnp.array(2), lambda gate: gate.astype(float)),
}


@pytest.mark.parametrize("name", GATES)
def test_a_gate_that_opened_lets_nothing_through(looked, name):
    closed, opened, share = GATES[name]

    def apply(p, x):
        return (x + share(p["gate"]) * x.mean(axis=0, keepdims=True)) @ p["w"]

    check_apply(apply, {"gate": closed, "w": W}, X)
    with pytest.raises(ValueError, match="mixes examples"):
        check_apply(apply, {"gate": opened, "w": W}, X)
    assert len(looked) == 1


def test_arrays_of_networks_are_not_kept_alive(looked):
    def check(number):
        held = jnp.full((3, 1), float(number))
        check_apply(lambda w, x: x @ (w + held), W, X)
        return weakref.ref(held)

    held = [check(number) for number in range(3)]
    gc.collect()
    assert len(looked) == 3 and all(each() is None for each in held)


def test_values_are_looked_at_every_time(looked):
    check_apply(lambda w, x: jnp.cos(x @ w), W, X)
    with pytest.raises(ValueError, match="NaN or infinite values"):
        check_apply(lambda w, x: jnp.cos(x @ w), W, X.at[3].set(jnp.nan))
    assert len(looked) == 1


def test_what_calls_python_is_looked_at_every_time(looked):
    def apply(w, x):
        shape = jax.ShapeDtypeStruct(x.shape[:1], x.dtype)
        weight = jax.pure_callback(
            lambda a: np.ones(len(a), a.dtype), shape, jax.lax.stop_gradient(x)
        )
        return (x @ w) * weight[:, None]

    floats = jax.tree.map(lambda a: np.asarray(a, np.float32), (W, X))
    for times in (1, 2):
        check_apply(apply, *floats)
        assert len(looked) == times


@pytest.mark.parametrize("name", ["function", "print"])
def test_not_all_that_sounds_so_calls_python(looked, name):
    @jax.jit
    def callback_stats(x):
        if name == "print":
            jax.debug.print("{}", x.sum())
        return jnp.sinh(x)

    for times in (1.0, 2.0):
        check_apply(lambda w, x: callback_stats(x / 10) @ w, times * W, X)
    assert len(looked) == 1


def test_a_few_are_remembered(looked):
    for power in range(2, 2 + separate._MOST + 1):
        check_apply(lambda w, x, power=power: (x @ w) ** power, W, X / 10)
    assert len(separate._SEEN) == separate._MOST
    check_apply(lambda w, x: (x @ w) ** 2, W, X / 10)  # forgotten by now
    assert len(looked) == separate._MOST + 2
