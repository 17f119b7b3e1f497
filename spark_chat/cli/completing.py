"""What a shell may complete after an option: keys of the settings, names of engines, themes and models.

Called only while a shell completes, so each looks things up then. One that fails completes nothing: a shell's line
is no place for a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem


def keys(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Dotted keys of the settings, with their meaning."""
    from spark_chat.settings.schema import rows

    return [CompletionItem(row.key, help=row.doc) for row in rows() if row.key.startswith(typed)]


def assignments(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """KEY=, then KEY=VALUE where the values can be listed."""
    from spark_chat.settings.schema import rows

    key, separator, _ = typed.partition("=")
    if not separator:
        return [CompletionItem(f"{row.key}=", help=row.doc) for row in rows() if row.key.startswith(typed)]
    row = next((row for row in rows() if row.key == key), None)
    values = () if row is None else ("true", "false") if row.kind == "bool" else row.choices
    return _those(typed, (f"{key}={value}" for value in values))


def engines(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    from spark_chat.settings.schema import rows

    return _those(typed, next(row.choices for row in rows() if row.key == "engine.kind"))


def themes(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    from spark_chat import locations

    try:
        folders = (locations.shipped_themes(), locations.own_themes())
        return _those(typed, (file.stem for folder in folders for file in sorted(folder.glob("*.toml"))))
    except (OSError, locations.NoHome):
        return []


def models(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Names of models that are here; else paths."""
    return names(context, parameter, typed) or [CompletionItem(typed, type="file")]


def names(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Names of models that are here."""
    from spark_chat.models.find import known

    try:
        return _those(typed, (ref.name for ref in known()))
    except OSError:
        return []


def _those(typed: str, words: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(word) for word in words if word.startswith(typed)]
