"""Problems from text: TOML files with equations, data and conditions as on paper.

equation = "u_t = 0.001 u_xx - 5 (u^3 - u)"
domain = { x = [-1, 1] }
horizon = 1
initial = "x^2 cos(pi x)"
boundary = "periodic"
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import FileError, HcpinnError, ProblemError, unknown_name
from ...machine.files import reading
from ..conditions import Periodic
from ..declaration import Problem
from ..domain import AXES, Box, Domain, Interval
from ..parameters import Between, Open
from ..pieces import parts_named
from ..samples import Samples
from ..units import check_units
from ..unknown import Unknown
from .conditions import Wall, read_conditions
from .curves import read_samples, samples_of
from .equations import Equation, read_equation, stated_field
from .formula import Formula
from .grammar import Scope, parse
from .places import Document, Path as Keys
from .shapes import read_domain
from .tokens import FormulaError, spelled
from .tree import FUNCTIONS, Call, Node, Number, constant_of, parts_of
from .typeset import PLAIN

LARGEST = 1 << 20
"""Bytes of a text."""

KEYS = (
    "name", "about", "equation", "domain", "start", "horizon", "initial", "velocity", "boundary",
    "parameters", "ranges", "breaks", "data", "units",
)  # fmt: skip
"""What a text may say."""


def read_problem(path: str | os.PathLike[str]) -> Problem:
    """Read a problem from a TOML file; its data files lie next to it. Nothing in it is run as code.

    Args:
        path: of the file. [Problems as text](guides/text.md) describes its entries.
    """
    source = Path(path)
    with reading(source) as stream:
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise FileError(f"{source} is too long for a problem: more than {LARGEST:,} bytes.")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        raise FileError(f"{source}, line {line}, column {column}: This is not text in UTF-8.") from error
    return parse_problem(text, source=str(source), folder=source.parent, name=source.stem)


def parse_problem(
    text: str, *, source: str = "text", folder: Path | None = None, name: str = "problem"
) -> Problem:
    """The problem that a text states.

    Args:
        text: in TOML.
        source: what messages call it.
        folder: where data files are found; without it there can be none.
        name: of the problem, where the text gives none.
    """
    return _Reader(Document(text, source), folder).problem(name)


class _Reader:
    def __init__(self, document: Document, folder: Path | None):
        self.document, self.values, self.folder = document, document.values, folder
        self.parameters: dict[str, Any] = {}
        self.curves: dict[str, Samples] = {}
        self.axes: tuple[str, ...] = ()
        self.bounds: dict[str, tuple[float, float]] = {}
        self.fields: tuple[str, ...] = ()

    def problem(self, name: str) -> Problem:
        for key in self.values:
            if key not in KEYS:
                raise self.document.key_error((key,), str(unknown_name("entry", key, KEYS, of="a problem")))
        for key in ("equation", "domain", "horizon", "initial"):
            if key not in self.values:
                raise self.document.error((), f"There is no {key}. {_MISSING[key]}")
        self.read_parameters()
        domain = self.domain()
        self.axes, self.bounds = domain.axes, dict(zip(domain.axes, domain.bounds, strict=True))
        self.read_curves()
        equations = self.equations()
        order = equations[0].order
        settings: dict[str, Any] = {
            "name": self.word("name", name),
            "domain": domain,
            "horizon": self.quantity(("horizon",)),
            "start": self.real(("start",)) if "start" in self.values else 0.0,
            "rhs": self.right_side(equations),
            "initial": self.data("initial"),
            "boundary": self.boundary() if domain.product else self.parts(domain),
            "parameters": self.parameters,
            "order": order,
        }
        if order == 2 or "velocity" in self.values:
            if order == 1:
                raise self.document.error(("velocity",), "Only an equation u_tt = … takes a velocity.")
            if "velocity" not in self.values:
                raise self.document.error(
                    ("equation",),
                    f"There is no velocity. With {self.fields[0]}_tt = … give it too: velocity = 0.",
                )
            settings["velocity"] = self.data("velocity")
        if "ranges" in self.values:
            settings["ranges"] = self.pairs("ranges", self.parameters)
        if "breaks" in self.values:
            settings["breaks"] = self.lists("breaks")
        if "units" in self.values:
            settings["units"] = self.unit_names()
        self.word("about", "")
        try:
            return Problem(**settings)
        except HcpinnError as error:
            raise self.document.error(self.culprit(str(error)), _in_words(str(error))) from error

    def culprit(self, message: str) -> Keys:
        """Which entry a message of the declaration is about."""
        for pattern, key in _CULPRITS:
            if re.search(pattern, message) and key in self.values:
                return (key,)
        return ("equation",)

    def scope(self, about: str, **changes: Any) -> Scope:
        settings = {"parameters": tuple(self.parameters), "curves": tuple(self.curves), "about": about}
        return Scope(**{**settings, **changes})

    def read_parameters(self) -> None:
        for key in self.table("parameters"):
            name = spelled(key)
            if not name.isidentifier() or name in FUNCTIONS:
                raise self.document.key_error(
                    ("parameters", key), f"A parameter cannot be called '{key}'. Rename it."
                )
            if name in self.parameters:
                raise self.document.key_error(("parameters", key), f"The parameter {name} is given twice.")
            self.parameters[name] = self.quantity(("parameters", key))

    def read_curves(self) -> None:
        for key, value in self.table("data").items():
            name, path = spelled(key), ("data", key)
            if not name.isidentifier() or name in FUNCTIONS or name in self.parameters or name in AXES:
                raise self.document.key_error(path, f"Data cannot be called '{key}'. Rename it.")
            try:
                found = self.samples(value, str(key))
                self.curves[name] = found.along(self.bounds, self.repeats())
            except HcpinnError as error:
                raise self.document.error(path, str(error)) from error

    def samples(self, value: Any, key: str) -> Samples:
        """Values from the file that is named, or those that are written out."""
        if isinstance(value, dict):
            return samples_of(value)
        if not isinstance(value, str):
            raise ProblemError(f'{key} names a file of columns, as in {key} = "{key}.csv".')
        if self.folder is None:
            raise ProblemError("A text without a file of its own cannot name data files.")
        return read_samples(self.folder / value)

    def checked(self, node: Node) -> Node:
        """A formula whose measured values are taken at the coordinates that they are given for."""
        for part in parts_of(node):
            own = self.curves.get(part.function) if isinstance(part, Call) else None
            if own is None or not isinstance(part, Call):
                continue
            places = [getattr(argument, "name", "") for argument in part.arguments]
            if places != [*own.grids]:
                raise FormulaError(
                    f"{part.function} has values along {', '.join(own.grids)}: write {part.function}"
                    f"({', '.join(own.grids)}).",
                    max(part.at, 0),
                )
            try:
                own.check(part.function, {**self.bounds, "t": self.times()})
            except ProblemError as error:
                raise FormulaError(str(error), max(part.at, 0)) from error
        return node

    def repeats(self) -> list[str]:
        """The axes along which the problem is periodic."""
        given = self.values.get("boundary", "periodic")
        by_axis = given if isinstance(given, dict) else dict.fromkeys(self.axes, given)
        return [axis for axis in self.axes if by_axis.get(axis) == "periodic"]

    def times(self) -> tuple[float, float]:
        """The first and the last."""
        last = self.quantity(("horizon",))
        start = self.real(("start",)) if "start" in self.values else 0.0
        return start, max(last.extremes) if isinstance(last, Open) else last

    def domain(self) -> Domain:
        given = self.values["domain"]
        if isinstance(given, str):
            return self.within(("domain",), lambda: read_domain(given, self.folder))
        if isinstance(given, list):
            given, path = {"x": given}, ("domain",)
            return self.built(lambda: Interval(*self.ends(("domain",), given["x"])), path)
        if not isinstance(given, dict):
            raise self.document.error(
                ("domain",),
                'domain gives the ends of each axis, as in { x = [-1, 1] }, or a shape: "disk((0, 0), 1)".',
            )
        for letter in given:
            if letter not in AXES:
                raise self.document.key_error(
                    ("domain", letter), f"There is no axis '{letter}': use x, y and z."
                )
        letters = AXES[: len(given)]
        if set(given) != set(letters) or not given:
            raise self.document.error(("domain",), "The axes of a domain are x, or x and y, or x, y and z.")
        bounds = [self.ends(("domain", letter), given[letter]) for letter in letters]
        return self.built(lambda: Box(*bounds), ("domain", letters[0]))

    def built(self, make: Callable[[], Box], path: Keys) -> Box:
        try:
            return make()
        except ProblemError as error:
            raise self.document.error(path, str(error)) from error

    def ends(self, path: Keys, given: Any) -> tuple[float, float]:
        if not isinstance(given, list) or len(given) != 2:
            raise self.document.error(path, "An axis has two ends, as in [-1, 1].")
        low, high = (self.real((*path, n)) for n in (0, 1))
        return low, high

    def equations(self) -> list[Equation]:
        given = self.values["equation"]
        texts = given if isinstance(given, list) else [given]
        paths: list[Keys] = (
            [("equation", n) for n in range(len(texts))] if isinstance(given, list) else [("equation",)]
        )
        if not texts or not all(isinstance(text, str) for text in texts):
            raise self.document.error(
                ("equation",), 'equation is text such as "u_t = u_xx", or a list with one for each field.'
            )
        fields: list[str] = []
        for text, path in zip(texts, paths, strict=True):
            field = self.within(path, lambda text=text: stated_field(text))
            if field in fields:
                raise self.document.error(path, f"There are two equations for {field}.")
            if (
                field in self.parameters
                or field in self.curves
                or field in ("t", *AXES)
                or field in FUNCTIONS
            ):
                raise self.document.error(path, f"A field cannot be called '{field}': the name is taken.")
            fields.append(field)
        self.fields = tuple(fields)
        scope = self.scope(
            "An equation", fields=self.fields, coordinates=("t", *self.axes), letters="".join(self.axes)
        )
        found = [
            self.within(path, lambda t=text, f=field: read_equation(t, f, scope))
            for text, field, path in zip(texts, fields, paths, strict=True)
        ]
        for equation, path in zip(found, paths, strict=True):
            self.within(path, lambda e=equation: self.checked(e.right))
            if equation.order != found[0].order:
                raise self.document.error(path, "All equations must be of the same order in time.")
        return found

    def right_side(self, equations: list[Equation]) -> Formula:
        scope = self.scope("An equation", fields=self.fields, coordinates=("t", *self.axes))
        letters = "".join(self.axes) + ("t" if equations[0].order == 2 else "")
        scope = Scope(**{**vars(scope), "letters": letters})
        return Formula(tuple(PLAIN.write(e.right) for e in equations), scope, self.curves)

    def data(self, key: str) -> Any:
        """Initial data or velocities: one formula or number for each field."""
        given = self.values[key]
        scope = self.scope(f"The {key} {'data' if key == 'initial' else ''}".rstrip(), coordinates=self.axes)
        if not isinstance(given, dict):
            if len(self.fields) > 1:
                raise self.document.error(
                    (key,), f"Give one for each field: {key} = {{ {' = …, '.join(self.fields)} = … }}."
                )
            return self.formula((key,), given, scope)
        names = {spelled(name): name for name in given}
        for name in names:
            if name not in self.fields:
                known = ", ".join(self.fields)
                raise self.document.key_error(
                    (key, names[name]), f"'{name}' is not a field: there is {known}."
                )
        for field in self.fields:
            if field not in names:
                raise self.document.error((key,), f"{key} lacks a value for {field}.")
        found = tuple(self.formula((key, names[f]), given[names[f]], scope) for f in self.fields)
        return found[0] if len(found) == 1 else found

    def formula(self, path: Keys, given: Any, scope: Scope) -> Any:
        if isinstance(given, int | float) and not isinstance(given, bool):
            return float(given)
        if not isinstance(given, str):
            raise self.document.error(path, 'This is a number, or a formula such as "sin(pi x)".')
        node = self.within(path, lambda: self.checked(parse(given, scope)))
        number = constant_of(node)
        if number is not None:
            return number if isinstance(number, complex) else float(number)
        if isinstance(node, Call) and node.function in self.curves:
            return self.curves[node.function]
        return Formula((PLAIN.write(node),), scope, self.curves)

    def boundary(self) -> Any:
        given = self.values.get("boundary", "periodic")
        if not isinstance(given, dict):
            found = self.conditions(("boundary",), given, Wall())
            return Periodic() if found is None else found
        for axis in given:
            if axis not in self.axes:
                raise self.document.key_error(
                    ("boundary", axis), f"There is no axis '{axis}': the domain has {', '.join(self.axes)}."
                )
        found = {}
        for axis in self.axes:
            if axis not in given:
                raise self.document.error(("boundary",), f"boundary has no condition along {axis}.")
            found[axis] = self.along(axis, given[axis])
        return found

    def parts(self, domain: Domain) -> Any:
        """What holds on the parts of a boundary that is no product of axes."""
        given = self.values.get("boundary", "periodic")
        if given == "periodic":
            raise self.document.error(
                ("boundary",) if "boundary" in self.values else ("domain",),
                f'A boundary is missing, such as boundary = "u = 0". Its parts: {", ".join(domain.parts)}.',
            )
        if not isinstance(given, dict):
            return self.conditions(("boundary",), given, Wall())
        paths = {".".join(map(str, path[1:])): path for path in _leaves(("boundary",), given)}
        for name, path in paths.items():
            try:
                parts_named(name, domain, set(paths))
            except ProblemError as error:
                raise self.document.key_error(path, str(error)) from error
        found = {}
        for name, path in paths.items():
            found[name] = self.conditions(path, self.at(path), Wall())
            if found[name] is None:
                raise self.document.error(path, "No part of this boundary can be periodic.")
        return found

    def along(self, axis: str, given: Any) -> Any:
        """What holds at the ends of one axis."""
        path: Keys = ("boundary", axis)
        if given == "periodic":
            return Periodic()
        sides = given if isinstance(given, dict) else {"lower": given, "upper": given}
        for side in sides:
            if side not in ("lower", "upper"):
                raise self.document.key_error(
                    (*path, side), f"An axis has a lower and an upper end, but no '{side}'."
                )
        found = []
        for side, sign in (("lower", -1.0), ("upper", 1.0)):
            at = (*path, side) if isinstance(given, dict) else path
            if side not in sides:
                raise self.document.error(path, f"boundary has no condition at the {side} end of {axis}.")
            own = self.conditions(at, sides[side], Wall(axis, sign))
            if own is None:
                raise self.document.error(
                    at, f'Both ends of an axis are periodic together: {axis} = "periodic".'
                )
            found.append(own)
        return tuple(found)

    def conditions(self, path: Keys, given: Any, wall: Wall) -> Any:
        """Conditions on all fields: None where periodic."""
        if given == "periodic":
            return None
        texts = given if isinstance(given, list) else [given]
        paths = [(*path, n) for n in range(len(texts))] if isinstance(given, list) else [path]
        scope = self.scope("A condition", fields=self.fields, coordinates=("t", *self.axes))
        by_field: dict[str, list[Any]] = {field: [] for field in self.fields}
        for text, at in zip(texts, paths, strict=True):
            if not isinstance(text, str):
                raise self.document.error(at, 'A condition is text such as "u = 0" or "u_n = sin(t)".')
            for field, condition in self.within(
                at, lambda t=text: read_conditions(t, scope, wall, self.curves)
            ):
                by_field[field].append(condition)
        if len(self.fields) == 1:
            [own] = by_field.values()
            return own[0] if len(own) == 1 else own
        return {field: own[0] if len(own) == 1 else own for field, own in by_field.items()}

    def within(self, path: Keys, read: Callable[[], Any]) -> Any:
        """What a reader of a formula finds; its errors with line and column."""
        try:
            return read()
        except FormulaError as error:
            raise self.document.formula_error(path, error) from error
        except RecursionError as error:
            raise self.document.error(path, "This formula is too deep.") from error

    def table(self, key: str) -> Mapping[str, Any]:
        given = self.values.get(key, {})
        if not isinstance(given, dict):
            raise self.document.error((key,), f"{key} is a table, as in [{key}] or {{ a = 1 }}.")
        return given

    def at(self, path: Keys) -> Any:
        value: Any = self.values
        for key in path:
            value = value[key]
        return value

    def number(self, path: Keys) -> Number:
        """A number, or a formula of numbers such as "2 pi"."""
        value = self.at(path)
        if isinstance(value, str):
            scope = Scope(about=f"{path[-1] if isinstance(path[-1], str) else 'An end of an axis'}")
            node = self.within(path, lambda: parse(value, scope))
            found = constant_of(node)
            if found is not None:
                return found
        elif isinstance(value, int | float) and not isinstance(value, bool):
            if not np.isfinite(float(value)):
                raise self.document.error(path, f"This must be a finite number, but is {value}.")
            return value
        raise self.document.error(path, 'This must be a number, or a text such as "2 pi".')

    def real(self, path: Keys) -> float:
        value = self.number(path)
        if isinstance(value, complex):
            raise self.document.error(path, "This must be a real number.")
        return float(value)

    def quantity(self, path: Keys) -> Any:
        """A real number; as in "1..5" or "1e-3..1e-1 log" all of a range; as in { guess = 2 } an unknown."""
        value = self.at(path)
        if isinstance(value, dict):
            return self.unknown(path, value)
        span = _RANGE.fullmatch(value) if isinstance(value, str) else None
        if span is None:
            return self.real(path)
        scope = Scope(about="A range")
        texts = span[1], span[2]
        ends = [self.within(path, lambda t=t: constant_of(parse(t, scope))) for t in texts]
        try:
            return Between(*(float(end) for end in ends), log=span[3] is not None)
        except (TypeError, ProblemError) as error:
            raise self.document.error(path, str(error)) from error

    def unknown(self, path: Keys, given: Mapping[str, Any]) -> Unknown:
        """A number to find from measurements, as in { guess = 2, low = 1, high = 5 }."""
        for key in given:
            if key not in ("guess", "low", "high", "log"):
                raise self.document.key_error(
                    (*path, key), f"An unknown has a guess, low, high and log, but no '{key}'."
                )
        if "guess" not in given:
            raise self.document.error(path, "An unknown needs a guess, as in { guess = 2, low = 1 }.")
        if not isinstance(given.get("log", True), bool):
            raise self.document.error((*path, "log"), "log is true or false.")
        numbers = {key: self.real((*path, key)) for key in given if key != "log"}
        try:
            return Unknown(**numbers, log=given.get("log"))
        except ProblemError as error:
            raise self.document.error(path, str(error)) from error

    def word(self, key: str, default: str) -> str:
        value = self.values.get(key, default)
        if not isinstance(value, str) or (key == "name" and not re.fullmatch(r"[\w.()+-][\w .()+-]*", value)):
            raise self.document.error((key,), f"{key} is a text of letters, digits, blanks and hyphens.")
        return value

    def pairs(self, key: str, known: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
        found = {}
        for name, value in self.table(key).items():
            if not isinstance(value, list) or len(value) != 2 or spelled(name) not in known:
                raise self.document.error(
                    (key, name), f"{key} gives two numbers for a parameter, as in g = [0, 1]."
                )
            found[spelled(name)] = self.ends((key, name), value)
        return found

    def unit_names(self) -> dict[str, str]:
        found = {}
        for key, value in self.table("units").items():
            if not isinstance(value, str):
                raise self.document.error(("units", key), 'A unit is a text, as in x = "um".')
            found[spelled(key)] = value
        try:
            return check_units(found, ("t", *self.axes, *self.fields, *self.parameters))
        except ProblemError as error:
            raise self.document.error(("units",), str(error)) from error

    def lists(self, key: str) -> dict[str, list[float]]:
        found = {}
        for name, value in self.table(key).items():
            if not isinstance(value, list):
                raise self.document.error(
                    (key, name), f"{key} gives a list of numbers for an axis, as in t = [0.5]."
                )
            found[name] = [self.real((key, name, n)) for n in range(len(value))]
        return found


def _leaves(path: Keys, given: Mapping[str, Any]) -> Iterator[Keys]:
    """The paths of all values in nested tables."""
    for key, value in given.items():
        if isinstance(value, dict):
            yield from _leaves((*path, key), value)
        else:
            yield (*path, key)


_RANGE = re.compile(r"(.+?)\s*\.\.\s*(.+?)(\s+log)?")
"""Two ends with two points between them."""

_MISSING = {
    "equation": 'Write it as equation = "u_t = 0.01 u_xx - u".',
    "domain": "Write it as domain = { x = [-1, 1] }.",
    "horizon": "Write the time at which the problem ends as horizon = 1.",
    "initial": 'Write the initial data as initial = "sin(pi x)".',
}

_CULPRITS = (
    (r"^A parameter|^The parameter", "parameters"),
    (r"horizon", "horizon"),
    (r"^start", "start"),
    (r"[Bb]reak", "breaks"),
    (
        r"[Ii]nitial and boundary|[Bb]oundary|conditions?\b|data (for .* )?(at|on) the|data for .* meet",
        "boundary",
    ),
    (r"elocit", "velocity"),
    (r"nitial", "initial"),
)

_WORDS = (
    ("or use boundary=Dirichlet(…)", 'or give a boundary such as "u = 0"'),
    ("rhs failed with", "The equation cannot be evaluated:"),
    ("rhs", "the equation"),
)


def _in_words(message: str) -> str:
    """A message of the declaration in words of the text."""
    for python, text in _WORDS:
        message = message.replace(python, text)
    return message
