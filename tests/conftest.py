"""Strict numerics for every test; entry points, not the library, configure JAX."""

import itertools
import os
from pathlib import Path

import jax
import jaxtyping
import pytest

from tests.browser import open_browser, require_browser

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")


@pytest.fixture
def getkey():
    """Return a function that gives a new random key at each call."""
    seeds = itertools.count()
    return lambda: jax.random.key(next(seeds))


@pytest.fixture
def no_type_checks():
    """Show the messages users see: annotations are only enforced under test."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder with the official CIFAR-10 and MNIST files; skips where there is none."""
    folder = os.environ.get("TANGENTLAB_DATA")
    if not folder:
        pytest.skip("TANGENTLAB_DATA is not set: no real CIFAR-10 and MNIST to test on")
    wanted = [Path(folder) / "cifar-10-batches-bin", Path(folder) / "MNIST" / "raw"]
    missing = [str(path) for path in wanted if not path.is_dir()]
    if missing:
        pytest.skip(
            f"TANGENTLAB_DATA is set, but there is no {' and no '.join(missing)}"
        )
    return Path(folder)


@pytest.fixture(scope="module", params=["light", "dark"])
def browser(request, tmp_path_factory):
    """Headless Chromium, on a light screen and on a dark one."""
    require_browser()
    folder = tmp_path_factory.mktemp("browser")
    with open_browser(folder, dark=request.param == "dark") as session:
        yield session
