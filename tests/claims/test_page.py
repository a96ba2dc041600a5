import dataclasses
import json
import re
import shlex
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tangentlab.claims import CATALOG, verify, write_numbers
from tangentlab.claims.page import _verdict_table
from tangentlab.claims.tables import short_table
from tangentlab.cli.commands import Verify, parse
from tests.claims.toy import EXPERIMENTS, toss, use_plan


class Page(HTMLParser):
    """Ids, links, texts and scenes of a page."""

    def __init__(self, html: str):
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.scenes: list[dict] = []
        self.in_scene = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append(tag)
        if "id" in attributes:
            self.ids.append(attributes["id"] or "")
        if tag == "a":
            self.links.append(attributes["href"] or "")
        self.in_scene = attributes.get("class") == "scene"

    def handle_endtag(self, tag):
        self.in_scene = False

    def handle_data(self, data):
        if self.in_scene:
            self.scenes.append(json.loads(data))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a verification, and its page."""
    folder = tmp_path_factory.mktemp("verification")
    runs = (
        toss("D1", "D47"),
        toss("D1", model="lenet", mean=3.0),
        toss("D2", mean=-1.0),
        toss("D3", trouble="run"),
    )
    with pytest.MonkeyPatch.context() as patch:
        use_plan(patch, *runs)
        verify("smoke", folder, seeds=5)
    return folder, page(folder)


def page(folder: Path) -> str:
    return (folder / "report.html").read_text()


def test_the_summary_counts_and_names_what_failed(made):
    _, html = made
    assert "Confirmed: 1, refuted: 1, open: 0, not measured here: 46." in html
    assert "2 could be decided, and 1 of these held" in html
    assert "Planned but not measured, since a run failed: D3." in html


def test_the_summary_tells_runs_that_failed_from_others(plan, tmp_path):
    plan(
        toss("D1", "D2", trouble="run"),
        toss("D2", model="lenet")._replace(seconds=500),
        toss("D3", trouble="silent"),
    )
    verify("smoke", tmp_path, minutes=1)
    html = page(tmp_path)
    missed = "Planned but not measured, since"
    assert f"{missed} a run failed: D1, D2." in html
    assert f"{missed} there was no time for a run: D2." in html
    assert f"{missed} a run was silent on them: D3." in html


def test_links_lead_somewhere(made):
    folder, html = made
    page = Page(html)
    assert len(set(page.ids)) == len(page.ids)
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.ids
        else:
            assert (folder / link).is_file(), link
    assert {f"row-{name}" for name in CATALOG} <= set(page.ids)


def test_figures_are_data_and_carry_what_is_drawn(made):
    _, html = made
    scenes = Page(html).scenes
    forest, *_, last = scenes
    names = [entry["name"] for entry in forest["entries"]]
    assert names == ["MLP on coins", "LeNet on coins"]
    assert [entry["name"] for entry in last["entries"]] == ["tosses", "sums"]
    assert last["panels"][0]["x"]["label"] == "number"


def test_each_figure_has_a_sentence_its_command_and_its_files(made):
    folder, html = made
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", html)
    assert len(captions) == html.count("<figure")
    for caption in captions:
        assert re.match(r"\w[^<]*\. <span", caption)
        assert caption.count("<a href=") == 2
    commands = [re.findall("<code>(.*)</code>", each) for each in captions]
    verifying = f"tangentlab verify --scale smoke --output {folder} --claim"
    assert commands == [
        [f"{verifying} D1 --seeds 5"],
        [f"{verifying} D2 --seeds 5"],
        [f"{verifying} D47 --seeds 5"],
        ["tangentlab run toss"],
        ["tangentlab run toss --model lenet --mean 3.0"],
        ["tangentlab run toss --mean -1.0"],
    ]
    drawn = [each for each in captions if each.startswith("They lie around the mean. ")]
    assert len(drawn) == 3


def test_the_command_below_a_claim_verifies_it_with_the_same_options(plan, tmp_path):
    plan(toss("D1", "D2"), toss("D1", model="lenet"))
    folder = tmp_path / "over here"
    options = {"only": ["mlp", "coins"], "seeds": 6}
    done = verify("smoke", folder, claims=["D1", "D2"], **options)
    captions = re.findall(r"<code>(tangentlab verify.*?)</code></fig", page(folder))
    for name, line in zip(("D1", "D2"), captions, strict=True):
        program, *words = shlex.split(unescape(line))
        command = parse(words, {"toss": EXPERIMENTS["toss"]}, ["digits"])
        assert (program, command) == (
            "tangentlab",
            Verify("smoke", (name,), ("mlp", "coins"), seeds=6, output=folder),
        )
    again = "--claim D1 D2 --seeds 6 --only mlp coins"
    assert (
        done.command == f"tangentlab verify --scale smoke --output '{folder}' {again}"
    )


def test_only_its_own_script_may_run(made):
    _, html = made
    policy = re.search(r'content="(default-src[^"]*)"', html)
    assert policy and "script-src 'sha256-" in policy[1]
    assert "unsafe-eval" not in policy[1] and "http" not in policy[1]


def test_messages_and_commands_are_escaped(made):
    _, html = made
    assert "rolled &lt;away&gt;" in html and "<away>" not in html
    assert "<code>tangentlab run toss --mean -1.0</code>" in html


def test_rows_show_their_verdict_and_can_be_told_by_it(made):
    _, html = made
    for name, kind in {
        "D1": "confirmed",
        "D2": "refuted",
        "D9": "not-measured",
    }.items():
        assert f'id="row-{name}" class="{kind}" data-kind="{kind}"' in html


def test_one_glance_tells_what_held_for_all_that_was_measured(plan, tmp_path):
    """Of three networks two are measured; D1 holds for both, D2 fails for one."""
    runs = toss("D1"), toss("D1", model="lenet"), toss("D2", data="dice", mean=-1.0)
    plan(*runs, networks=("mlp", "lenet", "resnet18"))
    done = verify("smoke", tmp_path, claims=["D1", "D2"])
    assert {each.entry.id: each.leaning for each in done.shown} == {
        "D1": "confirmed",
        "D2": None,
    }
    html = page(tmp_path)
    (chip,) = re.findall(r'<li class="confirmed in-part">.*?</li>', html)
    assert "D1 <b>(✓)</b>" in chip and "ResNet18 was not measured" in chip
    marked = '<b class="confirmed">(✓)</b> inconclusive'
    assert f'<td class="verdict" data-label="">{marked}</td>' in html
    assert f'<p class="badge">{marked}</p>' in html
    assert html.count("? inconclusive") == 2  # the switch of rows, and the key
    (row, *_) = short_table(done.shown).rows
    assert row.cells[4] == "(✓) inconclusive"
    assert "(✓) and (✗) so by what was measured, which is too little" in html
    assert "Of the open ones 1 would be confirmed by what was measured" in html


def folded(html: str) -> list[str]:
    """Verdicts whose rows the script folds at first; without one all rows show."""
    assert not re.findall(r'<(?:tr|button) [^>]*(?:hidden|="false")', html)
    return re.findall(r'data-kind="([^"]*)" data-off>', html)


def test_rows_without_numbers_are_folded_where_they_are_many(plan, tmp_path):
    plan(toss("D1", "D2"))
    done = verify("smoke", tmp_path / "some")
    assert folded(page(tmp_path / "some")) == ["not-measured"]
    for num, expected in ((2, []), (3, []), (4, ["not-measured"])):  # two measured
        part = dataclasses.replace(done, verdicts=done.verdicts[:num])
        assert folded(_verdict_table(part)) == expected
    plan(toss("D1", trouble="run"))
    verify("smoke", tmp_path / "none")
    assert folded(page(tmp_path / "none")) == []


def test_what_was_not_measured_is_called_what_it_is(plan, tmp_path):
    def label(folder: Path) -> str:
        (text,) = re.findall(r"<dt>([^<]*)</dt><dd>\d+ –</dd>", page(folder))
        return text

    plan(toss("D1", "D2"))
    done = verify("smoke", tmp_path / "all")
    assert label(tmp_path / "all") == "not measured at this scale"
    write_numbers(done, tmp_path / "numbers")
    verify("smoke", tmp_path / "part", claims=["D1"])
    assert label(tmp_path / "part") == "not measured"
    kept = tmp_path / "numbers"
    plan(toss("D1", "D2"), toss("D3", model="lenet"))
    verify("smoke", tmp_path / "kept", kept=kept)
    assert label(tmp_path / "kept") == "not measured"
    plan(toss("D1", "D2"), toss(*CATALOG, model="lenet"))
    verify("smoke", tmp_path / "planned", kept=kept)
    assert label(tmp_path / "planned") == "no numbers kept"
