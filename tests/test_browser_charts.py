"""What a reader can do with the figures of a page, of a run and of a verification."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.scale import SymmetricalLogTransform

from tangentlab.claims import verify
from tangentlab.experiments.base import perform
from tests.browser import Browser, problems, require_browser
from tests.claims.toy import EXPERIMENTS, Toss, toss, use_plan

pytestmark = pytest.mark.browser

CHART = "[...document.querySelectorAll('figure.chart')].at(-1)"
TICKS = f"return [...{CHART}.querySelectorAll('.tick')].map(t => t.textContent).join()"


def run_page(folder: Path) -> Path:
    return perform(EXPERIMENTS, "toss", Toss(), folder).files.page


def verification_page(folder: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        use_plan(patch, toss("D1"))
        verify("smoke", folder)
    return folder / "report.html"


@pytest.fixture(scope="module", params=[run_page, verification_page])
def page(request, tmp_path_factory) -> Path:
    """A page whose last figure is that of tosses and their sums."""
    require_browser()
    return request.param(tmp_path_factory.mktemp("made"))


def count(browser: Browser, selector: str) -> int:
    return browser.script(f"return {CHART}.querySelectorAll({selector!r}).length")


def sheet(browser: Browser) -> tuple[float, float, float, float]:
    """Left, top, width and height of the figure's panel, in the middle of the page."""
    browser.script(f"{CHART}.scrollIntoView({{block: 'center'}})")
    left, top, width, height = browser.script(
        f"const box = {CHART}.querySelector('.sheet').getBoundingClientRect();"
        "return [box.left, box.top, box.width, box.height];"
    )
    return left, top, width, height


@pytest.mark.parametrize("width", [390, 1280])
def test_figures_are_drawn(page, browser, width):
    findings = browser.visit(page, width=width)
    num_charts = page.read_text("utf-8").count('class="scene"')
    assert num_charts > 0 and problems(findings, 0, num_charts) == []
    assert count(browser, ".mark.line path") == 4


def test_an_entry_switches_its_curve(page, browser):
    browser.visit(page)
    assert count(browser, ".mark.line") == 2
    button = f"{CHART}.querySelector('.entries button')"
    browser.script(f"{button}.click()")
    assert count(browser, ".mark.line") == 1
    assert browser.script(f"return {button}.getAttribute('aria-pressed')") == "false"
    browser.script(f"{button}.click()")
    assert count(browser, ".mark.line") == 2
    assert browser.console() == []


def test_pointing_at_a_curve_shows_its_numbers(page, browser):
    browser.visit(page)
    left, top, width, height = sheet(browser)
    hidden = f"return {CHART}.querySelector('.tip').hidden"
    for step in range(1, 20):
        browser.point("mouseMoved", left + width * step / 20, top + height / 2)
        if not browser.script(hidden):
            break
    text = browser.script(f"return {CHART}.querySelector('.tip').innerText")
    assert "number: " in text and "value: " in text
    assert text.split("\n")[0] in ("tosses", "sums")
    browser.point("mouseMoved", 5, 5)
    assert browser.script(hidden)


def test_dragging_enlarges_and_one_click_shows_the_whole_again(page, browser):
    browser.visit(page)
    before = browser.script(TICKS)
    left, top, width, height = sheet(browser)
    start = left + width * 0.2, top + height * 0.3
    end = left + width * 0.5, top + 80
    browser.point("mousePressed", *start, button="left", clickCount=1)
    browser.point("mouseMoved", *end, button="left", buttons=1)
    browser.point("mouseReleased", *end, button="left", clickCount=1)
    assert browser.script(TICKS) != before
    assert not browser.script(f"return {CHART}.querySelector('.reset').hidden")
    browser.script(f"{CHART}.querySelector('.reset').click()")
    assert browser.script(TICKS) == before
    assert browser.console() == []


def test_figures_that_nobody_saw_are_printed(page, browser):
    browser.call("POST", f"{browser.session}/url", {"url": page.as_uri()})
    browser.command("Page.printToPDF")
    assert browser.count("figure.chart") == browser.count("figure.drawn") > 0
    assert count(browser, ".mark.line path") == 4


def test_an_axis_that_is_linear_around_zero_is_that_of_matplotlib(page, browser):
    browser.visit(page)
    values = [-30.0, -1.0, 0.0, 0.5, 2.0, 7.0, 100.0]
    axis = "{linear: [2, 2.2 / 0.9]}"
    places, again = browser.script(
        f"const s = new tangentlabCharts.Scale({axis}, [-30, 100], 0, 1);"
        f"const at = {values}.map(v => s.place(v));"
        "return [at, at.map(v => s.value(v))];"
    )
    bent = SymmetricalLogTransform(10, linthresh=2, linscale=2.2).transform(values)
    np.testing.assert_allclose(places, (bent - bent[0]) / (bent[-1] - bent[0]))
    np.testing.assert_allclose(again, values, atol=1e-9)


def test_colors_follow_the_scheme(page, browser):
    browser.visit(page)
    dark = browser.script("return matchMedia('(prefers-color-scheme: dark)').matches")
    used, light = browser.script(
        "const g = document.querySelector('figure.drawn .mark.line');"
        "const shown = getComputedStyle(g.querySelector('path'));"
        "const one = g.style.getPropertyValue('--light');"
        "const probe = document.createElement('i'); probe.style.color = one;"
        "document.body.append(probe); const wanted = getComputedStyle(probe).color;"
        "return [shown.stroke === 'none' ? shown.fill : shown.stroke, wanted];"
    )
    assert (used != light) == dark
