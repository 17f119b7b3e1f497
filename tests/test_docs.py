"""What the pages say holds: links lead somewhere, commands and options exist."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from spark_chat.cli.main import main

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "packaging" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)\)", page.read_text())
    assert all((page.parent / link).exists() for link in links if "://" not in link)


def test_every_page_is_linked_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text()
    assert all(f"](docs/{page.name})" in readme for page in (ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_options_exist(page: Path) -> None:
    context = click.Context(main)
    for line in re.findall(r"\bspark-chat ([a-z][a-z-]* ?[^`\n|#]*)", page.read_text()):
        name, *words = line.split()
        command = main.get_command(context, name)
        if command is None:
            assert line not in re.findall(r"`spark-chat ([^`]*)`", page.read_text()), f"there is no command {name}"
            continue
        known = {"--config", "--set", "--model", "--engine", "--help", *_options(command, context)}
        assert {word for word in words if word.startswith("--")} <= known, line


def _options(command: click.Command, context: click.Context) -> set[str]:
    found = {name for parameter in command.params for name in parameter.opts}
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found |= _options(command.get_command(context, inner) or command, context)
    return found
