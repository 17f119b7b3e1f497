"""A brief look at a model before an engine is asked to load it, so that a wrong file gets a sentence at once."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

from spark_chat import ordinary

LARGEST_JSON = 256 * 1024 * 1024
"""Bytes. The list of weights of a model of a trillion parameters has some 20 million."""

_PART = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$")

_FOREIGN = (
    (b"version https://git-lfs", "a Git LFS pointer, not the model itself: `git lfs pull` brings it"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"<", "a web page or XML: the download went wrong"),
    (b"ggml", "in llama.cpp's old format, which it no longer reads"),
    (b"ggjt", "in llama.cpp's old format, which it no longer reads"),
    (b"FUGG", "a GGUF of the other byte order"),
)


class ModelProblem(Exception):
    """A sentence on what is wrong with a model and what to do. A path in it is made printable."""

    def __init__(self, sentence: str) -> None:
        super().__init__("".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in sentence))


def is_later_part(file: Path) -> bool:
    """Whether it is the second or a later part of a model in several .gguf files: the first one stands for all."""
    found = _PART.search(file.name)
    return found is not None and int(found[1]) != 1


def check_gguf(path: Path) -> None:
    """Raises ModelProblem where the file is not there, not readable, or no GGUF."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            raise ModelProblem(f"The model {path} is not a file. --model wants a .gguf file or a checkpoint's folder.")
        with path.open("rb") as file:
            start = file.read(512)
            size = os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        what = "is a link to nothing" if path.is_symlink() else "is not there"
        raise ModelProblem(f"The model {path} {what}.") from None
    except PermissionError:
        raise ModelProblem(f"The model {path} may not be read by you: see its permissions (`chmod u+r`).") from None
    except OSError as error:
        raise ModelProblem(f"The model {path} cannot be read: {error.strerror}.") from error
    if not start:
        raise ModelProblem(f"The model {path} is an empty file: the download of it went wrong.")
    if not start.startswith(b"GGUF"):
        kind = next((kind for magic, kind in _FOREIGN if start.lstrip().startswith(magic)), "something else")
        raise ModelProblem(f"The model {path} is no GGUF file but {kind}. --model wants a .gguf file.")
    if size < 32:
        raise ModelProblem(f"The model {path} ends after {size} bytes: the download of it was cut off.")
    _check_parts(path)


def _check_parts(path: Path) -> None:
    found = _PART.search(path.name)
    if found is None:
        return
    total, stem = int(found[2]), path.name[: found.start()]
    missing = [
        name
        for n in range(1, total + 1)
        if not (path.parent / (name := f"{stem}-{n:05d}-of-{total:05d}.gguf")).is_file()
    ]
    if missing:
        raise ModelProblem(f"The model {path} has {total} parts, and {len(missing)} are missing, such as {missing[0]}.")
    if int(found[1]) != 1:
        raise ModelProblem(
            f"{path} is part {int(found[1])} of a model. Name its first part, {stem}-00001-of-{found[2]}.gguf."
        )


def check_checkpoint(folder: Path) -> None:
    """Raises ModelProblem where the folder has no config.json, or not all of its weights."""
    try:
        config = json.loads(ordinary.read(folder / "config.json", LARGEST_JSON))
        if not isinstance(config, dict):
            raise ValueError("it is no table")
        names = {entry.name for entry in folder.iterdir() if entry.exists()}
    except FileNotFoundError:
        raise ModelProblem(_no_checkpoint(folder)) from None
    except PermissionError:
        raise ModelProblem(f"The model {folder} may not be read by you: see its permissions.") from None
    except OSError as error:
        raise ModelProblem(f"The model {folder} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise ModelProblem(f"The model's {folder / 'config.json'} is damaged ({error}). Fetch it again.") from None
    wanted = _listed(folder)
    missing = sorted(wanted - names)
    if missing:
        raise ModelProblem(
            f"The model {folder} is not complete: {len(missing)} of {len(wanted)} files of weights are missing, "
            f"such as {missing[0]}. Fetch it again; what is there stays."
        )
    if not any(name.endswith((".safetensors", ".bin", ".pt")) for name in names):
        raise ModelProblem(f"The model {folder} has a config.json but no weights (.safetensors). Fetch it again.")


def _listed(folder: Path) -> set[str]:
    """Names of the files of weights that the checkpoint's index lists; none where there is no index."""
    try:
        index = json.loads(ordinary.read(folder / "model.safetensors.index.json", LARGEST_JSON))
        return {str(name) for name in index["weight_map"].values()}
    except FileNotFoundError:
        return set()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ModelProblem(
            f"The model's {folder / 'model.safetensors.index.json'} is damaged ({error!r}). Fetch it again."
        ) from None


def _no_checkpoint(folder: Path) -> str:
    try:
        files = sorted(file.name for file in folder.glob("*.gguf") if not is_later_part(file))
    except OSError:
        files = []
    if files:
        return f"{folder} is a folder. Name one of the models in it: {', '.join(files[:5])}."
    return f"{folder} is a folder without a config.json, so no checkpoint, and there is no .gguf file in it."
