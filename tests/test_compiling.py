"""Programs that ask XLA for no search."""

from functools import partial

import jax
import jax.numpy as jnp
import pytest

from tangentlab import _compiling
from tangentlab._compiling import compiled


@pytest.fixture
def on_accelerator(monkeypatch):
    """What an accelerator is asked for, asked for here."""
    _compiling._compiler_options.cache_clear()
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    yield
    _compiling._compiler_options.cache_clear()


def test_nothing_is_asked_of_a_cpu():
    """Where there are no such programs to search."""
    _compiling._compiler_options.cache_clear()
    assert _compiling._compiler_options() is None


def test_this_xla_knows_the_option(on_accelerator):
    """Or compiling would take a minute again, and nobody would be told."""
    fewer = {"xla_gpu_enable_triton_gemm": False}
    assert _compiling._compiler_options() == fewer
    none = {**fewer, "xla_gpu_autotune_level": 0}
    assert _compiling._compiler_options(runs_once=True) == none


def test_an_xla_without_the_option_is_not_asked(on_accelerator, monkeypatch):
    """Options of XLA come and go."""
    monkeypatch.setattr(_compiling, "_NO_SEARCH", {"xla_no_such_option": False})
    assert _compiling._compiler_options() is None
    assert compiled(jnp.negative)(2.0) == -2


@pytest.mark.parametrize("asked", [False, True])
def test_a_compiled_function_is_the_function(asked, request):
    """Name, values, static and donated arguments."""
    if asked:
        request.getfixturevalue("on_accelerator")

    @partial(compiled, static_argnames="power", donate_argnums=0)
    def raised(x, power):
        """Some power."""
        return x**power

    x = jnp.arange(3.0)
    assert raised(x, power=2).tolist() == [0, 1, 4]
    assert raised.__name__ == "raised" and raised.__doc__ == "Some power."
    assert x.is_deleted()


def test_it_can_be_a_part_of_another(on_accelerator):
    """XLA takes options for whole programs alone."""
    matmul, A, B = compiled(jnp.matmul), jnp.ones((2, 3)), jnp.ones((3, 4))
    assert jax.eval_shape(matmul, A, B).shape == (2, 4)
    assert jax.jit(lambda A: 2 * matmul(A, B))(A).tolist() == [[6.0] * 4] * 2
    assert jax.grad(lambda A: matmul(A, B).sum())(A).tolist() == [[4.0] * 3] * 2


def test_it_can_be_a_part_of_another_that_gives_it_known_values(on_accelerator):
    """Inside a trace, what captured a tracer needs no traced argument to be traced."""

    def scaled(s):
        return compiled(lambda A: s * A)(jnp.ones(2)).sum()

    assert jax.jit(scaled)(2.0) == 4
    assert jax.grad(scaled)(2.0) == 2
    assert jax.jit(jax.grad(scaled))(2.0) == 2
