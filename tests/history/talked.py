"""A journal that holds one exchange, for tests."""

from __future__ import annotations

from pathlib import Path

from spark_chat.history.journal import Journal, new_id

WAIT_S = 20


def talked(path: Path, report: list[str] | None = None) -> Journal:
    journal = Journal(path, (report if report is not None else []).append)
    talk, prompt, answer = journal.begin(), new_id(), new_id()
    journal.prompt(talk, prompt, "hello")
    journal.answer_started(talk, answer, prompt)
    journal.append(answer, "hi")
    journal.finish(answer, "done").result(WAIT_S)
    return journal
