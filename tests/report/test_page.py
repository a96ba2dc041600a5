import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.figure import Figure

from tangentlab.analysis import Claim
from tangentlab.report.document import script_source
from tangentlab.report.interactive import HOW_TO, charts_script
from tangentlab.report.page import Highlight, Report, Section, render
from tangentlab.report.tables import Column, Row, Table

EVIL = "<script>alert('x')</script><img src=x onerror=\"y\">&amp;"


class Elements(HTMLParser):
    """Every tag with its attributes and the text directly inside."""

    def __init__(self, html: str):
        super().__init__()
        self.elements: list[tuple[str, dict, list[str]]] = []
        self.path: list[int] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))
        if tag not in ("meta", "link", "img", "source"):
            self.path.append(len(self.elements) - 1)

    def handle_endtag(self, tag):
        assert self.elements[self.path.pop()][0] == tag

    def handle_data(self, data):
        if self.path:
            self.elements[self.path[-1]][2].append(data)

    def all(self, tag: str) -> list[dict]:
        return [attrs for name, attrs, _ in self.elements if name == tag]

    def texts(self, tag: str) -> list[str]:
        return ["".join(text) for name, _, text in self.elements if name == tag]


def line_figure(num: int = 3) -> Figure:
    figure = Figure(figsize=(4, 3))
    figure.subplots().plot(np.arange(num) ** 2)
    return figure


def image_figure() -> Figure:
    figure = Figure(figsize=(3, 3))
    figure.subplots().imshow(np.eye(3))
    return figure


def make_report(text: str = "plain") -> Report:
    table = Table((Column(text), Column("x", ".2f")), (Row((text, 0.5), text),), text)
    figures = {"one": line_figure(), "two": image_figure()}
    return Report(
        title=f"title {text}",
        summary=f"summary {text}",
        sections=(
            Section(f"first {text}", f"see {text}", figures),
            Section("second", "and a table", table=table),
        ),
        console_table=table,
        highlights=(Highlight("42", f"label {text}"),),
    )


def render_page(report: Report, text: str = "plain") -> str:
    return render(
        report,
        experiment=text,
        command=f"tangentlab run {text}",
        config={"seed": 3, "indices": [1, 2], "recipe": {text: None}},
        manifest={"versions": {"jax": "1.2"}, "platform": text},
    )


def make_page(report: Report, text: str = "plain") -> Elements:
    parsed = Elements(render_page(report, text))
    assert parsed.path == []
    return parsed


def test_a_page_has_summary_table_figures_command_and_versions():
    parsed = make_page(make_report())
    assert parsed.texts("title") == ["title plain"] == parsed.texts("h1")
    assert "summary plain" in parsed.texts("p")
    assert parsed.texts("h2") == [
        "first plain",
        "Results",
        "second",
        "How this page was made",
    ]
    assert "and a table" in parsed.texts("p")
    assert parsed.texts("dd") == ["42"] and parsed.texts("dt") == ["label plain"]
    assert len(parsed.all("figure")) == 2
    assert parsed.texts("code").count("tangentlab run plain") == 3
    facts = dict(zip(parsed.texts("th")[-5:], parsed.texts("td")[-5:], strict=True))
    names = [text for text in parsed.texts("th") if text in ("seed", "versions.jax")]
    assert names == ["seed", "versions.jax"]
    assert facts["versions.jax"] == "1.2"
    assert "1, 2" in parsed.texts("td")
    order = [name for name, _, _ in parsed.elements]
    assert order.index("figure") < order.index("table") < order.index("details")


def test_claims_come_before_everything_else():
    claim = Claim("D1", f"It falls {EVIL}", "below 0", (), "confirmed", "so it does")
    report = replace(make_report(), claims=(claim,), claims_caption="over tasks")
    parsed = make_page(report)
    assert "confirmed" in [attrs.get("class") for attrs in parsed.all("article")]
    assert any(EVIL in text for text in parsed.texts("h3"))
    assert "over tasks" in parsed.texts("p")
    order = [name for name, _, _ in parsed.elements]
    assert order.index("article") < order.index("figure")
    assert not make_page(make_report()).all("article")


def test_figures_are_drawn_by_the_script_or_are_pictures():
    parsed = make_page(make_report())
    assert [f.get("class") for f in parsed.all("figure")] == ["chart", None]
    assert len(parsed.all("img")) == 1
    assert [s.get("class") for s in parsed.all("script")] == ["scene", None]
    assert HOW_TO in parsed.texts("p")
    assert HOW_TO not in make_page(replace(make_report(), sections=())).texts("p")


def test_each_figure_has_its_sentence_its_command_and_its_files():
    html = render_page(make_report())
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", html)
    for name, caption in zip(("one", "two"), captions, strict=True):
        assert caption.startswith("see plain ")
        for ending in ("png", "csv"):
            assert f'href="figures/{name}.{ending}"' in caption
        assert caption.endswith("<code>tangentlab run plain</code>")


def test_a_page_needs_nothing_from_elsewhere():
    parsed = make_page(make_report())
    names = {name for name, _, _ in parsed.elements}
    assert not names & {"iframe", "object", "embed", "form", "base"}
    for tag, attrs, _ in parsed.elements:
        for key in ("src", "srcset", "href", "action", "data", "background"):
            beside = "figures/" if tag == "a" else "data:"
            assert attrs.get(key, beside).startswith(beside)
    (style,) = parsed.texts("style")
    assert "url(" not in style and "@import" not in style
    (policy,) = [m["content"] for m in parsed.all("meta") if "http-equiv" in m]
    assert policy.startswith("default-src 'none'; img-src data:")
    assert policy.endswith(f"; script-src {script_source(charts_script())}")
    (icon,) = parsed.all("link")
    assert icon["rel"] == "icon"


def test_a_page_is_accessible_and_fits_a_phone():
    parsed = make_page(make_report())
    assert parsed.all("html") == [{"lang": "en"}]
    names = {m.get("name"): m["content"] for m in parsed.all("meta") if "content" in m}
    assert names["viewport"] == "width=device-width, initial-scale=1"
    assert all(attrs["alt"] for attrs in parsed.all("img"))
    assert parsed.all("figure")[0]["data-alt"] == "first plain (one). see plain"
    assert parsed.all("img")[0]["alt"] == "first plain (two). see plain"
    assert all("scope" in attrs for attrs in parsed.all("th"))
    assert "prefers-color-scheme: dark" in parsed.texts("style")[0]


def test_everything_is_escaped():
    parsed = make_page(make_report(EVIL), EVIL)
    plain = make_page(make_report())
    assert [e[0] for e in parsed.elements] == [e[0] for e in plain.elements]
    assert not [attrs for _, attrs, _ in parsed.elements if "onerror" in attrs]
    assert parsed.texts("h1") == [f"title {EVIL}"]
    assert f"tangentlab run {EVIL}" in parsed.texts("code")
    assert parsed.all("img")[0]["alt"] == f"first {EVIL} (two). see {EVIL}"


def test_highlights_are_optional():
    assert not make_page(replace(make_report(), highlights=())).all("dl")


@pytest.mark.parametrize("option", ["--card", "--paper", "--ink", "--accent"])
def test_every_color_of_the_style_has_a_dark_value(option):
    (style,) = make_page(make_report()).texts("style")
    assert len(re.findall(rf"{option}: #[0-9a-f]{{6}};", style)) == 2
