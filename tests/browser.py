"""Headless Chromium through chromedriver's plain HTTP protocol: no package needed."""

import base64
import json
import os
import re
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

PROGRAMS = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
MISSING = [name for name, path in PROGRAMS.items() if path is None]

_FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
--disable-background-networking --disable-component-update --disable-sync
--hide-scrollbars""".split()
_BAD = ("WARNING", "SEVERE")

_IMAGES = """
return [...document.images].map(i => {
  const box = i.getBoundingClientRect();
  return {alt: i.alt, complete: i.complete, natural: i.naturalWidth,
          width: box.width, height: box.height, left: box.left, right: box.right};
});
"""

_CHARTS = """
return [...document.querySelectorAll('figure.chart')].map(figure => ({
  alt: figure.dataset.alt,
  marks: figure.querySelectorAll('.mark > *').length,
  panels: [...figure.querySelectorAll('.drawing svg')].map(svg => {
    const box = svg.getBoundingClientRect();
    return {width: box.width, height: box.height, left: box.left, right: box.right};
  }),
}));
"""


def require_browser(missing: list[str] = MISSING) -> None:
    """Fail where a program is missing; skip if `TANGENTLAB_NO_BROWSER` is set."""
    if not missing:
        return
    what = f"not installed: {', '.join(missing)}"
    if os.environ.get("TANGENTLAB_NO_BROWSER"):
        pytest.skip(f"{what}, and TANGENTLAB_NO_BROWSER is set")
    pytest.fail(
        f"{what}. Install them, on Debian with `apt install chromium chromium-driver`, "
        "or set TANGENTLAB_NO_BROWSER=1 to skip these tests."
    )


class Findings(NamedTuple):
    """What a browser made of a page.

    Attributes:
        images: Each image with its natural width and its box on the page.
        charts: Each figure of the script, with its marks and the boxes of its panels.
        errors: Messages of the console at level warning or above.
        requests: Every address that was asked for.
        width: Width of the window.
        overflow: Width of the content; more than that of the window if it sticks out.
    """

    images: list[dict[str, Any]]
    charts: list[dict[str, Any]]
    errors: list[str]
    requests: list[str]
    width: int
    overflow: int


class Browser:
    """A session of chromedriver."""

    def __init__(self, address: str, profile: Path, *, dark: bool):
        self.address = address
        # Chromium itself adds flags from its wrapper; the profile keeps runs apart.
        args = [*_FLAGS, f"--user-data-dir={profile}"]
        if dark:
            args.append("--blink-settings=preferredColorScheme=0")
        options = {"binary": PROGRAMS["chromium"], "args": args}
        capabilities = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        value = self.call(
            "POST", "/session", {"capabilities": {"alwaysMatch": capabilities}}
        )
        self.session = f"/session/{value['sessionId']}"

    def call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(
            self.address + path, data=data, headers=headers, method=method
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def script(self, code: str) -> Any:
        body = {"script": code, "args": []}
        return self.call("POST", f"{self.session}/execute/sync", body)

    def log(self, kind: str) -> list[dict[str, Any]]:
        return self.call("POST", f"{self.session}/se/log", {"type": kind})

    def command(self, name: str, **params: Any) -> Any:
        body = {"cmd": name, "params": params}
        return self.call("POST", f"{self.session}/goog/cdp/execute", body)

    def visit(self, page: Path, *, width: int = 1280, height: int = 900) -> Findings:
        """Open a page in a window of that size, unfold its runs and see each figure."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        for kind in ("browser", "performance"):
            self.log(kind)
        self.call("POST", f"{self.session}/url", {"url": page.resolve().as_uri()})
        self._see_charts()
        images, charts = self.script(_IMAGES), self.script(_CHARTS)
        inner, overflow = self.script(
            "return [document.documentElement.clientWidth,"
            " document.documentElement.scrollWidth]"
        )
        errors = self.console()
        events = [json.loads(e["message"])["message"] for e in self.log("performance")]
        requests = [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]
        return Findings(images, charts, errors, requests, inner, overflow)

    def console(self) -> list[str]:
        """What the console said at level warning or above, since it was last read."""
        said = self.log("browser")
        return [each["message"] for each in said if each["level"] in _BAD]

    def count(self, selector: str) -> int:
        """How many elements there are."""
        return self.script(f"return document.querySelectorAll({selector!r}).length")

    def wait(self, condition: str) -> bool:
        """Wait until something is true of the page, some seconds."""
        for _ in range(100):
            if self.script(f"return {condition}"):
                return True
            time.sleep(0.05)
        return False

    def point(self, kind: str, x: float, y: float, **options: Any) -> None:
        """Move or press the mouse."""
        self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, **options)

    def _see_charts(self) -> None:
        # They are drawn when they come near the window.
        self.script("document.querySelectorAll('details.run').forEach(d => d.open = 1)")
        for number in range(self.count("figure.chart")):
            chart = f"document.querySelectorAll('figure.chart')[{number}]"
            self.script(f"{chart}.scrollIntoView()")
            self.wait(f"{chart}.querySelector('.drawing svg') !== null")
        self.script("scrollTo(0, 0)")

    def screenshot(self, file: Path) -> None:
        """Save the whole page as an image."""
        value = self.command(
            "Page.captureScreenshot", format="png", captureBeyondViewport=True
        )
        file.write_bytes(base64.b64decode(value["data"]))


@contextmanager
def open_browser(folder: Path, *, dark: bool = False) -> Iterator[Browser]:
    """Start chromedriver on a free port, and end it with the block."""
    assert PROGRAMS["chromedriver"] is not None
    driver = subprocess.Popen(
        [PROGRAMS["chromedriver"], "--port=0"], stdout=subprocess.PIPE, text=True
    )
    browser = None
    try:
        assert driver.stdout is not None
        lines = iter(driver.stdout.readline, "")
        ports = (re.search(r"successfully on port (\d+)", line) for line in lines)
        port = next(match[1] for match in ports if match)
        browser = Browser(f"http://127.0.0.1:{port}", folder / "profile", dark=dark)
        yield browser
    finally:
        if browser is not None:
            browser.call("DELETE", browser.session)
        driver.terminate()
        driver.wait(timeout=30)
        if driver.stdout is not None:
            driver.stdout.close()


def problems(findings: Findings, num_images: int, num_charts: int) -> list[str]:
    """Everything that is wrong with a page; empty for a good one."""
    found = [f"console: {message}" for message in findings.errors]
    for url in findings.requests:
        if not url.startswith(("file:", "data:")):
            found.append(f"request: {url}")
    if len(findings.images) != num_images:
        found.append(f"{len(findings.images)} images instead of {num_images}")
    if len(findings.charts) != num_charts:
        found.append(f"{len(findings.charts)} charts instead of {num_charts}")
    for image in findings.images:
        drawn = image["complete"] and image["natural"] > 0
        visible = image["width"] > 50 and image["height"] > 50
        inside = image["left"] >= 0 and image["right"] <= findings.width
        if not (drawn and visible and inside):
            found.append(f"image not drawn: {image}")
    for chart in findings.charts:
        drawn = chart["marks"] > 0 and len(chart["panels"]) > 0
        visible = all(p["width"] > 100 and p["height"] > 50 for p in chart["panels"])
        inside = all(
            p["left"] >= 0 and p["right"] <= findings.width for p in chart["panels"]
        )
        if not (drawn and visible and inside):
            found.append(f"chart not drawn: {chart}")
    if findings.overflow > findings.width:
        found.append(f"content is {findings.overflow} wide, window {findings.width}")
    return found
