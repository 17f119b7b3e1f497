"""The rules that take an answer out of a text, and the questions of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spark_chat.lab import gsm8k
from spark_chat.lab.item import BadWorkload


@pytest.mark.parametrize(
    "text, number",
    [
        ("2 + 2 = 4\n#### 4", "4"),
        ("#### 3 ... no, 12 in all.\n#### 12", "12"),
        ("#### 1,234", "1234"),
        ("so 9 apples, and \\boxed{18}", "18"),
        ("\\boxed{\\$5,000.50}", "5000.5"),
        ("The answer is **$18.00**, of 30.", "18"),
        ("Answer: −7", "-7"),
        ("the answer is \\( 42 \\), as 6 x 7", "42"),
        ("First 3, then 5, at last 8.", "8"),
        ("It costs $5,000.", "5000"),
        ("10 - 3", "3"),
        ("x=-3", "-3"),
        ("about 12.50% of it", "12.5"),
        ("He has 3-2", "2"),
        ("I can't tell.", None),
        ("", None),
        ("####", None),
    ],
)
def test_extraction(text: str, number: str | None) -> None:
    assert gsm8k.extracted(text) == number


@pytest.mark.parametrize("text, right", [("#### 72", True), ("#### 72.00", True), ("$72", True), ("#### 73", False)])
def test_judging(text: str, right: bool) -> None:
    assert gsm8k.right(text, "72") is right


def rows(count: int) -> list[dict[str, str]]:
    return [{"question": f"What is {n} + {n}?", "answer": f"It is {2 * n}.\n#### {2 * n}"} for n in range(count)]


def test_five_shots_and_the_published_sampling(tmp_path: Path) -> None:
    file = tmp_path / "test.jsonl"
    file.write_text("\n".join(map(json.dumps, rows(9))))
    found = gsm8k.workload(str(file))
    assert [item.expected for item in found.items] == ["10", "12", "14", "16"]
    text = found.items[0].messages[0].content
    assert text.count("Question:") == 6 and text.endswith("Question: What is 5 + 5?\nAnswer:")
    assert found.sampling == {
        "temperature": 0.6, "top_p": 0.95, "top_k": 29, "max_tokens": 32_768, "thinking": True
    }  # fmt: skip
    assert found.seed is not None and found.extraction and found.rounds == 1
    assert len(gsm8k.workload(str(file), 2).items) == 2


@pytest.mark.parametrize(
    "content, said",
    [
        ("", "line 1"),
        ('{"question": "a"}', "line 1 has no question and answer. GSM8K is published as"),
        ("\n".join(map(json.dumps, rows(5))), "has 5 rows"),
        ("\n".join(map(json.dumps, [*rows(6), {"question": "a", "answer": "7"}])), "line 7: its answer does not end"),
    ],
)
def test_bad_files(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "test.jsonl"
    file.write_text(content)
    with pytest.raises(BadWorkload) as told:
        gsm8k.workload(str(file))
    assert said in str(told.value)


def parquet_file(folder: Path, rows: list[dict[str, Any]]) -> str:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(rows), folder / "test.parquet")
    return str(folder / "test.parquet")


def test_a_parquet_file_gives_the_same_as_jsonl(tmp_path: Path) -> None:
    lines = tmp_path / "test.jsonl"
    lines.write_text("\n".join(map(json.dumps, rows(9))))
    found = gsm8k.workload(parquet_file(tmp_path, rows(9)))
    assert found == gsm8k.workload(str(lines)) and found.digest == gsm8k.workload(str(lines)).digest


@pytest.mark.parametrize(
    "found, said",
    [
        ([{"q": "a", "answer": "#### 1"}] * 9, "can't be read as Parquet with question and answer"),
        (rows(5), "has 5 rows"),
        ([*rows(6), {"question": "a", "answer": "7"}], "test.parquet row 7: its answer does not end"),
        ([*rows(6), {"question": None, "answer": "#### 7"}], "test.parquet row 7 has no question and answer"),
    ],
)
def test_bad_parquet_files(tmp_path: Path, found: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(BadWorkload) as told:
        gsm8k.workload(parquet_file(tmp_path, found))
    assert said in str(told.value) and "Traceback" not in str(told.value)


def test_a_parquet_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "test.parquet").write_bytes(b"PAR1 not at all")
    with pytest.raises(BadWorkload, match=r"test\.parquet can't be read as Parquet"):
        gsm8k.workload(str(tmp_path / "test.parquet"))


def test_without_pyarrow_the_way_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyarrow.py").write_text("raise ImportError('not here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(BadWorkload, match=r"pip install 'spark-chat\[parquet\]'.*JSONL"):
        gsm8k.workload(parquet_file(tmp_path, rows(9)))


def test_a_parquet_file_that_is_not_there_says_where_the_set_is() -> None:
    with pytest.raises(BadWorkload, match="openai/gsm8k"):
        gsm8k.workload("/no/such.parquet")
