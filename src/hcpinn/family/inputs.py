"""Parameters as inputs of the network: a range becomes an axis along which nothing is differentiated.

That is how peers train over parameters, and a method to compare families with. Along the axis of a parameter
there are no conditions; its coordinate is the share of the way through the range, from 0 to 1.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..errors import ProblemError
from ..problem import HORIZON, Between, Box, Prescribed, Problem, ranges_of
from ..problem.calling import argument_names

_AXES = "xyz"


def parameters_as_inputs(problem: Problem) -> Problem:
    """The problem on a larger domain, whose further axes are the shares of its open parameters.

    Solve it by a method that trains, for comparison with a `Family`: for `{"r": Between(2, 6)}` the value at
    r = 3 is `solution(t, x, 0.25)`.

    Args:
        problem: on an interval or in a box, with ranges of one or two parameters: three axes in all.
    """
    ranges = ranges_of(problem)
    space = problem.space
    axes = dict(zip(ranges, _AXES[len(space) :], strict=False))
    if not problem.domain.product or len(axes) < len(ranges) or not ranges or HORIZON in ranges:
        raise ProblemError(
            f"{problem.name} has ranges of {', '.join(ranges) or 'no parameters'} on {len(space)} axes. "
            "Parameters become inputs where they are not the horizon and a box of at most three axes has "
            "room for them."
        )

    def opened(data: Any) -> Any:
        if isinstance(data, tuple | list):
            return type(data)(map(opened, data))
        if isinstance(data, Mapping):
            return {name: opened(own) for name, own in data.items()}
        if isinstance(data, Prescribed):
            return dataclasses.replace(data, lower=opened(data.lower), upper=opened(data.upper))
        return _renamed(data, ranges, axes) if callable(data) else data

    boundary = opened(problem.boundary)
    if not (isinstance(boundary, dict) and set(boundary) <= set(space)):
        boundary = dict.fromkeys(space, boundary)
    return Problem(
        domain=Box(*problem.domain.bounds, *((0.0, 1.0) for _ in axes)),
        horizon=problem.horizon,
        start=problem.start,
        order=problem.order,
        rhs=opened(problem.rhs),
        initial=opened(problem.initial),
        velocity=opened(problem.velocity),
        boundary={**boundary, **{letter: ([], []) for letter in axes.values()}},
        parameters={name: own for name, own in problem.parameters.items() if name not in ranges},
        breaks=problem.breaks,
        name=f"{problem.name} over {', '.join(ranges)}",
    )


def _renamed(
    function: Callable[..., Any], ranges: Mapping[str, Between], axes: Mapping[str, str]
) -> Callable[..., Any]:
    """The function of shares instead of parameters, recognised by the names of their axes."""
    names = argument_names(function, "A function of the problem")
    if not any(name in ranges for name in names):
        return function
    own = {axes.get(name, name): name for name in names}

    def call(*values: Any, **more: Any) -> Any:
        given = {own[key]: value for key, value in {**dict(zip(own, values, strict=False)), **more}.items()}
        return function(**{n: _value(ranges[n], v) if n in ranges else v for n, v in given.items()})

    kept = inspect.signature(function).parameters
    asked = [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=kept[name].default)
        for key, name in own.items()
    ]
    call.__signature__ = inspect.Signature(asked)  # type: ignore[attr-defined]
    return call


def _value(own: Between, share: Any) -> Any:
    """The parameter at a share of its range, which may be an expression."""
    if own.log:
        return own.low * np.exp(np.log(own.high / own.low) * share)
    return own.low + (own.high - own.low) * share
