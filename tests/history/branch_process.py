"""A chat in a process of its own that edits, asks again and steps without end, and says what it did after each step
was on disk: `python -m tests.history.branch_process PATH`."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from spark_chat.history.journal import Journal, new_id
from spark_chat.history.shelf import Shelf


def say(**fields: object) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def main(path: str) -> None:
    journal = Journal(Path(path))
    shelf, talk, chance = Shelf(journal), journal.begin(), random.Random(3)
    answers: list[str] = []
    prompts: list[tuple[str, str]] = []
    while True:
        kind = chance.choice(["send", "edit", "again", "step"]) if answers else "send"
        if kind == "step":
            leaf = chance.choice(answers)
            shelf.show(talk, leaf, leaf).result()
            say(what="step", leaf=leaf)
            continue
        text = ""
        if kind == "again":
            prompt, _ = chance.choice(prompts)
        else:
            prompt, text = new_id(), f"{kind} {len(prompts)}"
            old, after = chance.choice(prompts) if kind == "edit" else (None, answers[-1] if answers else "")
            journal.prompt(talk, prompt, text, after, old).result()
            prompts.append((prompt, after))
        answer = new_id()
        journal.answer_started(talk, answer, prompt)
        whole = ""
        for number in range(5):
            journal.append(answer, f"{number} ")
            whole += f"{number} "
        journal.finish(answer, "stopped").result()
        if chance.random() < 0.3:
            journal.goes_on(talk, answer, (len(whole), 0))
            journal.append(answer, "and on")
            journal.finish(answer, "done").result()
            whole += "and on"
        answers.append(answer)
        say(what=kind, talk=talk, prompt=prompt, text=text, answer=answer, whole=whole)


if __name__ == "__main__":
    main(sys.argv[1])
