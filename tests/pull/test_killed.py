"""`spark-chat pull` of a repository of Ling's layout, ended at random moments in every way that a process can be."""

from __future__ import annotations

import json
import random
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import psutil
import pytest

from tests.cli.process import Finished, run, spawn
from tests.pull import hub as hugging_face
from tests.pull import modelscope
from tests.pull.hub import COMMIT, PIECE, Hub, Pace

NAME = "inclusionAI/Ling-3.0-flash-fp4"
TOKEN = "hf_" + "NeverShown" * 3
SHARDS = 24
PATIENCE_S = 120


def contents(size: int) -> dict[str, bytes]:
    """`size`: bytes of a shard."""
    dice = random.Random(3)
    shards = {f"model-{n:05d}-of-{SHARDS:05d}.safetensors": dice.randbytes(size + n) for n in range(1, SHARDS + 1)}
    index = {"metadata": {}, "weight_map": {f"layers.{n}": name for n, name in enumerate(shards)}}
    return {
        ".gitattributes": b"*.safetensors filter=lfs\n", "README.md": b"---\nlicense: mit\n---\n",
        "config.json": b'{"model_type": "bailing_hybrid"}', "generation_config.json": b"{}",
        "chat_template.jinja": b"{{ messages }}", "tokenizer_config.json": b"{}",
        "tokenizer.json": dice.randbytes(150_000), "special_tokens_map.json": b"{}",
        "model.safetensors.index.json": json.dumps(index).encode(), **shards,
    }  # fmt: skip


class Place:
    """A hub, and where a pull from it puts things."""

    def __init__(self, hub: Hub, home: Path, kind: str) -> None:
        self.hub, self.kind = hub, kind
        self.arguments = ("pull", NAME, "--hub", kind, "--json")
        self.cache = home / ("hf" if kind == "huggingface" else "ms")
        self.folder = (
            self.cache / "hub" / "models--inclusionAI--Ling-3.0-flash-fp4" / "snapshots" / COMMIT
            if kind == "huggingface"
            else self.cache / "models" / "inclusionAI--Ling-3.0-flash-fp4" / "snapshots" / "master"
        )

    def parts(self) -> dict[str, int]:
        """The files that came in part, and how much of each."""
        if self.kind == "modelscope":
            pieces = self.cache.rglob("*.safetensors.incomplete")
            found = {path.name.removesuffix(".incomplete"): path for path in pieces}
        else:
            named = {self.hub.sha(name): name for name in self.hub.files}
            blobs = {path.name.removesuffix(".incomplete"): path for path in self.cache.rglob("*.incomplete")}
            found = {named[key]: path for key, path in blobs.items() if key in named}
        return {name: path.stat().st_size for name, path in found.items() if path.stat().st_size}

    def whole(self) -> set[str]:
        """The shards that came to their end."""
        if self.kind == "modelscope":
            return {path.name for path in self.cache.rglob("*.safetensors")}
        named = {self.hub.sha(name): name for name in self.hub.files}
        return {named[path.name] for path in self.cache.rglob("blobs/*") if path.name in named}

    def asked(self, since: int) -> dict[str, int]:
        """The offset at which each shard was first asked for since request number `since`."""
        named = {f"/{self.hub.sha(name)}": name for name in self.hub.files}
        found: dict[str, int] = {}
        for method, address, headers in self.hub.seen[since:]:
            if method != "GET":
                continue
            query = parse_qs(urlsplit(address).query)
            name = query.get("FilePath", [named.get(unquote(urlsplit(address).path), "")])[0]
            if name.endswith(".safetensors"):
                found.setdefault(name, int(headers.get("range", "bytes=0-").removeprefix("bytes=").split("-")[0]))
        return found


@pytest.fixture(params=["huggingface", "modelscope"])
def place(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    kind: str = request.param
    reached = hugging_face.reached if kind == "huggingface" else modelscope.reached
    monkeypatch.setenv("MODELSCOPE_DOWNLOAD_PARALLEL_WORKERS", "4")  # the person's own: a file in several pieces
    monkeypatch.setenv("MODELSCOPE_DOWNLOAD_PARALLEL_THRESHOLD_MB", "1")
    size = 200_000 if kind == "huggingface" else 2_200_000  # ModelScope's library writes a megabyte at a time
    with reached(home, monkeypatch, NAME, contents(size)) as hub:
        hub.token = TOKEN
        monkeypatch.setenv("HF_TOKEN" if kind == "huggingface" else "MODELSCOPE_API_TOKEN", TOKEN)
        yield Place(hub, home, kind)


def ended(process: subprocess.Popen[bytes], how: str) -> Finished:
    """By ctrl+c, by a kill, or by a kill of the process behind it that fetches. None of the two is left."""
    children = psutil.Process(process.pid).children(recursive=True)
    if how == "worker":
        for child in children:
            child.kill()
    else:
        process.send_signal(signal.SIGINT if how == "ctrl+c" else signal.SIGKILL)
    done = Finished(process)
    _, alive = psutil.wait_procs(children, timeout=PATIENCE_S)
    assert not alive, "what fetches goes with what started it"
    return done


def test_ended_in_every_way_at_random_moments_it_goes_on_where_it_was(place: Place) -> None:
    hub, dice, pace = place.hub, random.Random(place.kind), Pace()
    hub.pace = pace
    ways = ["kill", "worker", "ctrl+c"]
    dice.shuffle(ways)
    said = ""
    pieces = sum(len(content) for content in hub.files.values()) // PIECE
    for way in ways:
        pace.release(dice.randrange(pieces // 4))
        process = spawn(*place.arguments)
        assert pace.starved.wait(PATIENCE_S)
        done = ended(process, way)
        said += done.out + done.err
        assert done.code == {"kill": -9, "worker": 1, "ctrl+c": 130}[way], done.err
        assert way == "kill" or "What came is kept" in done.err or "what came is kept" in done.err
        assert not (place.folder / "config.json").exists() or place.kind == "modelscope", "no half model is one"
    parts, whole = place.parts(), place.whole()
    here = sum(parts.values()) + sum(len(hub.files[name]) for name in whole)
    assert run(*place.arguments, "--dry-run").record["present"] >= here > 0
    before = len(hub.seen)
    pace.release(10_000)
    done = run(*place.arguments)
    assert done.code == 0, done.err
    assert done.record == {"model": NAME, "path": str(place.folder), "checked": len(hub.files)}
    assert {name: (place.folder / name).read_bytes() for name in hub.files} == hub.files
    asked = place.asked(before)
    assert not whole & set(asked), "what was whole does not come again"
    parts = {name: size for name, size in parts.items() if size < len(hub.files[name])}
    assert parts.items() <= asked.items(), "what came in part goes on from there"
    assert TOKEN not in said + done.out + done.err


def test_a_disk_too_small_is_said_before_anything_comes(place: Place) -> None:
    hub = place.hub
    hub.claims = {name: 10**15 for name in hub.files if name.endswith(".safetensors")}
    done = run(*place.arguments)
    assert done.code == 1 and "24,000,000.0 GB are still to come" in done.err and "are free in" in done.err
    assert hub.sent == 0 and not list(place.cache.rglob("*.json"))


def test_a_token_that_is_refused_is_not_shown(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.hub.token = "another"
    done = run(*place.arguments)
    assert done.code == 1 and "did not accept the token" in done.err and TOKEN not in done.out + done.err
