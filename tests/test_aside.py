import fcntl

import pytest

from tangentlab._aside import remove_leftovers, write_aside, write_once


def _names(folder):
    return {path.name for path in folder.iterdir()}


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "file"
    write_aside(path, b"old")
    write_aside(path, b"new ", memoryview(b"parts"))
    assert path.read_bytes() == b"new parts"
    assert _names(tmp_path) == {"file"}


def test_a_write_that_fails_changes_nothing(tmp_path, no_type_checks):
    path = tmp_path / "file"
    write_aside(path, b"old")
    with pytest.raises(TypeError):
        write_aside(path, b"half", "not bytes")  # pyright: ignore
    assert path.read_bytes() == b"old"
    assert _names(tmp_path) == {"file"}


def test_of_two_that_write_once_the_first_wins(tmp_path):
    path = tmp_path / "file"
    write_once(path, b"first")
    write_once(path, b"second")
    assert path.read_bytes() == b"first"
    assert _names(tmp_path) == {"file"}


def test_leftovers_go_but_what_somebody_writes_stays(tmp_path):
    dead, alive = tmp_path / ".a.1.partial", tmp_path / ".b.2.partial"
    dead.write_bytes(b"half")
    (tmp_path / "file").write_bytes(b"whole")
    with alive.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        remove_leftovers(tmp_path)
        assert _names(tmp_path) == {alive.name, "file"}
    remove_leftovers(tmp_path)
    assert _names(tmp_path) == {"file"}
