"""Problems written as text: what `read_problem` reads again."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ...errors import ProblemError
from ..conditions import Condition
from ..declaration import HORIZON, Problem
from ..parameters import Between
from ..pieces import Piece
from ..samples import Samples
from ..sides import Side
from ..unknown import Unknown
from .shapes import write_domain
from .symbols import curves_of, node_of, nodes_of
from .tokens import spelled
from .tree import Derivative, Name, Node, chained, constant_of
from .typeset import PLAIN, Style


def write_problem(problem: Problem) -> str:
    """The text of a problem.

    Functions of Python are written down by running them on symbols. Raises a `ProblemError` where one does
    what formulas have no words for.
    """
    for name in (*problem.fields, *problem.parameters):
        if spelled(name) != name or not name.isascii():
            raise ProblemError(f"The name '{name}' cannot be written as text. Use letters from a to z.")
    lines = [f"name = {_quoted(problem.name)}"]
    equations = [
        f"{field}_{'t' * problem.order} = {PLAIN.write(node)}"
        for field, node in zip(problem.fields, equation_nodes(problem), strict=True)
    ]
    lines.append(f"equation = {_list(equations) if len(equations) > 1 else _quoted(equations[0])}")
    lines.append(f"domain = {_domain(problem)}")
    if problem.start:
        lines.append(f"start = {problem.start!r}")
    lines.append(f"horizon = {_quantity(problem.horizon)}")
    lines += _data(problem, "initial")
    if problem.order == 2:
        lines += _data(problem, "velocity")
    lines += _boundary(problem)
    named = {name: value for name, value in problem.parameters.items() if name != HORIZON}
    if named:
        lines += ["", "[parameters]", *(f"{_key(n)} = {_quantity(v)}" for n, v in named.items())]
    curves = curves_of(problem.rhs, problem.initial, problem.velocity, problem.boundary)
    if curves:
        lines += ["", "[data]", *(f"{_key(name)} = {_samples(own)}" for name, own in curves.items())]
    for title, table in (("ranges", problem.ranges), ("breaks", problem.breaks)):
        if table:
            lines += ["", f"[{title}]"]
            lines += [f"{n} = [{', '.join(repr(float(v)) for v in own)}]" for n, own in table.items()]
    if problem.units:
        lines += ["", "[units]", *(f"{_key(n)} = {_quoted(unit)}" for n, unit in problem.units.items())]
    return "\n".join(lines) + "\n"


def equation_nodes(problem: Problem) -> list[Node]:
    """The right-hand sides as formulas."""
    letters = problem.space + (("t",) if problem.order == 2 else ())
    return nodes_of(problem.rhs, "rhs", problem.fields, problem.axes, problem.parameters, letters)


def data_nodes(problem: Problem, role: str) -> list[Node]:
    """Initial data or velocities as formulas."""
    found = nodes_of(getattr(problem, role), role, (), problem.space, problem.parameters, ())
    if len(found) != len(problem.fields):
        raise ProblemError(f"{role} cannot be written as text: it gives {len(found)} values.")
    return found


def condition_text(
    problem: Problem, side: Side | Piece, number: int, condition: Condition, style: Style = PLAIN
) -> str:
    """A condition on one field at one end, as in `u_n + 2.0 * u = sin(t)`."""
    left: Node | None = None
    for order, factor in reversed(list(enumerate(condition.factors))):
        if factor:
            name: Node = Name(problem.fields[number])
            name = Derivative(name, "n" * order) if order else name
            term = name if factor == 1 else chained(node_of(factor), "*", name)
            left = term if left is None else chained(left, "+", term)
    assert left is not None
    nodes = nodes_of(condition.data, f"The data at {side.place}", (), problem.axes, problem.parameters, ())
    right = nodes[0] if len(nodes) == 1 else nodes[condition.field or 0]
    return f"{style.write(left)} = {style.write(right)}"


def _domain(problem: Problem) -> str:
    if not problem.domain.product:
        return _quoted(write_domain(problem.domain))
    ends = zip(problem.space, problem.domain.bounds, strict=True)
    return f"{{ {', '.join(f'{axis} = [{low!r}, {high!r}]' for axis, (low, high) in ends)} }}"


def _data(problem: Problem, role: str) -> list[str]:
    nodes = data_nodes(problem, role)
    values = [_formula(node) for node in nodes]
    if len(values) == 1:
        return [f"{role} = {values[0]}"]
    inner = ", ".join(f"{_key(name)} = {value}" for name, value in zip(problem.fields, values, strict=True))
    return [f"{role} = {{ {inner} }}"]


def _formula(node: Node) -> str:
    number = constant_of(node)
    return repr(float(number)) if isinstance(number, int | float) else _quoted(PLAIN.write(node))


def _boundary(problem: Problem) -> list[str]:
    if problem.periodic:
        return ['boundary = "periodic"']
    lines = ["", "[boundary]"]
    for axis, ends in zip(problem.space, problem.boundaries, strict=False):
        if ends.periodic:
            lines.append(f'{axis} = "periodic"')
        lines += [_conditions(problem, side) for side in ends.sides]
    return [*lines, *(_conditions(problem, piece) for piece in problem.pieces)]


def _conditions(problem: Problem, place: Side | Piece) -> str:
    said = [
        condition_text(problem, place, number, condition)
        for number, own in enumerate(place.conditions)
        for condition in own
    ]
    return f"{place.part} = {_quoted(said[0]) if len(said) == 1 else _list(said)}"


def _quantity(value: Any) -> str:
    if isinstance(value, Between):
        return _quoted(f"{value.low!r}..{value.high!r}{' log' if value.log else ''}")
    if isinstance(value, Unknown):
        given = {n: getattr(value, n) for n in ("guess", "low", "high")}
        numbers = [f"{name} = {number!r}" for name, number in given.items() if number is not None]
        return f"{{ {', '.join([*numbers, f'log = {str(value.log).lower()}'])} }}"
    if not isinstance(value, int | float):
        raise ProblemError(f"The parameter {value!r} cannot be written as text.")
    return repr(float(value))


def _samples(samples: Samples) -> str:
    if np.iscomplexobj(samples.given):
        raise ProblemError("Complex samples cannot be written as text.")
    grids = ", ".join(f"{name} = {grid.tolist()!r}" for name, grid in samples.grids.items())
    return f"{{ {grids}, values = {samples.given.tolist()!r} }}"


def _key(name: str) -> str:
    return "lambda" if name == "lambda_" else name


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _list(texts: list[str]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"
