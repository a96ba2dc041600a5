"""A plan of toy runs instead of the real one."""

import pytest

from tests.claims.toy import use_plan


@pytest.fixture
def plan(monkeypatch):
    """A function that makes runs the whole plan."""
    return lambda *runs, **options: use_plan(monkeypatch, *runs, **options)
