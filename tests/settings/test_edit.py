"""Changing one key changes one line and nothing else, in any file that is valid."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from spark_chat.settings.edit import CannotEdit, edited
from spark_chat.settings.file import parse, toml
from spark_chat.settings.schema import rows
from spark_chat.settings.template import template
from spark_chat.settings.tree import UNSET
from tests.settings.files import ENTRIES, NAMES, Written, files, values

KEYS = [row for row in rows() if row.kind != "table"]


def differing(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines gone and lines come, between the common start and the common end."""
    old, new = before.split("\n"), after.split("\n")
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return old, new


def got(text: str, key: str) -> Any:
    tree: Any = toml(text)
    for part in key.split("."):
        if part not in tree:
            return None
        tree = tree[part]
    return tree


@pytest.mark.parametrize(
    ("before", "key", "value", "after"),
    [
        ("[optimizations]\nmtp = true # on\n", "optimizations.mtp", False, "[optimizations]\nmtp = false # on\n"),
        ("[optimizations]\n\tmtp\t=true", "optimizations.mtp", False, "[optimizations]\n\tmtp\t=false"),
        ("optimizations.mtp = true\r\n", "optimizations.mtp", False, "optimizations.mtp = false\r\n"),
        (
            "optimizations.mtp = true\n# end\n", "optimizations.strict", True,
            "optimizations.mtp = true\noptimizations.strict = true\n# end\n",
        ),
        ("ui = { follow = true }\n", "ui.follow", False, "ui = { follow = false }\n"),
        ("ui = { follow = true }\n", "ui.mouse", False, "ui = { follow = true, mouse = false}\n"),
        ("", "ui.mouse", False, "[ui]\nmouse = false\n"),
        (
            "engine.args = {}\r\n[ui]", "engine.kind", "auto",
            'engine.args = {}\r\nengine.kind = "auto"\r\n[ui]',
        ),
        (
            "engine.args.n = 1\r\n[ui]", "engine.kind", "auto",
            'engine.args.n = 1\r\nengine.kind = "auto"\r\n[ui]',
        ),
        ("[engine.args]\n[ui]\n[engine]\nkind = 'auto'", "engine.kind", UNSET, "[engine.args]\n[ui]\n[engine]\n"),
        ("# mine", "ui.mouse", False, "# mine\n\n[ui]\nmouse = false\n"),
        ("[engine]\r\n", "ui.mouse", False, "[engine]\r\n\r\n[ui]\r\nmouse = false\r\n"),
        (
            "[ui]\n# mouse = true\n# follow = true\n", "ui.mouse", False,
            "[ui]\n# mouse = true\nmouse = false\n# follow = true\n",
        ),
        (
            "[sampling]\ntop_k = 1\n\n# about the screen\n[ui]\n", "sampling.top_p", 0.5,
            "[sampling]\ntop_k = 1\ntop_p = 0.5\n\n# about the screen\n[ui]\n",
        ),
        (
            "[sampling]\nsystem_prompt = '''\nBe brief.\n# mtp\n''' # mine\ntop_k = 1\n", "sampling.system_prompt", "x",
            "[sampling]\nsystem_prompt = \"x\" # mine\ntop_k = 1\n",
        ),
        (
            "[engine.args]\nn = 1\n[ui]\n[engine]\nkind = 'auto'\n", "engine.kind", "sglang",
            "[engine.args]\nn = 1\n[ui]\n[engine]\nkind = \"sglang\"\n",
        ),
        ("[engine.args]\nn = 1\n", "engine.args.m", "a", "[engine.args]\nn = 1\nm = \"a\"\n"),
        ("[engine.args]\n", "engine.args.m", [1], "[engine.args]\nm = [1]\n"),
        ("[engine]\nargs = { n = 1 }\n", "engine.args.n", 2, "[engine]\nargs = { n = 2 }\n"),
        ("[engine]\nkind = 'auto'\n", "engine.args.n", 2, "[engine]\nkind = 'auto'\nargs.n = 2\n"),
        ("[ui]\nmouse = false # no\nfollow = true\n", "ui.mouse", UNSET, "[ui]\nfollow = true\n"),
        ("[ui]\nfollow = true\n", "ui.mouse", UNSET, "[ui]\nfollow = true\n"),
        ("\ufeff[ui]\nmouse = false\n", "ui.mouse", True, "\ufeff[ui]\nmouse = true\n"),
        ("\ufeff[ui]\n", "ui.mouse", True, "\ufeff[ui]\nmouse = true\n"),
    ],
)  # fmt: skip
def test_what_is_written(before: str, key: str, value: Any, after: str) -> None:
    assert edited(before, {key: value}) == after


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.key)
def test_in_the_commented_file_the_line_comes_below_its_default_and_goes_again(row: Any) -> None:
    before = template()
    value = {"n": 1} if row.kind == "table" else row.default if row.default is not None else 7
    after = edited(before, {row.key: value})
    gone, (line,) = differing(before, after)
    name = row.key.partition(".")[2]
    assert gone == []
    lines = after.split("\n")
    assert lines[lines.index(line) - 1].startswith(f"# {name} = ")
    assert parse(Path("f"), after).problems == ()
    assert edited(after, {row.key: UNSET}) == before


def test_a_value_that_is_there_already_changes_nothing() -> None:
    text = "[sampling]\ntemperature = 1e0\nsystem_prompt = 'x'\n"
    assert edited(text, {"sampling.temperature": 1.0, "sampling.system_prompt": "x", "ui.mouse": UNSET}) == text


def test_true_is_not_one() -> None:
    assert edited("[engine.args]\nx = 1\n", {"engine.args.x": True}) == "[engine.args]\nx = true\n"


def test_several_changes_at_once() -> None:
    after = edited(template(), {"ui.mouse": False, "sampling.top_k": 3, "engine.args.n_batch": 5})
    assert len(after.split("\n")) == len(template().split("\n")) + 3


def test_a_table_is_changed_entry_by_entry_and_keeps_its_comments() -> None:
    before = "[engine.args]\n# why\nn = 1\nm = 2\n"
    assert edited(before, {"engine.args": {"m": 3, "k": 4}}) == "[engine.args]\n# why\nm = 3\nk = 4\n"
    assert edited(before, {"engine.args": UNSET}) == "[engine.args]\n# why\n"


def test_what_cannot_be_done_on_one_line_is_refused() -> None:
    with pytest.raises(CannotEdit, match=r"engine\.args\.a\.b can't be changed.*by hand"):
        edited("[engine]\nargs.a = 1\n", {"engine.args.a.b": 2})


def check(before: str, after: str, key: str, value: Any, was: Any) -> None:
    gone, come = differing(before, after)
    newlines = after.replace("\r\n", "")
    if "\r\n" in before:
        assert "\n" not in newlines
    else:
        assert "\r" not in after
    wanted = tomllib.loads(before.removeprefix("\ufeff"))
    table, _, name = key.rpartition(".")
    inside = wanted
    for part in table.split("."):
        inside = inside.setdefault(part, {})
    if value is UNSET:
        inside.pop(name, None)
        assert got(after, key) is None
        assert len(come) <= 1
    else:
        inside[name] = value
        assert repr(got(after, key)) == repr(value)
        assert after.startswith(before) or len(come) <= 1
    if was is None and not after.startswith(before):
        assert len(gone) <= 1
    assert pruned(toml(after)) == pruned(wanted)


def pruned(tree: Any) -> Any:
    return {k: pruned(v) for k, v in tree.items() if pruned(v) != {}} if isinstance(tree, dict) else tree


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(files(), st.sampled_from(KEYS), st.data())
def test_any_key_of_any_file(written: Written, row: Any, data: st.DataObject) -> None:
    before = written.text
    assert parse(Path("f"), before).problems == ()
    was = got(before, row.key)
    value = data.draw(st.one_of(values(row), st.just(UNSET)))
    after = edited(before, {row.key: value})
    event("replaced" if was is not None else "new")
    check(before, after, row.key, value, was)
    assert parse(Path("f"), after).problems == ()


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(files(), NAMES.filter(lambda name: "." not in name), st.one_of(ENTRIES, st.just(UNSET)))
def test_any_engine_argument_of_any_file(written: Written, name: str, value: Any) -> None:
    key = f"engine.args.{name}"
    was = got(written.text, key)
    check(written.text, edited(written.text, {key: value}), key, value, was)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(files(), st.sampled_from(KEYS), st.data())
def test_a_key_set_and_taken_out_leaves_the_values_as_they_were(
    written: Written, row: Any, data: st.DataObject
) -> None:
    if got(written.text, row.key) is None:
        after = edited(edited(written.text, {row.key: data.draw(values(row))}), {row.key: UNSET})
        assert pruned(toml(after)) == pruned(toml(written.text))
