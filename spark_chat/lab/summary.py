"""From answers to the figures of each configuration: medians with intervals, ratios, verify steps, accuracy.

A verify round's time is TPOT x accept length: that many tokens come of one. Over a plain step's time, which is the TPOT
of the configuration that differs in nothing but drafting, it is the break-even accept length: below it drafting loses.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from spark_chat.lab.results import Answer, AnyFound, Start, Visit
from spark_chat.lab.statistics import Groups, Interval, interval, mcnemar, ratio, wilson
from spark_chat.lab.variation import Configuration

NUMBERS = (
    "ttft_s", "prefill_tok_s", "tpot_ms", "decode_tok_s", "latency_s", "accept_length", "completion_tokens",
    "cached_tokens",
)  # fmt: skip
COMPILING = ("kernels", "attention", "graphs", "warm-up")
"""Stages of a start in which kernels that are new here are compiled."""
DRAFTS = "optimizations.mtp"


@dataclass(frozen=True)
class Share:
    """One configuration's part of what was found."""

    answers: tuple[Answer, ...] = ()
    starts: tuple[Start, ...] = ()
    visits: tuple[Visit, ...] = ()

    @property
    def counted(self) -> list[Answer]:
        """The answers that enter the medians: the warm ones, or all where none is warm."""
        warm = [answer for answer in self.answers if answer.counts]
        return warm or [answer for answer in self.answers if answer.role == "measured" and answer.whole]

    def groups(self, number: str) -> dict[str, list[float]]:
        """The values of one number by prompt."""
        return _grouped(self.counted, number)

    @property
    def failure(self) -> str | None:
        """Why it did not come up, or went away: its last start's word. Where it was up and no answer came to its end:
        why the last one did not."""
        start = self.starts[-1].failure if self.starts else None
        return start or (None if self.counted else next((item.failure for item in reversed(self.answers)), None))


def _grouped(answers: Sequence[Answer], number: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for answer in answers:
        value = getattr(answer, number)
        if value is not None:
            found[answer.item].append(float(value))
    return dict(found)


def shares(found: Sequence[AnyFound], count: int) -> tuple[Share, ...]:
    """What belongs to each of `count` configurations. An answer that was asked again counts once, the last time."""
    latest = {(item.configuration, item.item, item.round, item.role): item
              for item in found if isinstance(item, Answer) and item.role != "warm-up"}  # fmt: skip
    warm_ups = [item for item in found if isinstance(item, Answer) and item.role == "warm-up"]
    answers = [*warm_ups, *latest.values()]
    return tuple(
        Share(
            tuple(item for item in answers if item.configuration == place),
            tuple(item for item in found if isinstance(item, Start) and item.configuration == place),
            tuple(item for item in found if isinstance(item, Visit) and item.configuration == place),
        )
        for place in range(count)
    )


def summary(share: Share, first: Share) -> dict[str, Any]:
    """The figures of one configuration, beside those of the first; null where they have no meaning."""
    numbers = {name: _json(interval(share.groups(name))) for name in NUMBERS}
    refused = refusal(share, first)
    ready = [start.ready_s for start in share.starts if start.ready_s is not None]
    compiling = [sum(start.stages.get(name, 0.0) for name in COMPILING) for start in share.starts
                 if any(name in start.stages for name in COMPILING)]  # fmt: skip
    caches = [size for size in (cache_bytes(start.facts) for start in share.starts) if size]
    memory = [visit.memory_bytes for visit in share.visits if visit.memory_bytes is not None]
    return {
        **numbers,
        "ratio_to_first": None if refused else _to_first(share.groups("decode_tok_s"), first, share is first),
        "not_compared": refused,
        "accepted_histogram": histogram(share.counted),
        "runs_counted": len(share.counted),
        "counted": "warm runs" if any(answer.counts for answer in share.answers) else "all runs",
        "start_s": median(ready) if ready else None,
        "compile_s": max(compiling) if compiling else None,
        "cache_bytes": caches[-1] if caches else None,
        "memory_bytes": max(memory) if memory else None,
        "prompts": prompts(share, first, refused is None),
        "accuracy": accuracy(share, first, refused is None),
        "means": means(share),
    }


def cache_bytes(facts: Mapping[str, Any]) -> int | None:
    """What the engine set aside for the KV cache, bytes, and for states of linear attention where it has such."""
    found = facts.get("kv_cache_bytes") or (facts.get("memory") or {}).get("cache_bytes")
    return int(found) if found else None


def prompts(share: Share, first: Share, compared: bool = True) -> list[dict[str, Any]]:
    """Each prompt by itself: one on which a configuration loses is shown, not averaged away."""
    speeds, accepts = share.groups("decode_tok_s"), share.groups("accept_length")
    found = []
    for name, values in speeds.items():
        against = _to_first({name: values}, first, share is first) if compared else None
        found.append({
            "name": name,
            "decode_tok_s": _json(interval({name: values})),
            "accept_length": _json(interval({name: accepts.get(name, [])})),
            "ratio_to_first": against,
            "loses": against is not None and against["median"] < 1 and share is not first,
        })  # fmt: skip
    return found


def histogram(answers: Sequence[Answer]) -> list[int] | None:
    """Verify steps by how many drafts each accepted, over all answers; None without speculation."""
    counted: Counter[int] = Counter()
    for answer in answers:
        for accepted, steps in enumerate(answer.accepted_histogram or ()):
            counted[accepted] += steps
    return [counted[place] for place in range(max(counted) + 1)] if counted else None


def means(share: Share) -> dict[str, float | None]:
    """Means, beside the medians: over a set of questions they say what all of it took."""
    found: dict[str, float | None] = {}
    for name in ("ttft_s", "latency_s", "completion_tokens"):
        values = [value for values in share.groups(name).values() for value in values]
        found[name] = mean(values) if values else None
    return found


def memory_fraction(facts: Mapping[str, Any]) -> float | None:
    """Which part of the memory the engine took, as given or as it chose itself; None where it has no such setting."""
    found = facts.get("memory_fraction")
    return float(found) if isinstance(found, int | float) else None


def refusal(share: Share, first: Share) -> str | None:
    """Why a configuration of judged answers is not compared with the first: another memory fraction is another room
    for the cache, and so other batches and other answers. A sentence; None where it is compared."""
    if share is first or not any(answer.right is not None for answer in share.counted):
        return None
    mine, theirs = ({memory_fraction(start.facts) for start in side.starts if start.failure is None}
                    for side in (share, first))  # fmt: skip
    if mine == theirs or not mine or not theirs:
        return None
    first_said, said = (" and ".join(sorted(map(str, values))) for values in (theirs, mine))
    return (
        f"The memory fraction differs: {first_said} in the first configuration and {said} here. "
        "Give both the same, with --set engine.args.mem_fraction_static=0.6."
    )


def accuracy(share: Share, first: Share, compared: bool = True) -> dict[str, Any] | None:
    """Share of right answers with Wilson's interval, and McNemar's test against the first configuration on the
    questions that both answered, where they may be `compared`; None where answers are not judged."""
    mine = {(item.item, item.round): item.right for item in share.counted if item.right is not None}
    if not mine:
        return None
    theirs = {(item.item, item.round): item.right for item in first.counted if item.right is not None}
    low, high = wilson(sum(mine.values()), len(mine))
    found: dict[str, Any] = {
        "right": sum(mine.values()), "of": len(mine), "share": sum(mine.values()) / len(mine), "low": low, "high": high,
        "mcnemar": None,
    }  # fmt: skip
    if share is not first and compared:
        both = mine.keys() & theirs.keys()
        gained = sum(bool(mine[key]) and not theirs[key] for key in both)
        lost = sum(bool(theirs[key]) and not mine[key] for key in both)
        found["mcnemar"] = {"questions": len(both), "gained": gained, "lost": lost, "p": mcnemar(lost, gained)}
    return found


def verify(place: int, configurations: Sequence[Configuration], all_shares: Sequence[Share]) -> dict[str, Any]:
    """Of a configuration that drafts: a verify round's time, its ratio to a plain step, and so the break-even accept
    length. The plain step is that of the configuration that differs in drafting alone."""
    none: dict[str, Any] = {
        "verify_step_ms": None, "plain_step_ms": None, "verify_over_plain_step": None, "break_even_accept_length": None,
    }  # fmt: skip
    rounds: dict[str, list[float]] = defaultdict(list)
    for answer in all_shares[place].counted:
        if answer.tpot_ms is not None and answer.accept_length is not None:
            rounds[answer.item].append(answer.tpot_ms * answer.accept_length)
    step = interval(rounds)
    if step is None:
        return none
    plain = _without_drafts(place, configurations, all_shares)
    against = ratio(plain, rounds) if plain else None
    step_ms = interval(plain) if plain else None
    return {
        "verify_step_ms": step.median,
        "plain_step_ms": step_ms.median if step_ms else None,
        "verify_over_plain_step": _ratio(against),
        "break_even_accept_length": against.median if against else None,
    }


def _without_drafts(place: int, configurations: Sequence[Configuration], all_shares: Sequence[Share]) -> Groups | None:
    mine = dict(configurations[place].changes)
    wanted = {**mine, DRAFTS: False}
    for other, item in enumerate(configurations):
        if other != place and DRAFTS in mine and dict(item.changes) == wanted:
            return all_shares[other].groups("tpot_ms")
    return None


def drift(share: Share, rounds: int) -> dict[str, Any] | None:
    """How the first configuration's speed changed from its first round to its last, or to its repeat at the end, on
    the prompts that both have."""
    again = [item for item in share.answers if item.role == "repeat" and item.whole]
    last = again or [item for item in share.counted if item.round == rounds and rounds > 1]
    before = [item for item in share.counted if item not in last and (again or item.round == 1)]
    return _ratio(ratio(_grouped(before, "decode_tok_s"), _grouped(last, "decode_tok_s")))


def texts_differ(share: Share, first: Share) -> list[str]:
    """Prompts whose text is not the first configuration's, in the same round. Greedy, they should be the same: what
    makes it faster must not change what it says."""
    theirs = {(item.item, item.round): item.text_digest for item in first.counted}
    different = {item.item for item in share.counted
                 if theirs.get((item.item, item.round), item.text_digest) != item.text_digest}  # fmt: skip
    return sorted(different)


def _to_first(speeds: Groups, first: Share, itself: bool) -> dict[str, Any] | None:
    if itself:  # the noise of its own runs is in its interval, and is no ratio
        return {"median": 1.0, "low": 1.0, "high": 1.0} if speeds else None
    return _ratio(ratio(first.groups("decode_tok_s"), speeds))


def _json(found: Interval | None) -> dict[str, Any] | None:
    return None if found is None else found.as_json()


def _ratio(found: Interval | None) -> dict[str, Any] | None:
    return None if found is None else {"median": found.median, "low": found.low, "high": found.high}
