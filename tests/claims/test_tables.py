import re

import pytest

from tangentlab.analysis import Claim, Finding, exactly
from tangentlab.claims import CATALOG, Run, Verified, to_table, verify
from tangentlab.claims.naming import network_name
from tangentlab.claims.tables import (
    PAPER_WIDTHS,
    measured_text,
    paper_table,
    seeds_text,
    short_table,
    time_text,
)
from tangentlab.experiments.flow import Flow
from tangentlab.report.exporting import to_latex, to_longtable, to_pandas
from tangentlab.report.tables import to_csv
from tests.claims.toy import toss


def verified(*findings: Finding, remark: str = "", reason: str = "") -> Verified:
    claim = Claim("D8", "x", "y", findings, "confirmed", remark)
    return Verified(CATALOG["D8"], "confirmed", claim, reason, ())


def test_what_was_judged_is_told_first_and_many_numbers_are_cut():
    told = Finding("told", exactly(0.5))
    judged = [Finding(f"n{k}", exactly(k), "confirmed") for k in range(1, 7)]
    assert measured_text(verified(told, judged[0])) == "n1 +1.00"
    assert measured_text(verified(told)) == "told +0.50"
    assert measured_text(verified(*judged)).endswith("n4 +4.00; and 2 more")
    assert measured_text(verified(remark="nothing new")) == "nothing new"
    assert measured_text(verified(told, reason="it failed")) == "it failed"


def test_numbers_that_a_verdict_hangs_on_are_told_first():
    held = [Finding(f"n{k}", exactly(k), "confirmed") for k in range(1, 5)]
    unclear = Finding("unclear", exactly(5), "inconclusive")
    failed = Finding("failed", exactly(6), "refuted")
    assert measured_text(verified(*held, unclear, failed)) == (
        "failed +6.00; unclear +5.00; n1 +1.00; n2 +2.00; and 2 more"
    )


def test_why_clear_numbers_decide_nothing_is_told_beside_them():
    told = verified(Finding("gap", exactly(0.5), "confirmed"), remark="so it is")
    doubted = told._replace(doubt="confirmed for MLP; LeNet was not measured")
    text = "gap +0.50 (confirmed for MLP; LeNet was not measured)"
    assert measured_text(doubted) == text
    assert text in to_csv(to_table([doubted]))
    assert measured_text(told) == "gap +0.50"


def test_tables_have_published_and_measured_side_by_side():
    table = to_table([verified(Finding("MLP", exactly(0.67), "confirmed"))])
    pytest.importorskip("pandas")
    assert list(to_pandas(table)["published"]) == [CATALOG["D8"].published]
    assert "MLP 67.6 %, LeNet 75.0 %" in to_csv(table)
    assert r"67.6 \%" in to_latex(table)
    (row,) = short_table([verified()]).rows
    assert row.cells[4:] == ("✓ confirmed", None, None)


def test_the_table_for_a_paper_has_few_columns_that_fit_a_line():
    gap = Finding("ρ ≤ −0.8 & φ₁, 50 %", exactly(-0.9), "confirmed")
    table = paper_table([verified(gap), verified(reason="it_failed")])
    titles = [column.title for column in table.columns]
    assert titles == ["claim", "statement", "published", "measured", "verdict", "seeds"]
    assert len(PAPER_WIDTHS) == len(titles) and sum(PAPER_WIDTHS) == pytest.approx(1)
    text = to_longtable(table, PAPER_WIDTHS)
    rows = [line for line in text.split("\n") if line.startswith("D8")]
    assert text.isascii() and r"\%" in rows[0] and r"it\_failed" in rows[1]
    for row in rows:
        assert row.endswith(r" & confirmed & -- \\")
        assert len(re.findall(r"(?<!\\)&", row)) == len(titles) - 1


def test_verdicts_are_written_as_a_table_of_many_pages(plan, tmp_path):
    plan(toss("D1"), toss("D2", mean=-1.0))
    done = verify("smoke", tmp_path)
    text = (tmp_path / "verdicts.tex").read_text()
    assert text == to_longtable(paper_table(done.verdicts), PAPER_WIDTHS) + "\n"
    assert text.isascii() and text.count("{") == text.count("}")
    lines = text.split("\n")
    ends = {
        name: next(x for x in lines if x.startswith(f"{name} &")) for name in CATALOG
    }
    assert ends["D1"].endswith(r"& confirmed & 5 \\")
    assert ends["D2"].endswith(r"& refuted & 5 \\")
    assert ends["D3"].endswith(r"& not measured & -- \\")


def test_seeds_of_runs_that_measured_a_claim_are_told(plan, tmp_path):
    plan(
        toss("D1", "D47", seeds=3),
        toss("D1", model="lenet"),
        toss("D2", trouble="run"),
    )
    found = {each.entry.id: each for each in verify("smoke", tmp_path).verdicts}
    texts = [seeds_text(found[name]) for name in ("D1", "D2", "D3", "D47")]
    assert texts == ["3–5", "", "", "3"]
    page = (tmp_path / "report.html").read_text()
    assert '<td class="seeds" data-label="seeds">3–5</td>' in page


def test_the_network_of_a_single_run_is_told_in_tables_and_page(plan, tmp_path):
    plan(toss("D1"), toss("D2"), toss("D2", model="lenet"))
    done = verify("smoke", tmp_path)
    one, several = (
        measured_text(next(each for each in done.verdicts if each.entry.id == name))
        for name in ("D1", "D2")
    )
    assert one.startswith("MLP on coins: toss +1.0")
    assert several.startswith("MLP on coins, toss +1.0")
    assert "; LeNet on coins, toss +1.0" in several
    assert one in to_csv(to_table(done.verdicts))
    page = (tmp_path / "report.html").read_text()
    assert f'<td data-label="measured">{one}</td>' in page


def test_a_network_beside_that_of_a_run_is_told_where_the_claim_is_about_it():
    run = toss("D8")._replace(beside=("resnet18",))
    assert network_name(run, ("resnet18",)) == "ResNet18"
    assert network_name(run, ("mlp", "lenet")) == "MLP on coins"
    assert network_name(run, ()) == "MLP on coins"
    assert network_name(Run("flow", Flow()), ()) == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (42.0, "42 s"),
        (210.0, "3.5 min"),
        (7200, "2.0 h"),
    ],
)
def test_times_have_the_unit_that_suits_them(seconds, text):
    assert time_text(float(seconds)) == text
