"""Where measurements are kept: a journal while one runs, so that a kill loses at most one answer, and its record.

<id>.jsonl is the journal, a header and then everything found, a line each; <id>.json is the record. An id begins with
the day and time, so that names sort by age.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from spark_chat import locations
from spark_chat.lab import results
from spark_chat.lab.results import AnyFound, Found
from spark_chat.settings.atomic import write_whole

FORMAT = 1
_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{4}")


def new_id(now: datetime) -> str:
    """For a record that is made now."""
    return f"{now.astimezone(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def stamp(now: datetime) -> str:
    """The time as it stands in a record."""
    return f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


class NoRecord(Exception):
    """There is no such record, or it can't be read: a sentence."""


@dataclass(frozen=True)
class Unfinished:
    """A journal, and what stands in it."""

    id: str
    made: str
    found: tuple[AnyFound, ...]


class Journal:
    """Everything found, written as it comes. Raises OSError where the disk takes it no more."""

    def __init__(self, id: str, made: str, file: BinaryIO) -> None:
        self.id, self.made, self._file = id, made, file

    @staticmethod
    def begin(digest: str, now: datetime) -> Journal:
        """A new one, for the plan with this digest."""
        id, made = new_id(now), stamp(now)
        folder = locations.made(locations.bench())
        file = _opened(folder / f"{id}.jsonl")
        header = {"format": FORMAT, "id": id, "made": made, "plan": digest}
        journal = Journal(id, made, file)
        journal._line(json.dumps(header).encode())
        return journal

    @staticmethod
    def again(unfinished: Unfinished) -> Journal:
        """The one that was cut off, to go on with. A line that was cut short is closed first."""
        path = locations.bench() / f"{unfinished.id}.jsonl"
        journal = Journal(unfinished.id, unfinished.made, _opened(path))
        if path.stat().st_size and not path.read_bytes().endswith(b"\n"):
            journal._line(b"")
        return journal

    def add(self, found: Found) -> None:
        self._line(results.encode(found))

    def _line(self, line: bytes) -> None:
        self._file.write(line + b"\n")
        self._file.flush()

    def close(self) -> None:
        """What was written is kept."""
        if not self._file.closed:
            with contextlib.suppress(OSError):
                os.fsync(self._file.fileno())
            self._file.close()

    def remove(self) -> None:
        """The measurement is finished, and its record written."""
        self.close()
        with contextlib.suppress(OSError):
            (locations.bench() / f"{self.id}.jsonl").unlink()


def _opened(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")


def unfinished(digest: str) -> Unfinished | None:
    """The newest journal of the plan with this digest."""
    for path in sorted(_files(".jsonl"), reverse=True):
        try:
            first, *lines = path.read_bytes().split(b"\n")
            header = json.loads(first)
        except (OSError, ValueError):
            continue
        if isinstance(header, dict) and header.get("plan") == digest and header.get("format") == FORMAT:
            return Unfinished(path.stem, str(header.get("made", "")), tuple(_readable(lines)))
    return None


def _readable(lines: Iterable[bytes]) -> Iterable[AnyFound]:
    """Lines that a kill cut short are passed over."""
    for line in lines:
        with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
            yield results.decode(line)


def save(record: dict[str, Any]) -> None:
    """Keep a record, in place of an earlier one with its id. Raises CannotSave, OSError."""
    folder = locations.made(locations.bench())
    write_whole(folder / f"{record['id']}.json", json.dumps(record, indent=1).encode() + b"\n")


def load(name: str) -> dict[str, Any]:
    """A record by its id, the beginning of it, "last", or a .json file. Raises NoRecord."""
    path = Path(name).expanduser()
    if path.suffix.lower() != ".json":
        path = _path_of(name)
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise NoRecord(f"{path.name} can't be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError):
        raise NoRecord(f"{path.name} is no record of spark-chat bench: it is no JSON.") from None
    if not isinstance(found, dict) or not isinstance(found.get("configurations"), list):
        raise NoRecord(f"{path.name} is no record of spark-chat bench.")
    if found.get("format") != FORMAT:
        raise NoRecord(f"{path.name} has format {found.get('format')}; this version reads format {FORMAT}.")
    return found


def _path_of(name: str) -> Path:
    files = sorted(_files(".json"))
    if not files:
        raise NoRecord("There are no records yet. `spark-chat bench run` makes one.")
    if name == "last":
        return files[-1]
    near = [path for path in files if path.stem.startswith(name)]
    if len(near) == 1:
        return near[0]
    if near:
        raise NoRecord(f"{name} is the beginning of {len(near)} records. Give more of it.")
    raise NoRecord(f"There is no record {name[:60]}. `spark-chat bench list` names them.")


def everything() -> list[dict[str, Any]]:
    """All records that can be read, the oldest first."""
    found = []
    for path in sorted(_files(".json")):
        with contextlib.suppress(NoRecord):
            found.append(load(str(path)))
    return found


def _files(suffix: str) -> list[Path]:
    try:
        return [path for path in locations.bench().iterdir() if path.suffix == suffix and _ID.fullmatch(path.stem)]
    except OSError:
        return []
