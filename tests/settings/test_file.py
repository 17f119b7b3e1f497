"""A settings file of any content is read without a fault, and what is wrong in it is said where it is."""

from __future__ import annotations

import errno
import itertools
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spark_chat.settings.file import LARGEST, parse, read_file
from spark_chat.settings.resolve import resolve
from spark_chat.settings.schema import Settings
from tests.settings.files import Written, files


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def only(path: Path, text: str) -> str:
    (problem,) = parse(path, text).problems
    assert str(problem).startswith(f"{path}"), "the file is always named"
    return str(problem)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[optimizations]\nmtp = 1\n", "line 2: optimizations.mtp is 1; it must be true or false; the default, true"),
        ("\n[optimizations]\nmpt = true\n", "line 3: optimizations.mpt is no setting; did you mean optimizations.mtp?"),
        ("ui.theme = 3\n", "line 1: ui.theme is 3; it must be text"),
        ("[optimisations]\nmtp = true\n", "line 1: [optimisations] is no section (there are engine, optimizations"),
        ("[optimisations]\n", "did you mean [optimizations]?"),
        ("mtp = true", "line 1: mtp is no setting; did you mean optimizations.mtp?"),
        ("engine = 3", "line 1: engine is 3; it must be a section, [engine]"),
        ("[[ui]]\ntheme = 'x'", "line 1: ui is [{ theme = \"x\" }]; it must be a section, [ui]"),
        ("[engine]\nkind = 'vllm'", 'line 2: engine.kind is "vllm"; it must be one of "auto", "llama.cpp", "sglang"'),
        ("[sampling]\n# seed = 1\nseed = -1", "line 3: sampling.seed is -1; it must be a whole number from 0 to"),
        ("[sampling]\ntop_p = nan", "line 2: sampling.top_p is nan; it must be a number from 0.001 to 1"),
        ("[sampling]\ntop_k = 1.0", "line 2: sampling.top_k is 1.0; it must be a whole number"),
        ("[sampling]\nsystem_prompt = '''\na\nb'''\ntop_k = true", "line 5: sampling.top_k is true"),
        ("[ui]\ntheme = \"a\\u0000b\"", "line 2: ui.theme has a NUL"),
        ("[engine.args]\na = 1\nb = 1979-05-27", "line 3: engine.args.b is 1979-05-27; it must be text, a number"),
        ("[engine.args]\nx = [nan]", "line 2: engine.args.x is nan; it must be a finite number"),
        ("\ufeff[ui]\nmouse = 1", "line 2: ui.mouse is 1"),
        ("[ui]\r\nmouse = 1\r\n", "line 2: ui.mouse is 1"),
        ('"a\\u001b[31m" = 1', "a\\u001b[31m is no setting; it does nothing"),
        # what is no TOML
        ("[optimizations]\nmtp = on\n", "line 2: this is not TOML: invalid value, at optimizations.mtp; it must"),
        ("[sampling]\ntop_k = 1\ntop_k = 2\n", "line 3: sampling.top_k is set for the second time"),
        ("[ui]\n[ui]\n", "line 2: this is not TOML"),
        ("[engine]\nkind = 'auto", "at engine.kind; it must be one of"),
        ("[engine]\nknid = auto", "did you mean engine.kind?"),
        ("mtp", "line 1: this is not TOML"),
        ("[ui]\ntheme = \"a\0b\"", "line 2: this is not TOML"),
        ("x = " + "[" * 5000, "too deep"),
        ("[sampling]\ntop_k = " + "9" * 5000, "line 2: this is not TOML: a number is too long, at sampling.top_k"),
    ],
    ids=itertools.count(),
)  # fmt: skip
def test_one_sentence_names_file_line_key_and_what_is_allowed(path: Path, text: str, said: str) -> None:
    sentence = only(path, text)
    assert said in sentence
    assert sentence.endswith((".", "?")) and sentence.isprintable()


def test_a_bad_key_alone_falls_back_and_the_rest_holds(path: Path) -> None:
    path.write_text("[sampling]\ntop_k = 'many'\ntop_p = 0.5\n[nonsense]\nx = 1\n")
    resolved = resolve(environ={}, path=path)
    assert (resolved.settings.sampling.top_k, resolved.settings.sampling.top_p) == (20, 0.5)
    assert [problem.line for problem in resolved.problems] == [2, 4]


def test_a_file_that_is_no_toml_falls_back_whole_and_stays_as_it_is(path: Path) -> None:
    text = "[sampling]\ntop_k = 3\nthis is not toml\n"
    path.write_text(text)
    resolved = resolve(environ={}, path=path)
    assert resolved.settings == Settings()
    assert [problem.line for problem in resolved.problems] == [3]
    assert path.read_text() == text


def test_no_file_is_no_problem(path: Path) -> None:
    file = read_file(path)
    assert not file.exists and file.problems == () and file.values == {}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[ui]\n# caf\xe9\n", "line 2: byte 0xe9 is not UTF-8; save it as UTF-8"),
        ("[ui]\n".encode("utf-16"), "the file is UTF-16"),
        (b"#" * (LARGEST + 1), "larger than 1,048,576 bytes"),
    ],
)
def test_what_is_no_text_is_said(path: Path, content: bytes, said: str) -> None:
    path.write_bytes(content)
    (problem,) = read_file(path).problems
    assert said in str(problem) and str(path) in str(problem)
    assert path.read_bytes() == content


def test_a_folder_a_pipe_and_a_circle_of_links_are_said(path: Path) -> None:
    path.mkdir()
    assert "this is a folder" in str(read_file(path).problems[0])
    path.rmdir()
    os.mkfifo(path)
    assert "no regular file" in str(read_file(path).problems[0])
    path.unlink()
    path.symlink_to(path.name)
    assert "can't be read" in str(read_file(path).problems[0])


def test_an_unreadable_file_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    path.write_text("")
    monkeypatch.setattr(Path, "open", refused)
    assert "can't be read (Permission denied)" in str(read_file(path).problems[0])


def test_an_impossible_path_is_said() -> None:
    assert "can't be read" in str(read_file(Path("a\0b")).problems[0])
    assert "can't be read" in str(read_file(Path("x" * 5000)).problems[0])


def test_the_null_device_is_an_empty_file() -> None:
    assert read_file(Path("/dev/null")).problems == ()


@settings(deadline=None, max_examples=150)
@given(st.text(alphabet=st.sampled_from("[]{}=.#'\"\\\n\r\tuimoseng 1\0\ufeff"), max_size=40))
def test_no_text_breaks_the_reading(text: str) -> None:
    for problem in parse(Path("settings.toml"), text).problems:
        assert str(problem).startswith("settings.toml")


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(files(), st.data())
def test_the_line_is_the_line_where_the_fault_was_put(written: Written, data: st.DataObject) -> None:
    lines = [*written.text.removeprefix("\ufeff").split("\n"), "[zzzz]", "q = 1"]
    text = "\n".join(lines)
    (problem,) = parse(Path("f"), text).problems
    assert problem.line == len(lines) - 1
