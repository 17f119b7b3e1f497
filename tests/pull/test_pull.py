"""A repository is brought whole and checked, whatever happens on the way."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from spark_chat.driver.library import Library
from spark_chat.driver.models import Download, Found
from spark_chat.models.find import find
from spark_chat.pull import room
from spark_chat.pull.pull import PullProblem, Standing, planned, pull
from spark_chat.pull.said import Request
from spark_chat.recipe.problem import RecipeProblem
from spark_chat.settings.schema import Settings
from tests.fakes import MACHINE
from tests.pull.hub import COMMIT, Hub, reached

NAME = "someone/Model-1B"
REQUEST = Request(repository=NAME)


def contents(parts: int = 3, size: int = 300_000) -> dict[str, bytes]:
    dice = random.Random(1)
    weights = {f"model-{n:05d}-of-{parts:05d}.safetensors": dice.randbytes(size + n) for n in range(1, parts + 1)}
    index = {"weight_map": {f"w{n}": name for n, name in enumerate(weights)}}
    return {
        "config.json": b"{}",
        "README.md": b"# Model\n",
        "sub/empty.txt": b"",
        "model.safetensors.index.json": json.dumps(index).encode(),
        "pytorch_model.bin": b"the same again" * 1000,
        **weights,
    }


@pytest.fixture
def hub(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with reached(home, monkeypatch, NAME, contents()) as hub:
        yield hub


def folder(home: Path) -> Path:
    return home / "hf" / "hub" / "models--someone--Model-1B"


def whole(path: Path, hub: Hub) -> bool:
    wanted = {name: content for name, content in hub.files.items() if name != "pytorch_model.bin"}
    return all((path / name).read_bytes() == content for name, content in wanted.items())


async def fetched(request: Request = REQUEST) -> tuple[Path, list[Standing]]:
    seen: list[Standing] = []
    path, _ = await pull(request, seen.append)
    return path, seen


async def test_a_repository_comes_whole_into_the_usual_cache(home: Path, hub: Hub) -> None:
    path, seen = await fetched()
    assert path == folder(home) / "snapshots" / COMMIT and whole(path, hub)
    assert (folder(home) / "refs" / "main").read_text() == COMMIT
    assert not (path / "pytorch_model.bin").exists(), "the same weights once more are left out"
    assert not list(folder(home).glob("blobs/*.incomplete"))
    assert find(NAME).path == str(path)
    last = seen[-1]
    assert last.here == last.size == sum(len(hub.files[n]) for n in hub.files if n != "pytorch_model.bin")


async def test_once_more_it_is_checked_and_nothing_is_sent(home: Path, hub: Hub) -> None:
    path, _ = await fetched()
    before = hub.sent
    weights = path / "model-00002-of-00003.safetensors"
    assert (await fetched())[0] == path and hub.sent == before
    damaged = bytearray(weights.read_bytes())
    damaged[1000] ^= 1
    weights.resolve().write_bytes(damaged)
    assert whole((await fetched())[0], hub)
    assert hub.sent - before == len(damaged), "only the damaged file comes again"


async def test_killed_at_random_moments_it_goes_on_where_it_was(home: Path, hub: Hub) -> None:
    dice, total = random.Random(7), sum(map(len, hub.files.values()))
    hub.pace = threading_pace = threading.Semaphore(0)
    kills, loop = 0, asyncio.get_running_loop()
    while kills < 4:
        stop_at = dice.randrange(total // 6, total // 3)
        here: asyncio.Event = asyncio.Event()
        first: list[int] = []
        out = itertools.count(1)

        def sent(pieces: int = stop_at // 65_536 + 1, here: asyncio.Event = here, out: Iterator[int] = out) -> None:
            if next(out) == pieces:  # all that may be: some of them to the one that was killed before
                loop.call_soon_threadsafe(here.set)

        def tell(standing: Standing, at: int = stop_at, here: asyncio.Event = here, first: list[int] = first) -> None:
            first.append(standing.here)
            if standing.here - first[0] >= at // 2:
                here.set()

        task = asyncio.create_task(pull(REQUEST, tell))
        hub.on_sent = sent
        threading_pace.release(stop_at // 65_536 + 1)
        await asyncio.wait([asyncio.create_task(here.wait()), task], return_when="FIRST_COMPLETED")
        task.cancel()
        await asyncio.wait([task])
        if task.done() and not task.cancelled():
            break
        kills += 1
        assert not (folder(home) / "refs").exists(), "nobody takes half a model for one"
    threading_pace.release(10_000)
    assert kills >= 2 and whole((await fetched())[0], hub)
    assert hub.sent <= total + kills * 4 * 4 * 65_536, "what had come was not sent again, but for what was on its way"


async def test_connections_that_end_early(hub: Hub) -> None:
    hub.cut = 100_000
    assert whole((await fetched())[0], hub)
    assert any("range" in headers for _, _, headers in hub.seen)


async def test_a_server_that_cannot_begin_in_the_middle(home: Path, hub: Hub) -> None:
    name = "model-00001-of-00003.safetensors"
    blobs = folder(home) / "blobs"
    blobs.mkdir(parents=True)
    (blobs / f"{hub.sha(name)}.incomplete").write_bytes(hub.files[name][:100_000])
    hub.ranges = False
    assert whole((await fetched())[0], hub)


async def test_a_part_that_is_wrong_is_thrown_away(home: Path, hub: Hub) -> None:
    name = "model-00001-of-00003.safetensors"
    blobs = folder(home) / "blobs"
    blobs.mkdir(parents=True)
    (blobs / f"{hub.sha(name)}.incomplete").write_bytes(bytes(100_000))
    assert whole((await fetched())[0], hub)


async def test_content_that_is_not_what_is_listed(home: Path, hub: Hub) -> None:
    hub.lies.add("model-00002-of-00003.safetensors")
    with pytest.raises(PullProblem, match="its hash differs"):
        await fetched()
    assert not (folder(home) / "snapshots").exists()


async def test_small_files_are_checked_too(hub: Hub) -> None:
    hub.lies.add("config.json")
    with pytest.raises(PullProblem, match=r"config\.json is not what the repository lists"):
        await fetched()


async def test_the_token_goes_to_the_hub_and_nowhere_else(
    home: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.token = "hf_" + "Secret" * 5
    with pytest.raises(PullProblem, match="did not accept the token") as problem:
        await fetched()
    assert "HF_TOKEN" in str(problem.value)
    token = home / "hf" / "token"
    token.parent.mkdir(exist_ok=True)
    token.write_text(hub.token + "\n")
    path, seen = await fetched()
    assert whole(path, hub)
    to_cdn = [headers for _, path, headers in hub.seen if "Signature" in path]
    assert to_cdn and not any("authorization" in headers for headers in to_cdn)
    assert not any(hub.token in standing.text for standing in seen)


async def test_a_full_disk_is_said_before_anything_comes(hub: Hub, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    with pytest.raises(Exception, match=r"9,999,999.0 GB are still to come, and .* are free in"):
        room.check_room(home / "not" / "yet", 9_999_999_000_000_000)


async def test_a_name_that_is_not_there_and_a_hub_that_is_not(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PullProblem, match=r"There is no other/Model at 127.0.0.1"):
        await planned(Request(repository="other/Model"))
    with pytest.raises(PullProblem, match="is no name of a repository"):
        await planned(Request(repository="a b/c"))
    monkeypatch.setenv("HF_ENDPOINT", "http://me:secret@127.0.0.1:9")
    with pytest.raises(PullProblem, match=r"can't be reached") as problem:
        await planned(REQUEST)
    assert "secret" not in str(problem.value) and "offline-help" in str(problem.value)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(PullProblem, match="HF_HUB_OFFLINE is set"):
        await planned(REQUEST)


async def test_a_plan_tells_the_size_and_brings_nothing(home: Path, hub: Hub) -> None:
    found = await planned(REQUEST)
    assert (found.files, found.present) == (7, 0) and not folder(home).exists()


async def test_one_of_several_gguf_models(hub: Hub) -> None:
    hub.files = {"m-Q4.gguf": b"GGUF" + bytes(5000), "m-Q8.gguf": b"GGUF" + bytes(9000), "README.md": b"x"}
    with pytest.raises(PullProblem, match=r"holds 2 models: .*--include"):
        await planned(REQUEST)
    path, _ = await fetched(Request(repository=NAME, include=("*Q4*",)))
    assert path.name == "m-Q4.gguf" and path.read_bytes() == hub.files["m-Q4.gguf"]


@pytest.mark.parametrize("path", ["../../evil", "/etc/evil", "a/../../b", "a\\b"])
async def test_a_hub_that_names_files_outside(home: Path, hub: Hub, path: str) -> None:
    hub.files = {"config.json": b"{}", path: b"x" * 2000}
    with pytest.raises(PullProblem, match="would lie outside"):
        await fetched()


async def test_the_driver_offers_it_with_its_size_and_shows_it_come(home: Path, hub: Hub) -> None:
    named = replace(Settings(), engine=replace(Settings().engine, model=NAME))
    found = await Library().look(named, MACHINE)
    assert isinstance(found, Download) and found.size == sum(
        len(content) for name, content in hub.files.items() if name != "pytorch_model.bin"
    )
    heard: list[tuple[float | None, str]] = []
    model = await found.fetch(lambda done, text: heard.append((done, text)))
    assert model.name == NAME and heard[-1][0] == 1.0 and "of 0.9 MB" in heard[-1][1]
    again = await Library().look(named, MACHINE)
    assert isinstance(again, Found) and again.model == model
    with pytest.raises(RecipeProblem, match="There is no no/such"):
        await Library().look(replace(named, engine=replace(named.engine, model="no/such")), MACHINE)
