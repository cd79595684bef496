"""Calling a user's functions by the names of their arguments: `lambda u, x, gamma: …`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array

from ..errors import HcpinnError, ProblemError
from .expression import TIME, Expression, PointwiseError, constant, coordinate
from .tabulated import Tabulated, knots

_LIBRARIES = ("numpy", "scipy", "jax", "jaxlib")
"""Whose functions and objects name their arguments in ways of their own."""

Tables = Sequence[tuple[Any, str, Tabulated]]
"""Functions that JAX cannot trace, each with its coordinate and the series that stand for it."""


def argument_names(function: Callable[..., Any], role: str, *, defaults: bool = True) -> tuple[str, ...]:
    """Names of the arguments of a user's function, in order, with those that have `defaults` or without."""
    return tuple(name for name, has_default in _arguments(function, role) if defaults or not has_default)


def _arguments(function: Callable[..., Any], role: str) -> list[tuple[str, bool]]:
    """The name of each argument, and whether it has a default."""
    if not callable(function):
        raise ProblemError(f"{role} must be a function, such as lambda u: u.xx, but is {function!r}.")
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
        names.append((parameter.name, parameter.default is not parameter.empty))
    return names


def call_by_name(function: Callable[..., Any], role: str, available: Mapping[str, Any]) -> Any:
    """Call `function` with the available quantities its arguments name; others keep their defaults."""
    named = _arguments(function, role)
    missing = [name for name, default in named if name not in available and not default]
    if missing:
        raise ProblemError(
            f"{role} takes an argument '{missing[0]}' that means nothing here. "
            f"It can use: {', '.join(available)}. Add '{missing[0]}' to parameters=… if it is a constant."
        )
    given = [name for name, _ in named if name in available]
    positional = [name for name, _ in named[: len(given)]] == given
    if positional:
        return function(*(available[name] for name in given))
    return function(**{name: available[name] for name in given})


def _of_a_library(function: Any) -> bool:
    """Whether it comes from NumPy, SciPy or JAX, so that names of arguments tell nothing."""
    module = getattr(function, "__module__", None) or ""
    return any(str(m).split(".")[0] in _LIBRARIES for m in (module, type(function).__module__))


def call_data(
    function: Callable[..., Any], role: str, available: Mapping[str, Any], alone: str | None = None
) -> Any:
    """Call a function that gives data: by name or, where it is a library's, with the coordinate `alone`."""
    if alone is not None and _of_a_library(function):
        return function(available[alone])
    return call_by_name(function, role, available)


def evaluate_data(
    data: Any,
    role: str,
    coordinates: Mapping[str, Array],
    parameters: Mapping[str, Any],
    space: tuple[str, ...],
    tables: Tables = (),
    alone: str | None = None,
) -> list[Array]:
    """Values of initial or boundary data (a number, function, or tuple of them) at coordinates.

    A function may use `jax.numpy` or NumPy; each result is broadcast to the coordinates' shape. `tables` has
    series for functions that JAX cannot trace, and `alone` is the coordinate that a library's function takes.
    """
    shape = jnp.broadcast_shapes(*(jnp.shape(c) for c in coordinates.values()))
    if isinstance(data, tuple | list):
        parts: list[Any] = []
        for item in data:
            parts += evaluate_data(item, role, coordinates, parameters, space, tables, alone)
        return parts
    if callable(data):
        table = next(((name, own) for known, name, own in tables if known is data), None)
        if table is not None:
            result = table[1](coordinates[table[0]])
        else:
            result = _traced(data, role, coordinates, parameters, space, alone)
    else:
        result = data
    values = result if isinstance(result, tuple | list) else (result,)
    return [_array(value, role, shape) for value in values]


def _traced(
    function: Callable[..., Any],
    role: str,
    coordinates: Mapping[str, Array],
    parameters: Mapping[str, Any],
    space: tuple[str, ...],
    alone: str | None,
) -> Any:
    """What a function gives for JAX's arrays, or for expressions where NumPy takes no such arrays."""
    try:
        return call_data(function, role, {**coordinates, **parameters}, alone)
    except (jax.errors.TracerArrayConversionError, TypeError):
        axis_of = {name: space.index(name) if name in space else TIME for name in coordinates}
        wrapped = {n: coordinate(c, axis_of[n], space) for n, c in coordinates.items()}
        return call_data(function, role, {**wrapped, **for_numpy(parameters, space)}, alone)


def for_numpy(parameters: Mapping[str, Any], space: tuple[str, ...]) -> dict[str, Any]:
    """Parameters that NumPy's functions take too where JAX traces them."""
    return {
        n: constant(value, space) if isinstance(value, Tracer) else value for n, value in parameters.items()
    }


def _array(value: Any, role: str, shape: tuple[int, ...]) -> Array:
    value = value.value if isinstance(value, Expression) else value
    if value is None or isinstance(value, str | bytes | dict | set) or callable(value):
        raise ProblemError(
            f"{role} gives {value!r}, which is not a number. Write a function such as "
            "lambda x: np.sin(np.pi * x), or a number."
        )
    try:
        array = jnp.asarray(value)
    except (TypeError, ValueError) as error:
        raise ProblemError(
            f"{role} gives {type(value).__name__}, which is not a number or an array of numbers."
        ) from error
    if not jnp.issubdtype(array.dtype, jnp.inexact):
        array = array.astype(jnp.result_type(float))
    try:
        return jnp.broadcast_to(array, shape)
    except ValueError as error:
        raise ProblemError(
            f"{role} gives an array of shape {array.shape} for points of shape {shape}. It must be a number, "
            "or a function of x that works elementwise, one value per point. For values on a grid, "
            "scipy.interpolate.CubicSpline(grid, values) is such a function."
        ) from error


def tables_for(
    data: Any,
    role: str,
    bounds: Mapping[str, tuple[float, float]],
    parameters: Mapping[str, Any],
    space: tuple[str, ...],
    alone: str | None,
) -> list[tuple[Any, str, Tabulated]]:
    """Series for those of the data that JAX cannot trace, or a sentence on why there are none.

    `bounds` are the coordinates with the ends between which each varies; those fixed have equal ends.
    """
    if isinstance(data, tuple | list):
        return [t for item in data for t in tables_for(item, role, bounds, parameters, space, alone)]
    if not callable(data):
        return []
    places = {name: jax.ShapeDtypeStruct((3,), float) for name in bounds}
    known: Exception | None = None
    try:
        jax.eval_shape(lambda at: evaluate_data(data, role, at, parameters, space, (), alone), places)
        return []
    except PointwiseError:
        pass
    except Exception as error:  # of whatever kind the user's function raises
        known = error
    try:
        return [_tabulated(data, role, bounds, parameters, alone)]
    except Exception as error:
        if isinstance(known, HcpinnError):
            raise known from None
        if isinstance(error, HcpinnError):
            raise
        raise ProblemError(f"{role} failed with {type(error).__name__}: {error}") from error


def _tabulated(
    function: Callable[..., Any],
    role: str,
    bounds: Mapping[str, tuple[float, float]],
    parameters: Mapping[str, Any],
    alone: str | None,
) -> tuple[Any, str, Tabulated]:
    by_name = alone is None or not _of_a_library(function)
    used = argument_names(function, role) if by_name else (alone,)
    varying = [name for name, (low, high) in bounds.items() if low < high and name in used]
    taken = [*varying, *(name for name in used if name in parameters)]
    if len(varying) > 1 or taken != varying:
        raise ProblemError(
            f"{role} depends on {' and '.join(taken)}, but only NumPy or plain Python can evaluate it, "
            "which is enough for functions of one coordinate. Write it with NumPy's elementwise functions, "
            "such as np.sin or np.where, or with jax.numpy."
        )
    name = varying[0] if varying else next(iter(bounds))
    fixed = {other: low for other, (low, _) in bounds.items()}

    def at(value: float) -> Any:
        return call_data(function, role, {**fixed, **parameters, name: value}, alone)

    low, high = bounds[name]
    return function, name, Tabulated(at, low, max(high, low + 1e-9), role, knots=knots(function))
