"""Made-up official files, and a web server that misbehaves on request."""

import shutil
import threading

import pytest

from tests.data import official
from tests.data.server import Handler, Server


@pytest.fixture(autouse=True)
def no_data_of_this_machine(request, tmp_path, monkeypatch):
    """Find nothing but what a test puts there, unless it asks for the real data."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    if "real_data" not in request.fixturenames:
        monkeypatch.delenv("TANGENTLAB_DATA", raising=False)


@pytest.fixture(scope="session")
def cifar_layouts(tmp_path_factory):
    """Folders by layout, each with the same made-up CIFAR-10 in that layout alone."""
    root = tmp_path_factory.mktemp("cifar")
    folders = {name: root / name for name in ("bin", "py", "bin-tar", "py-tar")}
    official.write_cifar_bin(folders["bin"] / "cifar-10-batches-bin")
    official.write_cifar_py(folders["py"] / "cifar-10-batches-py")
    for kind, inside, archive in (
        ("bin", "cifar-10-batches-bin", "cifar-10-binary.tar.gz"),
        ("py", "cifar-10-batches-py", "cifar-10-python.tar.gz"),
    ):
        folders[f"{kind}-tar"].mkdir()
        official.pack(folders[kind] / inside, folders[f"{kind}-tar"] / archive)
    yield folders
    shutil.rmtree(root)


@pytest.fixture
def server(monkeypatch):
    """A web server on the loopback interface."""
    monkeypatch.setenv("no_proxy", "*")
    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    thread.join()
    server.server_close()
