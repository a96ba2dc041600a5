import subprocess
from datetime import datetime

import jax

import tangentlab
from tangentlab import store
from tangentlab.store import manifest as store_manifest
from tests.toy_experiment import CONFIGS, Walk


def test_the_manifest_says_where_a_run_came_from(tmp_path):
    with store.create(
        tmp_path, "walk", Walk(), command="tangentlab run walk"
    ) as folder:
        pass
    manifest = store.open_run(folder.final, CONFIGS).manifest
    assert manifest["tangentlab"] == tangentlab.__version__
    assert manifest["command"] == "tangentlab run walk"
    assert manifest["versions"]["jax"] == jax.__version__
    assert None not in manifest["versions"].values()
    assert manifest["backend"] == jax.default_backend()
    assert manifest["devices"] == [device.device_kind for device in jax.devices()]
    started, ended = (
        datetime.fromisoformat(manifest[key]) for key in ("started", "ended")
    )
    assert started <= ended
    assert started.utcoffset() is not None
    assert 0 <= manifest["wall_seconds"] < 60


def git(*arguments, cwd):
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=cwd, check=True)


def test_git_state_is_that_of_the_own_checkout(tmp_path):
    package = tmp_path / "src" / "tangentlab"
    package.mkdir(parents=True)
    assert store_manifest.git_state(package) is None
    (package / "code.py").write_text("1\n")
    git("init", "-q", cwd=tmp_path)
    git("add", ".", cwd=tmp_path)
    git("commit", "-qm", "first", cwd=tmp_path)
    clean = store_manifest.git_state(package)
    assert clean is not None
    assert len(clean["revision"]) == 40 and clean["dirty"] is False
    (package / "code.py").write_text("2\n")
    assert store_manifest.git_state(package) == {**clean, "dirty": True}
    installed = tmp_path / "venv" / "site-packages" / "tangentlab"
    installed.mkdir(parents=True)
    assert store_manifest.git_state(installed) is None
