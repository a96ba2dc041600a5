"""A Gram matrix over eight host devices, beside that of one: run as a process."""

import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import tangentlab as tl
from tangentlab.kernels import active, energies, planning, preparing
from tangentlab.kernels.request import Request


def apply(params, x):
    """A convolution and two dense layers; one weight enters twice."""
    x = jax.lax.conv_general_dilated(
        x, params["kernel"], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    x = jnp.tanh(x).reshape(len(x), -1)
    return jnp.tanh(jnp.tanh(x @ params["w"]) @ params["w"]) @ params["v"]


def main():
    jax.config.update("jax_enable_x64", True)
    assert jax.device_count() == 8
    rng = np.random.default_rng(0)
    shapes = {"kernel": (3, 3, 1, 2), "w": (8, 8), "v": (8, 2)}
    params = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    x, other = rng.normal(size=(24, 4, 4, 1)), rng.normal(size=(7, 4, 4, 1))
    mesh = Mesh(np.array(jax.devices()), ("samples",))
    rows = NamedSharding(mesh, PartitionSpec("samples"))
    spread = jax.device_put(x, rows)
    for x_2 in (None, other):
        for memory in (None, 2**14):  # all columns at once, and a few
            K = tl.gram(apply, params, spread, x_2, memory=memory)
            assert K.sharding.is_equivalent_to(rows, 2), K.sharding
            wanted = tl.gram(apply, params, x, x_2)
            np.testing.assert_allclose(K, wanted, rtol=1e-12, atol=1e-12)
    K = np.asarray(tl.gram(apply, params, spread))
    np.testing.assert_array_equal(K, K.T)
    others_agree(params, x, spread)
    everywhere = jax.device_put(params, NamedSharding(mesh, PartitionSpec()))
    np.testing.assert_allclose(tl.gram(apply, everywhere, x), K, rtol=1e-12)
    captured_elsewhere(params, everywhere, x, K)
    many_targets_stream_by(params, x, [(params, spread), (everywhere, x)])
    x[13] = np.inf
    named_in_the_error(params, jax.device_put(x, rows))


def many_targets_stream_by(params, x, elsewhere):
    """Slabs of an accelerator are for what lies on one device, the default one."""
    there = jax.device_put(params, jax.devices()[1])
    targets, part = np.random.default_rng(1).normal(size=(len(x), 12)), [slice(0, 24)]

    def by_slabs(params, x, apply=apply):
        request = Request()
        return energies.energies_by_slabs(apply, params, x, targets, part, request)

    with pytest.MonkeyPatch.context() as patch:
        for module in (active, energies, planning, preparing):
            patch.setattr(module, "backend", lambda: "gpu")
        assert by_slabs(params, x) is not None
        for moved in (*elsewhere, (there, x)):
            assert by_slabs(*moved) is None
        linear = tl.linearize(apply, there)
        assert by_slabs(params, x, linear) is None


def captured_elsewhere(params, everywhere, x, K):
    """A linearization captures parameters, which may lie on another device."""
    here, there = (jax.device_put(params, device) for device in jax.devices()[:2])
    linear = tl.linearize(apply, here)
    for moved in (there, everywhere):
        np.testing.assert_allclose(tl.gram(linear, moved, x), K, rtol=1e-12)


def others_agree(params, x, spread):
    """Functions that do not follow the samples take them all the same."""
    for function in (tl.gram_full, tl.gram_diagonal, tl.gram_by_parameter):
        found, wanted = (function(apply, params, samples) for samples in (spread, x))
        jax.tree.map(partial(np.testing.assert_allclose, rtol=1e-12), found, wanted)
    products = [
        tl.kernel_product(apply, params, samples, None, np.ones((len(x), columns)))
        for samples in (spread, x)
        for columns in (1, 5)
    ]
    np.testing.assert_allclose(products[0], products[2], rtol=1e-10)
    np.testing.assert_allclose(products[1], products[3], rtol=1e-10)


def named_in_the_error(params, spread):
    """An example without a finite gradient is refused, whichever device has it."""
    try:
        tl.gram(apply, params, spread)
    except ValueError as error:
        assert "example 13 of `x_1`" in str(error), error
    else:
        raise AssertionError("NaN was returned")


if __name__ == "__main__":
    sys.exit(main())
