"""A model is found by its path or its name, and each wrong one gets its own sentence."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spark_chat import locations
from spark_chat.models import small
from spark_chat.models.about import about
from spark_chat.models.find import NotFetched, default, find, known
from spark_chat.models.sanity import ModelProblem, check_checkpoint

GGUF = b"GGUF\x03\x00\x00\x00" + b"\x00" * 64


def gguf(path: Path, size: int = len(GGUF)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(GGUF)
        file.truncate(size)
    return path


def checkpoint(folder: Path, parts: int = 2, present: int = 2) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    names = [f"model-{n}.safetensors" for n in range(parts)]
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"weight_map": {f"w{n}": name for n, name in enumerate(names)}})
    )
    for name in names[:present]:
        (folder / name).write_bytes(b"x")
    return folder


@pytest.fixture
def hub(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(home / "hf"))
    return home / "hf" / "hub"


def snapshot(hub: Path, repository: str, revision: str = "abc", main: bool = True) -> Path:
    folder = hub / ("models--" + repository.replace("/", "--"))
    if main:
        (folder / "refs").mkdir(parents=True)
        (folder / "refs" / "main").write_text(revision)
    return folder / "snapshots" / revision


def test_a_gguf_by_path_also_relative(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = gguf(home / "My Model.gguf")
    monkeypatch.chdir(home)
    for name in (str(path), "My Model.gguf", "./My Model.gguf", "~/My Model.gguf"):
        assert (find(name).name, find(name).path) == ("My Model", str(path))


def test_a_checkpoint_by_path(home: Path) -> None:
    folder = checkpoint(home / "Ling")
    assert (find(str(folder)).name, find(str(folder)).path) == ("Ling", str(folder))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is an empty file"),
        (b"GGUF\x03", "ends after 5 bytes"),
        (b"PK\x03\x04....", "a zip archive"),
        (b"\n<!doctype html>", "a web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "git lfs pull"),
        (b"\x00\x01\x02", "no GGUF file but something else"),
    ],
)
def test_a_foreign_file_gets_its_own_sentence(home: Path, content: bytes, says: str) -> None:
    path = home / "x.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelProblem, match=says) as raised:
        find(str(path))
    assert str(path) in str(raised.value)


def test_what_is_no_file_gets_its_own_sentence(home: Path) -> None:
    (home / "empty").mkdir()
    os.mkfifo(home / "pipe.gguf")
    (home / "dangling.gguf").symlink_to(home / "gone.gguf")
    gguf(home / "folder" / "a.gguf")
    for name, says in [
        ("empty", "without a config.json"),
        ("folder", r"Name one of the models in it: a\.gguf"),
        ("pipe.gguf", "is not a file"),
        ("dangling.gguf", "is a link to nothing"),
        ("missing.gguf", "There is no model"),
    ]:
        with pytest.raises(ModelProblem, match=says):
            find(str(home / name))


def test_an_unreadable_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = gguf(home / "mine.gguf")
    path.chmod(0)
    if os.access(path, os.R_OK):  # the super-user reads everything: refuse in the system's place

        def refused(self: Path, *args: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(ModelProblem, match="may not be read by you"):
        find(str(path))


def test_parts_of_a_split_gguf(home: Path) -> None:
    first = gguf(home / "big-00001-of-00002.gguf")
    with pytest.raises(ModelProblem, match=r"1 are missing, such as big-00002-of-00002\.gguf"):
        find(str(first))
    second = gguf(home / "big-00002-of-00002.gguf")
    assert find(str(first)).path == str(first)
    with pytest.raises(ModelProblem, match=r"Name its first part, big-00001-of-00002\.gguf"):
        find(str(second))


def test_an_incomplete_checkpoint(home: Path) -> None:
    with pytest.raises(ModelProblem, match=r"1 of 3 files of weights are missing, such as model-2\.safetensors"):
        find(str(checkpoint(home / "a", parts=3, present=2)))
    folder = home / "b"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    with pytest.raises(ModelProblem, match="no weights"):
        find(str(folder))
    for damaged in ("{", "[]", "[" * 100_000):
        (folder / "config.json").write_text(damaged)
        with pytest.raises(ModelProblem, match="damaged"):
            find(str(folder))


def test_a_repository_in_hugging_face_s_cache(hub: Path) -> None:
    folder = checkpoint(snapshot(hub, "inclusionAI/Ling-3.0-flash-fp4"))
    for name in ("inclusionAI/Ling-3.0-flash-fp4", "inclusionai/ling-3.0-flash-fp4", "Ling-3.0-flash-fp4"):
        assert (find(name).name, find(name).path) == ("inclusionAI/Ling-3.0-flash-fp4", str(folder))
    assert default(checkpoints=True).path == str(folder)
    with pytest.raises(NotFetched):
        default()


def test_a_snapshot_without_main_and_with_dangling_blobs(hub: Path) -> None:
    folder = checkpoint(snapshot(hub, "a/b", main=False), parts=2, present=1)
    (folder / "model-1.safetensors").symlink_to("../../blobs/not-here-yet")
    with pytest.raises(ModelProblem, match="1 of 2 files of weights are missing"):
        find("a/b")


def test_ggufs_of_a_repository(hub: Path) -> None:
    folder = snapshot(hub, "unsloth/X-GGUF")
    only = gguf(folder / "X-Q4.gguf")
    assert find("unsloth/X-GGUF").path == str(only)
    more = gguf(folder / "Q8" / "X-Q8.gguf")
    assert find("unsloth/X-GGUF/Q8/X-Q8.gguf").path == str(more)
    assert {ref.name for ref in known()} == {"unsloth/X-GGUF/X-Q4.gguf", "unsloth/X-GGUF/Q8/X-Q8.gguf"}
    with pytest.raises(ModelProblem, match=r"unsloth/X-GGUF/Q8/X-Q8\.gguf"):
        find("unsloth/X-GGUF")


def test_the_same_name_of_two_owners_is_asked_about(hub: Path) -> None:
    checkpoint(snapshot(hub, "one/Same"))
    checkpoint(snapshot(hub, "two/Same"))
    with pytest.raises(ModelProblem, match=r"Several models .* called Same: one/Same, two/Same"):
        find("Same")


def test_unknown_names_are_answered_with_the_nearest(hub: Path) -> None:
    checkpoint(snapshot(hub, "inclusionAI/Ling-3.0-flash-fp4"))
    gguf(locations.models() / "Qwen3-4B.Q4_K_M.gguf")
    for wrong, right in [
        ("inclusionAI/Ling-3.0-flash-fp8", "inclusionAI/Ling-3.0-flash-fp4"),
        ("qwen3-4b.q4_k_s", "Qwen3-4B.Q4_K_M"),
        ("SmolLM-135M-Instruct", "SmolLM2-135M-Instruct"),
    ]:
        with pytest.raises(ModelProblem) as raised:
            find(wrong)
        assert f"Did you mean {right}" in str(raised.value)
    with pytest.raises(ModelProblem, match="`spark-chat pull some/thing`"):
        find("some/thing")
    gguf(locations.models().parent / "near.gguf")
    with pytest.raises(ModelProblem, match=r"near\.gguf"):
        find(str(locations.models().parent / "neer.gguf"))


def test_the_small_model_by_name(hub: Path) -> None:
    for name in ("SmolLM2-135M-Instruct", "smollm2-135m-instruct", "SmolLM2-135M-Instruct.Q4_1.gguf", ""):
        with pytest.raises(NotFetched):
            find(name)
    path = gguf(locations.models() / small.SMALL.file, small.SMALL.size)
    for name in ("SmolLM2-135M-Instruct", "smollm2-135m-instruct", "SmolLM2-135M-Instruct.Q4_1.gguf", " ", ""):
        assert find(name).path == str(path)


def test_a_model_of_one_s_own_comes_before_the_small_one(hub: Path) -> None:
    gguf(locations.models() / small.SMALL.file, small.SMALL.size)
    mine = gguf(locations.models() / "mine.gguf", 200_000_000)
    gguf(locations.models() / "far-too-large.gguf", 1 << 43)
    (locations.models() / "broken.gguf").write_bytes(b"x" * 300_000_000)
    assert default().path == str(mine)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.text(alphabet=st.characters(exclude_categories=()), max_size=300) | st.text("./~\0a", max_size=8))
def test_any_name_is_a_model_or_a_printable_sentence(hub: Path, name: str) -> None:
    try:
        find(name)
    except ModelProblem as problem:
        assert str(problem).isprintable()
        assert str(problem).encode("utf-8")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors.index.json"])
def test_a_pipe_in_a_checkpoint_is_said_and_waited_for_by_nobody(name: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(ModelProblem, match="regular"):
        check_checkpoint(tmp_path)
    os.mkfifo(tmp_path / "README.md")
    assert about(tmp_path)["licence"] is None
