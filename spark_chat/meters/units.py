"""Numbers as a person reads them. Shared by the chat and the headless twins, so that both round alike."""

from __future__ import annotations

NONE = "-"
"""What stands for a number that is not known or has no meaning."""


def rate(value: float | None) -> str:
    """Tokens a second: one decimal under a thousand."""
    if value is None:
        return NONE
    return f"{value:.1f}" if value < 999.95 else f"{value:,.0f}"


def seconds(value: float | None) -> str:
    """Seconds: two decimals under ten, one under a hundred; minutes above."""
    if value is None:
        return NONE
    if value < 9.995:
        return f"{value:.2f} s"
    if value < 99.95:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest:02d} s"


def milliseconds(value: float | None) -> str:
    """Milliseconds: one decimal under a hundred."""
    if value is None:
        return NONE
    return f"{value:.1f} ms" if value < 99.95 else f"{value:,.0f} ms"


def accept(value: float | None) -> str:
    """Accept length: two decimals."""
    return NONE if value is None else f"{value:.2f}"


def count(value: int | None) -> str:
    """A count in few columns: 999, 3.1k, 262k, 4.2M (k = 1,000)."""
    if value is None:
        return NONE
    if value < 1_000:
        return str(value)
    scaled, unit = (value / 1_000, "k") if value < 999_500 else (value / 1_000_000, "M")
    return f"{scaled:.1f}{unit}" if scaled < 9.95 else f"{scaled:,.0f}{unit}"


def text_size(count: int) -> str:
    """The length of a text, in bytes of UTF-8, as a person counts it: 812 B, 3.4 kB, 1.0 MB (k = 1,000)."""
    if count < 1_000:
        return f"{count} B"
    return f"{count / 1_000:.1f} kB" if count < 999_950 else f"{count / 1_000_000:.1f} MB"


def size(value: int | None) -> str:
    """Bytes in binary units: 812 B, 93.8 MiB, 66.2 GiB."""
    if value is None:
        return NONE
    scaled, unit = float(value), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if scaled < 1023.95:
            break
        scaled, unit = scaled / 1024, larger
    return f"{value} B" if unit == "B" else f"{scaled:.1f} {unit}"
