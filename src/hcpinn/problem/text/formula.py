"""Formulas as functions, which stand in a declaration where a user of Python writes a lambda."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ...errors import ProblemError
from ..samples import Samples
from .grammar import Scope, parse
from .tree import Name, Node, parts_of, value_of


@dataclass(frozen=True)
class Formula:
    """One formula, or one for each field, as a function of the names in it.

    Everything else in hcpinn sees a function: its arguments are those that `inspect.signature` gives.
    """

    sources: tuple[str, ...]
    """The formulas as text that the grammar reads."""
    scope: Scope
    curves: Mapping[str, Samples] = field(default_factory=dict)
    """Functions that stand for measured values."""

    @property
    def trees(self) -> tuple[Node, ...]:
        return tuple(_tree(source, self.scope) for source in self.sources)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The fields, and the coordinates and parameters that are used."""
        used = {part.name for tree in self.trees for part in parts_of(tree) if isinstance(part, Name)}
        others = (n for n in (*self.scope.coordinates, *self.scope.parameters) if n in used)
        return *self.scope.fields, *others

    @property
    def __signature__(self) -> inspect.Signature:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(name, kind) for name in self.arguments])

    def __call__(self, *values: Any, **named: Any) -> Any:
        names = {**dict(zip(self.arguments, values, strict=False)), **named}
        try:
            found = tuple(value_of(tree, names, self.curves) for tree in self.trees)
        except RecursionError as error:
            raise ProblemError("A formula is too long to be evaluated. Split it.") from error
        return found[0] if len(found) == 1 else found


@lru_cache(maxsize=1024)
def _tree(source: str, scope: Scope) -> Node:
    return parse(source, scope)
