"""Time of a GPU call, by replaying a CUDA graph of many: no launch gaps, no Python. Microseconds."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

import torch

REPEATS, ROUNDS = 20, 9


def graph_us(call: Callable[[], object], repeats: int = REPEATS, rounds: int = ROUNDS) -> float:
    """Median over `rounds` replays of a graph of `repeats` calls."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(repeats):
            call()
    graph.replay()
    torch.cuda.synchronize()
    took: list[float] = []
    for _ in range(rounds):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        took.append(float(start.elapsed_time(end)) * 1000 / repeats)
    del graph
    return median(took)
