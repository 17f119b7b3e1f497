"""Blocks are cut the same way however the text comes, and at Markdown's own borders."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from spark_chat.text.blocks import Block, BlockSplitter
from spark_chat.text.grammar import block_tokens

LINES = st.sampled_from([
    "", "", "Some text.", "more text", "# Heading", "## H2 ##", "---", "===", "***", "- item", "* other", "+ plus",
    "1. one", "2. two", "7) seven", "14. bar", "   - nested", "     deep", "  lazy", "    code", "\tcode", "> quote",
    "> - in quote", ">", "```", "```python", "~~~", "~~~~ x", "   ```", "def f(): pass", "| a | b |", "|---|---|",
    "a | b", "--- | ---", "| 1 | 2 |", "[ref]: http://x.y", "[a][ref] and [/INST]", "<div>", "</div>", "- ", "-",
    "- [ ] todo", "1986. A year", "  ", "\\", "`", "``` x `", "␍", "    ␍", "text␍", "``` ␍", "Setext\n---",
])  # fmt: skip
documents = st.lists(LINES, max_size=30).map("\n".join)


def split(text: str, chunks: list[str]) -> list[Block]:
    splitter = BlockSplitter()
    closed: list[Block] = []
    fed = ""
    for chunk in chunks:
        closed += splitter.feed(chunk)
        fed += chunk
        assert "".join(block.source for block in closed) + splitter.tail == fed
    closed += splitter.finish()
    assert "".join(block.source for block in closed) == text
    return closed


@given(documents | st.text(alphabet="ab \n\t`~#>-*+|1.:[]=_", max_size=200), st.data())
def test_any_split_gives_the_same_blocks(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    chunks = [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]
    whole = split(text, [text])
    assert split(text, chunks) == whole
    assert split(text, list(text)) == whole


@given(documents)
@example("- a\n- b\n\n\n- c\n* d")
def test_cuts_are_where_the_whole_document_has_borders(text: str) -> None:
    borders = {0}
    for token in block_tokens(text):
        top = token.level == 0 or (token.level == 1 and token.type == "list_item_open")
        if token.map and token.nesting >= 0 and top:
            borders.add(token.map[0])
    lines = text.replace("␍\n", "\n").split("\n")
    at = 0
    for block in split(text, [text]):
        first = at
        while first < len(lines) and not lines[first].strip():
            first += 1
        defines = lines[first].lstrip().startswith("[ref]:") if first < len(lines) else True
        assert first in borders or defines or first >= len(lines), (at, block)
        at += block.source.count("\n")


def test_numbers_count_along_their_list() -> None:
    blocks = split("1. a\n1. b\n1. c\n\ntext\n\n5. x\n9. y\n", list("1. a\n1. b\n1. c\n\ntext\n\n5. x\n9. y\n"))
    assert [block.number for block in blocks] == [1, 2, 3, None, 5, 6]


def test_a_closing_fence_closes_at_once() -> None:
    splitter = BlockSplitter()
    assert splitter.feed("```py\nx\n") == []
    assert splitter.kind == "fence"
    assert [block.kind for block in splitter.feed("```\n")] == ["fence"]


def test_cost_is_linear(monkeypatch: object) -> None:
    """Characters parsed again and again would show as parsing many times the text's length."""
    import spark_chat.text.blocks as blocks

    parsed = 0
    parse = blocks.block_tokens

    def counted(source: str) -> object:
        nonlocal parsed
        parsed += len(source)
        return parse(source)

    monkeypatch.setattr(blocks, "block_tokens", counted)  # type: ignore[attr-defined]
    texts = [
        "```py\n" + "x = 1\n" * 3000 + "```\n",
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 1000,
        "- item with text\n" * 1000,
        "- item\nlazy line\n" * 500,
        "1. item\n   - nested\n     - more\n" * 300,
        "> quote\n> - in it\n" * 500,
        "words\n- - -x\n#no\n" * 500,
        "- a\n" + "  - b\n" * 2000,
        "[a]: b\n" * 1000,
        "*\n\n" * 1000,
        "    code\n\n" * 1000,
    ]
    for text in texts:
        parsed = 0
        split(text, [text])
        assert parsed < 8 * len(text), text[:20]
