"""`spark-chat settings`: show, change and check the settings."""

from __future__ import annotations

import functools
import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from spark_chat.cli.completing import keys
from spark_chat.cli.group import Group
from spark_chat.cli.lazy import BAD_INPUT, BadInput
from spark_chat.cli.options import Overrides, config_option, narrate, narrate_problems, overridable, write
from spark_chat.settings.problem import CannotSave, SettingsError, UnknownKey
from spark_chat.settings.resolve import Resolved, assignment, known_key
from spark_chat.settings.schema import rows
from spark_chat.settings.values import literal


def _at(function: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command --config and the click context, with the option taken into it."""

    @functools.wraps(function)
    def taken(context: click.Context, /, config: str | None, **arguments: Any) -> Any:
        context.ensure_object(Overrides).take(config, ())
        return function(context, **arguments)

    found: Callable[..., Any] = config_option(click.pass_context(taken))
    return found


@click.group("settings", cls=Group)
@_at
def command(context: click.Context) -> None:
    """Show, change and check the settings."""


def _file(overrides: Overrides) -> Path:
    """Where the file is. Raises NoHome."""
    from spark_chat.locations import settings_file

    return overrides.path() or settings_file()


def _refused(error: SettingsError) -> click.ClickException:
    return click.ClickException(str(error)) if isinstance(error, CannotSave) else BadInput(str(error))


@command.command()
@click.option("--json", "as_json", is_flag=True, help="All of it as JSON.")
@overridable
def show(resolved: Resolved, as_json: bool) -> None:
    """Print each setting's value and where it came from."""
    narrate_problems(resolved)
    if as_json:
        return write(json.dumps(_json(resolved), indent=2))
    values = {row.key: literal(resolved.value(row.key)) for row in rows()}
    keys = max(map(len, values))
    wide = min(max(map(len, values.values())), 32)
    for key, shown in values.items():
        write(f"{key:<{keys}}  {shown:<{wide}}  {resolved.origins[key]}".rstrip())
        for entry, origin in resolved.origins.items():
            if entry.startswith(key + ".") and origin != resolved.origins[key]:
                write(f"{'':<{keys}}  {'':<{wide}}  {origin} ({entry})")


def _json(resolved: Resolved) -> dict[str, Any]:
    settings = {}
    for row in rows():
        origin = resolved.origins[row.key]
        settings[row.key] = {
            "value": resolved.value(row.key),
            "default": row.default,
            "layer": origin.layer,
            "from": origin.detail or None,
            "restart": row.restart,
        }
    return {
        "file": str(resolved.path) if resolved.path else None,
        "settings": settings,
        "problems": [str(problem) for problem in resolved.problems],
    }


@command.command()
@click.argument("key", shell_complete=keys)
@overridable
def get(resolved: Resolved, key: str) -> None:
    """Print the value of KEY that is in force."""
    try:
        row, entry = known_key(key)
    except UnknownKey as error:
        raise _refused(error) from None
    narrate_problems(resolved)
    full = ".".join((row.key, *entry))
    try:
        found = resolved.value(full)
    except KeyError:
        raise _refused(UnknownKey(full, None)) from None
    write("" if found is None else found if isinstance(found, str) else literal(found))


@command.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("key", shell_complete=keys)
@click.argument("value")
@_at
def set_(context: click.Context, key: str, value: str) -> None:
    """Change KEY to VALUE in the settings file: that line alone."""

    def change() -> dict[str, Any]:
        row, entry, found = assignment(f"{key}={value}")
        if row.key == "ui.theme":
            unknown = _unknown_theme(str(found))
            if unknown:
                raise SettingsError(unknown)
        return {".".join((row.key, *entry)): found}

    _change(context, change)


def _unknown_theme(name: str) -> str:
    """Why a theme of that name can't be used, with those that can; "" where it can."""
    from spark_chat.tui.environment import refusal

    why_not = refusal()
    if why_not is not None:
        raise BadInput(why_not)
    from textual.theme import BUILTIN_THEMES

    from spark_chat.tui.themes import load

    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return ""  # saving it has a sentence for that
    known = {**BUILTIN_THEMES, **load().themes}
    return "" if name in known else f"There is no theme {name[:60]}. There are {', '.join(sorted(known))}."


@command.command()
@click.argument("key", shell_complete=keys)
@_at
def unset(context: click.Context, key: str) -> None:
    """Take KEY out of the settings file, so that its default holds."""

    def change() -> dict[str, Any]:
        from spark_chat.settings.tree import UNSET

        row, entry = known_key(key)
        return {".".join((row.key, *entry)): UNSET}

    _change(context, change)


def _change(context: click.Context, change: Callable[[], dict[str, Any]]) -> None:
    overrides = context.ensure_object(Overrides)
    try:
        from spark_chat.settings.save import save

        changes = change()
        path = _file(overrides)
        written = save(path, changes)
    except SettingsError as error:
        raise _refused(error) from None
    after = overrides.resolved()
    (key,) = changes
    row, _ = known_key(key)
    saved = literal(changes[key]) if isinstance(changes[key], bool | int | float | str | list | dict) else "unset"
    restart = " It takes effect at restart." if row.restart and written else ""
    narrate(f"{key} is {saved} in {path}.{restart}" if written else f"{key} is {saved} in {path} already.")
    origin = after.origins[row.key]
    if origin.layer in ("environment", "command line"):
        narrate(f"{origin} overrides it: {literal(after.value(row.key))} is in force.")


@command.command()
@_at
def path(context: click.Context) -> None:
    """Print where the settings file is, or would be."""
    write(str(_file(context.ensure_object(Overrides))))


@command.command()
@overridable
def validate(resolved: Resolved) -> int:
    """Check the settings file and the variables over it; exit code 2 where something is wrong."""
    return _validated(resolved)


def _validated(resolved: Resolved) -> int:
    narrate_problems(resolved)
    theme = _unknown_theme(resolved.settings.ui.theme)
    if theme:
        narrate(f"{resolved.origins['ui.theme']}: ui.theme is {resolved.settings.ui.theme}. {theme}")
    if resolved.problems or theme:
        return BAD_INPUT
    if resolved.file is not None and resolved.file.exists:
        narrate(f"{resolved.path} is fine.")
    else:
        narrate(f"There is no {resolved.path}: defaults are used.")
    return 0


@command.command()
@_at
def edit(context: click.Context) -> int:
    """Open the settings file in $VISUAL or $EDITOR, and check it after."""
    from spark_chat.settings.template import ensure

    overrides = context.ensure_object(Overrides)
    file = _file(overrides)
    problem = ensure(file)
    if problem is not None:
        raise click.ClickException(str(problem))
    words = _editor()
    try:
        code = subprocess.call([*words, str(file)])
    except OSError as error:
        raise click.ClickException(
            f"{words[0]} could not be started ({error.strerror}). Set VISUAL or EDITOR."
        ) from None
    if code != 0:
        raise click.ClickException(f"{words[0]} ended with code {code}.")
    return _validated(overrides.resolved())


def _editor() -> list[str]:
    for name in ("VISUAL", "EDITOR"):
        try:
            words = shlex.split(os.environ.get(name, ""))
        except ValueError as error:
            raise click.UsageError(f"{name} can't be understood: {error}.") from None
        if words:
            return words
    for name in ("sensible-editor", "nano", "vim", "vi"):
        if shutil.which(name):
            return [name]
    raise click.UsageError("There is no editor to open it with. Set VISUAL or EDITOR.")
