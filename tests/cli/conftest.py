"""An experiment that takes no time, on the command line."""

import pytest

from tangentlab import experiments
from tests.toy_experiment import EXPERIMENTS, Walk


@pytest.fixture
def toy(monkeypatch, tmp_path):
    """Offer the toy experiment beside the real ones, in an empty working folder."""
    known = {**experiments.EXPERIMENTS, **EXPERIMENTS}
    monkeypatch.setattr(experiments, "EXPERIMENTS", known)
    monkeypatch.setattr(experiments, "DEMO", Walk(seed=1))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TANGENTLAB_DEBUG", raising=False)
    return tmp_path
