"""How fast the first GPU's memory is, by a copy: `python -m spark_chat.engine.copy_speed` prints GB/s.

A process of its own, since it loads torch. Of n bytes copied, n are read and n written: 2n over the time.
"""

from __future__ import annotations

SIZE = 1 << 30
TIMES = 10


def main() -> None:
    """Prints one number, or ends with an error where there is no torch or no GPU."""
    import torch

    source = torch.ones(SIZE, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    best = 0.0
    for turn in range(TIMES + 1):
        begin.record()
        target.copy_(source)
        end.record()
        torch.cuda.synchronize()
        if turn:  # the first one brings the kernels up
            best = max(best, 2 * SIZE / (begin.elapsed_time(end) / 1000))
    print(f"{best / 1e9:.1f}")


if __name__ == "__main__":
    main()
