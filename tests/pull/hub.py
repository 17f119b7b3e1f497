"""A small hub on loopback: the part of Hugging Face's interface that a pull uses, with faults to order."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

COMMIT = "c0ffee" + "0" * 34
PIECE = 65_536
"""Bytes that are sent at a time."""


class Pace:
    """Lets so many pieces through; `starved` is set once more of them are waited for."""

    def __init__(self) -> None:
        self.starved = threading.Event()
        self._let = threading.Semaphore(0)

    def release(self, pieces: int = 1) -> None:
        self.starved.clear()
        if pieces:
            self._let.release(pieces)

    def acquire(self, timeout: float) -> bool:
        if self._let.acquire(blocking=False):
            return True
        self.starved.set()
        return self._let.acquire(timeout=timeout)


@dataclass
class Hub:
    """`files`: path -> content; those over `lfs_from` bytes are kept outside of git. `cut`: connections for content
    end after so many bytes. `pace`: waits on this before each piece. `lies`: paths whose content comes out wrong.
    `token`: what must be sent to the hub itself. `claims`: sizes that are listed in place of the true ones. `sent`:
    bytes of content so far; `on_sent`: called at each piece, on a thread of the hub's. `seen`: (method, path, headers)
    of every request."""

    repository: str
    files: dict[str, bytes]
    lfs_from: int = 1000
    cut: int | None = None
    pace: threading.Semaphore | Pace | None = None
    lies: set[str] = field(default_factory=set)
    ranges: bool = True
    token: str = ""
    claims: dict[str, int] = field(default_factory=dict)
    down: bool = False
    sent: int = 0
    on_sent: Callable[[], None] = lambda: None
    seen: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)

    def __enter__(self) -> Hub:
        self._api, self._cdn = _server(self, _Api), _server(self, _Cdn)
        return self

    def __exit__(self, *error: object) -> None:
        for server in (self._api, self._cdn):
            server.shutdown()
            server.server_close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._api.server_port}"

    @property
    def cdn(self) -> str:
        return f"http://127.0.0.1:{self._cdn.server_port}"

    def sha(self, path: str) -> str:
        return hashlib.sha256(self.files[path]).hexdigest()

    def git(self, path: str) -> str:
        content = self.files[path]
        return hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()

    def is_lfs(self, path: str) -> bool:
        return len(self.files[path]) >= self.lfs_from

    def size(self, path: str) -> int:
        return self.claims.get(path, len(self.files[path]))

    def listing(self) -> dict[str, Any]:
        siblings = []
        for path in self.files:
            entry: dict[str, Any] = {"rfilename": path, "size": self.size(path), "blobId": self.git(path)}
            if self.is_lfs(path):
                entry["lfs"] = {"sha256": self.sha(path), "size": self.size(path), "pointerSize": 134}
            siblings.append(entry)
        return {"id": self.repository, "sha": COMMIT, "siblings": siblings, "tags": [], "private": False}


def _server(hub: Hub, handler: type[_Handler]) -> ThreadingHTTPServer:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (handler,), {"hub": hub}))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    return server


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *words: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, body: bool) -> None:
        self.hub.seen.append((self.command, self.path, {name.lower(): text for name, text in self.headers.items()}))
        if self.hub.down:
            return self._plain(503, b"down", {}, body)
        self.route(unquote(urlsplit(self.path).path), body)

    def route(self, path: str, body: bool) -> None:
        raise AssertionError

    def _plain(self, status: int, content: bytes, headers: dict[str, str], body: bool) -> None:
        self.send_response(status)
        for name, text in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, text)
        self.end_headers()
        if body:
            self.wfile.write(content)

    def content(self, path: str, headers: dict[str, str], body: bool) -> None:
        hub, content = self.hub, self.hub.files[path]
        if path in hub.lies:
            content = bytes(byte ^ 1 for byte in content)
        offset, end, status = 0, len(content) - 1, 200
        wanted = self.headers.get("Range")
        if wanted and hub.ranges and body:
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            offset, end, status = int(first), int(last or len(content) - 1), 206
            headers = headers | {"Content-Range": f"bytes {offset}-{end}/{len(content)}"}
        self.send_response(status)
        rest = content[offset : end + 1]
        for name, text in {"Content-Length": str(len(rest)), **headers}.items():
            self.send_header(name, text)
        self.end_headers()
        if not body:
            return
        limit = len(rest) if hub.cut is None or not hub.is_lfs(path) else hub.cut
        for at in range(0, min(len(rest), limit), PIECE):
            if hub.pace is not None and hub.is_lfs(path):
                hub.pace.acquire(timeout=20)
            piece = rest[at : min(at + PIECE, limit)]
            try:
                self.wfile.write(piece)
            except OSError:  # whoever asked is gone: the piece is for the next one
                if hub.pace is not None and hub.is_lfs(path):
                    hub.pace.release()
                break
            hub.sent += len(piece)
            hub.on_sent()
        if limit < len(rest):
            self.close_connection = True


class _Api(_Handler):
    def route(self, path: str, body: bool) -> None:
        hub = self.hub
        if hub.token and self.headers.get("Authorization") != f"Bearer {hub.token}":
            return self._plain(401, b"{}", {}, body)
        if path.startswith("/api/models/"):
            if path.split("/revision/")[0] != f"/api/models/{hub.repository}":
                return self._plain(404, b"{}", {"X-Error-Code": "RepoNotFound"}, body)
            return self._plain(200, json.dumps(hub.listing()).encode(), {"Content-Type": "application/json"}, body)
        name = path.removeprefix(f"/{hub.repository}/resolve/{COMMIT}/")
        if name not in hub.files:
            return self._plain(404, b"{}", {"X-Error-Code": "EntryNotFound"}, body)
        about = {"X-Repo-Commit": COMMIT}
        if hub.is_lfs(name):
            about |= {
                "X-Linked-Etag": f'"{hub.sha(name)}"', "X-Linked-Size": str(len(hub.files[name])),
                "Location": f"{hub.cdn}/{hub.sha(name)}?Signature=secret", "ETag": '"pointer"',
            }  # fmt: skip
            return self._plain(302, b"", about, body)
        self.content(name, about | {"ETag": f'"{hub.git(name)}"'}, body)


class _Cdn(_Handler):
    def route(self, path: str, body: bool) -> None:
        hub = self.hub
        name = next(name for name in hub.files if f"/{hub.sha(name)}" == path)
        self.content(name, {"ETag": '"x"'}, body)


@contextmanager
def reached(home: Path, monkeypatch: pytest.MonkeyPatch, name: str, contents: dict[str, bytes]) -> Iterator[Hub]:
    """A hub with one repository, as the only one that a pull finds; its caches lie in `home`."""
    for variable in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE",
                     "HF_HUB_OFFLINE", "HTTP_PROXY", "http_proxy"):  # fmt: skip
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HF_HOME", str(home / "hf"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Hub(name, contents) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        yield hub
