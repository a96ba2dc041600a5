import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import models
from tangentlab.models import linearize, taylor_expand
from tests.helpers import assert_close

from .draws import normal, normal_like, random_params

NETWORKS = {
    "mlp": lambda: models.mlp((8, 8, 2), widths=(6, 5), num_outputs=2),
    "lenet": lambda: models.lenet((8, 8, 2), widths=(2, 3, 5, 4), activation="gelu"),
    "resnet18": lambda: models.resnet18((8, 8, 2), width=2),
}


def move(params, direction, step):
    return jax.tree.map(lambda p, d: p + step * d, params, direction)


def cubic(params, x):
    """Total degree 3 in the parameters."""
    return params["a"] * x * params["b"] ** 2 + params["a"]


def expansion_problem(name):
    """A network, parameters, another direction and a batch."""
    model = NETWORKS[name]()
    params = random_params(model)
    return model.apply, params, normal_like(params, seed=3), normal((3, 8, 8, 2))


@pytest.mark.parametrize("name", NETWORKS)
def test_linearization_is_affine_in_the_parameters(name):
    apply, params_0, direction, x = expansion_problem(name)
    along = jax.jit(
        lambda step: linearize(apply, params_0)(move(params_0, direction, step), x)
    )
    at = [along(step) for step in (-1.0, 0.5, 2.0)]  # equally spaced
    second_difference = at[0] - 2 * at[1] + at[2]
    assert np.abs(at[2] - at[0]).max() > 1e-3
    scale = np.abs(jnp.stack(at)).max()
    np.testing.assert_allclose(second_difference, 0, atol=1e-10 * scale)


@pytest.mark.parametrize("name", ["mlp", "lenet"])
def test_linearization_is_tangent_at_its_origin(name):
    apply, params_0, _, x = expansion_problem(name)
    linear = linearize(apply, params_0)

    def value_and_gradient(function):
        loss = jax.value_and_grad(lambda p: jnp.sum(jnp.sin(function(p, x))))
        return jax.jit(loss)(params_0)

    (value, gradient), (expected_value, expected_gradient) = map(
        value_and_gradient, (linear, apply)
    )
    assert_close(value, expected_value)
    jax.tree.map(assert_close, gradient, expected_gradient)


def test_error_falls_with_the_square_of_the_distance():
    model = models.mlp((4,), widths=(5,), activation="tanh")
    params_0, x = random_params(model), normal((3, 4))
    direction, linear = normal_like(params_0, seed=3), linearize(model.apply, params_0)

    def error(step):
        params = move(params_0, direction, step)
        return jnp.linalg.norm(model.apply(params, x) - linear(params, x))

    assert abs(error(1e-3) / error(5e-4) - 4) < 0.02


def test_centered_linearization_leaves_out_the_output_at_the_origin():
    model = models.mlp((4,), widths=(5,))
    params_0, x = random_params(model), normal((3, 4))
    params = move(params_0, normal_like(params_0), 1.0)
    centered = linearize(model.apply, params_0, centered=True)
    assert np.all(centered(params_0, x) == 0)
    expected = linearize(model.apply, params_0)(params, x) - model.apply(params_0, x)
    assert_close(centered(params, x), expected)


def test_models_linear_in_their_parameters_are_their_own_linearization():
    def features(params, x):
        return jnp.sin(x) @ params["w"] + params["b"][None]

    params_0 = {"w": normal((3, 2)), "b": normal((2,))}
    params, x = normal_like(params_0, seed=1), normal((5, 3))
    expected = features(params, x)
    np.testing.assert_allclose(
        linearize(features, params_0)(params, x), expected, rtol=1e-12
    )


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4])
def test_expansion_matches_the_derivatives_along_the_line(degree):
    params_0, params = {"a": 0.7, "b": -0.4}, {"a": 1.9, "b": 0.8}
    x = normal((4, 1))
    direction = jax.tree.map(lambda p, p_0: p - p_0, params, params_0)
    term = lambda step: cubic(move(params_0, direction, step), x)  # noqa: E731
    expected, factor = 0, 1.0
    for k in range(degree + 1):
        expected = expected + factor * term(0.0)
        term, factor = jax.jacfwd(term), factor / (k + 1)
    assert_close(taylor_expand(cubic, params_0, degree)(params, x), expected)


@pytest.mark.parametrize("degree", [3, 4])
def test_expansion_of_a_polynomial_of_that_degree_is_exact(degree):
    params_0, params = {"a": 0.7, "b": -0.4}, {"a": 1.9, "b": 0.8}
    x = normal((4, 1))
    expanded = taylor_expand(cubic, params_0, degree)(params, x)
    np.testing.assert_allclose(expanded, cubic(params, x), rtol=1e-12)
    lower = taylor_expand(cubic, params_0, 2)(params, x)
    assert np.abs(lower - cubic(params, x)).max() > 1e-2


def test_expansion_of_degree_zero_is_constant_and_of_degree_one_linear():
    model = models.mlp((4,), widths=(5,))
    params_0, x = random_params(model), normal((3, 4))
    params = move(params_0, normal_like(params_0), 1.0)
    constant = taylor_expand(model.apply, params_0, 0)
    assert np.array_equal(constant(params, x), model.apply(params_0, x))
    first = taylor_expand(model.apply, params_0, 1)(params, x)
    assert np.array_equal(first, linearize(model.apply, params_0)(params, x))


def scaled_lookup(params, x):
    """A network with buffers: which rows to read, whether to flip, a random key."""
    rows = params["w"][params["order"]]
    noise = jax.random.normal(params["key"], rows.shape)
    sign = jnp.where(params["flip"], -1.0, 1.0)
    half = params["half"].astype(rows.dtype)
    return sign * (x @ jnp.tanh(rows + 0.1 * noise)) * half


BUFFERED = {
    "w": normal((3, 2)),
    "half": jnp.float32(0.5),
    "order": jnp.array([2, 0, 1]),
    "flip": jnp.array(True),
    "key": jax.random.key(4),
}


@pytest.mark.parametrize("expand", [linearize, lambda f, p: taylor_expand(f, p, 2)])
def test_buffers_stay_as_they_were_and_dtypes_may_be_mixed(expand):
    x, expanded = normal((4, 3)), expand(scaled_lookup, BUFFERED)
    assert_close(expanded(BUFFERED, x), scaled_lookup(BUFFERED, x))
    others = {"order": jnp.array([0, 0, 0]), "flip": jnp.array(False)}
    moved = {**BUFFERED, "w": normal((3, 2), seed=1), "half": jnp.float32(0.7)}
    expected = expanded(moved, x)
    assert np.array_equal(expanded({**moved, **others}, x), expected)
    assert np.any(expected != expanded(BUFFERED, x))


def test_buffered_network_is_linearized_in_its_floats():
    x = normal((4, 3))
    change = {"w": normal((3, 2), seed=1), "half": jnp.float32(0.25)}
    moved = {**BUFFERED, **{k: BUFFERED[k] + change[k] for k in change}}
    floats = {k: BUFFERED[k] for k in change}
    _, expected = jax.jvp(
        lambda p: scaled_lookup({**BUFFERED, **p}, x), (floats,), (change,)
    )
    centered = linearize(scaled_lookup, BUFFERED, centered=True)
    assert_close(centered(moved, x), expected)


def test_transformations_pass_through():
    model = models.mlp((4,), widths=(5,), activation="tanh")
    params_0, x = random_params(model), normal((3, 4))
    direction, linear = normal_like(params_0), linearize(model.apply, params_0)
    steps = jnp.array([0.0, 0.5, 1.0])
    many = jax.vmap(lambda step: move(params_0, direction, step))(steps)
    batched = jax.jit(jax.vmap(linear, in_axes=(0, None)))(many, x)
    for step, outputs in zip(steps, batched, strict=True):
        assert_close(outputs, linear(move(params_0, direction, step), x))
    gradient = jax.grad(lambda step: linear(move(params_0, direction, step), x).sum())
    assert_close(gradient(0.0), batched[2].sum() - batched[0].sum())
    assert_close(gradient(0.3), gradient(0.0))

    @jax.jit
    def made_inside(params_0, params):
        return linearize(model.apply, params_0)(params, x)

    params = move(params_0, direction, 1.0)
    assert_close(made_inside(params_0, params), linear(params, x))


def test_numpy_parameters_are_accepted():
    model = models.mlp((4,), widths=(5,))
    params_0, x = random_params(model), np.asarray(normal((3, 4)))
    plain = jax.tree.map(np.asarray, params_0)
    assert_close(linearize(model.apply, plain)(plain, x), model.apply(params_0, x))


def test_linearization_keeps_the_contract():
    model = models.mlp((4,), widths=(5,))
    params = random_params(model)
    models.check_apply(linearize(model.apply, params), params, normal((3, 4)))


@pytest.mark.parametrize("degree", [-1, 1.5, True])
def test_impossible_degrees_are_refused(degree, no_type_checks):
    with pytest.raises(ValueError, match=f"must be an integer >= 0, got {degree}"):
        taylor_expand(cubic, {"a": 1.0, "b": 1.0}, degree)


def test_parameters_of_another_network_are_refused():
    linear = linearize(cubic, {"a": 1.0, "b": jnp.ones(1)})
    x = normal((4, 1))
    with pytest.raises(ValueError, match=r"`params` must be.*but it lacks \['b'\]"):
        linear({"a": 1.0}, x)
    with pytest.raises(
        ValueError, match=r"`params\['b'\]` is float64\[2\], but `params_0"
    ):
        linear({"a": 1.0, "b": jnp.ones(2)}, x)
    with pytest.raises(ValueError, match=r"is float32\[1\].*cast one to the other"):
        linear({"a": 1.0, "b": jnp.ones(1, jnp.float32)}, x)


def test_a_model_in_place_of_its_apply_is_refused(no_type_checks):
    model = models.mlp((3,))
    for expand in (linearize, lambda f, p: taylor_expand(f, p, 2)):
        with pytest.raises(TypeError, match="got Model: pass its `.apply`"):
            expand(model, {"w": 1.0})  # pyright: ignore[reportArgumentType]
