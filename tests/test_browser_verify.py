"""The page of a verification in a real browser."""

import time
from pathlib import Path

import pytest

from tangentlab.claims import CATALOG, verify
from tests.browser import Browser, Findings, open_browser, problems, require_browser
from tests.claims.toy import toss, use_plan

pytestmark = pytest.mark.browser

CHART = "document.querySelector('details.run figure.chart')"
CENTER = f"""
const box = {CHART}.querySelector('.sheet').getBoundingClientRect();
return [box.left, box.top, box.width, box.height];
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    """Two networks, a claim that holds, one that does not and a run that failed."""
    require_browser()
    folder = tmp_path_factory.mktemp("verification")
    runs = (
        toss("D1", "D47"),
        toss("D1", "D2", model="lenet", mean=-1.0),
        toss("D3", trouble="run"),
    )
    with pytest.MonkeyPatch.context() as patch:
        use_plan(patch, *runs)
        verify("smoke", folder)
    return folder / "report.html"


@pytest.fixture(scope="module")
def real_page(tmp_path_factory) -> Path:
    """Two real claims: a curve over eigenfunctions, with images, and directions."""
    require_browser()
    folder = tmp_path_factory.mktemp("real")
    verify("smoke", folder, claims=["D3", "D18"])
    return folder / "report.html"


@pytest.fixture(scope="module", params=["light", "dark"])
def browser(request, tmp_path_factory):
    require_browser()
    folder = tmp_path_factory.mktemp("browser")
    with open_browser(folder, dark=request.param == "dark") as session:
        yield session


def look(browser: Browser, page: Path, width: int = 1280) -> Findings:
    """Open the page and every run, and wait until all figures are drawn."""
    findings = browser.visit(page, width=width)
    browser.script("document.querySelectorAll('details').forEach(d => d.open = true)")
    for figure in range(count(browser, "figure.chart")):
        chart = f"document.querySelectorAll('figure.chart')[{figure}]"
        browser.script(f"{chart}.scrollIntoView()")
        wait(browser, f"{chart}.querySelector('.drawing svg') !== null")
    return findings


def wait(browser: Browser, condition: str) -> None:
    for _ in range(100):
        if browser.script(f"return {condition}"):
            return
        time.sleep(0.05)
    pytest.fail(f"never true: {condition}")


def count(browser: Browser, selector: str) -> int:
    return browser.script(f"return document.querySelectorAll({selector!r}).length")


def in_chart(selector: str) -> str:
    return f"details.run figure.chart {selector}"


def point(browser: Browser, kind: str, x: float, y: float, **options) -> None:
    browser.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, **options)


def console(browser: Browser) -> list[str]:
    entries = browser.log("browser")
    return [e["message"] for e in entries if e["level"] in ("WARNING", "SEVERE")]


@pytest.mark.parametrize("width", [390, 1280])
def test_figures_are_drawn_and_nothing_comes_from_elsewhere(page, browser, width):
    findings = look(browser, page, width)
    assert problems(findings, 0) == []
    assert count(browser, "figure.chart") == count(browser, "figure.drawn") >= 4
    sizes = browser.script(
        "return [...document.querySelectorAll('figure.drawn .drawing svg')].map(s => {"
        "const b = s.getBoundingClientRect(); return [b.width, b.height, b.right]; })"
    )
    assert all(w > 200 and h > 100 and right <= width for w, h, right in sizes)
    assert count(browser, in_chart(".mark.line path")) >= 4
    overflow = browser.script("return document.documentElement.scrollWidth")
    assert overflow <= width
    assert console(browser) == []


def test_an_entry_switches_its_curve(page, browser):
    look(browser, page)
    before = count(browser, in_chart(".mark.line"))
    button = f"{CHART}.querySelector('.entries button')"
    browser.script(f"{button}.click()")
    assert count(browser, in_chart(".mark.line")) == before - 1
    assert browser.script(f"return {button}.getAttribute('aria-pressed')") == "false"
    browser.script(f"{button}.click()")
    assert count(browser, in_chart(".mark.line")) == before
    assert console(browser) == []


def test_a_model_switches_its_numbers_in_the_figure_of_a_claim(page, browser):
    look(browser, page)
    chart = "#D1 figure.chart"
    names = browser.script(
        f"return [...document.querySelectorAll('{chart} .entries button')]"
        ".filter(b => !b.hidden).map(b => b.textContent)"
    )
    assert names == ["MLP on coins", "LeNet on coins"]
    before = count(browser, f"{chart} .mark.segments")
    browser.script(f"document.querySelector('{chart} .entries button').click()")
    assert count(browser, f"{chart} .mark.segments") == before - 1


def test_pointing_at_a_curve_shows_its_numbers(page, browser):
    look(browser, page)
    browser.script(f"{CHART}.scrollIntoView({{block: 'center'}})")
    left, top, width, height = browser.script(CENTER)
    for step in range(1, 20):
        point(browser, "mouseMoved", left + width * step / 20, top + height / 2)
        if not browser.script(f"return {CHART}.querySelector('.tip').hidden"):
            break
    text = browser.script(f"return {CHART}.querySelector('.tip').innerText")
    assert "number: " in text and "value: " in text
    assert text.split("\n")[0] in ("tosses", "sums")
    point(browser, "mouseMoved", 5, 5)
    assert browser.script(f"return {CHART}.querySelector('.tip').hidden")


def test_dragging_enlarges_and_one_click_shows_the_whole_again(page, browser):
    look(browser, page)
    browser.script(f"{CHART}.scrollIntoView({{block: 'center'}})")
    ticks = (
        f"return [...{CHART}.querySelectorAll('.tick')].map(t => t.textContent).join()"
    )
    before = browser.script(ticks)
    left, top, width, height = browser.script(CENTER)
    start, end = (
        (left + width * 0.2, top + height * 0.3),
        (left + width * 0.5, top + 80),
    )
    point(browser, "mousePressed", *start, button="left", clickCount=1)
    point(browser, "mouseMoved", *end, button="left", buttons=1)
    point(browser, "mouseReleased", *end, button="left", clickCount=1)
    assert browser.script(ticks) != before
    assert not browser.script(f"return {CHART}.querySelector('.reset').hidden")
    browser.script(f"{CHART}.querySelector('.reset').click()")
    assert browser.script(ticks) == before
    assert console(browser) == []


def test_verdicts_and_networks_can_be_filtered(page, browser):
    look(browser, page)
    rows = ".verdicts tbody tr:not([hidden])"
    assert count(browser, rows) == len(CATALOG)
    browser.script(
        "document.querySelector('.filters button[data-kind=not-measured]').click()"
    )
    assert count(browser, rows) == 3
    runs = "details.run:not([hidden])"
    assert count(browser, runs) == 3
    browser.script("document.querySelector('.filters button[data-kind=LeNet]').click()")
    assert count(browser, runs) == 2


def test_a_claim_at_a_glance_leads_to_its_section(page, browser):
    look(browser, page)
    browser.script("document.querySelector('.glance a[href=\"#D2\"]').click()")
    wait(browser, "location.hash === '#D2'")
    wait(
        browser,
        "Math.abs(document.getElementById('D2').getBoundingClientRect().top) < 60",
    )
    browser.script("document.querySelectorAll('details').forEach(d => d.open = false)")
    browser.script("document.querySelector('#D2 a[href^=\"#run-\"]').click()")
    wait(browser, "document.getElementById('run-1').open")


def test_colors_follow_the_scheme(page, browser):
    look(browser, page)
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


@pytest.mark.parametrize("width", [390, 1280])
def test_real_claims_are_drawn_with_their_pictures(real_page, browser, width):
    findings = look(browser, real_page, width)
    assert findings.errors == []
    assert all(url.startswith(("file:", "data:")) for url in findings.requests)
    assert count(browser, "figure.chart") == count(browser, "figure.drawn") >= 8
    assert count(browser, "#D3 figure.drawn .mark") > 0
    pictures = browser.script(
        "return [...document.images].map(i => [i.complete, i.naturalWidth])"
    )
    assert len(pictures) >= 2
    assert all(complete and natural > 0 for complete, natural in pictures)
    overflow = browser.script("return document.documentElement.scrollWidth")
    assert overflow <= width
    assert console(browser) == []
