"""`spark-chat history`: what it prints, where it writes, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spark_chat.history.store import Store
from spark_chat.locations import history_file
from tests.cli.process import run
from tests.history.test_document import fill

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def kept(home: Path) -> None:
    store = Store.open(history_file())
    fill(store, "aaaa1", ("where is the gazebo\x1b[2J", "behind the pergola"))
    fill(store, "aaaa2", ("another", "answer"))
    store.close()


def test_where_nothing_is_kept_that_is_said() -> None:
    assert run("history", "list").err == "No conversation is kept yet.\n"
    assert run("history", "search", "x").code == 1
    done = run("history", "show", "last")
    assert done.code == 1 and "No conversation is kept yet" in done.err
    assert not history_file().exists()


@pytest.mark.usefixtures("kept")
def test_list_show_and_search() -> None:
    listed = run("history", "list")
    assert listed.out.splitlines()[0].split() == ["id", "last", "used", "messages", "title", "(*", "pinned)"]
    assert "aaaa1" in listed.out and "where is the gazebo" in listed.out and "\x1b" not in listed.out
    assert {item["id"] for item in json.loads(run("history", "list", "--json").out)} == {"aaaa1", "aaaa2"}
    shown = run("history", "show", "aaaa1").out
    assert "behind the pergola" in shown and "<!--" not in shown and "\x1b" not in shown
    found = run("history", "search", "perg")
    assert found.code == 0 and "behind the [pergola]" in found.out and "aaaa2" not in found.out
    assert run("history", "search", '" OR "').code == 1
    assert json.loads(run("history", "search", "--json", "gazebo").out)[0]["id"] == "aaaa1"


@pytest.mark.usefixtures("kept")
def test_an_id_that_is_not_clear_is_refused() -> None:
    for id, why in (("aaaa", "More than one"), ("zz", "No conversation"), ("", "")):
        done = run("history", "show", id)
        assert done.code == 2 and why in done.err and "history list" in done.err


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("form", ["json", "md"])
def test_out_and_in_again(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / f"all.{form}"
    assert run("history", "export", "--all", "--output", str(file)).err.startswith("2 conversations written to ")
    again = run("history", "export", "--all", "--output", str(file))
    assert again.code == 1 and "is there already" in again.err
    assert run("history", "export", "--all", "--format", form).out == file.read_text()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "elsewhere"))
    assert run("history", "import", str(file)).err == "2 conversations imported.\n"
    assert (
        run("history", "import", "-", stdin=file.read_bytes()).err
        == "0 conversations imported, 2 were there already.\n"
    )
    assert run("history", "export", "--all", "--format", form).out == file.read_text()


@pytest.mark.usefixtures("kept")
def test_a_folder_gets_a_file_each(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    run("history", "export", "--all", "--output", str(tmp_path / "out"))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["another.md", "where-is-the-gazebo-2j.md"]


def test_what_can_not_be_imported_is_named(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    (tmp_path / "text").write_text("hello")
    for name in ("bytes", "text", "missing", "."):
        done = run("history", "import", str(tmp_path / name))
        assert done.code == 2 and str(tmp_path / name) in done.err and "Traceback" not in done.err


def test_export_wants_to_know_what() -> None:
    assert run("history", "export").code == 2


def test_a_file_from_a_newer_spark_chat_is_named(home: Path) -> None:
    store = Store.open(history_file())
    store.connection.execute("PRAGMA user_version = 99")
    store.close()
    for words in (("list",), ("export", "--all"), ("search", "x")):
        done = run("history", *words)
        assert done.code == 1 and "newer spark-chat" in done.err and "Traceback" not in done.err
