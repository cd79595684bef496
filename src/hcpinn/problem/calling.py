"""Calling a user's functions by the names of their arguments: `lambda u, x, gamma: …`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..errors import ProblemError
from .expression import TIME, Expression, coordinate


def argument_names(function: Callable[..., Any], role: str) -> tuple[str, ...]:
    """Names of the arguments of a user's function, in order."""
    if not callable(function):
        raise ProblemError(f"{role} must be a function, but is {function!r}.")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise ProblemError(
            f"{role} does not say which arguments it takes. Wrap it: lambda x: f(x)."
        ) from error
    names = []
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ProblemError(
                f"{role} takes '*{parameter.name}'. Name its arguments, as in lambda u, x: …; "
                "fields, coordinates and parameters are recognised by name."
            )
        names.append(parameter.name)
    return tuple(names)


def call_by_name(function: Callable[..., Any], role: str, available: Mapping[str, Any]) -> Any:
    """Call `function` with the available quantities its arguments name."""
    names = argument_names(function, role)
    missing = [name for name in names if name not in available]
    if missing:
        raise ProblemError(
            f"{role} takes an argument '{missing[0]}' that means nothing here. "
            f"It can use: {', '.join(available)}. Add '{missing[0]}' to parameters=… if it is a constant."
        )
    return function(*(available[name] for name in names))


def evaluate_data(
    data: Any,
    role: str,
    coordinates: Mapping[str, Array],
    parameters: Mapping[str, Any],
    space: tuple[str, ...],
) -> list[Array]:
    """Values of initial or boundary data (a number, function, or tuple of them) at coordinates.

    A function may use `jax.numpy` or NumPy; each result is broadcast to the coordinates' shape.
    """
    shape = jnp.broadcast_shapes(*(jnp.shape(c) for c in coordinates.values()))
    if isinstance(data, tuple | list):
        parts: list[Any] = []
        for item in data:
            parts += evaluate_data(item, role, coordinates, parameters, space)
        return parts
    if callable(data):
        try:
            result = call_by_name(data, role, {**coordinates, **parameters})
        except (jax.errors.TracerArrayConversionError, TypeError):
            axis_of = {name: space.index(name) if name in space else TIME for name in coordinates}
            wrapped = {n: coordinate(c, axis_of[n], space) for n, c in coordinates.items()}
            result = call_by_name(data, role, {**wrapped, **parameters})
    else:
        result = data
    values = result if isinstance(result, tuple | list) else (result,)
    arrays = []
    for value in values:
        array = jnp.asarray(value.value if isinstance(value, Expression) else value)
        if not jnp.issubdtype(array.dtype, jnp.inexact):
            array = array.astype(jnp.result_type(float))
        try:
            arrays.append(jnp.broadcast_to(array, shape))
        except ValueError as error:
            raise ProblemError(
                f"{role} returned an array of shape {array.shape} for coordinates of shape {shape}. "
                "It must work elementwise, one value per point."
            ) from error
    return arrays
