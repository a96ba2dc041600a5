"""The frame of every page: one file, nothing from elsewhere, light or dark.

A page names the hash of its script in its policy, so that no other one runs.
"""

import base64
import hashlib
from html import escape
from pathlib import Path

_ICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>"
    "<path d='M3 27C10 27 13 6 29 5' fill='none' stroke='#1f5f8b' stroke-width='4'/>"
    "<path d='M4 29L28 5' fill='none' stroke='#d1603d' stroke-width='3'/></svg>"
)


def document(title: str, body: str, *, style: str = "", script: str = "") -> str:
    """A whole HTML document.

    Args:
        title: Of the page, not escaped yet.
        body: What is shown, as HTML.
        style: CSS after that of all pages.
        script: JavaScript that runs at the end of the page; no other script runs, and
            without it none.

    Returns:
        The document.
    """
    css = Path(__file__).with_name("page.css").read_text("utf-8") + style
    icon = base64.b64encode(_ICON.encode()).decode()
    allowed = f"; script-src {script_source(script)}" if script else ""
    last = f"<script>{script}</script>\n" if script else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src data:; style-src 'unsafe-inline'{allowed}">
<title>{escape(title)}</title>
<link rel="icon" href="data:image/svg+xml;base64,{icon}">
<style>
{css}</style>
</head>
<body>
{body}
{last}</body>
</html>
"""


def script_source(script: str) -> str:
    """What a page's policy says to allow a script, and only that one.

    Args:
        script: The text of the inline element.

    Returns:
        Its hash, as a source of `script-src`.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"
