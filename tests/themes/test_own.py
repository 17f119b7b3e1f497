"""A person's own theme file: used as far as it can be, and each fault named with file and key."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import tomli_w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual.css.stylesheet import Stylesheet
from textual.theme import BUILTIN_THEMES

from spark_chat import locations
from spark_chat.tui.themes import Themes, load, read


def own(text: str | bytes, name: str = "mine.toml") -> Themes:
    folder = locations.own_themes()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return load()


def test_a_theme_of_one_s_own(home: Path) -> None:
    found = own(
        'name = "dusk"\nbase = "spark-dark"\nerror = "#ff0000"\n[variables]\ntext-muted = "auto 70%"\n'
        'markdown-h2-text-style = "bold underline"\ninput-selection-background = "#81a1c1 35%"\n'
    )
    assert found.problems == ()
    dusk, dark = found.themes["dusk"], found.themes["spark-dark"]
    assert (dusk.error, dusk.primary, dusk.variables["text-muted"]) == ("#ff0000", dark.primary, "auto 70%")
    assert dark.variables["text-muted"] != "auto 70%"


def test_the_file_s_name_is_the_theme_s_where_it_has_none(home: Path) -> None:
    assert own('primary = "red"', "rose.toml").themes["rose"].primary == "red"


def test_one_s_own_comes_before_ours(home: Path) -> None:
    assert own('name = "spark-dark"\nprimary = "#123456"').themes["spark-dark"].primary == "#123456"


@pytest.mark.parametrize(
    ("text", "key", "says"),
    [
        ('primary = "#123456"\nprimery = "#fff"', "primery", "did you mean primary?"),
        ('primary = "#123456"\nerror = "#12"', "error", "'#12', and that is no colour"),
        ('primary = "#123456"\nerror = 7', "error", "no colour"),
        ('primary = "#123456"\nerror = "red; background: blue"', "error", "no colour"),
        ('primary = "#123456"\ndark = "yes"', "dark", "true or false"),
        ('primary = "#123456"\ntext_alpha = 7', "text_alpha", "from 0 to 1"),
        ('primary = "#123456"\nname = "[/x]"', "name", "letters, digits"),
        ('primary = "#123456"\nbase = "spark-drak"', "base", "spark-dark?"),
        ('primary = "#123456"\nvariables = 3', "variables", "must be a table"),
        ('primary = "#123456"\n[variables]\ntext-mutd = "#fff"', "variables.text-mutd", "did you mean text-muted?"),
        ('primary = "#123456"\n[variables]\ntext-muted = "$x"', "variables.text-muted", "no colour"),
        ('primary = "#123456"\n[variables]\nborder = "auto 50%"', "variables.border", "no colour"),
        ('primary = "#123456"\n[variables]\nlink-style = "wavy"', "variables.link-style", "no style"),
    ],
)
def test_a_wrong_key_is_named_and_the_rest_is_used(home: Path, text: str, key: str, says: str) -> None:
    found = own(text)
    (problem,) = found.problems
    assert str(locations.own_themes() / "mine.toml") in problem
    assert f", {key} " in problem
    assert says in problem
    assert found.themes["mine"].primary == "#123456"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b'primary = "#fff', "no valid TOML"),
        (b"\xff\xfe", "not UTF-8"),
        (b"dark = true", "primary has no colour"),
        (b'primary = "mud"', "primary is 'mud'"),
        (b"a = " + b"[" * 50_000, "no valid TOML"),
    ],
)
def test_a_file_without_a_theme_is_left_out_with_a_sentence(home: Path, text: bytes, says: str) -> None:
    found = own(text)
    assert "mine" not in found.themes
    assert "spark-dark" in found.themes
    assert any(says in problem and "mine.toml" in problem for problem in found.problems)


def test_a_folder_and_a_dangling_link_named_like_themes(home: Path) -> None:
    locations.own_themes().mkdir(parents=True)
    (locations.own_themes() / "folder.toml").mkdir()
    (locations.own_themes() / "link.toml").symlink_to(home / "nowhere")
    assert len(load().problems) == 2


VALUES = st.text(max_size=20) | st.sampled_from(["#fff", "red", "ansi_blue", "auto 50%", "rgb(1,2,3)", "hsl(1,2%,3%)"])
COLORS = ("error", "background", "surface", "boost", "foreground")
VARIABLES = ("text-muted", "border", "link-style", "scrollbar")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    colors=st.dictionaries(st.sampled_from(COLORS), VALUES),
    variables=st.dictionaries(st.sampled_from(VARIABLES), VALUES),
    ansi=st.booleans(),
)
def test_what_is_accepted_never_breaks_the_stylesheet(
    home: Path, colors: dict[str, str], variables: dict[str, str], ansi: bool
) -> None:
    file = home / "any.toml"
    file.write_text(tomli_w.dumps({"primary": "blue", "ansi": ansi, **colors, "variables": variables}))
    theme = read(file, BUILTIN_THEMES, lambda problem: None)
    assert theme is not None
    values = theme.to_color_system().generate()
    rules = "color: $text-muted; link-style: $link-style;"
    for name in (*COLORS, "border", "scrollbar"):
        rules += f"color: ${name}; background: ${name}; border: tall ${name}; scrollbar-color: ${name};"
    sheet = Stylesheet(variables=values)
    sheet.add_source(f"Widget {{ {rules} }}")
    sheet.parse()


@pytest.mark.parametrize("kind", ["pipe", "device", "large", "folder", "digits", "loop"])
def test_what_is_no_theme_file_is_named_and_holds_nothing_up(kind: str, home: Path) -> None:
    folder = locations.own_themes()
    folder.mkdir(parents=True)
    file = folder / "odd.toml"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "device":
        file.symlink_to("/dev/zero")
    elif kind == "loop":
        file.symlink_to(file)
    elif kind == "folder":
        file.mkdir()
    else:
        file.write_text("#" * 5_000_000 if kind == "large" else "a = " + "9" * 5000)
    found = load()
    assert "odd" not in found.themes and "spark-dark" in found.themes
    assert len(found.problems) == 1 and "odd.toml" in found.problems[0]
