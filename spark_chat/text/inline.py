"""Inline Markdown as runs of text: links show their address, images their description; nothing is fetched or linked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spark_chat.text.clean import printable
from spark_chat.text.grammar import inline_tokens
from spark_chat.text.palette import CODE, EMPHASIS, LINK, STRIKE, STRONG, URL
from spark_chat.text.row import Run

if TYPE_CHECKING:
    from markdown_it.token import Token

_BITS = {"strong": STRONG, "em": EMPHASIS, "s": STRIKE}
LONGEST = 20_000
"""Characters of one paragraph that are parsed for inline markup; a longer one is shown as it is."""


def inline_runs(content: str, references: dict[str, Any] | None = None) -> list[Run]:
    """`content` (cleaned text) as runs. Line breaks stay where the model put them."""
    if len(content) > LONGEST:
        return [(printable(content), 0)]
    runs: list[Run] = []
    _walk(inline_tokens(content, references), 0, runs)
    return [(printable(text), bits) for text, bits in runs]  # cleaned again: entities give any character


def _walk(tokens: list[Token], bits: int, runs: list[Run]) -> None:
    links: list[tuple[str, int]] = []
    for token in tokens:
        kind = token.type
        if kind == "text":
            if token.content:
                runs.append((token.content, bits))
        elif kind in ("softbreak", "hardbreak"):
            runs.append(("\n", bits))
        elif kind == "code_inline":
            runs.append((token.content, bits | CODE))
        elif kind == "link_open":
            links.append((_address(token, "href"), len(runs)))
            bits |= LINK
        elif kind == "link_close" and links:
            address, start = links.pop()
            bits &= ~LINK
            shown = "".join(text for text, _ in runs[start:])
            if address and shown not in (address, address.removeprefix("mailto:")):
                runs.append((f" ({address})" if shown else address, bits | URL))
        elif kind == "image":
            runs.append((f"[image: {token.content or 'no description'}]", bits | EMPHASIS))
            if address := _address(token, "src"):
                runs.append((f" ({address})", bits | URL))
        elif token.tag in _BITS:
            bits = bits | _BITS[token.tag] if token.nesting > 0 else bits & ~_BITS[token.tag]
        elif token.content:
            runs.append((token.content, bits))


def _address(token: Token, name: str) -> str:
    """Where it leads, and its title where it has one."""
    title = str(token.attrs.get("title", ""))
    return f"{token.attrs.get(name, '')} {title}".strip()
