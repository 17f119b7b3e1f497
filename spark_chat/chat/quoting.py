"""Parts of a message as they are copied: never anything that could drive a terminal it is pasted into. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spark_chat.chat.wording import end_line
from spark_chat.text.clean import clean

if TYPE_CHECKING:
    from spark_chat.chat.conversation import Exchange


def copied(text: str) -> str:
    """`text` as it goes to a clipboard."""
    return clean(text.replace("\r\n", "\n"))


def code_blocks(text: str) -> list[str]:
    """What stands in the code blocks of a text of Markdown, in their order; those in lists and quotes too."""
    from spark_chat.text.grammar import block_tokens

    tokens = block_tokens(copied(text), {})
    return [token.content for token in tokens if token.type in ("fence", "code_block")]


def quoted(exchange: Exchange, numbers: bool = False) -> str:
    """The exchange as Markdown: the prompt as a quote, the answer below, and the line of its numbers."""
    prompt = "\n".join(f"> {line}".rstrip() for line in copied(exchange.prompt).split("\n"))
    parts = [prompt, copied(str(exchange.answer)).strip()]
    if numbers and exchange.numbers is not None:
        parts.append(f"*{exchange.model}: {end_line(exchange)}*" if exchange.model else f"*{end_line(exchange)}*")
    return "\n\n".join(part for part in parts if part)


def to_copy(exchanges: Sequence[Exchange], what: str) -> str | None:
    """The last answer; "all": all of it; "code": the last code block of the last answer. None for another word."""
    answers = [str(item.answer) for item in exchanges if item.answer]
    if what == "all":
        return "\n\n".join(quoted(item) for item in exchanges)
    if what == "code":
        blocks = code_blocks(answers[-1]) if answers else []
        return blocks[-1] if blocks else ""
    return None if what else copied(answers[-1]) if answers else ""
