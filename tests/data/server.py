"""A web server whose first path component says how it misbehaves."""

import http.server
import threading
from typing import Any

CONTENT = bytes(range(256)) * 800  # several blocks of a transfer


class Server(http.server.ThreadingHTTPServer):
    """Serves files by name, and remembers what it was asked for."""

    def __init__(self, address, handler):
        super().__init__(address, handler)
        self.files = {"file": CONTENT}
        self.asked: list[tuple[str, str | None]] = []
        self.released = threading.Event()

    def url(self, behavior: str, name: str = "file") -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{behavior}/{name}"

    def ranges(self) -> list[str | None]:
        """The `Range` header of each request so far."""
        return [asked for _, asked in self.asked]


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self):  # noqa: N802  (the base class wants this name)
        _, behavior, name = self.path.split("/")
        content = self.server.files[name]
        asked = self.headers.get("Range")
        self.server.asked.append((behavior, asked))
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        if behavior == "missing" or (behavior == "cut-then-missing" and start):
            self.send_error(404)
        elif behavior == "no-range":
            self.answer(content, 0)
        elif behavior == "wrong-range" and start:
            self.answer(content, start, said=start + 1)
        elif start >= len(content):
            self.send_error(416)
        elif behavior == "wrong":
            self.answer(bytes(len(content)), start)
        elif behavior in ("cut", "cut-then-missing"):
            self.answer(content, start, cut=80_000)
        elif behavior == "cut-at-once":
            self.answer(content, start, cut=0)
        elif behavior == "cut-no-range":
            self.answer(content, 0, cut=80_000)
        elif behavior == "no-length":
            self.answer(content, start, length=False)
        elif behavior == "stall":
            self.answer(content, start, cut=0, stall=True)
        elif behavior == "stall-midway":
            self.answer(content, start, cut=80_000, stall=True)
        else:
            self.answer(content, start)

    def answer(self, content, start, *, said=None, cut=None, length=True, stall=False):
        data = content[start:]
        self.send_response(206 if start else 200)
        if length:
            self.send_header("Content-Length", str(len(data)))
        if start:
            first = start if said is None else said
            last = len(content) - 1
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(content)}")
        self.end_headers()
        self.wfile.write(data if cut is None else data[:cut])
        self.wfile.flush()
        if stall:
            self.server.released.wait(10)

    def log_message(self, format: str, *args: Any):  # noqa: A002  (as the base class)
        """Keep the test's output clean."""
