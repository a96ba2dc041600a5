"""Where and when numbers were measured is told of every run, kept or not."""

import json
import re

import pytest

from tangentlab.claims import verify, write_numbers
from tangentlab.claims.origins import Origin, origin_of, origins_text
from tests.claims.toy import toss

GPU = Origin("2026-11-18T06:10:11+00:00", ("NVIDIA H200",), {"jax": "0.11.2"})


def runs_of(folder) -> list[dict]:
    return json.loads((folder / "verdicts.json").read_text())["runs"]


@pytest.mark.parametrize(
    ("origins", "text"),
    [
        ([], ""),
        ([GPU], "1 run on NVIDIA H200 with jax 0.11.2, 2026-11-18"),
        (
            [GPU, GPU._replace(started="2026-11-16T23:00:00+00:00")],
            "2 runs on NVIDIA H200 with jax 0.11.2, 2026-11-16 to 2026-11-18",
        ),
        (
            [GPU._replace(devices=("cpu", "cpu")), GPU],
            "1 run on 2 × cpu with jax 0.11.2, 2026-11-18; "
            "1 run on NVIDIA H200 with jax 0.11.2, 2026-11-18",
        ),
        (
            [origin_of({})],
            "1 run on unknown devices with jax unknown, an unknown day",
        ),
    ],
)
def test_runs_of_one_machine_are_told_together(origins, text):
    assert origins_text(origins) == text


def test_runs_say_where_and_when_they_were_performed(plan, tmp_path):
    plan(toss("D1"), toss("D2", trouble="run"))
    done = verify("smoke", tmp_path)
    finished, failed = runs_of(tmp_path)
    assert finished["devices"] and finished["versions"]["jax"]
    assert finished["started"].startswith("20")
    assert (failed["started"], failed["devices"], failed["versions"]) == (None, [], {})
    assert done.runs[1].origin is None
    html = (tmp_path / "report.html").read_text()
    assert re.search(
        r"Numbers of 1 run on [^<]* with jax [^<]*, 20\d\d-\d\d-\d\d\.<", html
    )
    assert "The same command goes on where it was interrupted" in html
    verify("smoke", tmp_path, claims=["D1"])
    assert "used again" in (tmp_path / "report.html").read_text()


def test_kept_numbers_are_from_where_they_were_measured(plan, tmp_path):
    plan(toss("D1"))
    write_numbers(verify("smoke", tmp_path / "there"), tmp_path / "numbers")
    (path,) = (tmp_path / "numbers").glob("*.jsonl")
    head, *rest = path.read_text().splitlines()
    changed = json.dumps(json.loads(head) | GPU._asdict())
    path.write_text("\n".join([changed, *rest]))
    verify("smoke", tmp_path / "here", kept=tmp_path / "numbers")
    (run,) = runs_of(tmp_path / "here")
    assert (run["started"], run["devices"], run["versions"]) == (
        GPU.started,
        ["NVIDIA H200"],
        {"jax": "0.11.2"},
    )
    html = (tmp_path / "here" / "report.html").read_text()
    assert "Numbers of 1 run on NVIDIA H200 with jax 0.11.2, 2026-11-18.<" in html
    (row,) = re.findall(r"<tr><th[^>]*>toss, MLP on coins</th>.*?</tr>", html)
    assert re.findall("<td[^>]*>([^<]*)", row) == [
        "2026-11-18",
        "NVIDIA H200",
        "0.11.2",
    ]
    assert "The same command judges the same numbers again." in html
    assert "interrupted" not in html and "used again" not in html
