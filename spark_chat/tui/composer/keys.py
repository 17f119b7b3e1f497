"""The composer's keys, for the help screen."""

from __future__ import annotations

KEYS: tuple[tuple[str, str], ...] = (
    ("enter", "Send. A paste never sends, with or without the terminal's help."),
    ("shift+enter, alt+enter, ctrl+j", "New line. ctrl+j works in every terminal."),
    ("up, down", "On the first and last line: earlier and later prompts; the draft is at the bottom."),
    ("ctrl+up, ctrl+down", "Earlier and later prompts from any line."),
    ("tab", "Take the command that is marked in the list above the prompt."),
    ("alt+o, click", "Open the pasted text (⧉) at the cursor, or before it; again or esc closes it."),
    ("backspace", "Remove a pasted text as a whole; ctrl+z brings it back."),
    ("ctrl+c, ctrl+x, ctrl+v", "Copy and cut what is selected; paste."),
    ("ctrl+z, ctrl+y", "Undo, redo."),
    ("ctrl+a, ctrl+e", "To the start and end of the line."),
    ("ctrl+w, ctrl+u, ctrl+k", "Delete the word before, to the line's start, to its end."),
    ("f7", "Select all."),
    ("ctrl+d", "At an empty prompt: quit. Else delete the character at the cursor."),
)
