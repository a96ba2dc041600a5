import sys
from pathlib import Path

import pytest

from tangentlab.data import cache_directory
from tangentlab.data.places import search_places


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("platform", "inside"),
    [
        ("linux", ".cache"),
        ("darwin", "Library/Caches"),
        ("win32", "AppData/Local"),
    ],
)
def test_cache_follows_the_platform(home, monkeypatch, platform, inside):
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_directory() == home / inside / "tangentlab" / "data"


def test_windows_says_where_its_local_data_are(home, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(home / "elsewhere"))
    assert cache_directory() == home / "elsewhere" / "tangentlab" / "data"


def test_xdg_cache_home_wins_if_absolute(home, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "xdg"))
    assert cache_directory() == home / "xdg" / "tangentlab" / "data"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_directory().is_relative_to(home)


def test_places_in_order(tmp_path, monkeypatch):
    monkeypatch.setenv("TANGENTLAB_DATA", str(tmp_path / "variable"))
    paths = [place.path for place in search_places(tmp_path / "explicit")]
    assert paths == [tmp_path / "explicit", tmp_path / "variable", cache_directory()]


def test_empty_variable_is_no_place(monkeypatch):
    monkeypatch.setenv("TANGENTLAB_DATA", "")
    assert [place.path for place in search_places()] == [cache_directory()]


def test_tilde_means_home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("TANGENTLAB_DATA", "~/data")
    places = search_places("~/mine")
    assert [place.path for place in places[:2]] == [
        tmp_path / "mine",
        tmp_path / "data",
    ]
