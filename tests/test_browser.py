import re
from pathlib import Path

import pytest

from tangentlab import cli
from tests.browser import problems, require_browser

pytestmark = pytest.mark.browser

TOY = (
    "run eigenfunctions --data digits --num-samples 120 --num-test 40 "
    "--indices 0 1 2 5 --recipe.epochs 2 --recipe.batch-size 16 --no-progress"
)


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    """The page of a real run, small."""
    require_browser()
    root = tmp_path_factory.mktemp("runs")
    assert cli.main([*TOY.split(), "--output", str(root)]) == 0
    (run,) = root.iterdir()
    return run / "report.html"


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_every_figure_is_drawn_and_nothing_comes_from_elsewhere(report, browser, width):
    num_figures = len(list((report.parent / "figures").glob("*.png")))
    findings = browser.visit(report, width=width)
    assert problems(findings, num_images=1, num_charts=num_figures - 1) == []
    assert findings.requests[0] == report.as_uri()
    assert findings.width == width


def test_the_page_follows_the_color_scheme(report, browser):
    browser.visit(report)
    color = browser.script("return getComputedStyle(document.body).backgroundColor")
    dark = browser.script("return matchMedia('(prefers-color-scheme: dark)').matches")
    brightness = sum(map(int, re.findall(r"\d+", color)[:3]))
    assert (brightness < 150) == dark
    chosen = browser.script("return [...document.images].map(i => i.currentSrc)")
    sources = browser.script("return [...document.images].map(i => i.src)")
    assert all((a != b) == dark for a, b in zip(chosen, sources, strict=True))


def test_a_model_can_be_switched_off(report, browser):
    browser.visit(report)
    buttons = "[...document.querySelector('figure.chart').querySelectorAll('button')]"
    names = browser.script(f"return {buttons}.map(b => b.textContent)")
    assert {"network", "linearization"} <= set(names)
    before = browser.count("figure.chart .mark")
    browser.script(f"{buttons}.find(b => b.textContent === 'network').click()")
    assert browser.count("figure.chart .mark") < before
    assert browser.console() == []


def test_configuration_and_versions_open(report, browser):
    browser.visit(report, width=390)
    height = "return document.querySelector('details').getBoundingClientRect().height"
    closed = browser.script(height)
    browser.script("document.querySelector('summary').click()")
    assert browser.script(height) > closed + 200
    wide = browser.script("return document.documentElement.scrollWidth")
    assert wide <= 390


BROKEN = {
    "a broken image": (
        lambda html: re.sub(
            r'src="data:[^"]*"', 'src="data:image/png;base64,AA"', html
        ),
        "image not drawn",
    ),
    "an invisible image": (
        lambda html: html.replace(
            "</style>", "img { display: none !important }</style>"
        ),
        "image not drawn",
    ),
    "an image that sticks out": (
        lambda html: html.replace(
            "</style>", "img { min-width: 3000px; max-width: none !important }</style>"
        ),
        "image not drawn",
    ),
    "a missing image": (
        lambda html: re.sub(
            r"<figure>.*?</figure>", "", html, count=1, flags=re.DOTALL
        ),
        "images instead of",
    ),
    "a missing chart": (
        lambda html: re.sub(
            r'<figure class="chart".*?</figure>', "", html, count=1, flags=re.DOTALL
        ),
        "charts instead of",
    ),
    "a chart that cannot be read": (
        lambda html: html.replace('class="scene">', 'class="scene">oops', 1),
        "chart not drawn",
    ),
    "an empty chart": (
        lambda html: re.sub(r'"marks":\[.*?\],"row"', '"marks":[],"row"', html),
        "chart not drawn",
    ),
    "an image from elsewhere": (
        lambda html: unlocked(html).replace(
            "<main>", '<main><img src="http://127.0.0.1:9/x.png">'
        ),
        "request: http://127.0.0.1:9/x.png",
    ),
    "a console error": (
        lambda html: unlocked(html).replace(
            "</main>", "<script>console.error('oops')</script></main>"
        ),
        "console: .*oops",
    ),
    "a script that throws": (
        lambda html: unlocked(html).replace(
            "</main>", "<script>oops()</script></main>"
        ),
        "console: .*oops is not defined",
    ),
    "a forbidden script": (
        lambda html: html.replace("</main>", "<script>1</script></main>"),
        "console: .*Content Security Policy",
    ),
    "content that is too wide": (
        lambda html: html.replace(
            "</main>", "<div style='width:3000px'>x</div></main>"
        ),
        "content is 3\\d+ wide",
    ),
}


def unlocked(html: str) -> str:
    """The page without its policy, which would forbid what is tried next."""
    changed, count = re.subn(r"<meta http-equiv[^>]*>", "", html)
    assert count == 1
    return changed


@pytest.mark.parametrize("name", BROKEN)
def test_the_check_itself_notices(report, browser, tmp_path, name):
    change, message = BROKEN[name]
    html = report.read_text(encoding="utf-8")
    # Without the dark twin, so that both schemes show the image that is broken here.
    html = re.sub(r"<source [^>]*>", "", html)
    copy = tmp_path / "broken.html"
    figures = html.count("<figure>"), html.count('<figure class="chart"')
    copy.write_text(html, encoding="utf-8")
    assert problems(browser.visit(copy), *figures) == []
    assert change(html) != html
    copy.write_text(change(html), encoding="utf-8")
    found = problems(browser.visit(copy), *figures)
    assert any(re.search(message, problem) for problem in found), found
