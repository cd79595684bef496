"""Numbers, times and counts as people read them."""

from __future__ import annotations

import math


def number(value: float) -> str:
    """A figure in three digits: 8.29e-4, 0.403, 12.4."""
    if math.isinf(value):
        return "∞"
    if value == 0 or 0.1 <= abs(value) < 1000:
        return f"{value:#.3g}".rstrip(".")
    mantissa, _, exponent = f"{value:.2e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def ratio(value: float) -> str:
    """A ratio in two digits: 1.8, 0.028, 2.3e-4."""
    if 0.001 <= value < 1000:
        return f"{value:#.2g}".rstrip(".") if value < 100 else f"{value:.0f}"
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def seconds(value: float) -> str:
    """A time in seconds: 4.1, 1,250."""
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def duration(value: float) -> str:
    """A time in the unit that suits it: 47 s, 2.5 min, 12 min, 5.4 h."""
    if value < 90:
        return f"{value:.0f} s"
    if value < 5400:
        return f"{value / 60:.1f} min" if value < 570 else f"{value / 60:.0f} min"
    return f"{value / 3600:.1f} h"


def counted(count: int, noun: str) -> str:
    """How many there are of something: 1 run, 2 runs."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
