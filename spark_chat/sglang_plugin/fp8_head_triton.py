"""The plain Triton kernels behind fp8_head_kernel.py, and how they and the streaming one are launched. Imported on a
GPU only."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import triton
import triton.language as tl

from spark_chat.sglang_plugin.fp8_head_kernel import Config


@triton.jit
def fma_kernel(x, weight, scale, out, vocabulary, hidden, M: tl.constexpr, MP: tl.constexpr, V: tl.constexpr,
               K: tl.constexpr, EVEN: tl.constexpr, STAGES: tl.constexpr):  # fmt: skip
    """V vocabulary rows a program; sums stay spread over K columns until the end. M is 1 or 2."""
    v = tl.program_id(0) * V + tl.arange(0, V)
    k = tl.arange(0, K)
    inside = v < vocabulary
    base = weight + v.to(tl.int64)[:, None] * hidden + k[None, :]
    sum0 = tl.zeros((V, K), dtype=tl.float32)
    sum1 = tl.zeros((V, K), dtype=tl.float32)
    for start in tl.range(0, hidden, K, num_stages=STAGES):
        if EVEN:
            w = tl.load(base + start, mask=inside[:, None], other=0.0, eviction_policy="evict_first").to(tl.float32)
            sum0 += w * tl.load(x + start + k).to(tl.float32)[None, :]
            if M > 1:
                sum1 += w * tl.load(x + hidden + start + k).to(tl.float32)[None, :]
        else:
            here = start + k < hidden
            w = tl.load(base + start, mask=inside[:, None] & here[None, :], other=0.0).to(tl.float32)
            sum0 += w * tl.load(x + start + k, mask=here, other=0.0).to(tl.float32)[None, :]
            if M > 1:
                sum1 += w * tl.load(x + hidden + start + k, mask=here, other=0.0).to(tl.float32)[None, :]
    s = tl.load(scale + v, mask=inside, other=0.0)
    tl.store(out + v, tl.sum(sum0, axis=1) * s, mask=inside)
    if M > 1:
        tl.store(out + vocabulary + v, tl.sum(sum1, axis=1) * s, mask=inside)


@triton.jit
def dot_kernel(x, weight, scale, out, vocabulary, hidden, M, MP: tl.constexpr, V: tl.constexpr,
               K: tl.constexpr, EVEN: tl.constexpr, STAGES: tl.constexpr):  # fmt: skip
    """V vocabulary rows by MP activation rows a program, on tensor cores. e4m3 fits into bf16 and f16 exactly."""
    v = tl.program_id(0) * V + tl.arange(0, V)
    m = tl.program_id(1) * MP + tl.arange(0, MP)
    k = tl.arange(0, K)
    inside, present = v < vocabulary, m < M
    weights = weight + v.to(tl.int64)[:, None] * hidden + k[None, :]
    states = x + m[None, :] * hidden + k[:, None]
    total = tl.zeros((V, MP), dtype=tl.float32)
    for start in tl.range(0, hidden, K, num_stages=STAGES):
        if EVEN:
            w = tl.load(weights + start, mask=inside[:, None], other=0.0)
            a = tl.load(states + start, mask=present[None, :], other=0.0)
        else:
            here = start + k < hidden
            w = tl.load(weights + start, mask=inside[:, None] & here[None, :], other=0.0)
            a = tl.load(states + start, mask=present[None, :] & here[:, None], other=0.0)
        total = tl.dot(w.to(x.dtype.element_ty), a, total, input_precision="ieee")
    total *= tl.load(scale + v, mask=inside, other=0.0)[:, None]
    tl.store(out + m[None, :].to(tl.int64) * vocabulary + v[:, None], total, mask=inside[:, None] & present[None, :])


def launch(
    x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor, out: torch.Tensor, key: int, config: Config
) -> Any:
    """x [M, H], weight [V, H], scale [V], out [M, V]; all contiguous and on one GPU."""
    (m, hidden), vocabulary = x.shape, weight.shape[0]
    shape = {
        "MP": max(8, key), "V": config.rows, "K": config.columns, "EVEN": hidden % config.columns == 0,
        "STAGES": config.stages, "num_warps": config.warps,
    }  # fmt: skip
    if config.form == "fma" and m <= 2:
        fma_kernel[(triton.cdiv(vocabulary, config.rows),)](x, weight, scale, out, vocabulary, hidden, M=m, **shape)
    else:
        grid = (triton.cdiv(vocabulary, config.rows), triton.cdiv(m, max(8, key)))
        dot_kernel[grid](x, weight, scale, out, vocabulary, hidden, m, **shape)


TILE = 16
"""Rows of the vocabulary that a program of the streaming kernel has at a time."""


@cache
def _programs(device: torch.device, hidden: int) -> tuple[int, int]:
    """Programs that run at once, as many a multiprocessor as tiles leave room for; and registers a thread for that."""
    each, registers = (1, 255) if hidden > 2560 else (2, 128)
    multiprocessors: int = torch.cuda.get_device_properties(device).multi_processor_count
    return each * multiprocessors, registers


def portions(vocabulary: int, programs: int) -> tuple[int, int, int]:
    """(programs, rows in whole tiles, equally many a program, rows of each in a last, smaller round): together
    they cover the vocabulary."""
    programs = min(programs, triton.cdiv(vocabulary, TILE))
    whole = vocabulary // (programs * TILE) * programs * TILE
    return programs, whole, triton.cdiv(vocabulary - whole, programs)


def launch_stream(x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor, out: torch.Tensor) -> Any:
    """x [M, H] of bf16 or f16, M at most 8, weight [V, H], scale [V], out [M, V]; all contiguous and on one GPU."""
    from spark_chat.sglang_plugin.fp8_head_gluon import stream_kernel

    (m, hidden), vocabulary = x.shape, weight.shape[0]
    programs, registers = _programs(x.device, hidden)
    programs, whole, share = portions(vocabulary, programs)
    stream_kernel[(programs,)](
        x, weight.view(torch.int32), scale, out, vocabulary, m, whole, share, HIDDEN=hidden,
        HALF=x.dtype == torch.float16, num_warps=8, maxnreg=registers)  # fmt: skip
