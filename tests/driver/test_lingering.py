"""An engine that was taken over, or that stays, in sentences."""

from __future__ import annotations

import pytest

from spark_chat.driver.lingering import farewell, lasting, took_over
from spark_chat.engine.protocol import Left, Past, Ready


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.0, "1 second"), (1.4, "1 second"), (59, "59 seconds"), (60, "1 minute"), (600, "10 minutes"),
     (3_600, "1 hour"), (86_400, "1 day"), (200_000, "2 days")],
)  # fmt: skip
def test_a_span_of_time(seconds: float, said: str) -> None:
    assert lasting(seconds) == said


def test_what_a_person_is_told() -> None:
    ready = Ready(engine="x", version="1", model="m", context=1, proofs={}, past=Past(age_s=130), time=0)
    assert took_over(ready) == "took over an engine that had been ready for 2 minutes"
    assert "another window uses it" in took_over(ready, fresh=True)
    assert took_over(None, fresh=True) == took_over(None) == farewell(None) == ""
    goodbye = farewell(Left(lingers_s=600, time=0))
    assert "10 minutes" in goodbye and "`spark-chat stop`" in goodbye and len(goodbye) < 80
    assert farewell(Left(lingers_s=600, others=1, time=0)) == "The engine stays: another window uses it."
