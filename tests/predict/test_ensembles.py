import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from tangentlab import infinite, predict
from tangentlab.predict import Blocks
from tests.helpers import assert_close

from .problems import case


def _blocks(seed, **options):
    p = case(n=5, m=3, seed=seed, **options)
    return Blocks(p.K, p.K_test, p.K_test_test), p.y


@pytest.mark.parametrize("ridge", [0.0, 0.4])
def test_it_is_the_formula_of_lee_et_al_at_any_time(ridge):
    ntk, y = _blocks(0)
    nngp, _ = _blocks(1)
    times = np.array([0.5, 8.0])
    found = predict.ensemble(ntk, nngp, y, times, ridge=ridge)
    for i, t in enumerate(times):
        K = ntk.train + ridge * np.eye(5)
        A = ntk.test_train @ np.linalg.solve(
            K, np.eye(5) - scipy.linalg.expm(-t * K / 5)
        )
        crossed = A @ nngp.test_train.T
        assert_close(found.mean[i], A @ y)
        dense = nngp.test + A @ nngp.train @ A.T - crossed - crossed.T
        assert_close(found.covariance[i], dense)


def test_it_describes_trained_networks_over_their_starts():
    ntk, y = _blocks(2)
    nngp, _ = _blocks(3)
    joint = np.block([[nngp.train, nngp.test_train.T], [nngp.test_train, nngp.test]])
    draws = 40_000
    f_0 = np.random.default_rng(0).multivariate_normal(np.zeros(8), joint, draws).T
    many = np.repeat(y[:, None], draws, axis=1)  # one column for each network
    trained = predict.gradient_flow(ntk.train, many, 4.0, f_0=f_0[:5])
    outputs = predict.evaluate(trained, ntk.test_train, f_0[5:])
    found = predict.ensemble(ntk, nngp, y, 4.0)
    error = np.sqrt(np.diag(found.covariance) / draws)
    assert (np.abs(outputs.mean(axis=1) - found.mean) < 4 * error).all()
    np.testing.assert_allclose(np.cov(outputs), found.covariance, atol=0.05)


def test_it_is_what_wide_networks_do_that_were_drawn_and_trained():
    layers = infinite.Dense(400, weight_std=1.5, bias_std=0.3), infinite.Erf()
    network = infinite.serial(*layers, infinite.Dense(1, weight_std=1.5))
    x = jax.random.normal(jax.random.key(0), (6, 2))
    y, t, draws = np.array([1.0, -1.0, 0.5, 0.0]), 6.0, 400
    kernels = network.kernel(x)
    ntk, nngp = (predict.split_kernel(K, 4) for K in (kernels.ntk, kernels.nngp))
    model = network.model((2,))

    @jax.jit
    @jax.vmap
    def drawn(key):
        params = model.init(key)
        J = jax.jacrev(model.apply)(params, x)
        J = jnp.concatenate([j.reshape(6, -1) for j in jax.tree.leaves(J)], axis=1)
        return model.apply(params, x)[:, 0], J @ J.T

    f_0, K = map(np.asarray, drawn(jax.random.split(jax.random.key(1), draws)))
    outputs = [
        predict.evaluate(
            predict.gradient_flow(K[:4, :4], y, t, f_0=f[:4]), K[4:, :4], f[4:]
        )
        for f, K in zip(f_0, K, strict=True)
    ]
    found = predict.ensemble(ntk, nngp, y, t)
    error = np.sqrt(np.diag(found.covariance) / draws)
    assert (np.abs(np.mean(outputs, axis=0) - found.mean) < 4 * error).all()
    spread = np.cov(np.transpose(outputs)) / found.covariance.max()
    np.testing.assert_allclose(
        spread, found.covariance / found.covariance.max(), atol=0.2
    )
    assert found.condition == pytest.approx(np.linalg.cond(ntk.train), rel=1e-6)
    start = np.diag(nngp.test)  # training has changed the spread
    assert (np.diag(found.covariance) < 0.7 * start).all()


def test_before_training_it_is_the_prior_and_with_one_kernel_it_ends_as_posterior():
    nngp, y = _blocks(4, outputs=2)
    found = predict.ensemble(nngp, nngp, y, [0.0, np.inf])
    assert_close(found.mean[0], np.zeros((3, 2)))
    assert_close(found.covariance[0], nngp.test)
    bayes = predict.gp_posterior(nngp.train, y, nngp.test_train, nngp.test)
    assert_close(found.mean[1], bayes.mean)
    assert_close(found.covariance[1], bayes.covariance)


def test_kernels_that_differ_do_not_end_as_posterior():
    ntk, y = _blocks(5)
    nngp, _ = _blocks(6)
    found = predict.ensemble(ntk, nngp, y, np.inf)
    bayes = predict.gp_posterior(ntk.train, y, ntk.test_train, ntk.test)
    assert_close(found.mean, bayes.mean)
    assert np.abs(found.covariance - bayes.covariance).max() > 0.1
    at_training = Blocks(ntk.train, ntk.train, ntk.train)
    prior = Blocks(nngp.train, nngp.train, nngp.train)
    fitted = predict.ensemble(at_training, prior, y, np.inf)
    assert_close(fitted.covariance, np.zeros((5, 5)))


def test_kernels_between_outputs():
    ntk, y = _blocks(7, outputs=2, full=True)
    nngp, _ = _blocks(8, outputs=2, full=True)
    found = predict.ensemble(ntk, nngp, y, 3.0)
    assert found.mean.shape == (3, 2) and found.covariance.shape == (3, 2, 3, 2)
    flow = predict.gradient_flow(ntk.train, y, 3.0)
    assert_close(found.mean, predict.evaluate(flow, ntk.test_train))
    K, k = ntk.train.reshape(10, 10), ntk.test_train.reshape(6, 10)
    A = k @ np.linalg.solve(K, np.eye(10) - scipy.linalg.expm(-3.0 * K / 5))
    crossed = A @ nngp.test_train.reshape(6, 10).T
    dense = nngp.test.reshape(6, 6) + A @ nngp.train.reshape(10, 10) @ A.T
    dense = dense - crossed - crossed.T
    assert_close(found.covariance.reshape(6, 6), dense)


def test_a_kernel_of_all_samples_is_cut():
    p = case(n=5, m=3)
    K = np.arange(64.0).reshape(8, 8)
    cut = predict.split_kernel(K, 5)
    assert (cut.train == K[:5, :5]).all() and (cut.test == K[5:, 5:]).all()
    assert (cut.test_train == K[5:, :5]).all()
    del p
    with pytest.raises(
        ValueError, match=r"`num_train` must be a whole number in 1..7, got 8"
    ):
        predict.split_kernel(K, 8)


def test_kernels_of_other_samples_raise():
    ntk, y = _blocks(0)
    for nngp, message in [
        (ntk._replace(test=None), "`nngp.test` is NoneType"),
        (ntk._replace(test_train=ntk.test_train[:2]), r"\(3,\) rows .* \(2,\) in"),
        (ntk._replace(test_train=np.ones((3, 4))), r"`nngp.test_train` must hold"),
        (ntk._replace(train=np.ones((4, 4))), r"`nngp.train` must be .* \(5, 5\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            predict.ensemble(ntk, nngp, y, 1.0)
    blind = ntk._replace(test_train=np.full((3, 5), np.nan))
    with pytest.raises(ValueError, match="`ntk.test_train` holds NaN"):
        predict.ensemble(blind, ntk, y, 1.0)
    with pytest.raises(ValueError, match="`nngp.test_train` holds NaN"):
        predict.ensemble(ntk, blind, y, 1.0)
