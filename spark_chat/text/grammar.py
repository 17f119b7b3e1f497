"""The Markdown that models write: CommonMark with tables and strikethrough; HTML is text and no markup.

Block structure and inline markup are parsed apart: the first is needed for all of an answer, the second only for
lines that come on the screen.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from spark_chat.text.clean import CARRIAGE_RETURN

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

DEEPEST = 20
"""Containers inside containers that the parser follows; beyond, it drops text, so callers must look."""


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST})
    parser.enable(["table", "strikethrough"])
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


@cache
def _inline_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST})
    return parser.enable(["table", "strikethrough"])


def block_tokens(source: str, references: dict[str, Any] | None = None) -> list[Token]:
    """Tokens of the block structure; inline tokens have no children yet. `references` is read and added to.

    `source` is cleaned text: a carriage return is a picture by now, and one at a line's end is no text.
    """
    environment: dict[str, Any] = {} if references is None else {"references": references}
    return _parser().parse(source.replace(CARRIAGE_RETURN + "\n", "\n"), environment)


def inline_tokens(content: str, references: dict[str, Any] | None = None) -> list[Token]:
    """Tokens of one run of inline Markdown."""
    environment: dict[str, Any] = {} if references is None else {"references": references}
    parsed = _inline_parser().parseInline(content, environment)
    return parsed[0].children or [] if parsed else []
