"""What holds on each named part of a boundary that is no product of axes, for each field."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ProblemError
from .conditions import Boundary, Condition, Prescribed
from .domain import Domain
from .sides import Conditioned, independent

REST = "rest"
"""Stands for all parts that are not named."""

_WAYS = (
    "Give one condition for the whole boundary, as in Dirichlet(0.0), or one by part, as in "
    "{{'{part}': Dirichlet(0.0), 'rest': Neumann(0.0)}}."
)


@dataclass(frozen=True, eq=False)
class Piece(Conditioned):
    """One part of a boundary and the conditions there, for each field."""

    part: str
    conditions: tuple[tuple[Condition, ...], ...]

    @property
    def place(self) -> str:
        """What it is called in sentences."""
        return f"the part '{self.part}'"

    @property
    def where(self) -> str:
        """Where it is, in words."""
        return f"on {self.place}"


def resolve_parts(boundary: Any, domain: Domain, fields: tuple[str, ...]) -> tuple[Piece, ...]:
    """What a declared boundary says of each part."""
    each = [_by_part(boundary, domain, fields, number) for number in range(len(fields))]
    return tuple(Piece(part, tuple(tuple(own[part]) for own in each)) for part in domain.parts)


def _by_part(
    boundary: Any, domain: Domain, fields: tuple[str, ...], field: int, chosen: bool = False
) -> dict[str, list[Condition]]:
    """The conditions on a field by part; `chosen` where they are declared for it alone."""
    if not isinstance(boundary, Mapping):
        return dict.fromkeys(domain.parts, _conditions(boundary, domain, field, chosen))
    names = [str(name) for name in boundary]
    if set(names) <= set(fields):
        return _by_part(_of_field(boundary, fields, field, chosen), domain, fields, field, True)
    found: dict[str, list[Condition]] = {}
    for name, declared in boundary.items():
        by_field = isinstance(declared, Mapping)
        own = _of_field(declared, fields, field, chosen) if by_field else declared
        for part in parts_named(str(name), domain, set(names)):
            if part in found:
                raise ProblemError(f"boundary gives two conditions for the part '{part}'. Name it once.")
            found[part] = _conditions(own, domain, field, chosen or by_field)
    missing = [part for part in domain.parts if part not in found]
    if missing:
        raise ProblemError(
            f"boundary has no condition on {', '.join(missing)}. Add one there, or one for all others as "
            "'rest'."
        )
    return found


def _of_field(boundary: Mapping[str, Any], fields: tuple[str, ...], field: int, chosen: bool) -> Any:
    if chosen or set(boundary) != set(fields):
        raise ProblemError(
            f"boundary names the fields {', '.join(map(str, boundary))}, but the problem has "
            f"{', '.join(fields)}. Name each once."
        )
    return boundary[fields[field]]


def parts_named(name: str, domain: Domain, named: set[str]) -> list[str]:
    """The parts that a name stands for: itself, all that begin with it and a dot, or the rest."""
    if name in domain.parts:
        return [name]
    group = [p for p in domain.parts if p.startswith(f"{name}.") and p not in named]
    if group:
        return group
    if name == REST:
        known = {p for n in named - {REST} for p in parts_named(n, domain, named)}
        return [p for p in domain.parts if p not in known]
    raise ProblemError(
        f"boundary names '{name}', which is not a part of the domain: {', '.join(domain.parts)}. "
        "domain.plot() shows where they are."
    )


def _conditions(declared: Any, domain: Domain, field: int, chosen: bool) -> list[Condition]:
    if isinstance(declared, list):
        return independent([c for d in declared for c in _conditions(d, domain, field, chosen)], "")
    if isinstance(declared, Boundary) and declared.periodic:
        raise ProblemError(
            "The boundary of this domain has no opposite ends that Periodic() could join. "
            + _WAYS.format(part=domain.parts[0])
        )
    if not isinstance(declared, Prescribed):
        raise ProblemError(f"boundary has {declared!r} in it. " + _WAYS.format(part=domain.parts[0]))
    if declared.upper is not None:
        raise ProblemError(
            f"{type(declared).__name__} has data for two ends, which parts of this domain do not have. "
            + _WAYS.format(part=domain.parts[0])
        )
    condition = declared.at(0)
    return [condition if chosen else dataclasses.replace(condition, field=field)]
