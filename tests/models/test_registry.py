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


def test_only_a_resnet18_has_a_last_scale():
    model = models.build("resnet18", (8, 8, 3), last_scale=0.5)
    found = jax.tree_util.tree_leaves_with_path(model.init(jax.random.key(0)))
    scales = {jax.tree_util.keystr(at): leaf for at, leaf in found}
    last = {at: leaf for at, leaf in scales.items() if "norm_2']['scale" in at}
    assert len(last) == 8 and all((leaf == 0.5).all() for leaf in last.values())
    with pytest.raises(ValueError, match="of which lenet has none"):
        models.build("lenet", (8, 8, 3), last_scale=0.5)
