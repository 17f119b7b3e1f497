"""Which engine runs: SGLang where it can, llama.cpp elsewhere, and the reason in words."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from spark_chat.machine import Machine
from spark_chat.recipe.problem import RecipeProblem
from spark_chat.recipe.recipe import ModelRef

LLAMA = "llama.cpp"
SGLANG = "sglang"


@dataclass(frozen=True)
class Choice:
    """`note`: why it was this engine, a sentence; empty where the person said so themselves."""

    engine: str
    note: str = ""


def installed(package: str) -> bool:
    """Whether `package` could be imported, without importing it."""
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def sglang_obstacle(machine: Machine) -> str | None:
    """Why SGLang can't run here, as the end of a sentence; None where it can."""
    if machine.gpu is None:
        return "no NVIDIA GPU was found"
    if not installed("sglang"):
        return "SGLang is not installed (pip install 'spark-chat[spark]')"
    return None


def is_gguf(model: ModelRef) -> bool:
    """Whether llama.cpp is the engine for `model`. A file that is missing is judged by its name."""
    path = Path(model.path)
    return path.suffix.lower() == ".gguf" or (not path.is_dir() and path.suffix != "")


def choose(kind: str, model: ModelRef, machine: Machine) -> Choice:
    """The engine for `model` under engine.kind = `kind`. Raises RecipeProblem where there is none."""
    if kind == SGLANG:
        return _asked_for_sglang(model, machine)
    if is_gguf(model):
        return Choice(LLAMA, "" if kind == LLAMA else "engine.kind = auto chose llama.cpp: the model is a .gguf file.")
    if kind == LLAMA:
        raise RecipeProblem(
            f"{model.name} is a checkpoint folder, and llama.cpp runs .gguf files.",
            "Give a .gguf file with --model, or set engine.kind to auto.",
            key="engine.model",
        )
    _needs_sglang(machine, f"{model.name} is a checkpoint folder, which needs SGLang",
                  "Give a .gguf file with --model.", "engine.model")  # fmt: skip
    return Choice(SGLANG, "engine.kind = auto chose SGLang: it is installed, and an NVIDIA GPU and the model are here.")


def _asked_for_sglang(model: ModelRef, machine: Machine) -> Choice:
    if is_gguf(model):
        raise RecipeProblem(
            f"{model.name} is a .gguf file, and engine.kind = sglang runs checkpoint folders.",
            "Set engine.kind to auto or llama.cpp, or give a checkpoint folder with --model.",
            key="engine.kind",
        )
    _needs_sglang(machine, "engine.kind = sglang was asked for",
                  "Set engine.kind to auto or llama.cpp to chat with a .gguf model.", "engine.kind")  # fmt: skip
    return Choice(SGLANG)


def _needs_sglang(machine: Machine, wish: str, remedy: str, key: str) -> None:
    """Raises RecipeProblem where SGLang can't run here. `wish`: what needs it, the beginning of a sentence."""
    obstacle = sglang_obstacle(machine)
    if obstacle is not None:
        raise RecipeProblem(f"{wish}, but {obstacle}.", remedy, key=key)
