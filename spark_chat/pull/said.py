"""What the process that pulls is asked, and what it says: one JSON object a line."""

from __future__ import annotations

import msgspec

Hub = str
HUGGING_FACE, MODELSCOPE = "huggingface", "modelscope"
HUBS = (HUGGING_FACE, MODELSCOPE)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """`include`: globs of the files that are wanted, all where empty. `only_plan`: say what would be brought."""

    repository: str
    hub: Hub = HUGGING_FACE
    revision: str = "main"
    include: tuple[str, ...] = ()
    only_plan: bool = False


class Said(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag=str.lower):
    """Base of what it says."""


class Planned(Said, frozen=True, kw_only=True):
    """What is to come: `size` bytes in all, of which `present` are here (not checked yet)."""

    repository: str
    commit: str
    files: int
    size: int
    present: int


class Moved(Said, frozen=True, kw_only=True):
    """Bytes so far: `present` were here and are checked, `received` came over the network. `file`: the latest."""

    present: int
    received: int
    size: int
    file: str = ""
    checking: bool = False
    trouble: str = ""


class Finished(Said, frozen=True, kw_only=True):
    """All is here and checked; `path` is the model's folder, or its .gguf."""

    path: str
    checked: int
    """Files whose hash was compared."""


class Failed(Said, frozen=True, kw_only=True):
    """`what` and `remedy`: sentences. What came is kept."""

    what: str
    remedy: str = ""


AnySaid = Planned | Moved | Finished | Failed
_encoder = msgspec.json.Encoder()
_said: msgspec.json.Decoder[AnySaid] = msgspec.json.Decoder(AnySaid)
_request: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)


def line(message: Said | Request) -> bytes:
    return _encoder.encode(message) + b"\n"


def read(frame: bytes) -> AnySaid:
    """Raises msgspec.MsgspecError for what is none of the above."""
    said: AnySaid = _said.decode(frame)
    return said


def read_request(frame: str) -> Request:
    request: Request = _request.decode(frame)
    return request
