"""The FP8 head's kernel alone: right against float64, timed against a read-only pass and the stock heads."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import torch

from spark_chat.sglang_plugin import fp8_head_kernel as kernel
from spark_chat.sglang_plugin.fp8_head_kernel import CONFIGS, Config
from tests.gpu import read_only
from tests.gpu.timing import graph_us

VOCABULARY, HIDDEN = 157_184, 2_560
"""Ling-3.0-flash's vocabulary; the hidden size that gives its published bytes."""
STATES = 4_096
ROWS = (1, 4, 8)
GRAPHS = 5


def weights() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """BF16, e4m3 and scales, on the GPU; random, seeded."""
    generator = torch.Generator(device="cuda").manual_seed(7)
    plain = torch.randn(VOCABULARY, HIDDEN, generator=generator, device="cuda", dtype=torch.bfloat16) * 0.02
    quantised, scale = kernel.quantise(plain)
    return plain, quantised, scale


def states() -> torch.Tensor:
    generator = torch.Generator(device="cuda").manual_seed(11)
    return torch.randn(STATES, HIDDEN, generator=generator, device="cuda", dtype=torch.bfloat16)


def correct(quantised: torch.Tensor, scale: torch.Tensor, plain: torch.Tensor, x: torch.Tensor) -> dict[str, Any]:
    """Share of states with the same top-1 as a float64 product with the dequantised weights, where the top two differ
    by more than two bf16 steps; by rows a call. And what quantising itself costs, against the BF16 weights."""
    agreed = {rows: 0 for rows in (*ROWS, 64)}
    clear, same_as_bf16, divergence = 0, 0, 0.0
    for start in range(0, STATES, 256):
        part = x[start : start + 256]
        top, values = exact(part, quantised, scale)
        step = torch.pow(2.0, torch.floor(torch.log2(values[:, 0].abs())) - 7)
        sure = (values[:, 0] - values[:, 1]) > 2 * step
        clear += int(sure.sum())
        for rows in agreed:
            seen = torch.cat([kernel.logits(part[at : at + rows], quantised, scale).argmax(-1)
                              for at in range(0, part.shape[0], rows)])  # fmt: skip
            agreed[rows] += int((seen == top)[sure].sum())
        ours = kernel.logits(part, quantised, scale)
        theirs = torch.mm(part, plain.T, out_dtype=torch.float32)
        same_as_bf16 += int((ours.argmax(-1) == theirs.argmax(-1)).sum())
        log_ours, log_theirs = ours.log_softmax(-1), theirs.log_softmax(-1)
        divergence += float((log_theirs.exp() * (log_theirs - log_ours)).sum(-1).sum())
    return {
        "states": STATES,
        "clear_states": clear,
        "top1_share": {str(rows): count / clear for rows, count in agreed.items()},
        "top1_as_bf16_head": same_as_bf16 / STATES,
        "kl_to_bf16_head": divergence / STATES,
    }


def uneven(quantised: torch.Tensor, scale: torch.Tensor) -> dict[str, float]:
    """Largest difference from float64, over the largest logit, of rows that float16 can't hold as they are."""
    generator = torch.Generator(device="cuda").manual_seed(13)
    x = torch.randn(8, HIDDEN, generator=generator, device="cuda", dtype=torch.bfloat16)
    falling = torch.exp2(-(torch.arange(HIDDEN, device="cuda") % 40)).to(torch.bfloat16)
    rows = {"huge": x[0] * 2.0**60, "tiny": x[1] * 2.0**-80, "zero": x[2] * 0, "falling": x[4] * falling, "plain": x[5]}
    rows["outlier"] = x[3].clone()
    rows["outlier"][5] = 3e4
    rows["one"] = torch.zeros_like(x[6])
    rows["one"][HIDDEN - 1] = 2.0**-100
    together = torch.stack(list(rows.values()))
    seen = kernel.logits(together, quantised, scale).double()
    known = torch.cat([together.double() @ (quantised[at : at + 16_384].double() * scale[at : at + 16_384, None]).T
                       for at in range(0, VOCABULARY, 16_384)], 1)  # fmt: skip
    error = (seen - known).abs().amax(1) / known.abs().amax(1).clamp(min=1e-300)
    return dict(zip(rows, error.tolist(), strict=True))


def exact(x: torch.Tensor, quantised: torch.Tensor, scale: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Top-1 and the two largest logits, in float64, a slice of the vocabulary at a time."""
    best_values, best_places = [], []
    for start in range(0, VOCABULARY, 16_384):
        part = quantised[start : start + 16_384].double() * scale[start : start + 16_384, None].double()
        values, places = (x.double() @ part.T).topk(2)
        best_values.append(values)
        best_places.append(places + start)
    values, order = torch.cat(best_values, 1).topk(2)
    return torch.cat(best_places, 1).gather(1, order)[:, 0], values


def timed(quantised: torch.Tensor, scale: torch.Tensor, plain: torch.Tensor, x: torch.Tensor) -> dict[str, Any]:
    """Microseconds a call, and what they come to against the read-only pass over the same bytes: of each the best of
    a few graphs, whose memory lies differently; the pass's before and after."""
    before = read_only.best_us(quantised)
    size = quantised.numel()
    rows: dict[str, dict[str, float]] = {}
    for count in ROWS:
        part = x[:count].contiguous()
        calls: dict[str, Callable[[], torch.Tensor]] = {
            "fp8_us": lambda part=part: kernel.logits(part, quantised, scale),
            "bf16_us": lambda part=part: torch.matmul(part, plain.T),
            "fp32_output_us": lambda part=part: torch.mm(part, plain.T, out_dtype=torch.float32),
        }
        rows[str(count)] = {name: min(graph_us(call) for _ in range(GRAPHS)) for name, call in calls.items()}
    floor, how = min(before, read_only.best_us(quantised))
    for row in rows.values():
        row["rate_of_read_only"] = floor / row["fp8_us"]
    return {
        "bytes": size, "read_only_us": floor, "read_only_how": how, "read_only_gb_s": size / floor / 1000, "rows": rows,
    }  # fmt: skip


def sweep(quantised: torch.Tensor, scale: torch.Tensor, x: torch.Tensor, seconds: float) -> dict[str, Any]:
    """The fastest configurations, by rows: for the tables in fp8_head_kernel.py. Stops after `seconds`."""
    until = time.monotonic() + seconds
    fma = [Config("fma", *each) for each in itertools.product((8, 16), (256, 512), (2, 4), (4, 5))]
    dot = [Config("dot", *each) for each in itertools.product((64, 128), (128, 256), (4, 8), (3, 4))]
    found: dict[int, list[tuple[float, Config | None]]] = {rows: [] for rows in (1, 2, 4, 8)}
    tried = 0
    for config in (None, *dot, *fma):
        for rows in found:
            if time.monotonic() > until or (isinstance(config, Config) and config.form == "fma" and rows > 2):
                continue
            part = x[:rows].contiguous()
            try:
                took = graph_us(lambda part=part, config=config: kernel.logits(part, quantised, scale, config))
            except Exception as error:
                print("sweep:", config, rows, type(error).__name__, str(error)[:100])
                torch.cuda.synchronize()
                continue
            found[rows].append((took, config))
            tried += 1
    return {
        "tried": tried,
        "best": {str(rows): [[round(took, 2), list(config) if config else ["stream"]] for took, config in ranked[:6]]
                 for rows, all_ in found.items() if (ranked := sorted(all_, key=lambda each: each[0]))},
    }  # fmt: skip


def run(sweep_s: float) -> dict[str, Any]:
    plain, quantised, scale = weights()
    x = states()
    found: dict[str, Any] = {"configs": {str(rows): list(config) for rows, config in CONFIGS.items()}}
    found["check_error"] = kernel.warm_and_check(quantised, scale, torch.bfloat16)
    found["stream"] = {"off": kernel.stream_off}
    found["time"] = timed(quantised, scale, plain, x)
    print("head time:", found["time"])
    found["right"] = correct(quantised, scale, plain, x) | {"uneven": uneven(quantised, scale)}
    print("head right:", found["right"])
    if sweep_s:
        found["sweep"] = sweep(quantised, scale, x, sweep_s)
    return found
