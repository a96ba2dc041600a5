"""Random keys, new style and old."""

import jax
import numpy as np
import pytest

from tangentlab._keys import as_key, as_keys

KEY = jax.random.key(0)


def test_an_old_key_is_the_same_key():
    assert as_key(jax.random.PRNGKey(3)) == as_key(jax.random.key(3))
    old = jax.numpy.stack([jax.random.PRNGKey(0), jax.random.PRNGKey(1)])
    assert (as_keys(old) == jax.vmap(jax.random.key)(np.arange(2))).all()


@pytest.mark.parametrize(
    ("key", "got"),
    [
        (0, "got int"),
        (jax.random.split(KEY), r"got key<fry> of shape \(2,\)"),
        (np.zeros(2, np.uint32), "got ndarray"),
    ],
)
def test_something_else_than_a_key_is_refused(key, got, no_type_checks):
    with pytest.raises(ValueError, match=f"must be one random key, {got}.*random.key"):
        as_key(key)
