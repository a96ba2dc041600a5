import pytest

from .problems import net


@pytest.fixture(scope="session")
def nets():
    """Networks of one output, from several seeds."""
    return [net(seed=seed) for seed in range(3)]


@pytest.fixture(scope="session")
def wide():
    """A network of two outputs, with the kernel between them."""
    return net(outputs=2)
