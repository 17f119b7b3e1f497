"""Which layer wins, where each value came from, and what is said of what was passed over."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat import locations
from spark_chat.settings.problem import Origin
from spark_chat.settings.resolve import Flag, Resolved, resolve, variable
from spark_chat.settings.schema import Settings, rows, value

VARIABLE = "SPARK_CHAT__SAMPLING__TOP_K"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def only(resolved: Resolved) -> str:
    (problem,) = resolved.problems
    return str(problem)


def test_nothing_anywhere_is_the_defaults(path: Path) -> None:
    resolved = resolve(environ={}, path=path)
    assert resolved.settings == Settings()
    assert resolved.problems == ()
    assert set(resolved.origins.values()) == {Origin("default")}
    assert resolved.path == path


@pytest.mark.parametrize("layers", [set(c) for n in range(4) for c in itertools.combinations("fec", n)])
def test_the_highest_layer_wins_and_is_named(path: Path, layers: set[str]) -> None:
    if "f" in layers:
        path.write_text("[sampling]\ntop_k = 1\n")
    resolved = resolve(["sampling.top_k=3"] if "c" in layers else [], {VARIABLE: "2"} if "e" in layers else {}, path)
    expected = (
        (3, Origin("command line", "--set")) if "c" in layers
        else (2, Origin("environment", VARIABLE)) if "e" in layers
        else (1, Origin("file", str(path))) if "f" in layers
        else (20, Origin("default"))
    )  # fmt: skip
    assert (resolved.settings.sampling.top_k, resolved.origins["sampling.top_k"]) == expected


def test_the_last_set_wins_and_a_flag_stands_over_it(path: Path) -> None:
    sets = ["engine.model=a", "engine.model=b"]
    assert resolve(sets, {}, path).settings.engine.model == "b"
    resolved = resolve(sets, {}, path, [Flag("--model", "engine.model", "c=d.gguf")])
    assert resolved.settings.engine.model == "c=d.gguf"
    assert str(resolved.origins["engine.model"]) == "--model"


def test_saved_is_the_file_without_the_layers_over_it(path: Path) -> None:
    path.write_text("[optimizations]\nmtp = false\n")
    resolved = resolve(["mtp=on"], {}, path)
    assert resolved.settings.optimizations.mtp is True
    assert resolved.saved.optimizations.mtp is False


def test_again_sees_the_file_as_it_is_now_under_the_same_command_line(path: Path) -> None:
    before = resolve(["top_k=7"], {}, path)
    path.write_text("[sampling]\ntop_k = 9\ntop_p = 0.5\n")
    after = before.again({})
    assert (after.settings.sampling.top_k, after.settings.sampling.top_p) == (7, 0.5)


def test_table_entries_are_merged_over_the_layers(path: Path) -> None:
    path.write_text("[engine.args]\nn_batch = 512\nn_ubatch = 64\n")
    environ = {"SPARK_CHAT__ENGINE__ARGS__N_UBATCH": "128"}
    resolved = resolve(["engine.args.speculative.n_max=4", "engine.args.chat_template=chat ml"], environ, path)
    assert resolved.settings.engine.args == {
        "n_batch": 512, "n_ubatch": 128, "speculative": {"n_max": 4}, "chat_template": "chat ml",
    }  # fmt: skip
    assert str(resolved.origins["engine.args.n_batch"]) == str(path)
    assert str(resolved.origins["engine.args.n_ubatch"]) == "SPARK_CHAT__ENGINE__ARGS__N_UBATCH"
    assert resolved.value("engine.args.speculative.n_max") == 4


def test_a_whole_table_replaces_the_lower_one(path: Path) -> None:
    path.write_text("[engine.args]\nn_batch = 512\n")
    resolved = resolve(["engine.args={ a = [1, 2] }"], {}, path)
    assert resolved.settings.engine.args == {"a": [1, 2]}
    assert "engine.args.n_batch" not in resolved.origins


@pytest.mark.parametrize("text", ["engine.args.x=nan", "engine.args.x=[inf]", "engine.args.x=1979-05-27",
                                  "engine.args.x=99999999999999999999", "engine.args=3"])  # fmt: skip
def test_what_json_cannot_carry_is_refused(path: Path, text: str) -> None:
    resolved = resolve([text], {}, path)
    assert resolved.settings == Settings()
    assert "engine.args" in only(resolved)


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("mtp=off", "optimizations.mtp", False),
        ("fp8-head=0", "optimizations.fp8_head", False),
        ("optimizations.strict=YES", "optimizations.strict", True),
        ("optimizations.strict=On", "optimizations.strict", True),
        ("draft_steps=auto", "optimizations.draft_steps", "auto"),
        ("draft_steps= 7 ", "optimizations.draft_steps", 7),
        ("temperature=1", "sampling.temperature", 1.0),
        ("sampling.top_p=1e-1", "sampling.top_p", 0.1),
        ("seed=none", "sampling.seed", None),
        ("seed=", "sampling.seed", None),
        ("seed=0", "sampling.seed", 0),
        ("engine.kind=SGLang", "engine.kind", "sglang"),
        ("system_prompt= Be  brief = yes ", "sampling.system_prompt", " Be  brief = yes "),
        ("engine.model=", "engine.model", ""),
    ],
)
def test_text_becomes_the_value_it_stands_for(path: Path, text: str, key: str, expected: object) -> None:
    resolved = resolve([text], {}, path)
    assert resolved.problems == ()
    found = value(resolved.settings, key)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("mtp=maybe", 'optimizations.mtp is "maybe"; it must be true or false'),
        ("mtp=", "true or false"),
        ("temperature=nan", "a number from 0 to 5"),
        ("temperature=inf", "a number from 0 to 5"),
        ("temperature=-0.1", "a number from 0 to 5"),
        ("top_k=1_0", "a whole number from 0 to 1000000"),
        ("top_k=2.0", "a whole number"),
        ("top_k=٣", "a whole number"),
        ("top_k=" + "9" * 5000, "a whole number"),
        ("draft_steps=8", 'from 1 to 7, or "auto"'),
        ("engine.kind=vllm", '"auto", "llama.cpp", "sglang"'),
        ("optimizations.mtp", "optimizations.mtp=value"),
        ("optimisations.mtp=1", "did you mean optimizations.mtp?"),
        ("sampling.mtp=1", "did you mean optimizations.mtp?"),
        ("temprature=1", "did you mean sampling.temperature?"),
        ("qqqq=1", "--set: qqqq is no setting"),
        ("=1", "no setting"),
        ("\x1b[2J=1", "\\u001b[2J is no setting"),
        ("engine.args.\x9b=nan", "engine.args.\\u009b is nan"),
        ("z" * 100_000 + "=1", "no setting"),
        ("", "no setting"),
        ("engine.args.=1", "no setting"),
        ("engine.model=a\0b", "NUL"),
        ("ui.theme.x=1", "no setting"),
    ],
)
def test_bad_text_is_passed_over_with_a_sentence(path: Path, text: str, part: str) -> None:
    resolved = resolve([text], {}, path)
    assert resolved.settings == Settings()
    assert part in only(resolved)
    assert only(resolved).isprintable() and only(resolved).endswith((".", "?")) and len(only(resolved)) < 300


def test_a_bad_variable_is_named_and_the_file_below_it_holds(path: Path) -> None:
    path.write_text("[sampling]\ntop_k = 1\n")
    resolved = resolve([], {VARIABLE: "many", "SPARK_CHAT__SAMPLING__TOPK": "1", "SPARK_CHAT_CONFIG": "x"}, path)
    assert resolved.settings.sampling.top_k == 1
    first, second = map(str, resolved.problems)
    assert first.startswith(f"{VARIABLE}: sampling.top_k") or second.startswith(f"{VARIABLE}: sampling.top_k")
    assert any(f"did you mean {VARIABLE}?" in said for said in (first, second))


def test_the_file_that_a_variable_names_is_read(path: Path) -> None:
    path.write_text("[ui]\ntheme = 'x'\n")
    assert resolve(environ={"SPARK_CHAT_CONFIG": str(path)}).settings.ui.theme == "x"


def test_no_home_is_said_and_the_app_still_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise locations.NoHome("No home folder is known. Set HOME.")

    monkeypatch.setattr(locations, "config", nowhere)
    resolved = resolve(["top_k=3"], {})
    assert resolved.settings.sampling.top_k == 3
    assert resolved.path is None
    assert only(resolved) == "No home folder is known. Set HOME."


@given(st.sampled_from(rows()), st.text())
def test_no_text_breaks_it_and_every_value_is_in_its_range(row: object, text: str) -> None:
    key = row.key  # type: ignore[attr-defined]
    resolved = resolve([f"{key}={text}"], {variable(key): text}, Path("/dev/null"))
    found = value(resolved.settings, key)
    assert bool(resolved.problems) or resolved.origins[key].layer == "command line"
    if row.kind in ("int", "float") and found is not None:  # type: ignore[attr-defined]
        assert row.minimum <= found <= row.maximum  # type: ignore[attr-defined]


@given(st.text(), st.text())
def test_no_key_breaks_it(key: str, text: str) -> None:
    resolve([f"{key}={text}", key], {f"SPARK_CHAT__{key}": text}, Path("/dev/null"))
