import json
import re

import numpy as np
from matplotlib.figure import Figure

from tangentlab.report.document import document, script_source
from tangentlab.report.interactive import charts_script, charts_style, figure_html

EVIL = "</script><b>&\"'"


def line_figure(label: str = "line") -> Figure:
    figure = Figure(figsize=(4, 3))
    ax = figure.subplots()
    ax.plot([1, 2], [3, 4], label=label)
    ax.legend()
    return figure


def test_a_figure_becomes_data_with_links_to_its_files():
    html = figure_html(
        line_figure(), alt="a line", file="figures/one", caption="up", command="do it"
    )
    assert html.startswith('<figure class="chart" data-alt="a line">')
    data = re.search(r'class="scene">(.*?)</script>', html)
    assert data and json.loads(data[1])["entries"][0]["name"] == "line"
    for part in ('href="figures/one.png"', 'href="figures/one.csv"', "do it", "up "):
        assert part in html


def test_an_image_stays_a_picture_without_a_table():
    figure = Figure(figsize=(3, 3))
    figure.subplots().imshow(np.eye(3))
    html = figure_html(figure, alt="eye", file="figures/eye")
    assert "<img" in html and "scene" not in html
    assert "eye.png" in html and "eye.csv" in html


def test_names_cannot_leave_their_place():
    html = figure_html(
        line_figure(EVIL), alt=EVIL, file=EVIL, caption=EVIL, command=EVIL
    )
    assert html.count("</script>") == 1 and "<b>" not in html
    data = re.search(r'class="scene">(.*?)</script>', html)
    assert data and json.loads(data[1])["entries"][0]["name"] == EVIL


def test_a_document_allows_its_own_script_and_no_other():
    script = charts_script()
    html = document("title", "<main></main>", style=charts_style(), script=script)
    assert f"script-src {script_source(script)}" in html
    assert html.count("<script>") == 1
    plain = document("a <title>", "<main></main>")
    assert "script" not in plain and "<title>a &lt;title&gt;</title>" in plain


def test_the_script_asks_for_nothing_from_elsewhere():
    script = charts_script().replace("http://www.w3.org/2000/svg", "")
    for word in ("http", "fetch(", "XMLHttpRequest", "import(", "eval("):
        assert word not in script
    assert "url(" not in charts_style() and "@import" not in charts_style()
