"""What the doctor says of Python, the engines and the model. An engine is imported in a process of its own."""

from __future__ import annotations

import asyncio
import platform
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from spark_chat.driver.library import Library
from spark_chat.driver.models import Download
from spark_chat.headless.finding import Finding, fine, warning, wrong
from spark_chat.machine import Machine
from spark_chat.recipe.choose import choose, installed, sglang_obstacle
from spark_chat.recipe.problem import RecipeProblem
from spark_chat.settings.schema import Settings

IMPORT_S = 60
"""How long one engine's import may take, seconds."""


def examine(settings: Settings, machine: Machine) -> Iterator[Finding]:
    yield python(sys.version_info[:2], installed("pip"))
    yield llama()
    yield sglang(machine)
    yield asyncio.run(model(settings, machine))


def python(release: tuple[int, int], pip: bool) -> Finding:
    """The interpreter."""
    text = f"{platform.python_implementation()} {platform.python_version()}"
    if release < (3, 11):
        return wrong("Python", f"{text} is too old.", "Install Python 3.11 or newer.")
    if not pip:
        return warning(
            "Python", f"{text}, without pip: the small model can't be fetched.",
            "Start with --model PATH to any .gguf file, or add pip (python -m ensurepip).",
        )  # fmt: skip
    return fine("Python", f"{text}, with pip.")


def llama() -> Finding:
    """Whether llama.cpp is there and its native part loads."""
    if not installed("xllamacpp"):
        return wrong("llama.cpp", "xllamacpp is not installed.", f"{sys.executable} -m pip install xllamacpp")
    trouble = _import_trouble("xllamacpp")
    if trouble:
        return wrong(
            "llama.cpp", f"xllamacpp can't be loaded: {trouble}.", "Install it again: pip install -U xllamacpp"
        )
    return fine("llama.cpp", f"xllamacpp {_version('xllamacpp')} loads.")


def sglang(machine: Machine) -> Finding:
    """Whether SGLang could run here, and why not. It is no fault where the machine can't."""
    obstacle = sglang_obstacle(machine)
    here = f"sglang {_version('sglang')} is installed" if installed("sglang") else ""
    if obstacle is None:
        return fine("SGLang", f"{here}, and a GPU is here.")
    if machine.gpu is not None and not here:
        return warning("SGLang", f"It can't run: {obstacle}.", "pip install 'spark-chat[spark]'")
    return fine("SGLang", f"{here}, but can't run: {obstacle}." if here else f"It can't run: {obstacle}.")


async def model(settings: Settings, machine: Machine) -> Finding:
    """The model that a start would take."""
    try:
        found = await Library(ask_hub=False).look(settings, machine)
        if isinstance(found, Download):
            return fine("model", f"{found.name} would be fetched at the first start, {found.size / 1e6:.0f} MB.")
        engine = choose(settings.engine.kind, found.model, machine).engine
    except RecipeProblem as problem:
        return wrong("model", problem.what, problem.remedy or "Name another with --model.")
    return fine("model", f"{found.model.name} would run on {'SGLang' if engine == 'sglang' else engine}.")


def _import_trouble(package: str) -> str:
    """The last line of what goes wrong on importing `package` in a process of its own; "" where it loads."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", f"import {package}"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=IMPORT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"it does not load within {IMPORT_S} s"
    except OSError as error:
        return error.strerror or str(error)
    if done.returncode == 0:
        return ""
    lines = done.stderr.strip().splitlines()
    return lines[-1].rstrip(".") if lines else f"the process ended with {done.returncode}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of unknown version"
