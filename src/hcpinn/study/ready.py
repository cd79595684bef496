"""Ready-made studies by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ..errors import unknown_name
from ..papers.hao2026.explanations import explanations
from ..papers.hao2026.paper import (
    ablation,
    ablations,
    advection_by_speed,
    comparison,
    dirichlet,
    expert,
    modes,
    originals,
    paper,
    two_dimensions,
)
from ..papers.hao2026.published import tables
from .declaration import Study


@cache
def ready_made() -> dict[str, Callable[[], Study]]:
    """Every ready-made study by name; the docstring of each says what it is."""

    def one(table: str) -> Callable[[], Study]:
        def make() -> Study:
            return ablation(table)

        make.__doc__ = f"The ablation of {table}."
        return make

    found: dict[str, Callable[[], Study]] = {"paper": paper, "ablation": ablations}
    found.update({f"ablation-{table}": one(table) for table in tables()["ablation"]})
    others = (advection_by_speed, comparison, two_dimensions, modes, dirichlet, expert)
    found.update({part.__name__.replace("_", "-"): part for part in others})
    return {**found, "comparison-originals": originals, "explanations": explanations}


def find_study(name: str) -> Study:
    """The ready-made study of this name."""
    if name not in ready_made():
        raise unknown_name("study", name, ready_made())
    return ready_made()[name]()
