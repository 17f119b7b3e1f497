"""What stands in a GGUF's header, read without loading the model: a few ms for a vocabulary of 50,000 words.

The `gguf` package turns each word into an array first, which takes seconds; here arrays are stepped over.
Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import mmap
import re
import struct
from collections import Counter
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

# ggml tensor type -> name, elements in a block, bytes of a block
TENSOR_TYPES: dict[int, tuple[str, int, int]] = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20), 6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34), 9: ("Q8_1", 32, 40), 10: ("Q2_K", 256, 84), 11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144), 13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210), 15: ("Q8_K", 256, 292),
    16: ("IQ2_XXS", 256, 66), 17: ("IQ2_XS", 256, 74), 18: ("IQ3_XXS", 256, 98), 19: ("IQ1_S", 256, 50),
    20: ("IQ4_NL", 32, 18), 21: ("IQ3_S", 256, 110), 22: ("IQ2_S", 256, 82), 23: ("IQ4_XS", 256, 136),
    24: ("I8", 1, 1), 25: ("I16", 1, 2), 26: ("I32", 1, 4), 27: ("I64", 1, 8), 28: ("F64", 1, 8),
    29: ("IQ1_M", 256, 56), 30: ("BF16", 1, 2), 34: ("TQ1_0", 256, 54), 35: ("TQ2_0", 256, 66),
    39: ("MXFP4", 32, 17), 40: ("NVFP4", 64, 36), 41: ("Q1_0", 128, 18),
}  # fmt: skip

_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9
_KEPT_ARRAY = 1024
"""Longest array of numbers that is kept; a longer one, and any of strings, is stepped over."""
_SPLIT = re.compile(r"^(.*)-(\d{5})-of-(\d{5})\.gguf$")


class BadGguf(Exception):
    """The file is no GGUF, or not all of one; the text is a sentence for a person."""


@dataclass(frozen=True)
class Tensor:
    """`end`: the byte behind it in the file; None where its type is not known here."""

    name: str
    type: str
    elements: int
    end: int | None

    @property
    def bytes(self) -> int:
        """In the file; 0 where its type is not known here."""
        known = next((kind for kind in TENSOR_TYPES.values() if kind[0] == self.type), None)
        return 0 if known is None else -(-self.elements // known[1]) * known[2]


@dataclass(frozen=True)
class GgufFacts:
    """One model, all its parts. `metadata` holds what is not an array of strings; bytes are of all files."""

    architecture: str
    name: str
    parameters: int
    quantization: str
    """Type of most of the elements."""
    context: int | None
    """Length that the model was trained for, tokens."""
    output_type: str
    output_tied: bool
    """The output layer is the token embedding."""
    mtp_layers: int
    """Blocks for multi-token prediction whose tensors are in the file."""
    bytes: int
    files: tuple[Path, ...]
    metadata: dict[str, Any]

    def of_architecture(self, key: str) -> Any:
        """The value of `<architecture>.<key>`, or None."""
        return self.metadata.get(f"{self.architecture}.{key}")

    def kv_bytes_per_token(self, element_bytes: float = 2.0) -> int | None:
        """KV cache bytes that one token takes over all layers (f16 unless told); None where it can't be told.

        2 x layers x KV heads x head size; latent attention keeps one vector a layer. Layers without a KV cache
        (recurrent ones) are left out where the header says which they are.
        """
        layers = self.of_architecture("block_count")
        heads = self.of_architecture("attention.head_count")
        width = self.of_architecture("embedding_length")
        if not (isinstance(layers, int) and layers and isinstance(width, int)):
            return None
        interval = self.of_architecture("full_attention_interval")
        if isinstance(interval, int) and interval > 1:
            layers = -(-layers // interval)
        latent = self.of_architecture("attention.kv_lora_rank")
        if isinstance(latent, int) and latent:
            rope = self.of_architecture("rope.dimension_count") or 0
            return int(layers * (latent + rope) * element_bytes)
        most = max(heads) if isinstance(heads, list) and heads else heads
        if not (isinstance(most, int) and most):
            return None
        kv = self.of_architecture("attention.head_count_kv") or heads
        per_layer = sum(kv) if isinstance(kv, list) else kv * layers
        key = self.of_architecture("attention.key_length") or width // most
        value = self.of_architecture("attention.value_length") or width // most
        return int(per_layer * (key + value) * element_bytes)


def read(path: Path) -> GgufFacts:
    """The facts of the model at `path`; of one split over files, give any. Raises BadGguf, OSError."""
    files = parts(path)
    metadata: dict[str, Any] = {}
    every: list[Tensor] = []
    for file in files:
        more, found = _read_one(file)
        metadata = {**more, **metadata}
        every.extend(found)
    architecture = metadata.get("general.architecture")
    if not isinstance(architecture, str) or not architecture:
        raise BadGguf(f"{path.name} is a GGUF that does not say which architecture it is for.")
    types = {tensor.name: tensor.type for tensor in every}
    sizes: Counter[str] = Counter()
    for tensor in every:
        sizes[tensor.type] += tensor.elements
    context = metadata.get(f"{architecture}.context_length")
    tied = "output.weight" not in types
    nextn = metadata.get(f"{architecture}.nextn_predict_layers") or 0
    has_block = any(".nextn." in name for name in types)
    return GgufFacts(
        architecture=architecture,
        name=str(metadata.get("general.name") or path.stem),
        parameters=sum(tensor.elements for tensor in every),
        quantization=sizes.most_common(1)[0][0] if sizes else "none",
        context=context if isinstance(context, int) and context > 0 else None,
        output_type=types.get("token_embd.weight" if tied else "output.weight", "none"),
        output_tied=tied,
        mtp_layers=nextn if isinstance(nextn, int) and has_block else 0,
        bytes=sum(file.stat().st_size for file in files),
        files=files,
        metadata=metadata,
    )


def tensors(path: Path) -> list[Tensor]:
    """Every tensor of the model at `path`, all its files. Raises BadGguf, OSError."""
    return [tensor for file in parts(path) for tensor in _read_one(file)[1]]


def words(path: Path) -> list[bytes]:
    """The vocabulary of the model at `path`, as it stands there; empty where it has none. Raises BadGguf, OSError."""
    with parts(path)[0].open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            return _Cursor(data).strings("tokenizer.ggml.tokens")
        except (struct.error, IndexError, OverflowError) as error:
            raise BadGguf(f"{path.name} is cut off or damaged: its header can't be read to the end.") from error


def parts(path: Path) -> tuple[Path, ...]:
    """All files of the model that `path` belongs to, in order. Raises BadGguf where one is missing."""
    match = _SPLIT.match(path.name)
    if match is None:
        return (path,)
    count = int(match[3])
    files = tuple(path.with_name(f"{match[1]}-{index:05d}-of-{count:05d}.gguf") for index in range(1, count + 1))
    missing = [file.name for file in files if not file.is_file()]
    if missing:
        raise BadGguf(f"The model is split over {count} files, and {', '.join(missing)} is not there.")
    return files


def _read_one(path: Path) -> tuple[dict[str, Any], list[Tensor]]:
    size = path.stat().st_size
    with path.open("rb") as file:
        magic = file.read(4)
        if magic != b"GGUF":
            seen = "it is empty" if not magic else f"it starts with {magic!r}"
            raise BadGguf(f"{path.name} is not a GGUF file: {seen}.")
        if size < 24:
            raise BadGguf(f"{path.name} is cut off: it ends inside its header, after {size} bytes.")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                metadata, tensors = _Cursor(data).header()
            except (struct.error, IndexError, UnicodeDecodeError, OverflowError) as error:
                raise BadGguf(f"{path.name} is cut off or damaged: its header can't be read to the end.") from error
    for tensor in tensors:
        if tensor.end is not None and tensor.end > size:
            raise BadGguf(
                f"{path.name} is cut off: it has {size:,} bytes, and the tensor {tensor.name} ends at {tensor.end:,}."
            )
    return metadata, tensors


class _Cursor:
    """A place in the header. Going past the end raises struct.error or IndexError."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 4

    def header(self) -> tuple[dict[str, Any], list[Tensor]]:
        version = self._number("<I")
        if version not in (2, 3):
            raise BadGguf(f"This GGUF has version {version}; versions 2 and 3 can be read. A newer file is needed.")
        tensor_count, pair_count = self._number("<Q"), self._number("<Q")
        metadata = {}
        for _ in range(pair_count):
            key = self._string()
            value = self._value(self._number("<I"))
            if value is not None:
                metadata[key] = value
        found = []
        for _ in range(tensor_count):
            name = self._string()
            shape = [self._number("<Q") for _ in range(self._number("<I"))]
            found.append((name, prod(shape), self._number("<I"), self._number("<Q")))
        alignment = metadata.get("general.alignment") or 32
        start = -(-self._at // alignment) * alignment
        return metadata, [self._tensor(start, *tensor) for tensor in found]

    def strings(self, wanted: str) -> list[bytes]:
        """The array of strings under that key; the header is read up to there."""
        self._at = 16
        for _ in range(self._number("<Q")):
            key, kind = self._string(), self._number("<I")
            if key == wanted and kind == _ARRAY and self._number("<I") == _STRING:
                return [self._bytes() for _ in range(self._number("<Q"))]
            self._value(kind)
        return []

    @staticmethod
    def _tensor(start: int, name: str, elements: int, kind: int, offset: int) -> Tensor:
        if kind not in TENSOR_TYPES:
            return Tensor(name, f"type {kind}", elements, None)
        label, block, size = TENSOR_TYPES[kind]
        return Tensor(name, label, elements, start + offset + -(-elements // block) * size)

    def _number(self, form: str) -> Any:
        (value,) = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return value

    def _string(self) -> str:
        return self._bytes().decode("utf-8", "replace")

    def _bytes(self) -> bytes:
        length = self._number("<Q")
        if length > len(self._data) - self._at:
            raise IndexError("a string goes past the end")
        start = self._at
        self._at += length
        return self._data[start : self._at]

    def _value(self, kind: int) -> Any:
        if kind in _SCALARS:
            return self._number(_SCALARS[kind])
        if kind == _STRING:
            return self._string()
        if kind != _ARRAY:
            raise IndexError(f"unknown value type {kind}")
        inner, count = self._number("<I"), self._number("<Q")
        if inner in _SCALARS:
            width = struct.calcsize(_SCALARS[inner])
            if count * width > len(self._data) - self._at:
                raise IndexError("an array goes past the end")
            if count <= _KEPT_ARRAY:
                return [self._number(_SCALARS[inner]) for _ in range(count)]
            self._at += count * width
        elif inner == _STRING:
            self._skip_strings(count)
        else:
            for _ in range(count):
                self._value(inner)
        return None

    def _skip_strings(self, count: int) -> None:
        data, at, end = self._data, self._at, len(self._data)
        unpack = struct.Struct("<Q").unpack_from
        for _ in range(count):
            at += 8 + unpack(data, at)[0]
            if at > end:
                raise IndexError("a string goes past the end")
        self._at = at
