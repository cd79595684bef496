"""Units of coordinates, fields and parameters: on axes, and to convert quantities of `pint` by.

Numbers are in the units that a problem names for its axes and fields. A quantity, such as 5 mm²/s, is
converted to the product of powers of these that has its dimension.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import ProblemError


def is_quantity(value: Any) -> bool:
    """Whether it is a number with a unit, as of `pint`."""
    return hasattr(value, "magnitude") and hasattr(value, "dimensionality")


def check_units(units: Mapping[str, Any], known: Sequence[str]) -> dict[str, str]:
    """The units as texts; those that `pint` does not know are refused where it is installed."""
    registry = _registry()
    found = {}
    for name, unit in units.items():
        if name not in known:
            raise ProblemError(
                f"units gives '{unit}' for '{name}', but there are {', '.join(known)}. Remove or rename it."
            )
        found[name] = str(unit)
        if registry is None:
            continue
        try:
            registry.Unit(found[name])
        except Exception as error:  # of several kinds, by what is wrong with the text
            raise ProblemError(f"The unit '{unit}' of {name} means nothing to pint: {error}.") from error
    return found


def unit_label(name: str, units: Mapping[str, str]) -> str:
    """What an axis of a figure is called: `x (µm)`, or `x` where no unit is given."""
    inner = name.removeprefix("real(").removeprefix("imag(").rstrip(")") if name.endswith(")") else name
    unit = units.get(inner)
    if not unit:
        return name
    registry = _registry()
    return f"{name} ({f'{registry.Unit(unit):~P}' if registry else unit})"


def plain_number(value: Any, name: str, units: Mapping[str, str], basis: Sequence[str]) -> Any:
    """A number from a quantity, in the units of a problem.

    Args:
        value: what was given; what is no quantity is returned as it is.
        name: what messages call it; its own unit counts, if it has one.
        units: by name, as the problem declares them.
        basis: the names whose units others are made of, in order: axes, then fields.
    """
    if not is_quantity(value):
        return value
    registry = value._REGISTRY
    if name in units:
        target = registry.Unit(units[name])
    else:
        target = _composed(value, [registry.Unit(units[n]) for n in basis if n in units], registry)
    if target is None:
        given = ", ".join(f"{n}: {units[n]}" for n in basis if n in units) or "none"
        raise ProblemError(
            f"{name} = {value} cannot be converted, for its dimension is not made of the units given "
            f"({given}). Add units={{…}} for the axes and fields that it depends on."
        )
    try:
        return float(value.to(target).magnitude)
    except Exception as error:  # pint's own, or of what holds no number
        raise ProblemError(f"{name} = {value} cannot be converted to {target}: {error}.") from error


def _composed(value: Any, units: Sequence[Any], registry: Any) -> Any:
    """The product of powers of units that has the dimension of a quantity; None where there is none."""
    wanted = dict(value.dimensionality)
    names = sorted({*wanted, *(d for unit in units for d in unit.dimensionality)})

    def vector(dimensions: Mapping[str, Any]) -> np.ndarray:
        return np.array([float(dimensions.get(d, 0)) for d in names])

    chosen: list[Any] = []
    columns = np.zeros((len(names), 0))
    for unit in units:
        more = np.column_stack([columns, vector(dict(unit.dimensionality))])
        if np.linalg.matrix_rank(more) == more.shape[1]:
            chosen, columns = [*chosen, unit], more
    powers = np.linalg.lstsq(columns, vector(wanted), rcond=None)[0] if chosen else np.zeros(0)
    if not np.allclose(columns @ powers, vector(wanted), atol=1e-9):
        return None
    target = registry.Unit("dimensionless")
    for unit, power in zip(chosen, powers, strict=True):
        target = target * unit ** Fraction(float(power)).limit_denominator(12)
    return target


def _registry() -> Any:
    """The registry of `pint` that quantities belong to unless they say otherwise; None without pint."""
    try:
        import pint
    except ImportError:
        return None
    return pint.get_application_registry()
