"""A small ModelScope on loopback: the part of its interface that a pull uses."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.pull.hub import Hub, _Handler


class _ModelScope(_Handler):
    def route(self, path: str, body: bool) -> None:
        hub, query = self.hub, parse_qs(urlsplit(self.path).query)
        if hub.token and hub.token not in self.headers.get("Cookie", "") + self.headers.get("Authorization", ""):
            return self._plain(401, b'{"Code": 401, "Success": false, "Message": "no"}', {}, body)
        if path == f"/api/v1/models/{hub.repository}/repo/files":
            files = [
                {"Path": name, "Type": "blob", "Size": hub.size(name), "Sha256": hub.sha(name)} for name in hub.files
            ]
            answer = json.dumps({"Code": 200, "Success": True, "Data": {"Files": files}}).encode()
            return self._plain(200, answer, {"Content-Type": "application/json"}, body)
        if path == f"/api/v1/models/{hub.repository}/repo" and "FilePath" in query:
            return self.content(query["FilePath"][0], {}, body)
        return self._plain(404, b'{"Code": 404, "Success": false, "Message": "not there"}', {}, body)


@contextmanager
def reached(home: Path, monkeypatch: pytest.MonkeyPatch, name: str, contents: dict[str, bytes]) -> Iterator[Hub]:
    """One repository, as the only one that a pull finds; its cache lies in `home`."""
    hub = Hub(name, contents)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (_ModelScope,), {"hub": hub}))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("MODELSCOPE_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("MODELSCOPE_CACHE", str(home / "ms"))
    monkeypatch.delenv("MODELSCOPE_API_TOKEN", raising=False)
    yield hub
    server.shutdown()
    server.server_close()
