"""A chat in a process of its own that says what it gave to the journal, and when, on stdout: `python -m ... PATH`.

Each line: the monotonic time, what, the conversation, and the message's text so far.
"""

from __future__ import annotations

import itertools
import json
import sys
import threading
import time
from pathlib import Path

from spark_chat.history.journal import Journal, new_id


def say(what: str, **fields: object) -> None:
    sys.stdout.write(json.dumps({"time": time.monotonic(), "what": what, **fields}) + "\n")
    sys.stdout.flush()


def main(path: str, turns: int | None) -> None:
    journal = Journal(Path(path), lambda sentence: say("trouble", sentence=sentence))
    talk = journal.begin({"who": "test"})
    pace = threading.Event()
    for turn in itertools.count() if turns is None else range(turns):
        prompt, answer = new_id(), new_id()
        kept = journal.prompt(talk, prompt, f"prompt {turn}").result()
        say("prompt", talk=talk, text=f"prompt {turn}", kept=kept)
        journal.answer_started(talk, answer, prompt)
        text = ""
        for n in range(40):
            piece = f"{turn}.{n} "
            text += piece
            journal.append(answer, piece, "r")
            say("piece", talk=talk, answer=answer, text=text)
            pace.wait(0.005)
        journal.draft(talk, f"draft {turn}")
        kept = journal.finish(answer, "done", {"turn": turn}).result()
        say("done", talk=talk, answer=answer, text=text, kept=kept)
    say("closed", kept=journal.close(30))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None)
