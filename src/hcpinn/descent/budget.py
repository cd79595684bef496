"""A method with other numbers of steps and points, as for a first look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import MethodError
from .method import Method


def with_budget(method: Method, *, steps: Sequence[int] | None = None, points: int | None = None) -> Method:
    """The method with other budgets: steps for each stage in turn, where 0 leaves it out, and points."""
    if method.engine != Method.engine and (steps is not None or points is not None):
        raise MethodError(
            f"{method.name} trains nothing, so it takes no steps or points. Name another method."
        )
    if points is not None:
        batches = method.batches and replace(method.batches, size=-(-points // method.batches.count))
        method = replace(method, points=points, batches=batches)
    if steps is not None:
        if len(steps) != len(method.stages) or min(steps) < 0:
            names, count = ", ".join(stage.label for stage in method.stages), len(method.stages)
            raise MethodError(
                f"steps takes {count} whole number{'s' * (count > 1)}, one for each of {names}; not "
                f"'{','.join(map(str, steps))}'. A zero leaves a stage out."
            )
        pairs = zip(method.stages, steps, strict=True)
        kept = tuple(stage.with_steps(count) for stage, count in pairs if count)
        method = replace(method, stages=kept)
    return method
