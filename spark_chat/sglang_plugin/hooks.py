"""Registers hooks with SGLang and remembers, per process, which there are, whether they took, and how often each ran.

SGLang only logs a hook that could not be applied. The probe reads `report()` instead, so that a hook whose target
is gone, or that is never called, is a failed proof.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

Kind = Literal["before", "after", "around"]

_targets: dict[str, str] = {}
_calls: dict[str, int] = {}


def add(name: str, target: str, kind: Kind, body: Callable[..., Any]) -> None:
    """`target` is a dotted path into sglang. `body` follows SGLang's own convention for `kind`. Safe to repeat."""
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType

    if name in _targets:
        return

    def counted(*args: Any, **kwargs: Any) -> Any:
        _calls[name] = _calls.get(name, 0) + 1
        return body(*args, **kwargs)

    HookRegistry.register(target, counted, HookType(kind))
    _targets[name] = target
    _calls[name] = 0


def apply() -> None:
    """Apply hooks that were added after SGLang's own pass: for targets too heavy to import in every process."""
    from sglang.srt.plugins.hook_registry import HookRegistry

    HookRegistry.apply_hooks()


def report() -> dict[str, dict[str, Any]]:
    """name -> {"target", "applied", "calls"} of this process."""
    from sglang.srt.plugins.hook_registry import HookRegistry

    return {
        name: {"target": target, "applied": target in HookRegistry._patched, "calls": _calls[name]}
        for name, target in _targets.items()
    }
