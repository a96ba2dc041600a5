import hashlib
import socket
import time

import pytest

from tangentlab.data.catalog import RemoteFile
from tangentlab.data.transfer import download
from tests.data.server import CONTENT

MD5 = hashlib.md5(CONTENT).hexdigest()
ZEROS_MD5 = hashlib.md5(bytes(len(CONTENT))).hexdigest()
SIZE = len(CONTENT)


def remote(*urls, md5=MD5):
    return RemoteFile("below/file.gz", urls=urls, md5=md5, size=SIZE)


def quiet_download(file, folder, timeout=5.0):
    return download(file, folder, progress=False, timeout=timeout)


def write_part(folder, data):
    (folder / "below").mkdir()
    (folder / "below" / "file.gz.part").write_bytes(data)


def files_below(folder):
    return {path.name for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def dead_url():
    """An address at which nobody listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        yield f"http://127.0.0.1:{sock.getsockname()[1]}/file"


def test_good_address_gives_the_file_and_nothing_else(server, tmp_path):
    path = quiet_download(remote(server.url("good")), tmp_path)
    assert path == tmp_path / "below" / "file.gz"
    assert path.read_bytes() == CONTENT
    assert files_below(tmp_path) == {"file.gz"}


def test_progress_bar_counts_the_bytes(server, tmp_path, capsys):
    download(remote(server.url("cut")), tmp_path, progress=True)
    error = capsys.readouterr().err
    assert "file.gz" in error
    assert f"{SIZE}/{SIZE}" in error


def test_intact_file_is_not_downloaded_again(server, tmp_path):
    file = remote(server.url("good"))
    quiet_download(file, tmp_path)
    quiet_download(file, tmp_path)
    assert len(server.asked) == 1


def test_damaged_file_is_replaced(server, tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "file.gz").write_bytes(CONTENT[:-1])
    assert quiet_download(remote(server.url("good")), tmp_path).read_bytes() == CONTENT


def test_cut_transfers_are_continued_where_they_broke_off(server, tmp_path):
    path = quiet_download(remote(server.url("cut")), tmp_path)
    assert path.read_bytes() == CONTENT
    assert server.ranges() == [None, "bytes=80000-", "bytes=160000-"]


def test_part_of_an_earlier_call_is_continued(server, tmp_path):
    write_part(tmp_path, CONTENT[:1000])
    path = quiet_download(remote(server.url("good")), tmp_path)
    assert path.read_bytes() == CONTENT
    assert server.ranges() == ["bytes=1000-"]


@pytest.mark.parametrize("behavior", ["no-range", "wrong-range"])
def test_servers_that_cannot_continue_send_all(server, tmp_path, behavior):
    write_part(tmp_path, CONTENT[:1000])
    path = quiet_download(remote(server.url(behavior)), tmp_path)
    assert path.read_bytes() == CONTENT


def test_complete_part_is_only_renamed(server, tmp_path):
    write_part(tmp_path, CONTENT)
    path = quiet_download(remote(server.url("good")), tmp_path)
    assert path.read_bytes() == CONTENT
    assert files_below(tmp_path) == {"file.gz"}
    assert server.asked == []


def test_complete_part_of_another_file_is_dropped(server, tmp_path):
    write_part(tmp_path, bytes(SIZE))
    path = quiet_download(remote(server.url("good")), tmp_path)
    assert path.read_bytes() == CONTENT
    assert server.ranges() == [f"bytes={SIZE}-", None]


def test_wrong_beginning_is_not_blamed_on_a_good_address(server, tmp_path):
    write_part(tmp_path, b"x" * 1000)
    path = quiet_download(remote(server.url("good")), tmp_path)
    assert path.read_bytes() == CONTENT
    assert server.ranges() == ["bytes=1000-", None]


def test_answer_without_a_length_is_read_to_its_end(server, tmp_path):
    path = quiet_download(remote(server.url("no-length")), tmp_path)
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize("first", ["missing", "wrong", "cut-at-once", "cut-no-range"])
def test_second_address_follows_a_failing_first(server, tmp_path, first):
    file = remote(server.url(first), server.url("good"))
    assert quiet_download(file, tmp_path).read_bytes() == CONTENT
    assert files_below(tmp_path) == {"file.gz"}
    assert {behavior for behavior, _ in server.asked} == {first, "good"}


def test_second_address_continues_what_the_first_began(server, tmp_path):
    file = remote(server.url("cut-then-missing"), server.url("good"))
    assert quiet_download(file, tmp_path).read_bytes() == CONTENT
    assert server.asked[-1] == ("good", "bytes=80000-")


def test_server_that_stalls_midway_is_asked_again(server, tmp_path):
    file = remote(server.url("stall-midway"))
    assert quiet_download(file, tmp_path, timeout=0.2).read_bytes() == CONTENT
    assert len(server.asked) > 1


def test_server_that_never_sends_a_byte_does_not_hang(server, tmp_path):
    start = time.monotonic()
    with pytest.raises(ConnectionError, match="timed out"):
        quiet_download(remote(server.url("stall")), tmp_path, timeout=0.2)
    assert time.monotonic() - start < 8


def test_wrong_bytes_name_both_checksums_and_leave_nothing(server, tmp_path):
    with pytest.raises(ConnectionError, match=f"expected md5 {MD5}, got {ZEROS_MD5}"):
        quiet_download(remote(server.url("wrong")), tmp_path)
    assert files_below(tmp_path) == set()


@pytest.mark.parametrize("part", [0, 1000])
def test_more_bytes_than_expected_are_refused(server, tmp_path, part):
    server.files["file"] = CONTENT + b"more"
    write_part(tmp_path, CONTENT[:part])
    with pytest.raises(ConnectionError, match=f"sent more than the {SIZE} bytes"):
        quiet_download(remote(server.url("no-length")), tmp_path)
    assert files_below(tmp_path) == set()


def test_broken_transfer_keeps_its_part_but_no_final_file(server, tmp_path):
    with pytest.raises(ConnectionError, match="broke off, 204800 bytes short"):
        quiet_download(remote(server.url("cut-at-once")), tmp_path)
    assert files_below(tmp_path) == {"file.gz.part"}


def test_dead_addresses_are_all_reported(server, tmp_path, dead_url):
    with pytest.raises(ConnectionError, match="could not be downloaded") as caught:
        quiet_download(remote(dead_url, server.url("missing")), tmp_path)
    message = str(caught.value)
    assert f"{dead_url}: [Errno" in message
    assert f"{server.url('missing')}: HTTP status 404 Not Found" in message
    assert str(tmp_path / "below" / "file.gz") in message
