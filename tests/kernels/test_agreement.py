"""All implementations of a kernel agree with dense Jacobians, network by network.

One network alone: `pytest tests/kernels/test_agreement.py -m "" -k conv_dilated`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tests.helpers import is_real

from .cases import Case, as_type, promotion
from .oracle import (
    BFLOAT16,
    DOUBLE,
    SINGLE,
    assert_agrees,
    between,
    leaf_kernels,
    mean_over_outputs,
    multipliers,
)
from .table import CASES, FEW, QUICK, SMOOTH


@pytest.fixture(autouse=True, scope="module")
def quick_compilation():
    """Hundreds of networks are compiled, and each runs for a millisecond."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
    jax.clear_caches()


class Implementation(NamedTuple):
    """A kernel function: how it is called, and what it should return.

    Attributes:
        compute: From a case and the other samples, or None for `x` again.
        expect: From the kernels `(n, c, m, c)` of the single real-valued leaves.
    """

    compute: Callable[[Case, Any], Any]
    expect: Callable[[list[np.ndarray]], Any]


def gram(case, x_2):
    options = {"trainable": case.trainable, "scale": case.scale}
    return tl.gram(case.apply, case.params, case.x, x_2, **options)


def gram_under_jit(case, x_2):
    def compiled(params, x, x_2):
        return gram(case._replace(params=params, x=x), x_2)

    return jax.jit(compiled)(case.params, case.x, x_2)


def gram_full(case, x_2):
    options = {"trainable": case.trainable, "scale": case.scale}
    return tl.gram_full(case.apply, case.params, case.x, x_2, **options)


def gram_by_parameter(case, x_2):
    inputs = case.apply, case.params, case.x, x_2
    grams = tl.gram_by_parameter(*inputs, scale=multipliers(case))
    pairs = zip(jax.tree.leaves(case.params), jax.tree.leaves(grams), strict=True)
    return [K for leaf, K in pairs if is_real(leaf)]


def gram_diagonal(case, _):
    options = {"trainable": case.trainable, "scale": case.scale}
    return tl.gram_diagonal(case.apply, case.params, case.x, **options)


def sum_of_means(leaves):
    return sum(map(mean_over_outputs, leaves))


GRAM = Implementation(gram, sum_of_means)
UNDER_JIT = Implementation(gram_under_jit, sum_of_means)
FULL = Implementation(gram_full, sum)
BY_PARAMETER = Implementation(
    gram_by_parameter, lambda leaves: list(map(mean_over_outputs, leaves))
)
DIAGONAL = Implementation(
    gram_diagonal, lambda leaves: np.diagonal(sum_of_means(leaves))
)


def check(name, implementation, *, across=False, single=False):
    """Compare an implementation with the oracle on one network; return what it says."""
    case = CASES[name]()
    resolution = BFLOAT16 if "bfloat16" in case.tags else SINGLE if single else DOUBLE
    if single:
        samples = as_type({"x": case.x, "x_2": case.x_2}, jnp.float32)
        case = case._replace(params=as_type(case.params, jnp.float32), **samples)
    with promotion("relaxed" in case.tags):
        found = implementation.compute(case, case.x_2 if across else None)
    leaves = [between(kernel, across) for kernel in leaf_kernels(name)]
    assert_agrees(found, implementation.expect(leaves), resolution)
    return found


def for_each(names, quick):
    """Run a test for every network, as a slow one where it is not among the quick."""
    marks = {True: [], False: [pytest.mark.slow]}
    rows = [pytest.param(name, marks=marks[name in quick]) for name in names]
    return pytest.mark.parametrize("name", rows)


@for_each(CASES, quick=QUICK)
def test_table_describes_the_network(name):
    case, kernels = CASES[name](), leaf_kernels(name)
    n, m = (len(jax.tree.leaves(x)[0]) for x in (case.x, case.x_2))
    shape = n, case.num_outputs, n + m, case.num_outputs
    assert {kernel.shape for kernel in kernels} == {shape}
    assert ("zero" in case.tags) == all(np.all(kernel == 0) for kernel in kernels)
    leaves = [leaf for leaf in jax.tree.leaves((case.params, case.x)) if is_real(leaf)]
    assert all(jnp.asarray(leaf).dtype == jnp.float64 for leaf in leaves)


@for_each(CASES, quick=QUICK)
def test_gram(name):
    K = check(name, GRAM)
    np.testing.assert_array_equal(K, K.T)
    check(name, GRAM, across=True)


@for_each(SMOOTH, quick=FEW)
def test_gram_in_single_precision(name):
    K = check(name, GRAM, single=True)
    assert K.dtype == jnp.float32
    np.testing.assert_array_equal(K, K.T)


@for_each(CASES, quick=FEW)
def test_gram_under_jit(name):
    check(name, UNDER_JIT, across=True)


@for_each(CASES, quick=FEW)
def test_gram_full(name):
    K = check(name, FULL)
    square = np.asarray(K).reshape(K.shape[0] * K.shape[1], -1)
    np.testing.assert_array_equal(square, square.T)
    check(name, FULL, across=True)


@for_each(CASES, quick=FEW)
def test_gram_by_parameter(name):
    check(name, BY_PARAMETER)
    check(name, BY_PARAMETER, across=True)


@for_each(CASES, quick=FEW)
def test_gram_diagonal(name):
    check(name, DIAGONAL)


def test_every_quick_network_is_in_the_table():
    assert CASES.keys() >= set(QUICK) >= set(FEW)
    assert len(set(QUICK)) == len(QUICK)


def test_a_wrong_entry_is_noticed():
    K = np.array([[2.0, 1.0], [1.0, 3.0]])
    assert_agrees(K + 2e-10, K, DOUBLE)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        assert_agrees(K + np.array([[0, 0], [4e-10, 0]]), K, DOUBLE)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        assert_agrees([K, 0 * K + 4e-10], [K, 0 * K], DOUBLE)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        assert_agrees(0 * K + 2e-10, 0 * K, DOUBLE)
