"""Keys that a person chose: what is a key, what is refused, and who is blamed where two actions have one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.settings.file import parse
from spark_chat.settings.keys import ACTIONS, FIXED, Clash, clashes, split, wrong
from spark_chat.settings.resolve import resolve
from spark_chat.settings.save import save
from spark_chat.settings.schema import value

FILE = Path("settings.toml")


@pytest.mark.parametrize(
    "text", ["", "f1", "F9", "ctrl+x", "alt+x, f10", "ctrl+shift+f3", "shift+up", "alt+enter", "end"]
)
def test_what_is_a_key(text: str) -> None:
    assert wrong(text) == ""


@pytest.mark.parametrize(
    "text", ["x", "shift+x", "f25", "ctrl+", "ctrl", "hyper+x", "ctrl+?", "[/x]", "f1 f2", "ctr+x"]
)
def test_what_is_none(text: str) -> None:
    assert "is no key" in wrong(text)


@pytest.mark.parametrize("key", sorted(FIXED))
def test_what_writes_stops_and_leaves_cannot_be_given_away(key: str) -> None:
    assert "is kept" in wrong(key)


def test_the_app_s_own_keys_are_keys_and_none_is_given_twice() -> None:
    assert [action for action, keys in ACTIONS.items() if wrong(keys)] == []
    assert list(clashes(ACTIONS)) == []


def test_two_may_change_places_and_one_that_stays_may_not_be_robbed() -> None:
    assert list(clashes({"help": "f2", "settings": "f1"})) == []
    assert list(clashes({"help": "f2"})) == [Clash("help", "settings", "f2")]
    assert list(clashes({"chart": "alt+x", "help": "alt+x"})) == [Clash("help", "chart", "alt+x")]


def test_the_file_s_faults_are_named_with_file_line_and_key_and_the_app_s_own_key_stays() -> None:
    found = parse(FILE, '[keys]\nhelp = "f2"\nchart = "ctrl+c"\ncopy = "alt+c"\nchrat = "f9"\nfold = 3\n')
    assert found.values == {"keys.copy": "alt+c"}
    said = [str(problem) for problem in found.problems]
    assert said[0].startswith('settings.toml line 2: keys.help is "f2", which is the key of settings; it must be a key')
    assert 'line 3: keys.chart is "ctrl+c", and ctrl+c is kept for' in said[1]
    assert "line 5: keys.chrat is no setting; did you mean keys.chart?" in said[2]
    assert "line 6: keys.fold is 3" in said[3]


def test_a_variable_that_robs_a_key_of_the_file_is_named_and_passed_over(home: Path) -> None:
    path = home / "settings.toml"
    path.write_text('[keys]\nchart = "alt+x"\n')
    found = resolve((), {"SPARK_CHAT__KEYS__HELP": "alt+x"}, path)
    (problem,) = found.problems
    assert "SPARK_CHAT__KEYS__HELP" in str(problem) and "which is the key of chart" in str(problem)
    assert (value(found.settings, "keys.help"), value(found.settings, "keys.chart")) == ("f1", "alt+x")


def test_a_theme_and_its_key_are_told_apart() -> None:
    assert resolve(("theme=x",), {}, Path("none")).settings.ui.theme == "x"


def test_saving_a_key_that_is_taken_is_refused_and_changes_nothing(home: Path) -> None:
    path = home / "settings.toml"
    save(path, {"keys.chart": "alt+x"})
    before = path.read_bytes()
    with pytest.raises(Exception, match=r"line \d+: keys\.chart is \"alt\+x\", which is the key of help"):
        save(path, {"keys.help": "alt+x"})
    assert path.read_bytes() == before


ANY = st.dictionaries(st.sampled_from(list(ACTIONS)), st.sampled_from(["", "f1", "f2", "alt+x", "alt+x, f9"]))


@given(ANY)
def test_once_those_blamed_are_taken_back_no_key_is_given_twice(chosen: dict[str, str]) -> None:
    """As the file is read: what clashes goes back to the app's own key."""
    kept = dict(chosen)
    while found := list(clashes(kept)):
        for clash in found:
            kept.pop(clash.action, None)
    keys = [key for action, own in ACTIONS.items() for key in split(kept.get(action, own))]
    assert len(keys) == len(set(keys)) or any(
        split(keys) != tuple(dict.fromkeys(split(keys))) for keys in kept.values()
    )
