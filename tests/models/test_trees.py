import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab.models.trees import (
    check_same_leaves,
    check_same_structure,
    is_differentiable,
    split_differentiable,
)


@pytest.mark.parametrize(
    "leaf, expected",
    [
        (1.0, True),
        (1, False),
        (True, False),
        (np.ones(2, np.float16), True),
        (jnp.ones(2, jnp.bfloat16), True),
        (jnp.ones(2, jnp.complex64), True),
        (jnp.arange(2), False),
        (jax.random.key(0), False),
        (jax.ShapeDtypeStruct((2,), jnp.float32), True),
    ],
)
def test_floats_and_complex_numbers_are_differentiable(leaf, expected):
    assert is_differentiable(leaf) is expected


def test_parts_combine_to_the_whole():
    tree = {"w": jnp.ones(2), "steps": [jnp.arange(3), 0.5]}
    floats, buffers = split_differentiable(tree)
    assert floats["steps"][0] is None and buffers["w"] is None
    assert eqx.tree_equal(eqx.combine(floats, buffers), tree)


def test_equal_trees_pass():
    check_same_leaves("a", {"w": jnp.ones(2)}, "b", {"w": np.zeros(2)})


def test_missing_and_surplus_leaves_are_named():
    with pytest.raises(
        ValueError, match=r"like `b`, but it lacks \['w'\] and adds \['v"
    ):
        check_same_structure("a", {"v": 1.0}, "b", {"w": 1.0})
    with pytest.raises(
        ValueError, match=r"`a` must be a pytree like `b`.*adds \['v'\]"
    ):
        check_same_structure("a", {"v": 1.0, "w": 1.0}, "b", {"w": 1.0})
    with pytest.raises(ValueError, match=r"lacks an array and adds \['v'\]"):
        check_same_structure("a", {"v": 1.0}, "b", 1.0)


def test_other_containers_are_named():
    with pytest.raises(
        ValueError, match=r"the containers PyTreeDef\(\(\*, \*\)\) inst"
    ):
        check_same_structure("a", (1.0, 2.0), "b", [1.0, 2.0])


def test_the_first_unequal_leaf_is_named():
    with pytest.raises(
        ValueError, match=r"`a\['w'\]` is float32\[2\], but.*float64\[2\]"
    ):
        check_same_leaves("a", {"w": jnp.ones(2, "float32")}, "b", {"w": jnp.ones(2)})
    with pytest.raises(
        ValueError, match=r"`a\[1\]` is float64\[3\].*`b\[1\]` is float"
    ):
        check_same_leaves("a", [1.0, jnp.ones(3)], "b", [1.0, jnp.ones((3, 1))])


def test_numpy_doubles_are_what_jax_makes_of_them():
    tree = {"w": np.ones(2)}
    with jax.enable_x64(False):
        check_same_leaves("a", tree, "b", {"w": jnp.ones(2)})
    check_same_leaves("a", tree, "b", {"w": jnp.ones(2)})
