"""What holds at each end of each axis, for each field: a declared boundary, resolved."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import ProblemError
from .conditions import Boundary, Condition, Prescribed
from .domain import AXES

Declared = Boundary | Sequence[Any] | Mapping[str, Any]
"""A condition; (lower, upper); a list of conditions that hold together; or one of these per axis or field."""

_END = ("lower", "upper")

_KINDS = "Periodic(), Dirichlet(g), Neumann(g) or Robin(g)"


class Conditioned:
    """A part of a boundary with its conditions."""

    conditions: tuple[tuple[Condition, ...], ...]
    """For each field, any number."""

    @property
    def every(self) -> tuple[Condition, ...]:
        """The conditions on all fields, one after the other."""
        return tuple(condition for own in self.conditions for condition in own)

    def prescribed(self, data: Sequence[Sequence[Any]]) -> list[Any]:
        """The value of each field, from the data of all conditions; None where none prescribes it."""
        found = []
        for number, own in enumerate(self.conditions):
            which = self.value_of(number)
            found.append(None if which is None else np.asarray(data[number][which]) / own[which].factors[0])
        return found

    def value_of(self, field: int) -> int | None:
        """Which of a field's conditions prescribes its value; None if none does."""
        return next((n for n, c in enumerate(self.conditions[field]) if c.order == 0), None)

    @property
    def prescribes_values(self) -> bool:
        """Whether the value of every field is prescribed, and nothing else."""
        return all(len(c) == 1 and c[0].order == 0 for c in self.conditions)

    @property
    def signature(self) -> Any:
        """Its identity apart from its data; short if all fields are alike."""
        each = [[c.signature for c in own] for own in self.conditions]
        if all(len(own) == 1 and own == each[0] for own in each):
            return each[0][0]
        return each


@dataclass(frozen=True, eq=False)
class Side(Conditioned):
    """One end of one axis and the conditions there, for each field."""

    axis: int
    end: int
    """0 at the lower end, 1 at the upper."""
    letter: str
    """The axis' name."""
    conditions: tuple[tuple[Condition, ...], ...]

    @property
    def part(self) -> str:
        """The domain's name for it."""
        return f"{self.letter}.{_END[self.end]}"

    @property
    def place(self) -> str:
        """What it is called in sentences."""
        return f"the {_END[self.end]} end of {self.letter}"

    @property
    def where(self) -> str:
        """Where it is, in words."""
        return f"at {self.place}"

    @property
    def sign(self) -> float:
        """The outward normal's component along the axis."""
        return 1.0 if self.end else -1.0


@dataclass(frozen=True, eq=False)
class Ends:
    """Both ends of one axis: periodic, or two sides."""

    sides: tuple[Side, ...] = ()
    """Lower and upper; none if the axis is periodic."""

    @property
    def periodic(self) -> bool:
        """Whether the solution repeats itself along the axis."""
        return not self.sides

    @property
    def prescribes_values(self) -> bool:
        """Whether values of all fields are prescribed at both ends, and nothing else."""
        return bool(self.sides) and all(side.prescribes_values for side in self.sides)

    @property
    def bound(self) -> bool:
        """Whether there is any condition at either end."""
        return any(side.every for side in self.sides)

    @cached_property
    def signature(self) -> Any:
        """Its identity apart from its data."""
        if self.periodic:
            return "Periodic"
        lower, upper = (side.signature for side in self.sides)
        return lower if lower == upper else [lower, upper]

    @property
    def kinds(self) -> str:
        """The names of its conditions."""
        if self.periodic:
            return "Periodic"
        names = [c.kind for side in self.sides for c in side.every]
        return " and ".join(dict.fromkeys(names)) or "free"


def resolve(boundary: Declared, axes: tuple[str, ...], fields: tuple[str, ...]) -> tuple[Ends, ...]:
    """What a declared boundary says of each axis."""
    return tuple(_ends(boundary, axis, axes, fields) for axis in range(len(axes)))


def _ends(boundary: Declared, axis: int, axes: tuple[str, ...], fields: tuple[str, ...]) -> Ends:
    found = [
        [_Walk(axes, fields, axis, number, end).conditions(boundary) for number in range(len(fields))]
        for end in (0, 1)
    ]
    periodic = [each is None for side in found for each in side]
    if all(periodic):
        return Ends()
    if any(periodic):
        raise ProblemError(
            f"Along {axes[axis]} some fields are periodic and others are not. Either all of them are, or "
            "each has conditions at both ends."
        )
    return Ends(
        tuple(
            Side(axis, end, axes[axis], tuple(tuple(own or ()) for own in side))
            for end, side in enumerate(found)
        )
    )


@dataclass(frozen=True)
class _Walk:
    """The way through a declared boundary to what holds for one field at one end of one axis."""

    axes: tuple[str, ...]
    fields: tuple[str, ...]
    axis: int
    field: int
    end: int
    axis_chosen: bool = False
    field_chosen: bool = False
    end_chosen: bool = False

    @property
    def where(self) -> str:
        parts = [f"along {self.axes[self.axis]}"] if self.axis_chosen else []
        parts += [f"of '{self.fields[self.field]}'"] if self.field_chosen else []
        parts += [f"at the {_END[self.end]} end"] if self.end_chosen else []
        return " ".join(parts)

    def conditions(self, declared: Any) -> list[Condition] | None:
        """The conditions; None if periodic."""
        if isinstance(declared, Boundary):
            return self._single(declared)
        if isinstance(declared, Mapping):
            return self._among(declared)
        if isinstance(declared, list):
            return self._together(declared)
        if isinstance(declared, tuple):
            return self._sided(declared)
        which = f"The boundary {self.where}" if self.where else "boundary"
        more = (
            ""
            if self.where
            else (
                ", a pair of them for the lower and the upper end, or one of these per axis as in "
                "{'x': Periodic(), 'y': Dirichlet(0.0)}"
            )
        )
        raise ProblemError(f"{which} must be {_KINDS}{more}, but is {declared!r}. Check the parentheses.")

    def _single(self, declared: Boundary) -> list[Condition] | None:
        if declared.periodic:
            if self.end_chosen:
                raise ProblemError(
                    f"The boundary {self.where} is Periodic(), which joins both ends of an axis: give it for "
                    "the whole axis, not for one end."
                )
            return None
        assert isinstance(declared, Prescribed)
        if self.end_chosen and declared.upper is not None:
            raise ProblemError(
                f"The {type(declared).__name__} condition {self.where} has data for two ends. Give it those "
                "of its own end alone."
            )
        condition = declared.at(self.end)
        return [condition if self.field_chosen else dataclasses.replace(condition, field=self.field)]

    def _among(self, declared: Mapping[str, Any]) -> list[Condition] | None:
        names, by_axis = set(declared), set(declared) <= set(AXES)
        wanted = self.axes if by_axis else self.fields
        if (by_axis and (self.axis_chosen or self.end_chosen)) or (not by_axis and self.field_chosen):
            raise ProblemError(
                f"The boundary {self.where} is given by {'axis' if by_axis else 'field'} a second time: "
                f"{', '.join(map(str, declared))}. Name {'axes' if by_axis else 'fields'} once."
            )
        if names != set(wanted):
            known = [f"the axes {', '.join(self.axes)}"] if by_axis or not self.axis_chosen else []
            known += [f"the fields {', '.join(self.fields)}"] if not by_axis else []
            raise ProblemError(
                f"{f'The boundary {self.where}' if self.where else 'boundary'} names "
                f"{', '.join(map(str, declared)) or 'nothing'}, but the problem has {' and '.join(known)}. "
                "Give one condition for each."
            )
        if by_axis:
            inner = dataclasses.replace(self, axis_chosen=True)
            return inner.conditions(declared[self.axes[self.axis]])
        inner = dataclasses.replace(self, field_chosen=True)
        return inner.conditions(declared[self.fields[self.field]])

    def _together(self, declared: list[Any]) -> list[Condition]:
        found: list[Condition] = []
        for item in declared:
            if not isinstance(item, Prescribed):
                raise ProblemError(
                    f"A list holds conditions that hold together, as in [Dirichlet(0.0), Neumann(0.0)], but "
                    f"has {item!r} in it. A pair (lower, upper) is written in round brackets."
                )
            found += self._single(item) or []
        return independent(found, self.where)

    def _sided(self, declared: tuple[Any, ...]) -> list[Condition] | None:
        if self.end_chosen or len(declared) != 2:
            raise ProblemError(
                f"A tuple is a pair (lower, upper) of what holds at the two ends of an axis; {declared!r} is "
                "not. Conditions that hold together at one end are written as a list."
            )
        return dataclasses.replace(self, end_chosen=True).conditions(declared[self.end])


def independent(found: list[Condition], where: str) -> list[Condition]:
    """Conditions that hold together at one place, none of which follows from the others."""
    rows = np.zeros((len(found), max((len(c.factors) for c in found), default=1)))
    for row, condition in zip(rows, found, strict=True):
        row[: len(condition.factors)] = condition.factors
    if found and np.linalg.matrix_rank(rows) < len(found):
        raise ProblemError(
            f"The conditions {' and '.join(c.kind for c in found)} that hold together {where} are "
            "not independent: one of them prescribes what the others do. Leave it out."
        )
    return found
