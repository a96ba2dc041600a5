import re
import subprocess
import sys
import time

import pytest

from tangentlab._progress import progress_bar


def _shown(capsys, *, total, done=0, unit="", steps=(), pause=0.0):
    with progress_bar("Work", total, show=True, done=done, unit=unit) as advance:
        for units in steps:
            time.sleep(pause)
            advance(units)
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_a_bar_counts_up_to_its_total(capsys):
    assert "4000/4000" in _shown(capsys, total=4000, steps=[1000, 3000])


def test_a_bar_starts_at_what_was_done_before(capsys):
    assert "300/400" in _shown(capsys, total=400, done=300)


def test_the_rate_is_that_of_this_run_alone(capsys):
    shown = _shown(
        capsys, total=10**9, done=9 * 10**8, unit="pairs", steps=[10**7] * 4, pause=0.1
    )
    (rate,) = re.findall(r"([\d.]+) M pairs/s", shown)
    assert 1 < float(rate) <= 100  # 10 million in a tenth of a second, or in more
    assert "940 M/1 G" in shown


def test_the_time_that_is_left_follows_from_the_rate(capsys):
    shown = _shown(capsys, total=10**6, steps=[10] * 3, pause=0.05)
    hours, minutes, seconds = re.findall(r"left (\d+):(\d\d):(\d\d)", shown)[0]
    left = 3600 * int(hours) + 60 * int(minutes) + int(seconds)
    assert left > 4000  # 200 a second at most


def test_a_single_step_has_a_rate_too(capsys):
    shown = _shown(capsys, total=100, steps=[50], pause=0.1)
    (rate,) = re.findall(r"50/100 ([\d.]+)/s", shown)
    assert 0 < float(rate) <= 500


@pytest.mark.parametrize("show", [True, False])
def test_nothing_is_imported_unless_it_is_shown(show):
    code = (
        "import sys; from tangentlab._progress import progress_bar\n"
        f"with progress_bar('Work', 1, show={show}) as advance: advance(1)\n"
        "print('rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == str(show)
