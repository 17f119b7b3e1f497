"""A model that lies on this machine already is checked where it lies, and found by its name from then on."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from spark_chat import locations
from spark_chat.models import shelf, small
from spark_chat.models.about import about
from spark_chat.models.find import find
from spark_chat.models.sanity import ModelProblem
from spark_chat.pull import safetensors
from spark_chat.pull.register import Registered, register
from tests.cli.process import run


@pytest.fixture(autouse=True)
def caches(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(home / "hf"))
    monkeypatch.setenv("MODELSCOPE_CACHE", str(home / "ms"))


def weights(path: Path, values: int = 100) -> bytes:
    header = json.dumps({"w": {"dtype": "U8", "shape": [values], "data_offsets": [0, values]}}).encode()
    content = len(header).to_bytes(8, "little") + header + bytes(range(values))
    path.write_bytes(content)
    return content


def checkpoint(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"architectures": ["X"], "max_position_embeddings": 4096}')
    (folder / "README.md").write_text("---\nlicense: apache-2.0\n---\n# M\n")
    weights(folder / "model.safetensors")
    return folder


def registered(source: Path, name: str = "") -> Registered:
    return register(source, name, lambda file, done, total: None)


def test_plain_files_are_used_where_they_lie(home: Path) -> None:
    folder = checkpoint(home / "disk" / "M-1B")
    done = registered(folder, "someone/M-1B")
    assert (done.checked, done.looked_at) == (0, 1)
    assert find("someone/M-1B").path == str(locations.models() / "someone--M-1B")
    assert registered(folder, "someone/M-1B").name == "someone/M-1B", "twice is no fault"
    assert registered(folder).name == "M-1B"
    shelf.take_away(shelf.book("someone/M-1B"))
    assert (folder / "model.safetensors").exists(), "its files are the person's own"
    with pytest.raises(ModelProblem):
        find("someone/M-1B")


@pytest.mark.parametrize("note", ["sums", "metadata"])
def test_hashes_that_came_along_are_compared(home: Path, note: str) -> None:
    folder = checkpoint(home / "M")
    key = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if note == "sums":
        (folder / "SHA256SUMS").write_text(f"{key}  ./model.safetensors\n{'0' * 64}  ../../etc/passwd\n")
    else:
        notes = folder / ".cache" / "huggingface" / "download"
        notes.mkdir(parents=True)
        (notes / "model.safetensors.metadata").write_text(f"{'c' * 40}\n{key}\n1.0\n")
    assert registered(folder).checked == 1
    content = bytearray((folder / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(ModelProblem, match=r"model\.safetensors is damaged"):
        registered(folder)


def test_a_copied_cache_is_checked_by_its_own_names(home: Path) -> None:
    folder = home / "usb" / "models--someone--M"
    (folder / "blobs").mkdir(parents=True)
    snapshot = folder / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    content = weights(folder / "blobs" / "x")
    key = hashlib.sha256(content).hexdigest()
    (folder / "blobs" / "x").rename(folder / "blobs" / key)
    (snapshot / "model.safetensors").symlink_to(f"../../blobs/{key}")
    (snapshot / "config.json").write_text("{}")
    for source in (folder, home / "usb"):
        done = registered(source)
        assert (done.name, done.checked, done.looked_at) == ("someone/M", 1, 0)


def test_weights_that_were_cut_off(home: Path) -> None:
    folder = checkpoint(home / "M")
    whole = (folder / "model.safetensors").read_bytes()
    assert safetensors.fault(folder / "model.safetensors") == ""
    for length in (0, 7, 8, 20, len(whole) - 1):
        (folder / "model.safetensors").write_bytes(whole[:length])
        with pytest.raises(ModelProblem, match="is not whole"):
            registered(folder)


def test_wrong_sources_get_sentences(home: Path) -> None:
    for source, said in (("nowhere", "There is nothing at"), (".", "no checkpoint")):
        with pytest.raises(ModelProblem, match=said):
            registered(home / source)
    with pytest.raises(ModelProblem, match="can't be a model's name"):
        registered(checkpoint(home / "M"), "../x")


def test_the_commands_list_show_and_remove(home: Path) -> None:
    folder = checkpoint(home / "M")
    done = run("pull", "someone/M", "--from", str(folder), "--json")
    assert done.code == 0 and json.loads(done.out)["path"] == str(folder), done.err
    (locations.models() / "own.gguf").write_bytes(b"GGUF" + bytes(5000))
    (locations.models() / "bad.gguf").write_bytes(b"no")
    listed = {model["name"]: model for model in run("models", "list", "--json").record["models"]}
    assert listed["someone/M"]["where"] == "link" and listed["own"]["size"] == 5004
    assert listed["bad"]["whole"] is False
    shown = run("models", "show", "someone/M").out
    assert "apache-2.0" in shown and "4096" in shown
    assert "licence:       not told by its files" in run("models", "show", "own").out
    assert run("models", "rm", "own", stdin=b"n\n").code == 130
    assert run("models", "rm", "own", "--yes").code == run("models", "rm", "bad", "--yes").code == 0
    assert [path.name for path in locations.models().iterdir()] == ["someone--M"]
    assert run("models", "rm", "nothing").code == 1


def test_the_small_model_has_its_licence_and_once_here_there_is_nothing_to_fetch(home: Path) -> None:
    assert "93 MB" in run("pull", small.SMALL.name, "--dry-run").err
    with (locations.made(locations.models()) / small.SMALL.file).open("wb") as file:
        file.write(b"GGUF")
        file.truncate(small.SMALL.size)  # its length without its bytes
    assert "nothing to fetch" in run("pull", small.SMALL.name, "--dry-run").err
    assert about(locations.models() / small.SMALL.file)["licence"] == "Apache-2.0"


def test_without_network_it_is_said_what_to_copy_where(home: Path) -> None:
    done = run("pull", "--offline-help")
    assert str(home / "hf" / "hub" / "models--inclusionAI--Ling-3.0-flash-fp4") in done.out
    assert "--from" in done.out and done.code == 0
