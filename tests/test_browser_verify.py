"""The page of a verification in a real browser."""

from pathlib import Path

import pytest

from tangentlab.claims import CATALOG, verify
from tests.browser import problems, require_browser
from tests.claims.toy import toss, use_plan

pytestmark = pytest.mark.browser


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


@pytest.mark.parametrize("width", [390, 1280])
def test_figures_are_drawn_and_nothing_comes_from_elsewhere(page, browser, width):
    findings = browser.visit(page, width=width)
    assert problems(findings, num_images=0, num_charts=5) == []


def test_a_model_switches_its_numbers_in_the_figure_of_a_claim(page, browser):
    browser.visit(page)
    chart = "#D1 figure.chart"
    names = browser.script(
        f"return [...document.querySelectorAll('{chart} .entries button')]"
        ".filter(b => !b.hidden).map(b => b.textContent)"
    )
    assert names == ["MLP on coins", "LeNet on coins"]
    before = browser.count(f"{chart} .mark.segments")
    browser.script(f"document.querySelector('{chart} .entries button').click()")
    assert browser.count(f"{chart} .mark.segments") == before - 1


def test_verdicts_and_networks_can_be_filtered(page, browser):
    browser.visit(page)
    rows = ".verdicts tbody tr:not([hidden])"
    button = "document.querySelector('.filters button[data-kind=not-measured]')"
    for pressed, count in (("false", 3), ("true", len(CATALOG)), ("false", 3)):
        state = browser.script(f"return {button}.getAttribute('aria-pressed')")
        assert (state, browser.count(rows)) == (pressed, count)
        browser.script(f"{button}.click()")
    browser.script(f"{button}.click()")
    runs = "details.run:not([hidden])"
    assert browser.count(runs) == 3
    browser.script("document.querySelector('.filters button[data-kind=LeNet]').click()")
    assert browser.count(runs) == 2


def test_a_claim_at_a_glance_leads_to_its_section(page, browser):
    browser.visit(page)
    browser.script("document.querySelector('.glance a[href=\"#D2\"]').click()")
    assert browser.wait("location.hash === '#D2'")
    top = "document.getElementById('D2').getBoundingClientRect().top"
    assert browser.wait(f"Math.abs({top}) < 60")
    browser.script("document.querySelectorAll('details').forEach(d => d.open = false)")
    browser.script("document.querySelector('#D2 a[href^=\"#run-\"]').click()")
    assert browser.wait("document.getElementById('run-1').open")


def test_a_folded_row_shows_where_a_link_leads_to_it(page, browser):
    browser.visit(page)
    assert browser.script("return document.getElementById('row-D9').hidden")
    browser.script("document.querySelector('.glance a[href=\"#row-D9\"]').click()")
    assert browser.wait("!document.getElementById('row-D9').hidden")


@pytest.mark.parametrize("width", [390, 1280])
def test_real_claims_are_drawn_with_their_pictures(real_page, browser, width):
    findings = browser.visit(real_page, width=width)
    num_images, num_charts = len(findings.images), len(findings.charts)
    assert num_images >= 2 and num_charts >= 8
    assert problems(findings, num_images, num_charts) == []
    assert browser.count("#D3 figure.drawn .mark") > 0
