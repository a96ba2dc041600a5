import math
from typing import get_args

import jax
import jax.numpy as jnp
import pytest

from tangentlab import models
from tangentlab.models.activations import activation_function
from tests.helpers import assert_close

X = 0.7
TANH_GELU = 0.5 * X * (1 + math.tanh(math.sqrt(2 / math.pi) * (X + 0.044715 * X**3)))
KNOWN = {
    "relu": X,
    "gelu": TANH_GELU,
    "tanh": math.tanh(X),
    "erf": math.erf(X),
    "softplus": math.log1p(math.exp(X)),
    "sigmoid": 1 / (1 + math.exp(-X)),
}


@pytest.mark.parametrize("name", get_args(models.Activation))
def test_values_are_known(name):
    assert_close(activation_function(name)(jnp.float64(X)), KNOWN[name])


def test_relu_has_derivative_zero_at_zero():
    assert jax.grad(activation_function("relu"))(0.0) == 0


def test_unknown_name_lists_the_known_ones(no_type_checks):
    with pytest.raises(
        ValueError, match="Unknown activation 'swish'. Known: erf, gelu"
    ):
        models.mlp((4,), activation="swish")  # pyright: ignore[reportArgumentType]
