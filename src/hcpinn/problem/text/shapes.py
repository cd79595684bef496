"""Domains as text, read without running anything, and written: `box((0, 3), (0, 2)) - disk((1, 1), 0.3)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...errors import ProblemError
from ..domain import Box, Domain
from ..shapes import Annulus, Ball, Cylinder, Disk, Ellipse, Implicit, Polygon, Region, Solid
from ..shapes.combine import shape_of
from ..shapes.tree import Branch, Leaf, Tree
from .formula import Formula
from .grammar import Parser, Scope
from .symbols import nodes_of
from .tokens import FormulaError, Token, tokenize
from .tree import constant_of
from .typeset import PLAIN

_LONGEST, _MOST = 100_000, 4_000
"""Characters and tokens: a polygon may have hundreds of vertices."""

_FILE = re.compile(r"[^()]+\.(?:svg|json|geojson)", re.IGNORECASE)

_KINDS: dict[str, tuple[Callable[..., Domain], tuple[str, ...]]] = {
    "disk": (Disk, ("center", "radius")),
    "ellipse": (Ellipse, ("center", "axes", "angle")),
    "annulus": (Annulus, ("center", "inner", "outer")),
    "polygon": (lambda *vertices, **more: Polygon(vertices, **more), ()),
    "implicit": (Implicit, ("function", "box")),
    "box": (Box, ()),
    "ball": (Ball, ("center", "radius")),
    "cylinder": (Cylinder, ("center", "radius", "height")),
}
"""Shapes, and what their arguments are called; those without names take any number of pairs."""

_UNNAMED = ("annulus", "box")
"""Shapes whose parts have names of their own."""

_MOVES = ("move", "scale", "turn")

_LEVELS: tuple[str, ...] = ("|", "&", "-")
"""Operations from the loosest to the tightest, as in Python."""


def read_domain(text: str, folder: Path | None) -> Domain:
    """The domain that a text states: shapes joined by |, & and -, or the name of a drawing in a folder."""
    if _FILE.fullmatch(text.strip()):
        if folder is None:
            raise FormulaError("A text without a file of its own cannot name a drawing.", 0)
        return _built(0, Polygon.from_file, folder / text.strip())
    reader = _Reader(tokenize(text, longest=_LONGEST, most=_MOST), Scope(about="A number of a domain"))
    found = reader.joined()
    reader.finish()
    return found


def _built(at: int, make: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    try:
        return make(*arguments, **named)
    except FormulaError:
        raise
    except ProblemError as error:
        raise FormulaError(str(error), at) from error


class _Reader(Parser):
    def joined(self, level: int = 0) -> Any:
        """Shapes joined by the operations of this level and of tighter ones."""
        if level == len(_LEVELS):
            return self.moved()
        left = self.joined(level + 1)
        while self.token.kind == _LEVELS[level]:
            sign = self.advance()
            right = self.joined(level + 1)
            left = _built(sign.at, left._combined, sign.kind, right)
        return left

    def moved(self) -> Any:
        """One shape, moved, scaled or turned."""
        found = self.shape()
        while self.token.kind == ".":
            found = shape_of(found)
            self.advance()
            method = self.advance()
            if method.text not in _MOVES or not hasattr(found, method.text):
                raise FormulaError(
                    f"A shape can be changed by .move(x, y), .scale(factor) and .turn(angle), not by "
                    f"'{method.text}'.",
                    method.at,
                )
            values, named = self.arguments(method, False)
            found = self.made(method, getattr(found, method.text), values, named)
        return found

    def shape(self) -> Any:
        self.depth += 1
        if self.depth > 40:
            raise FormulaError("There are too many brackets within brackets here.", self.token.at)
        token = self.advance()
        if token.kind == "(":
            found = self.joined()
            self.expect(")", token)
        elif token.text in _KINDS and self.token.kind == "(":
            kind = token.text
            make, names = _KINDS[kind]
            values, named = self.arguments(token, kind == "implicit")
            if kind == "polygon" and len(values) == 1 and values[0] and isinstance(values[0][0], tuple):
                values = [*values[0]]
            taken = (*names, *(() if kind in _UNNAMED else ("name",)))
            taken += ("resolution",) if kind == "implicit" else ()
            for name in named:
                if name not in taken or name in names[: len(values)]:
                    raise FormulaError(
                        f"{kind} has no argument '{name}' here. It takes {', '.join(taken) or 'pairs'}.",
                        token.at,
                    )
            if names and len(values) > len(names):
                raise FormulaError(f"{kind} takes {', '.join(names)}, and no more.", token.at)
            if "resolution" in named:
                named["resolution"] = int(min(max(named["resolution"], 10), 1000))
            named |= dict(zip(names, values, strict=False))
            found = self.made(token, make, [] if names else values, named)
        else:
            raise FormulaError(
                f"A shape is missing here, such as disk((0, 0), 1). There are {', '.join(_KINDS)}.", token.at
            )
        self.depth -= 1
        return found

    def made(self, token: Token, make: Callable[..., Any], values: list[Any], named: dict[str, Any]) -> Any:
        try:
            return _built(token.at, make, *values, **named)
        except TypeError as error:
            raise FormulaError(
                f"{token.text} does not take these arguments: see its example in the guide.", token.at
            ) from error

    def arguments(self, owner: Token, function: bool) -> tuple[list[Any], dict[str, Any]]:
        """What stands in the brackets after a name; `function` where it begins with a formula in x and y."""
        opening = self.advance()
        if opening.kind != "(":
            raise FormulaError(f"{owner.text} takes its arguments in brackets.", opening.at)
        values: list[Any] = []
        named: dict[str, Any] = {}
        while self.token.kind != ")":
            if self.token.kind == "name" and self.tokens[self.number + 1].kind == "=":
                name = self.advance().text
                self.advance()
                named[name] = self.word() if name == "name" else self.value(function and name == "function")
            elif named:
                raise FormulaError("Arguments without a name come first.", self.token.at)
            else:
                values.append(self.value(function and not values))
            if self.token.kind != ",":
                break
            self.advance()
        self.expect(")", opening)
        return values, named

    def value(self, function: bool) -> Any:
        """A number, or numbers in brackets; or a formula in x and y as a function."""
        if function:
            self.scope, before = Scope(coordinates=("x", "y"), about="The function of a domain"), self.scope
            node, scope = self.expression(), self.scope
            self.scope = before
            return Formula((PLAIN.write(node),), scope)
        if self.token.kind in "([" and self.holds_several():
            opening = self.advance()
            found = [self.value(False)]
            while self.token.kind == ",":
                self.advance()
                if self.token.kind in ")]":
                    break
                found.append(self.value(False))
            self.expect({"(": ")", "[": "]"}[opening.kind], opening)
            return tuple(found)
        at = self.token.at
        number = constant_of(self.expression())
        if number is None or isinstance(number, complex):
            raise FormulaError("This must be a real number.", at)
        return float(number)

    def holds_several(self) -> bool:
        """Whether there is a comma in the brackets that open here, so that they are no part of a number."""
        depth = 0
        for token in self.tokens[self.number :]:
            depth += (token.kind in ("(", "[")) - (token.kind in (")", "]"))
            if depth == 0:
                return False
            if depth == 1 and token.kind == ",":
                return True
        return False

    def word(self) -> str:
        """A name, perhaps with points in it."""
        token = self.advance()
        found = token.text
        if token.kind != "name":
            raise FormulaError("A name is a word, as in name=hole.", token.at)
        while self.token.kind == ".":
            self.advance()
            found += f".{self.advance().text}"
        return found


def write_domain(domain: Domain) -> str:
    """A shape as text that `read_domain` reads again."""
    if not isinstance(domain, Region | Solid):
        raise ProblemError(f"The domain {domain!r} cannot be written as text.")
    return _written(domain.tree)


def _written(tree: Tree, outer: bool = True) -> str:
    if isinstance(tree, Branch):
        if isinstance(tree.right, Leaf) and tree.right.made is None:
            return _written(tree.left, outer)
        text = f"{_written(tree.left, False)} {tree.operation} {_written(tree.right, False)}"
        return text if outer else f"({text})"
    made = tree.made
    assert made is not None
    given = [_value(value) for value in made.arguments]
    given += [f"{name}={value!r}" for name, value in made.named.items()]
    if tree.name != made.kind and made.kind not in _UNNAMED:
        if not re.fullmatch(r"[A-Za-z][\w.]*", tree.name):
            raise ProblemError(f"The name '{tree.name}' of a shape cannot be written as text.")
        given.append(f"name={tree.name}")
    moves = (f".{method}({', '.join(map(_value, values))})" for method, values in made.moves)
    return f"{made.kind}({', '.join(given)}){''.join(moves)}"


def _value(value: Any) -> str:
    if callable(value):
        [node] = nodes_of(value, "The function of the domain", (), ("x", "y"), {}, ())
        return PLAIN.write(node)
    if isinstance(value, Sequence):
        return f"({', '.join(map(_value, value))})"
    return repr(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
