"""Keys that come faster than they are dealt with take effect in their order."""

from __future__ import annotations

import pytest
from textual import events

from tests.composer.test_composer import host, sent, wait_for  # noqa: F401


@pytest.mark.parametrize(
    ("keys", "meant"),
    [
        (["o", "l", "d", "ctrl+u", "g", "o"], "go"),
        (["a", "b", "x", "backspace", "c"], "abc"),
        (["b", "left", "a", "right", "c"], "abc"),
        (["b", "home", "a", "end", "c"], "abc"),
        (["o", "n", "e", "ctrl+w", "t", "w", "o"], "two"),
    ],
)
async def test_a_burst_is_typed_in_its_order(host, keys, meant):  # noqa: F811
    for key in [*keys, "enter"]:
        host.post_message(events.Key(key, key if len(key) == 1 else None))
    await wait_for(host, lambda: sent(host))
    assert sent(host) == [meant]
