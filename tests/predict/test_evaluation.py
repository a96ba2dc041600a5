import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab import predict
from tests.helpers import assert_close
from tests.networks import dense_apply

from .problems import case


@pytest.mark.parametrize("times", [(), (2,), (2, 3)], ids=str)
@pytest.mark.parametrize(
    ("outputs", "full"), [(None, False), (2, False), (2, True)], ids=str
)
def test_axes_of_times_come_before_those_of_samples_and_outputs(times, outputs, full):
    p = case(outputs=outputs, full=full)
    t = np.linspace(0.5, 9.0, max(1, int(np.prod(times)))).reshape(times)
    found = predict.gradient_flow(p.K, p.y, t, f_0=p.f_0)
    made = predict.evaluate(found, p.K_test, p.f_0_test)
    assert made.shape == (*times, *p.f_0_test.shape)
    pattern = "iajb,jb->ia" if full else "ij,j...->i..."
    for at in np.ndindex(*times):
        one = predict.gradient_flow(p.K, p.y, float(t[at]), f_0=p.f_0)
        assert_close(found.coefficients[at], one.coefficients)
        expected = p.f_0_test + np.einsum(pattern, p.K_test, one.coefficients)
        assert_close(made[at], expected)


def test_kernels_on_disk_and_products_give_the_same(nets, tmp_path):
    net = nets[0]
    found = predict.gradient_flow(net.K, net.y, [1.0, 9.0], f_0=net.f_0)
    exact = predict.evaluate(found, net.K_test, net.f_0_test)
    args = dense_apply, net.params, net.x_test, net.x
    stored = tl.gram(*args, store=tmp_path / "K")
    assert isinstance(stored, tl.TiledGram)
    assert_close(predict.evaluate(found, stored, net.f_0_test), exact)

    def product(V):
        return tl.kernel_product(*args, V)

    assert_close(predict.evaluate(found, product, net.f_0_test), exact)


def test_products_with_a_kernel_between_outputs(wide):
    found = predict.gradient_flow(wide.K, wide.y, [1.0, 9.0, np.inf], f_0=wide.f_0)
    exact = predict.evaluate(found, wide.K_test, wide.f_0_test)

    def product(V):
        args = dense_apply, wide.params, wide.x_test, wide.x
        return tl.kernel_product(*args, V, outputs="full")

    assert exact.shape == (3, 4, 2)
    assert_close(predict.evaluate(found, product, wide.f_0_test), exact)


def test_a_start_on_one_side_alone_raises():
    p = case()
    plain = predict.ridgeless(p.K, p.y)
    started = predict.ridgeless(p.K, p.y, f_0=p.f_0)
    with pytest.raises(ValueError, match="computed with `f_0`, but is .* without it"):
        predict.evaluate(started, p.K_test)
    with pytest.raises(ValueError, match="computed without `f_0`, but is .* with it"):
        predict.evaluate(plain, p.K_test, p.f_0_test)


@pytest.mark.parametrize(
    ("K_test", "message"),
    [
        (np.ones((5, 7)), r"\(m, 8\), got shape \(5, 7\): pass `tl.gram\("),
        (np.ones((5, 2, 8, 2)), r"\(m, 8\), got shape \(5, 2, 8, 2\)"),
        (lambda V: jnp.ones(3), r"must return \(m, k\) .* got shape \(3,\)"),
        (lambda V: np.full((5, 1), np.nan), "`K_test` holds NaN"),
        (np.full((5, 8), np.nan), "`K_test` holds NaN .* look for NaN in the kernel"),
    ],
)
def test_a_kernel_of_other_samples_raises(K_test, message, no_type_checks):
    p = case()
    with pytest.raises(ValueError, match=message):
        predict.evaluate(predict.ridgeless(p.K, p.y), K_test)


def test_a_start_of_another_shape_raises(no_type_checks):
    p = case()
    found = predict.ridgeless(p.K, p.y, f_0=p.f_0)
    with pytest.raises(ValueError, match=r"`f_0` must be shaped like .* \(5,\)"):
        predict.evaluate(found, p.K_test, p.f_0)


def test_values_have_to_be_known(no_type_checks):
    solution = tl.predict.ridgeless(np.eye(2), np.array([1.0, 3.0]))
    kernels = [lambda K: K, lambda K: lambda V: K @ V]
    for made in kernels:
        evaluate = lambda K, made=made: tl.predict.evaluate(solution, made(K))  # noqa: E731
        with pytest.raises(TypeError, match="cannot be traced: call them outside"):
            jax.jit(evaluate)(np.eye(2))
