"""Each hash knows its own part of a computation."""

import os
import pty
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab.kernels.network import read
from tangentlab.kernels.request import Request
from tangentlab.kernels.tiled.fingerprint import fingerprint
from tests.networks import dense_apply, dense_params

PARAMS = dense_params(jax.random.key(0), (3, 5, 2))
X = np.random.default_rng(0).normal(size=(6, 3))


def _hashes(apply=dense_apply, params=PARAMS, x_1=X, x_2=None, **options):
    network = read(apply, params, x_1, Request(**options))
    return fingerprint(network, [x_1], None if x_2 is None else [x_2])


def _changed(**changes):
    before, after = _hashes(), _hashes(**changes)
    return {name for name in before if before[name] != after[name]}


def test_the_same_is_the_same():
    copies = jax.tree.map(jnp.array, PARAMS)
    assert not _changed(
        params=copies, x_1=X.copy(), apply=lambda p, x: dense_apply(p, x)
    )


@pytest.mark.parametrize(
    "changes, parts",
    [
        ({"params": jax.tree.map(lambda p: p.at[0].add(1e-15), PARAMS)}, {"params"}),
        ({"x_1": X + 1e-15 * (X == X[3])}, {"x_1"}),
        ({"x_1": X[:5]}, {"x_1"}),
        ({"x_2": X}, {"x_2"}),
        ({"scale": 2.0}, {"scale"}),
        ({"scale": [1.0, 2.0]}, {"scale"}),
        ({"trainable": [True, False]}, {"trainable", "scale", "network"}),
        ({"outputs": "sum"}, {"network"}),
        ({"outputs": 1}, {"network"}),
        ({"apply": lambda p, x: 2 * dense_apply(p, x)}, {"network"}),
        ({"apply": lambda p, x: dense_apply(p, x) + 1e-300}, {"network"}),
    ],
)
def test_a_change_shows_where_it_is(changes, parts):
    assert _changed(**changes) == parts


def _with_derivative(slope):
    @jax.custom_jvp
    def bend(x):
        return x

    @bend.defjvp
    def _(primals, tangents):
        return bend(primals[0]), slope * tangents[0]

    return lambda p, x: bend(dense_apply(p, x))


def test_another_derivative_of_the_same_function_is_another_network():
    hashes = [_hashes(apply=_with_derivative(slope)) for slope in (1.0, 1.0, 2.0)]
    assert hashes[0] == hashes[1]
    assert hashes[0]["network"] != hashes[2]["network"]


def test_arrays_that_a_network_closes_over_count():
    wide = np.ones((3, 3)) * np.arange(1.0, 4.0)

    def closing_over(matrix):
        return lambda p, x: dense_apply(p, x @ matrix)

    def in_a_loop(matrix):  # too long to be unrolled
        def repeat(x):
            return jax.lax.scan(lambda x, _: (x @ matrix, None), x, None, length=99)[0]

        return lambda p, x: dense_apply(p, repeat(x))

    for make in (closing_over, in_a_loop):
        first, same, other = (
            _hashes(apply=make(m))
            for m in (wide, wide.copy(), wide + 1e-15 * np.eye(3))
        )
        assert first == same
        assert first["network"] != other["network"]


def test_keys_among_the_parameters_count():
    def apply(params, x):
        noise = jax.random.normal(params["key"], (3,))
        return dense_apply(params["net"], x + noise[None])

    first, same, other = (
        _hashes(apply=apply, params={"net": PARAMS, "key": jax.random.key(seed)})
        for seed in (0, 0, 1)
    )
    assert first == same
    assert first["params"] != other["params"]


_PRINT_HASH = """
import sys, jax, jax.numpy as jnp
from tangentlab._hashing import hash_traced
network = lambda x: jax.lax.cond(x.sum() > 0, jax.nn.gelu, jax.jit(jnp.sin), x)
with open(sys.argv[1], "w") as file:
    file.write(hash_traced(jax.make_jaxpr(network)(jnp.ones((4, 3)))))
    file.write(str(sys.stdout.isatty()))
"""


def test_a_terminal_changes_nothing(tmp_path):
    """Where JAX colors what it prints of a function."""
    command = [sys.executable, "-c", _PRINT_HASH]
    subprocess.run([*command, tmp_path / "piped"], check=True, stdout=subprocess.PIPE)
    ours, theirs = pty.openpty()
    try:
        subprocess.run([*command, tmp_path / "seen"], check=True, stdout=theirs)
    finally:
        os.close(ours)
        os.close(theirs)
    piped, seen = (
        (tmp_path / name).read_text().removesuffix(tty)
        for name, tty in (("piped", "False"), ("seen", "True"))
    )
    assert len(piped) == len(seen) and piped == seen
