"""GSM8K: grade-school word problems, five worked ones before each question, the answer taken out of the text.

The set (Cobbe et al. 2021, MIT licence) is published as `openai/gsm8k` on Hugging Face and as openai/grade-school-math
on GitHub; the person fetches its test split and names the file. Rows have "question" and "answer", the latter ending in
"#### 42". The file's first five rows are the worked examples and are not asked.

How a number is taken out of an answer (version below; it stands in the record, and two versions are not compared):
1. Only the answer's own text counts, not the model's reasoning.
2. The last "#### number" in it, else the last \\boxed{number}, else the last number after "answer is" or "answer:",
   else the last number in the text. No number: a wrong answer.
3. A number is an optional sign right before it (which after a digit or a letter is none), digits with or without
   commas between thousands, an optional decimal part. A currency sign before it and a unit or per cent sign after it
   are passed over.
4. Two numbers are the same where their values are: 72, 72.0 and $72.00 are.
An answer that was cut off at max_tokens is judged by the same rules.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

from spark_chat.engine.protocol import Turn
from spark_chat.lab import prompts
from spark_chat.lab.item import BadWorkload, Item, Workload

EXTRACTION = "gsm8k-1"
"""Version of the rules above."""
SHOTS = 5
SAMPLING = {"temperature": 0.6, "top_p": 0.95, "top_k": 29, "max_tokens": 32_768, "thinking": True}
SEED = 1
WHERE = (
    "GSM8K is published as openai/gsm8k on Hugging Face (main/test-00000-of-00001.parquet) and as "
    "grade-school-math on GitHub (data/test.jsonl). Fetch the test split and name the file: --data FILE."
)

_NUMBER = r"[-+−]?(?:[$€£]\s?)?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_MARKED = re.compile(rf"####\s*({_NUMBER})")
_BOXED = re.compile(rf"\\boxed\{{\s*(?:\\\$\s*|\\text\{{[^}}]*\}}\s*)?({_NUMBER})")
_SAID = re.compile(rf"answer(?:\s+is|\s*:)[\s:*_$\\(]*({_NUMBER})", re.IGNORECASE)
_ANY = re.compile(_NUMBER)


def extracted(text: str) -> str | None:
    """The number that the answer `text` gives, as plain digits; None where it gives none."""
    for pattern in (_MARKED, _BOXED, _SAID):
        found = pattern.findall(text)
        if found:
            return _plain(found[-1])
    # Numbers are searched for one after the other, so that "3-2" is 3 and 2 and not 3 and -2.
    last = None
    for match in _ANY.finditer(text):
        before = text[match.start() - 1] if match.start() else " "
        number = match.group()
        last = number.lstrip("-+− ") if before.isalnum() else number
    return None if last is None else _plain(last)


def _plain(number: str) -> str:
    digits = re.sub(r"[^\d.+-]", "", number.replace("−", "-")).removeprefix("+")
    value = Decimal(digits)
    return format(value.normalize(), "f") if value else "0"


def right(text: str, expected: str) -> bool:
    """Whether the answer `text` gives the number `expected`."""
    found = extracted(text)
    return found is not None and Decimal(found) == Decimal(expected)


def workload(path: str, questions: int | None = None) -> Workload:
    """The questions in a local .parquet or .jsonl file, at most so many. Raises BadWorkload."""
    shown = Path(path).name
    found = _parquet(path, shown) if path.lower().endswith(".parquet") else _jsonl(path, shown)
    if len(found) <= SHOTS:
        raise BadWorkload(f"{shown} has {len(found)} rows; the first {SHOTS} are the examples, so more are needed.")
    shots = "\n\n".join(f"Question: {question}\nAnswer: {answer}" for _, question, answer in found[:SHOTS])
    items = []
    for number, question, answer in found[SHOTS : None if questions is None else SHOTS + questions]:
        expected = extracted(answer)
        if expected is None or not _MARKED.search(answer):
            raise BadWorkload(f"{shown} {_at(shown, number)}: its answer does not end in '#### number'.")
        text = f"{shots}\n\nQuestion: {question}\nAnswer:"
        items.append(Item(f"question {number}", (Turn("user", text),), "gsm8k", expected))
    return Workload(
        "gsm8k", tuple(items), SAMPLING, SEED, extraction=EXTRACTION, rounds=1,
        note=f"{SHOTS}-shot; answers by the rules {EXTRACTION}",
    )  # fmt: skip


def _jsonl(path: str, shown: str) -> list[tuple[int, str, str]]:
    return [_row(number, row, shown) for number, row in prompts.rows(prompts.text_of(path), shown)]


def _parquet(path: str, shown: str) -> list[tuple[int, str, str]]:
    """Read by a process of its own: its library is native and large, and goes away with the process."""
    program = (
        "import json, sys\n"
        "try:\n    import pyarrow.parquet as parquet\n"
        "except ImportError:\n    sys.exit(3)\n"
        "table = parquet.read_table(sys.argv[1], columns=['question', 'answer'])\n"
        "print(json.dumps(table.to_pylist()))\n"
    )
    file = Path(path).expanduser()
    if not file.is_file():
        raise BadWorkload(f"{path} is not there. {WHERE}")
    done = subprocess.run([sys.executable, "-c", program, str(file)], capture_output=True, text=True, check=False)
    if done.returncode == 3:
        raise BadWorkload(
            f"{shown} is a Parquet file, and pyarrow, which reads it, is not installed. "
            "Install it with `pip install 'spark-chat[parquet]'`, or name the set's JSONL file."
        )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["the file can't be read"])[-1]
        raise BadWorkload(f"{shown} can't be read as Parquet with question and answer: {last[:200]}. {WHERE}")
    return [_row(number, row, shown) for number, row in enumerate(json.loads(done.stdout), 1)]


def _row(number: int, row: dict[str, Any], shown: str) -> tuple[int, str, str]:
    question, answer = row.get("question"), row.get("answer")
    if not isinstance(question, str) or not isinstance(answer, str):
        raise BadWorkload(f"{shown} {_at(shown, number)} has no question and answer. {WHERE}")
    return number, question.strip(), answer.strip()


def _at(shown: str, number: int) -> str:
    """A Parquet file has rows and no lines."""
    return f"{'row' if shown.lower().endswith('.parquet') else 'line'} {number}"
