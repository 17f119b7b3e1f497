"""The problem report says what helps and nothing of the person: secrets are planted wherever it looks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.headless.problem_report import said
from spark_chat.headless.redaction import GRAM, LEFT_OUT, STRIDE, Redaction, secrets
from spark_chat.history import record
from spark_chat.history.store import Store
from spark_chat.locations import history_file, settings_file
from spark_chat.logs.files import app_file
from tests.cli.process import run

PROMPT = "Tell me whether my rash on the left elbow is dangerous."
ANSWER = "A rash on the elbow is seldom dangerous, said the physician."
THOUGHT = "The person is worried about that elbow of theirs."
SYSTEM = "You are the confidant of Ottilie."
TOKENS = {
    "env": "hf_envtokenenvtoken",
    "file": "hf_filetokenfiletoken",
    "key": "plainsecretvalue77",
    "args": "s3cr3tvalue",
}


@pytest.fixture
def planted(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of somebody called ottilie, with a past."""
    folder = home / "home" / "ottilie"
    folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CONFIG", "CACHE", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(folder / name.lower()))
    monkeypatch.setenv("LOGNAME", "ottilie")
    monkeypatch.setenv("HF_TOKEN", TOKENS["env"])
    monkeypatch.setenv("SPARK_CHAT__SAMPLING__SYSTEM_PROMPT", SYSTEM)
    monkeypatch.setenv("MY_API_KEY", TOKENS["key"])
    monkeypatch.setenv("SPARK_CHAT__UI__THEME", "spark-light")
    (folder / ".cache" / "huggingface").mkdir(parents=True)
    (folder / ".cache" / "huggingface" / "token").write_text(TOKENS["file"] + "\n")
    store = Store.open(history_file())
    with store.transaction() as connection:
        record.run(connection, "r", 1, 1.0, 1.0)
        record.conversation(connection, "c", "r", 1.0, "{}")
        record.prompt(connection, "c", "p", PROMPT, None, 1.0)
        record.answer(connection, "c", "a", "p", 1.0)
        record.piece(connection, "c", "a", 0, ANSWER, THOUGHT, 1.0)
        record.draft(connection, "c", "my unsent draft of an elbow letter", 1.0)
    store.close()
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text(
        f'[engine]\nmodel = "{folder}/models/my.gguf"\n[engine.args]\nauth_token = "{TOKENS["args"]}"\nn_batch = 64\n'
        f'[sampling]\nsystem_prompt = "{SYSTEM}"\n'
    )
    app_file().parent.mkdir(parents=True)
    app_file().write_text(f"engine failed: no {folder}/models/my.gguf for ottilie\n")
    (app_file().parent / "worker-1.log").write_text(
        f"loading {folder}/models/my.gguf\n"
        f"task 1 | prompt '{PROMPT[:40]}\n"
        f"emitted: {ANSWER.upper()}\n"
        f"GenerateReqInput(text='something never kept')\n"
        f"downloading with {TOKENS['file']} and Bearer abcdefgh123\n"
        f"https://ottilie:hunter2@hub.example/x\n"
        f"n_batch = 64, key {TOKENS['key']}\n"
        "the last line is fine\n"
    )
    return folder


def test_it_has_what_helps_and_nothing_of_the_person(planted: Path, tmp_path: Path) -> None:
    done = run("doctor", "--report", str(tmp_path / "report.md"), "--set", "engine.kind=llama.cpp")
    text = (tmp_path / "report.md").read_text()
    assert "report.md" in done.err and "Read it through" in done.err
    for wanted in (
        "textual 8.", "Python 3.", "engine.args", "n_batch = 64", "(--set)", 'ui.theme = "spark-light"',
        "SPARK_CHAT__UI__THEME=spark-light", "HF_TOKEN is set", "the last line is fine", "~/models/my.gguf",
        "[left out: 33 characters]", "## Doctor", "sampling.max_tokens = 2048",
    ):  # fmt: skip
        assert wanted in text, wanted
    lower = text.lower()
    for secret in (*TOKENS.values(), "elbow", "rash", "confidant", "ottilie", str(planted), "hunter2", "abcdefgh123",
                   "never kept", "unsent"):  # fmt: skip
        assert secret.lower() not in lower, secret
    assert (tmp_path / "report.md").stat().st_mode & 0o777 == 0o600


def test_one_that_is_there_is_left_and_a_folder_without_rights_is_said(home: Path, tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("mine")
    done = run("doctor", "--report", str(tmp_path / "report.md"))
    assert "is there already" in done.err and (tmp_path / "report.md").read_text() == "mine"
    assert "could not be written" in run("doctor", "--report", str(tmp_path / "none" / "x.md")).err


WORDS = st.text("abcdefghij klmnop", min_size=GRAM + STRIDE - 1, max_size=80).map(lambda text: " ".join(text.split()))


@given(WORDS.filter(lambda text: len(text) >= GRAM + STRIDE - 1), st.data())
def test_a_run_of_a_text_is_found_wherever_it_begins(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text) - (GRAM + STRIDE - 1)))
    run_of_it = text[at : at + GRAM + STRIDE - 1]
    if run_of_it != " ".join(run_of_it.split()):
        return
    assert Redaction([text]).log_line(f"0.1 I {run_of_it.upper()}!") == LEFT_OUT


def test_a_log_without_a_word_of_it_stays() -> None:
    redaction = Redaction(["a", "ok", "What is a hash table, and how long is it?"])
    line = "slot launch_slot_: id 0 | task 1 | ok, new prompt, n_ctx_slot = 8192"
    assert redaction.log_line(line) == line
    assert Redaction(["yes sir"]).log_line("he said Yes Sir twice") == LEFT_OUT


def test_names_and_folders_are_whole_words() -> None:
    redaction = Redaction(home=["/home/ann", "/"], user="ann", host="box")
    assert redaction.clean("/home/ann/x /home/anna ann@box annotate") == "~/x /home/anna [user]@[host] annotate"
    assert Redaction(user="root").clean("root cause") == "root cause"


def test_secrets_of_variables_and_files(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("filesecret\n")
    found = secrets({"A_TOKEN": "envsecret", "PATH": "x", "HF_TOKEN_PATH": str(tmp_path / "other")}, tmp_path)
    assert found == ["envsecret", "filesecret"]


def test_what_was_said_is_found_whatever_the_folder_is_called(tmp_path: Path) -> None:
    folder = tmp_path / "a #1? 100%41 \udcff"
    path = folder / "history.sqlite3"
    store = Store.open(path)
    with store.transaction() as connection:
        record.run(connection, "r", 1, 1.0, 1.0)
        record.conversation(connection, "c", "r", 1.0, "{}")
        record.prompt(connection, "c", "p", PROMPT, None, 1.0)
    store.close()
    assert PROMPT in (said(path) or ())


@pytest.mark.parametrize("how", ["damaged", "folder", "pipe"])
def test_without_what_was_said_no_log_goes_along(planted: Path, tmp_path: Path, how: str) -> None:
    path = history_file()
    app_file().write_text(f"an engine said {PROMPT}\n")
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()
    {"damaged": lambda: path.write_bytes(b"x" * 5000), "folder": path.mkdir, "pipe": lambda: os.mkfifo(path)}[how]()
    target = tmp_path / "report.md"
    run("doctor", "--report", str(target))
    text = target.read_text()
    assert "rash" not in text and text.count("the history can't be read") == 2
