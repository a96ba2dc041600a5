"""Many small networks are compiled here, and each runs for a millisecond."""

import jax
import pytest


@pytest.fixture(autouse=True, scope="package")
def quick_compilation():
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
