from typing import get_args

import jax
import pytest

from tangentlab import models
from tangentlab.models import registry


def test_names_are_those_of_the_registry():
    assert set(get_args(models.ModelName)) == set(registry.BUILDERS)


@pytest.mark.parametrize("name", registry.BUILDERS)
def test_options_reach_the_builder(name):
    model = models.build(name, (8, 8, 1), activation="tanh", num_outputs=7)
    params = jax.eval_shape(model.init, jax.random.key(0))
    x = jax.ShapeDtypeStruct((2, 8, 8, 1), "float32")
    assert jax.eval_shape(model.apply, params, x).shape == (2, 7)
    assert model.name == name
    assert "tanh" in str(jax.make_jaxpr(model.apply)(params, x))


def test_unknown_name_lists_the_known_ones(no_type_checks):
    with pytest.raises(ValueError, match="Unknown model 'vgg'. Known: lenet, mlp, res"):
        models.build("vgg")  # pyright: ignore[reportArgumentType]
