"""Kernels against those that neural-tangents 0.6.5 computes, stored beside the tests.

`reference/make.py` made the files; see there. In float64 closed forms agree to 1e-10,
but where inputs coincide or nearly do: neural-tangents takes the root of a difference
of rounded products there, and is itself right to 1e-7 or so.
"""

import functools
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import infinite as inf

from . import networks
from .activations import cases

FOLDER = Path(__file__).parent / "reference"
ACTIVATIONS = dict(np.load(FOLDER / "activations.npz"))
KERNELS = dict(np.load(FOLDER / "networks.npz"))
COPY = (0, 3)  # the second set holds a copy of an input of the first
SLOW, LONG = {"myrtle5", "wide_resnet"}, pytest.mark.slow


def _after_two(layer, *more):
    conv, relu = networks.conv(), networks.relu
    layers = conv, relu, conv, relu, layer, *more, relu, networks.gap
    return networks.Case(lambda: inf.serial(*layers), (4, 5, 2))


LOCAL = inf.ConvLocal(6, (3, 2), padding="SAME", weight_std=1.2, bias_std=0.1)
NOT_IN_STAX = {"conv_dilated", "conv_local", "resize", "resize_nearest"}
EVEN = {  # see `stax_networks.py`
    "conv_local_even": _after_two(LOCAL),
    "resize_even": _after_two(inf.ImageResize((3, 7)), networks.conv()),
    "resize_nearest_even": _after_two(
        inf.ImageResize((6, 3), "nearest"), networks.conv()
    ),
}
NETWORKS = {k: v for k, v in networks.NETWORKS.items() if k not in NOT_IN_STAX} | EVEN


@functools.cache
def pairs(name):
    """`(k, kdot)` of an activation, with its gradients if other tests compile that."""
    if name in cases.EVERY:
        return lambda *q: cases.with_slopes(name)(*q)[0]
    return jax.jit(cases.NUMERICAL[name].dual.pair)


@pytest.mark.parametrize("name", sorted(set(cases.EVERY) - set(cases.FEW_TERMS)))
def test_activations(name):
    check_activation(name, rtol=1e-10)


@pytest.mark.parametrize("name", sorted(set(cases.NUMERICAL) - {"elu"}))
def test_activations_by_sums(name):
    """As near as grids of 100 x 100 points are; for elu, with its corner, too far."""
    check_activation(name, rtol=1e-6)


def check_activation(name, rtol):
    """Dense, activation, Dense, by hand."""
    x_1, x_2, weight, bias = ACTIVATIONS["x_1"], ACTIVATIONS["x_2"], 1.2, 0.3
    if name.startswith("hermite"):  # stax has them for unit variance alone
        x_1, x_2 = (
            2 * x / np.linalg.norm(x, axis=1, keepdims=True) for x in (x_1, x_2)
        )
        weight, bias = 1.0, 0.0
    x_1, x_2 = x_1[:, None], x_2[None]
    parts = [(a * b).mean(-1) for a, b in ((x_1, x_2), (x_1, x_1), (x_2, x_2))]
    q = [weight**2 * np.broadcast_to(part, (5, 4)) + bias**2 for part in parts]
    padded = (jnp.asarray(np.resize(part, 36)) for part in q)
    k, kdot = (np.asarray(v)[:20].reshape(5, 4) for v in pairs(name)(*padded))
    nngp = 0.9**2 * k + 0.1**2
    found = {"nngp": nngp, "ntk": nngp + 0.9**2 * kdot * q[0]}
    for kind, values in found.items():
        expected = ACTIVATIONS[f"{name}.{kind}"]
        if np.isfinite(expected[COPY]):
            np.testing.assert_allclose(values[COPY], expected[COPY], 1e-6)
        values[COPY] = expected[COPY]
        np.testing.assert_allclose(values, expected, rtol, equal_nan=True)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=LONG) if name in SLOW else name for name in NETWORKS],
)
def test_networks(name):
    """One call for both sets: of two different ones, and of the first with itself."""
    n, m = (2, 1) if name == "myrtle5" else (3, 2)
    drawn = name.removesuffix("_even")
    sets = [networks.examples(drawn, n, 0), networks.examples(drawn, m, 1)]
    if not NETWORKS[name].mask:
        np.testing.assert_allclose([x.x.sum() for x in sets], KERNELS[f"{name}.sums"])
    both = inf.Batch(*(_stacked(*parts) for parts in zip(*sets, strict=True)))
    for kind, values in NETWORKS[name].build().kernel(both)._asdict().items():
        np.testing.assert_allclose(
            values[:n, n:], KERNELS[f"{name}.{kind}"], rtol=1e-10
        )
        own = KERNELS[f"{name}.own.{kind}"]
        np.testing.assert_allclose(values[:n, :n], own, rtol=1e-6)


def _stacked(first, second) -> Any:
    return None if first is None else np.concatenate([first, second])


def test_every_activation_and_network_has_a_reference():
    def stored(arrays):
        return {key.split(".")[0] for key in arrays if key.endswith(".ntk")}

    named = set(cases.EVERY | cases.NUMERICAL) - set(cases.FEW_TERMS)
    assert stored(ACTIVATIONS) == named
    assert stored(KERNELS) == set(NETWORKS)
