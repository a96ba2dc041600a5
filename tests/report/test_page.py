import base64
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.figure import Figure

from tangentlab.analysis import Claim
from tangentlab.report import page
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


def make_report(text: str = "plain") -> Report:
    table = Table((Column(text), Column("x", ".2f")), (Row((text, 0.5), text),), text)
    figures = {"one": line_figure(), "two": line_figure(5)}
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


def make_page(report: Report, text: str = "plain") -> Elements:
    html = render(
        report,
        experiment=text,
        command=f"tangentlab run {text}",
        config={"seed": 3, "indices": [1, 2], "recipe": {text: None}},
        manifest={"versions": {"jax": "1.2"}, "platform": text},
    )
    parsed = Elements(html)
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
    assert "see plain" in parsed.texts("p")
    assert parsed.texts("dd") == ["42"] and parsed.texts("dt") == ["label plain"]
    assert len(parsed.all("figure")) == 2
    assert "tangentlab run plain" in parsed.texts("code")
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


def test_a_page_needs_nothing_from_elsewhere():
    parsed = make_page(make_report())
    names = {name for name, _, _ in parsed.elements}
    assert not names & {"script", "iframe", "object", "embed", "form", "base"}
    for _, attrs, _ in parsed.elements:
        for key in ("src", "srcset", "href", "action", "data", "background"):
            assert attrs.get(key, "data:").startswith("data:")
    (style,) = parsed.texts("style")
    assert "url(" not in style and "@import" not in style
    (policy,) = [m["content"] for m in parsed.all("meta") if "http-equiv" in m]
    assert policy.startswith("default-src 'none'; img-src data:")
    (icon,) = parsed.all("link")
    assert icon["rel"] == "icon"


def test_a_page_is_accessible_and_fits_a_phone():
    parsed = make_page(make_report())
    assert parsed.all("html") == [{"lang": "en"}]
    names = {m.get("name"): m["content"] for m in parsed.all("meta") if "content" in m}
    assert names["viewport"] == "width=device-width, initial-scale=1"
    assert all(attrs["alt"] for attrs in parsed.all("img"))
    assert parsed.all("img")[0]["alt"] == "first plain (one). see plain"
    assert all("scope" in attrs for attrs in parsed.all("th"))
    assert "prefers-color-scheme: dark" in parsed.texts("style")[0]


def test_everything_is_escaped():
    parsed = make_page(make_report(EVIL), EVIL)
    plain = make_page(make_report())
    assert [e[0] for e in parsed.elements] == [e[0] for e in plain.elements]
    assert not [attrs for _, attrs, _ in parsed.elements if "onerror" in attrs]
    assert parsed.texts("h1") == [f"title {EVIL}"]
    assert f"tangentlab run {EVIL}" in parsed.texts("code")
    assert parsed.all("img")[0]["alt"] == f"first {EVIL} (one). see {EVIL}"


def test_highlights_are_optional():
    assert not make_page(replace(make_report(), highlights=())).all("dl")


def decode(url: str, kind: str) -> bytes:
    assert url.startswith(f"data:image/{kind};base64,")
    return base64.b64decode(url.split(",")[1])


def test_a_figure_becomes_a_vector_image_that_is_always_the_same():
    first = page.data_url(line_figure())
    svg = decode(first, "svg+xml").decode()
    assert "<svg" in svg and "</svg>" in svg
    assert "<dc:date>" not in svg
    assert page.data_url(line_figure()) == first


def test_a_huge_drawing_becomes_pixels(monkeypatch):
    monkeypatch.setattr(page, "_LARGEST_SVG", 1000)
    assert decode(page.data_url(line_figure()), "png").startswith(b"\x89PNG")


def test_each_figure_has_a_dark_twin_and_keeps_its_colors():
    report = make_report()
    before = page.data_url(report.sections[0].figures["one"])
    parsed = make_page(report)
    light, dark = parsed.all("img")[0]["src"], parsed.all("source")[0]["srcset"]
    assert parsed.all("source")[0]["media"] == "(prefers-color-scheme: dark)"
    assert light == before
    assert "#ffffff" in decode(light, "svg+xml").decode()
    assert "#ffffff" not in decode(dark, "svg+xml").decode()
    assert page.data_url(report.sections[0].figures["one"]) == before


@pytest.mark.parametrize("option", ["--card", "--paper", "--ink", "--accent"])
def test_every_color_of_the_style_has_a_dark_value(option):
    (style,) = make_page(make_report()).texts("style")
    assert len(re.findall(rf"{option}: #[0-9a-f]{{6}};", style)) == 2
