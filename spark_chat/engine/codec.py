"""Messages of the protocol to frames and back."""

from __future__ import annotations

from typing import Any

import msgspec

from spark_chat.engine.protocol import MAX_FRAME, AnyCommand, AnyEvent, Command, Event, ProtocolError

_encoder = msgspec.json.Encoder()
_commands: msgspec.json.Decoder[AnyCommand] = msgspec.json.Decoder(AnyCommand)
_events: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


def encode(message: Command | Event) -> bytes:
    """One frame, newline included. Lone surrogates, which JSON in UTF-8 cannot carry, become U+FFFD.

    Raises ProtocolError where the frame is longer than MAX_FRAME.
    """
    try:
        frame = _encoder.encode(message)
    except UnicodeEncodeError:
        frame = _encoder.encode(_without_surrogates(msgspec.to_builtins(message)))
    if len(frame) + 1 > MAX_FRAME:
        raise ProtocolError(f"A message of {len(frame):,} bytes is over the limit of {MAX_FRAME:,} bytes.")
    return frame + b"\n"


def decode_command(frame: bytes) -> AnyCommand:
    """The command in one frame. Raises ProtocolError."""
    command: AnyCommand = _decode(_commands, frame)
    return command


def decode_event(frame: bytes) -> AnyEvent:
    """The event in one frame. Raises ProtocolError."""
    event: AnyEvent = _decode(_events, frame)
    return event


def _decode(decoder: msgspec.json.Decoder[Any], frame: bytes) -> Any:
    try:
        return decoder.decode(frame)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ProtocolError(f"A message could not be read: {error}") from error


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    return value
