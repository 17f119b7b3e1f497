"""Random but possible event streams of one answer, for the property tests."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from spark_chat.engine.protocol import AnyEvent, Delta, Done, Failed, Started, Timings, Usage


@dataclass(frozen=True)
class Stream:
    submitted: float
    events: list[AnyEvent]


@st.composite
def streams(draw: st.DrawFn) -> Stream:
    """An answer as an engine may send it: any chunk sizes, silent chunks, gaps of any length, none among them, with
    and without speculation, ended, aborted, failed or still running."""
    gap = st.one_of(st.just(0.0), st.floats(1e-4, 0.3), st.floats(0.3, 5.0))
    submitted = draw(st.floats(0, 1e6))
    time = submitted + draw(gap)
    events: list[AnyEvent] = [Started(id="a", time=time)]
    speculating = draw(st.booleans())
    tokens, steps, accepted, proposed = 0, 0, 0, 0
    for _ in range(draw(st.integers(0, 30))):
        time += draw(gap)
        more = draw(st.integers(0, 5))
        if more and tokens and speculating:
            steps += draw(st.integers(1, more))
            accepted += more
            proposed += more + draw(st.integers(0, 3))
        tokens += more
        events.append(
            Delta(
                id="a",
                text="x" * more,
                tokens=tokens,
                time=time,
                verify_steps=steps if speculating else None,
                accepted_drafts=accepted if speculating else None,
                proposed_drafts=proposed if speculating else None,
            )
        )
    end = draw(st.sampled_from(["none", "done", "failed"]))
    time += draw(gap)
    if end == "failed":
        events.append(Failed(id="a", code="request", what="It broke.", time=time))
    elif end == "done":
        silent = draw(st.integers(0, 1)) if tokens else 0
        prompt = draw(st.integers(1, 1000))
        events.append(
            Done(
                id="a",
                finish=draw(st.sampled_from(["stop", "length", "abort", "context"])),
                time=time,
                usage=Usage(
                    prompt_tokens=prompt,
                    cached_tokens=draw(st.integers(0, prompt)),
                    completion_tokens=tokens + silent,
                    prefill_tokens=1 if tokens else 0,
                    verify_steps=steps + silent if speculating else None,
                    accepted_drafts=accepted if speculating else None,
                    proposed_drafts=proposed if speculating else None,
                ),
                timings=Timings(prefill_s=draw(st.one_of(st.none(), st.floats(0, 3)))),
            )
        )
    return Stream(submitted, events)
