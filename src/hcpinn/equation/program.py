"""A traced function as a flat list of elementary operations, run on numbers or on intervals.

Bounds of all operations over an interval of the argument see what no sample does: exp(−((t − 0.503)/1e-9)²)
is anything between 0 and 1 on every interval that holds 0.503, however long, and nearly nothing on any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import jax
import jax.extend.core as jex
import numpy as np

from . import bounds
from .bounds import Bounds

_CALLS = {
    "pjit", "jit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "remat", "checkpoint",
}  # fmt: skip
"""Operations that run a program of their own."""

_LONGEST = 64
"""Rounds of a loop that is written out."""

Name = int
"""The number of a value in a program."""


@dataclass(frozen=True)
class Operation:
    """One elementary operation: its arguments are numbers of earlier values, or constants."""

    equation: Any
    inputs: tuple[Any, ...]
    outputs: tuple[Name, ...]

    @property
    def name(self) -> str:
        return self.equation.primitive.name

    @property
    def sources(self) -> list[Name]:
        """The values that it takes."""
        return [i.name for i in self.inputs if isinstance(i, Use)]


@dataclass(frozen=True)
class Use:
    """An argument that is an earlier value."""

    name: Name


class Program:
    """The operations of a function of scalars, calls inlined."""

    def __init__(self, function: Callable[..., Any], arguments: Any):
        """`function(arguments)` is traced; the arguments are a tree of numbers."""
        closed = jax.make_jaxpr(function)(arguments)
        self.operations: list[Operation] = []
        self._count = 0
        self.inputs = [self._new() for _ in closed.jaxpr.invars]
        found = self._inline(closed.jaxpr, closed.consts, [Use(n) for n in self.inputs])
        self.outputs: list[Any] = found

    def _new(self) -> Name:
        self._count += 1
        return self._count - 1

    def _inline(self, jaxpr: Any, consts: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        known: dict[Any, Any] = dict(zip(jaxpr.constvars, map(np.asarray, consts), strict=True))
        known.update(zip(jaxpr.invars, given, strict=True))

        def look(atom: Any) -> Any:
            return np.asarray(atom.val) if isinstance(atom, jex.Literal) else known[atom]

        for equation in jaxpr.eqns:
            inputs = tuple(look(a) for a in equation.invars)
            found = self._called(equation, inputs)
            if found is not None:
                known.update(zip(equation.outvars, found, strict=True))
                continue
            outputs = tuple(self._new() for _ in equation.outvars)
            known.update(zip(equation.outvars, map(Use, outputs), strict=True))
            self.operations.append(Operation(equation, inputs, outputs))
        return [look(a) for a in jaxpr.outvars]

    def _called(self, equation: Any, inputs: tuple[Any, ...]) -> list[Any] | None:
        """What a call, a choice or a short loop gives, written out; None for other operations."""
        inner = _inner(equation)
        if inner is not None:
            return self._inline(*inner, inputs)
        if equation.primitive.name == "cond":
            which, *rest = inputs
            cases = [self._inline(b.jaxpr, b.consts, rest) for b in equation.params["branches"]]
            return [self._chosen(which, each) for each in zip(*cases, strict=True)]
        return self._rounds(equation, inputs) if equation.primitive.name == "scan" else None

    def _chosen(self, which: Any, cases: Sequence[Any]) -> Any:
        name = self._new()
        select = SimpleNamespace(primitive=SimpleNamespace(name="select_n"), params={})
        self.operations.append(Operation(select, (which, *cases), (name,)))
        return Use(name)

    def _rounds(self, equation: Any, inputs: tuple[Any, ...]) -> list[Any] | None:
        """A loop round by round, if it is short and computes: a search, on integers, only rises and falls."""
        p = equation.params
        consts, carried = _scan_counts(p)
        each = inputs[consts + carried :]
        floats = [v for v in equation.outvars[:carried] if np.issubdtype(v.aval.dtype, np.inexact)]
        own = len(equation.outvars) > carried
        if not floats or own or p["length"] > _LONGEST or any(isinstance(e, Use) for e in each):
            return None
        state = list(inputs[consts : consts + carried])
        rounds = range(p["length"])
        for number in reversed(rounds) if p["reverse"] else rounds:
            body = p["jaxpr"]
            now = [e[number] for e in each]
            state = self._inline(body.jaxpr, body.consts, [*inputs[:consts], *state, *now])
        return state

    def depend(self, names: Iterable[Name]) -> dict[Name, frozenset[Name]]:
        """For every value, on which of the named inputs it depends."""
        wanted = set(names)
        found = {n: frozenset({n} & wanted) for n in self.inputs}
        for operation in self.operations:
            together = frozenset().union(*(found[s] for s in operation.sources))
            found.update(dict.fromkeys(operation.outputs, together))
        return found

    def needed(self, wanted: Iterable[Name]) -> list[Operation]:
        """The operations that some values need, in order."""
        live, chosen = set(wanted), []
        for operation in reversed(self.operations):
            if live.intersection(operation.outputs):
                chosen.append(operation)
                live.update(operation.sources)
        return chosen[::-1]

    def run(self, given: dict[Name, Bounds], wanted: Sequence[Name]) -> list[Bounds]:
        """Bounds of the wanted values where the inputs are bounded so; all bounds have a first axis."""
        known = dict(given)
        with np.errstate(all="ignore"):
            for operation in self.needed(wanted):
                inputs = [
                    known[i.name] if isinstance(i, Use) else bounds.exactly(i[None]) for i in operation.inputs
                ]
                outputs = bounds.apply(operation.equation, inputs)
                known.update(zip(operation.outputs, outputs, strict=True))
        return [known[n] for n in wanted]


def _scan_counts(parameters: dict[str, Any]) -> tuple[int, int]:
    """How many constants and carried values a scan takes, as JAX before and since 0.12 writes it."""
    if "num_consts" in parameters:
        return parameters["num_consts"], parameters["num_carry"]
    consts, carried, _ = parameters["ft_in"].unpack()
    return len(list(consts.vals)), len(list(carried.vals))


def _inner(equation: Any) -> tuple[Any, Sequence[Any]] | None:
    """The program that an operation runs, with its constants; None for an elementary one."""
    if equation.primitive.name not in _CALLS:
        return None
    for key in ("jaxpr", "call_jaxpr", "fun_jaxpr"):
        body = equation.params.get(key)
        if body is not None:
            return (body.jaxpr, body.consts) if hasattr(body, "consts") else (body, ())
    return None
