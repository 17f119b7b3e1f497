"""Every setting there is: its default, its meaning, its range, and whether it takes effect at restart.

The sections below are the one source: the commented file, the command line, `settings show`, the settings screen
and the error messages are all made from them. `rows()` lists them flat, by dotted key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, make_dataclass
from typing import Any, Literal

from spark_chat.settings import keys

Kind = Literal["bool", "int", "float", "str", "choice", "int_or_choice", "table", "keys"]


@dataclass(frozen=True)
class Row:
    """One setting. `kind` "int_or_choice" takes an int in the range or one of `choices`; "table" takes a TOML table."""

    key: str
    kind: Kind
    default: Any
    doc: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    restart: bool = False
    optional: bool = False
    """May be left out, which reads as None."""


def _row(
    default: Any,
    kind: Kind,
    doc: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    restart: bool = False,
    optional: bool = False,
) -> Any:
    metadata = {
        "kind": kind, "doc": doc, "minimum": low, "maximum": high, "choices": choices, "restart": restart,
        "optional": optional,
    }  # fmt: skip
    if kind == "table":
        return field(default_factory=dict, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class EngineSection:
    """Which engine answers, with which model."""

    kind: str = _row(
        "auto", "choice",
        "Which engine runs. auto picks SGLang where it can run and llama.cpp elsewhere; a .gguf goes to llama.cpp.",
        choices=("auto", "llama.cpp", "sglang"), restart=True,
    )  # fmt: skip
    model: str = _row(
        "", "str",
        "A .gguf file, a folder with a checkpoint, or a model's name. Empty: the best model that is on this machine, "
        "else a small one that is fetched.",
        restart=True,
    )  # fmt: skip
    context: int = _row(
        0, "int", "Context size in tokens. 0: the model's own, capped by what the engine's profile allows.",
        low=0, high=4_194_304, restart=True,
    )  # fmt: skip
    linger_s: int | None = _row(
        None, "int",
        "Seconds that the engine outlives a closed chat, for the next one to take over; `spark-chat stop` ends it. "
        "Left out: 0 on llama.cpp, 600 on SGLang.",
        low=0, high=86_400, restart=True, optional=True,
    )  # fmt: skip
    memory_floor_gib: int | str = _row(
        "auto", "int_or_choice",
        "GiB of memory that must be available before the engine starts (of the GPU, where it has its own). auto: what "
        "the model, its caches and graphs need by estimate, and at least 85 for a model of Ling's size on a DGX Spark. "
        "0: start whatever there is.",
        low=0, high=4096, choices=("auto",), restart=True,
    )  # fmt: skip
    args: dict[str, Any] = _row(
        None, "table",
        "Engine arguments passed through by their own names. llama.cpp: fields of its parameters, such as n_batch. "
        "SGLang: ServerArgs. An unknown one is refused by name.",
        restart=True,
    )  # fmt: skip


@dataclass(frozen=True)
class OptimizationsSection:
    """What makes decoding faster. Each is proven at start; its badge shows what was seen, not what stands here."""

    humming: bool = _row(True, "bool", "Humming MXFP4 expert kernels (SGLang on an NVIDIA GPU).", restart=True)
    fp8_head: bool = _row(True, "bool", "Output layer in FP8: half its bytes (SGLang on an NVIDIA GPU).", restart=True)
    mtp: bool = _row(
        True, "bool",
        "Multi-token prediction: drafts checked several positions at a time. Where the model has no MTP block, "
        "llama.cpp drafts from n-grams of the text so far.",
        restart=True,
    )  # fmt: skip
    draft_steps: int | str = _row(
        3, "int_or_choice", "Tokens drafted per verify step, or auto to let the engine adapt it.",
        low=1, high=7, choices=("auto",), restart=True,
    )  # fmt: skip
    head: str = _row(
        "auto", "choice",
        "Output layer where fp8_head is off: fp32 accumulates and returns 32-bit logits (the published baseline), "
        "bf16 the model's own. auto: fp32 on a DGX Spark, bf16 elsewhere.",
        choices=("auto", "fp32", "bf16"), restart=True,
    )  # fmt: skip
    strict: bool = _row(
        False, "bool",
        "Refuse to start where an optimization FAILED: asked for and not seen at work, or switched off and seen. One "
        "that is UNAVAILABLE here stops nothing.",
        restart=True,
    )  # fmt: skip


@dataclass(frozen=True)
class SamplingSection:
    """How the next token is picked; takes effect with the next prompt."""

    temperature: float = _row(0.6, "float", "Randomness; 0 always takes the likeliest token.", low=0, high=5)
    top_p: float = _row(
        0.95, "float", "Keep the likeliest tokens that together reach this probability.", low=0.001, high=1
    )
    top_k: int = _row(20, "int", "Keep this many of the likeliest tokens; 0 keeps all.", low=0, high=1_000_000)
    max_tokens: int = _row(2048, "int", "Longest answer in tokens.", low=1, high=1_048_576)
    seed: int | None = _row(
        None, "int",
        "Fixed seed, for the same answer each time. Left out: a new one each time. SGLang heeds it only with "
        "engine.args.enable_deterministic_inference = true.",
        low=0, high=2**31 - 1, optional=True,
    )  # fmt: skip
    thinking: bool = _row(True, "bool", "Let a model that can reason do so before it answers.")
    system_prompt: str = _row("", "str", "Said to the model before the conversation. Empty: nothing.")


@dataclass(frozen=True)
class UiSection:
    """How the chat looks and behaves; takes effect at once except where said."""

    theme: str = _row("spark-dark", "str", "A theme's name: one of ours, one of yours in themes/, or one of Textual's.")
    panel: str = _row(
        "auto", "choice", "The panel with all meters at the side. auto opens it from 140 columns on.",
        choices=("auto", "on", "off"),
    )  # fmt: skip
    tour: bool = _row(
        True, "bool", "Show at the first start what fits this machine, and a tour; /setup and /tour bring them back."
    )
    follow: bool = _row(True, "bool", "Follow the end of the answer as it grows.")
    mouse: bool = _row(True, "bool", "Use the mouse. false leaves it to the terminal's own selection.", restart=True)
    accessible: bool = _row(
        False, "bool", "Nothing repaints on a timer, no spinner, plain lines in reading order.", restart=True
    )
    history: bool = _row(True, "bool", "Keep conversations on disk. false keeps none.", restart=True)


KeysSection: type[Any] = make_dataclass(
    "KeysSection",
    [(action, str, _row(default, "keys", keys.about(action))) for action, default in keys.ACTIONS.items()],
    frozen=True,
    namespace={"__doc__": "Which keys do what: f9, ctrl+x, alt+x; with a comma between two. Takes effect at once."},
)


@dataclass(frozen=True)
class Settings:
    """All settings with a value each."""

    engine: EngineSection = field(default_factory=EngineSection)
    optimizations: OptimizationsSection = field(default_factory=OptimizationsSection)
    sampling: SamplingSection = field(default_factory=SamplingSection)
    ui: UiSection = field(default_factory=UiSection)
    keys: Any = field(default_factory=KeysSection)


def sections() -> Iterator[tuple[str, str]]:
    """Section name and what it is about, in the order of the file."""
    defaults = Settings()
    for section in fields(Settings):
        yield section.name, getattr(defaults, section.name).__doc__ or ""


def rows() -> list[Row]:
    """All settings, flat, in the order of the file."""
    defaults = Settings()
    found = []
    for section in fields(Settings):
        values = getattr(defaults, section.name)
        for item in fields(values):
            found.append(Row(key=f"{section.name}.{item.name}", default=getattr(values, item.name), **item.metadata))
    return found


def value(settings: Settings, key: str) -> Any:
    """The value at a dotted key. Raises KeyError for one that is no setting."""
    section, _, name = key.partition(".")
    try:
        return getattr(getattr(settings, section), name)
    except AttributeError:
        raise KeyError(key) from None
