"""A read-only pass over bytes on the GPU: what a kernel that must read them all can hope for."""

from __future__ import annotations

import itertools

import torch
import triton
import triton.language as tl

from tests.gpu.timing import graph_us


@triton.jit
def _pass(source, out, count, BLOCK: tl.constexpr, TURNS: tl.constexpr):
    """Each program reads TURNS blocks and leaves one sum, so that no read can be dropped."""
    start = tl.program_id(0).to(tl.int64) * BLOCK * TURNS
    offset = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.int32)
    for turn in tl.static_range(TURNS):
        at = start + turn * BLOCK + offset
        total += tl.load(source + at, mask=at < count, other=0)
    tl.store(out + tl.program_id(0), tl.sum(total, axis=0))


def best_us(data: torch.Tensor) -> tuple[float, str]:
    """The fastest of several shapes of the pass over `data`'s bytes, and which it was."""
    words = data.view(torch.uint8).view(torch.int32).flatten()
    found: list[tuple[float, str]] = []
    for block, turns, warps in itertools.product((1024, 2048, 4096), (2, 4, 8), (4, 8)):
        programs = triton.cdiv(words.numel(), block * turns)
        out = torch.empty(programs, dtype=torch.int32, device=data.device)

        def call(block: int = block, turns: int = turns, warps: int = warps, programs: int = programs,
                 out: torch.Tensor = out) -> None:  # fmt: skip
            _pass[(programs,)](words, out, words.numel(), BLOCK=block, TURNS=turns, num_warps=warps)

        found.append((graph_us(call), f"block {block} x {turns}, {warps} warps"))
    return min(found)
