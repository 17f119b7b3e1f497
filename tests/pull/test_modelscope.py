"""A pull from ModelScope: into its own cache, checked, and taken up again after a kill."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from spark_chat.models.find import find
from spark_chat.pull.pull import PullProblem, Standing, pull
from spark_chat.pull.said import Request
from tests.pull.hub import Hub, _Handler

NAME = "someone/Model-1B"
REQUEST = Request(repository=NAME, hub="modelscope")
FILES = {"config.json": b"{}", "model.safetensors": random.Random(2).randbytes(5_000_000)}


class _ModelScope(_Handler):
    def route(self, path: str, body: bool) -> None:
        query = parse_qs(urlsplit(self.path).query)
        if path == f"/api/v1/models/{NAME}/repo/files":
            files = [
                {"Path": name, "Type": "blob", "Size": len(content), "Sha256": hashlib.sha256(content).hexdigest()}
                for name, content in self.hub.files.items()
            ]
            answer = json.dumps({"Code": 200, "Success": True, "Data": {"Files": files}}).encode()
            return self._plain(200, answer, {"Content-Type": "application/json"}, body)
        if path == f"/api/v1/models/{NAME}/repo" and "FilePath" in query:
            return self.content(query["FilePath"][0], {}, body)
        return self._plain(404, b'{"Code": 404, "Success": false, "Message": "not there"}', {}, body)


@pytest.fixture
def hub(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    hub = Hub(NAME, dict(FILES))
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


async def test_it_comes_into_its_own_cache_and_goes_on_after_a_kill(home: Path, hub: Hub) -> None:
    hub.pace = threading.Semaphore(40)
    here = asyncio.Event()
    task = asyncio.create_task(pull(REQUEST, lambda standing: here.set() if standing.here > 200_000 else None))
    await asyncio.wait_for(here.wait(), 30)
    task.cancel()
    await asyncio.wait([task])
    before = hub.sent
    hub.pace.release(10_000)
    seen: list[Standing] = []
    path, checked = await pull(REQUEST, seen.append)
    assert path == home / "ms" / "models" / "someone--Model-1B" / "snapshots" / "master" and checked == 2
    assert {name: (path / name).read_bytes() for name in FILES} == FILES
    assert find(NAME).path == str(path) and seen[-1].here == seen[-1].size
    assert hub.sent - before < len(FILES["model.safetensors"]), "what had come was not sent again"


async def test_content_that_is_not_what_is_listed_and_a_name_that_is_not_there(hub: Hub) -> None:
    hub.lies.add("model.safetensors")
    with pytest.raises(PullProblem, match="its hash differs"):
        await pull(REQUEST, lambda standing: None)
    with pytest.raises(PullProblem, match=r"There is no no/such at 127.0.0.1"):
        await pull(Request(repository="no/such", hub="modelscope"), lambda standing: None)
