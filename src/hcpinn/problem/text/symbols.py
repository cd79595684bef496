"""Python functions as formulas: run on symbols, which record every operation.

Where a function uses `jax.numpy`, which takes no symbols, its JAX program is read instead.
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ...errors import ProblemError
from ...machine.precision import double
from ..calling import argument_names, call_by_name
from ..conditions import Prescribed
from ..samples import Samples
from .formula import Formula
from .tree import (
    ALIASES,
    FUNCTIONS,
    Call,
    Chain,
    Comparison,
    Derivative,
    Literal,
    Name,
    Negative,
    Node,
    Power,
    chained,
    parts_of,
)


class _Untold(Exception):
    """Something that formulas have no word for."""


class Symbol(NDArrayOperatorsMixin):
    """A part of a formula that can be calculated with, as an `Expression` can."""

    is_symbol = True

    def __init__(self, node: Node, axes: tuple[str, ...]):
        self.node, self._axes = node, axes

    def _with(self, node: Node) -> Symbol:
        return Symbol(node, self._axes)

    def __getattr__(self, name: str) -> Symbol:
        if name == "laplacian":
            return self._with(Call("laplacian", (self.node,)))
        if name.startswith("_") or not set(name) <= {"t", *self._axes}:
            raise AttributeError(name)
        if isinstance(self.node, Derivative):
            return self._with(Derivative(self.node.inner, self.node.letters + name))
        return self._with(Derivative(self.node, name))

    @property
    def real(self) -> Symbol:
        return self._with(Call("real", (self.node,)))

    @property
    def imag(self) -> Symbol:
        return self._with(Call("imag", (self.node,)))

    def conj(self) -> Symbol:
        return self._with(Call("conj", (self.node,)))

    def __bool__(self) -> bool:
        raise _Untold("a choice by `if`")

    __float__ = __iter__ = None

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **named: Any) -> Any:
        named.pop("out", None)  # of +=
        if method != "__call__" or named:
            return NotImplemented
        return self._with(applied(ufunc.__name__, [node_of(i) for i in inputs]))

    def __array_function__(self, function: Any, types: Any, arguments: Any, named: Any) -> Any:
        if named:
            return NotImplemented
        return self._with(applied(function.__name__, [node_of(a) for a in arguments]))


def node_of(value: Any) -> Node:
    """A symbol's node, or a number as one."""
    if isinstance(value, Symbol):
        return value.node
    if isinstance(value, np.generic | np.ndarray | jax.Array) and np.ndim(value) == 0:
        value = np.asarray(value).item()
    if isinstance(value, bool | int | float | complex):
        turns = round(value / np.pi) if isinstance(value, float) and abs(value) < 1e3 else 0
        if turns > 0 and value == turns * np.pi:
            pi = Literal(np.pi, "pi")
            return pi if turns == 1 else Chain(Literal(turns), (("*", pi),))
        if isinstance(value, float | complex) and not np.isfinite(value):
            raise _Untold("a number that is not finite")
        if not isinstance(value, complex) and value < 0:
            return Negative(Literal(-value))
        return Literal(value)
    raise _Untold(f"a {type(value).__name__}")


_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "true_divide": "/"}
_SIGNS |= {"sub": "-", "mul": "*", "div": "/", "add_any": "+"}
_LESS = {"greater": ">", "greater_equal": ">=", "less": "<", "less_equal": "<="}
_LESS |= {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}
_OTHER = {"logical_and": "and", "logical_or": "or", "logical_not": "not", "absolute": "abs", "rem": "mod"}
_OTHER |= {"remainder": "mod", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "conjugate": "conj"}


def applied(name: str, parts: Sequence[Node]) -> Node:
    """A function of NumPy or an operation of JAX, by its name."""
    if name in _SIGNS:
        return chained(parts[0], _SIGNS[name], parts[1])
    if name in _LESS:
        return Comparison(parts[0], ((_LESS[name], parts[1]),))
    if name in ("power", "pow"):
        return Power(parts[0], parts[1])
    if name in ("negative", "neg"):
        return Negative(parts[0])
    if name == "positive":
        return parts[0]
    if name == "square":
        return Power(parts[0], Literal(2))
    known = _OTHER.get(name) or ALIASES.get(name, name)
    if known not in FUNCTIONS:
        raise _Untold(f"the function {name}")
    return Call(known, tuple(parts))


def nodes_of(
    function: Any,
    role: str,
    fields: Sequence[str],
    coordinates: Sequence[str],
    parameters: Mapping[str, Any],
    axes: tuple[str, ...],
) -> list[Node]:
    """What a function gives, one formula for each value.

    Args:
        function: a formula, a number, or a function of Python.
        role: what messages call it.
        fields: names that may be differentiated.
        coordinates: names of coordinates it can take.
        parameters: named numbers it can take.
        axes: letters of derivatives.
    """
    if isinstance(function, tuple | list):
        return [n for f in function for n in nodes_of(f, role, fields, coordinates, parameters, axes)]
    try:
        if not callable(function):
            return [node_of(function)]
        if isinstance(function, Formula):
            return list(function.trees)
        if isinstance(function, Samples):
            places = tuple(Name(name) for name in function.grids)
            return [Call(_name_of(function), places)]
        names = (*fields, *coordinates, *parameters)
        with contextlib.suppress(TypeError, ValueError, AttributeError, ProblemError):
            found = call_by_name(function, role, {n: Symbol(Name(n), axes) for n in names})
            return [node_of(v) for v in (found if isinstance(found, tuple | list) else (found,))]
        if fields:
            raise _Untold("something of jax.numpy, or a function of its own")
        return _program(function, role, names)
    except _Untold as error:
        raise ProblemError(f"{role} cannot be written as text: it uses {error}.") from error


def _name_of(samples: Samples) -> str:
    """A name for samples that a declaration holds without one."""
    return f"data_{'_'.join(samples.grids)}_{zlib.crc32(samples.given.tobytes()):08x}"


def curves_of(*functions: Any) -> dict[str, Samples]:
    """The curves in formulas, wherever they stand in a declaration."""
    found: dict[str, Samples] = {}
    for function in functions:
        if isinstance(function, Samples):
            found[_name_of(function)] = function
        elif isinstance(function, Formula):
            parts = [part for tree in function.trees for part in parts_of(tree)]
            used = {part.function for part in parts if isinstance(part, Call)}
            found |= {name: curve for name, curve in function.curves.items() if name in used}
        elif isinstance(function, Mapping):
            found |= curves_of(*function.values())
        elif isinstance(function, tuple | list):
            found |= curves_of(*function)
        elif isinstance(function, Prescribed):
            found |= curves_of(function.lower, function.upper)
    return found


def _program(function: Callable[..., Any], role: str, names: Sequence[str]) -> list[Node]:
    """What a function of coordinates and parameters gives, from its JAX program."""
    used = [name for name in argument_names(function, role) if name in names]
    try:
        with double():
            traced = jax.make_jaxpr(lambda *v: call_by_name(function, role, dict(zip(used, v, strict=True))))(
                *(jnp.ones(()) for _ in used)
            )
    except Exception as error:  # of whatever kind the user's function raises
        raise _Untold("what neither symbols nor JAX can follow") from error
    return _read(traced.jaxpr, traced.consts, [Name(name) for name in used])


_IDLE = ("convert_element_type", "broadcast_in_dim", "copy", "stop_gradient", "reshape")
_NESTED = ("pjit", "jit", "closed_call", "custom_jvp_call", "custom_vjp_call")


def _read(program: Any, constants: Sequence[Any], inputs: Sequence[Node]) -> list[Node]:
    known: dict[Any, Node] = dict(zip(program.constvars, map(node_of, constants), strict=True))
    known |= dict(zip(program.invars, inputs, strict=True))

    def node(atom: Any) -> Node:
        return node_of(atom.val) if hasattr(atom, "val") else known[atom]

    for step in program.eqns:
        name, parts = step.primitive.name, [node(a) for a in step.invars]
        if name in _IDLE:
            found = parts[:1]
        elif name in _NESTED:
            inner = step.params.get("jaxpr") or step.params.get("call_jaxpr")
            found = _read(inner.jaxpr, inner.consts, parts)
        elif name == "integer_pow":
            found = [Power(parts[0], node_of(step.params["y"]))]
        elif name == "rsqrt":
            found = [Chain(Literal(1), (("/", Call("sqrt", (parts[0],))),))]
        elif name == "select_n":
            found = [Call("where", (parts[0], parts[2], parts[1]))]
        elif name == "logistic":
            found = [
                Chain(Literal(1), (("/", chained(Literal(1), "+", Call("exp", (Negative(parts[0]),)))),))
            ]
        else:
            found = [applied(name, parts)]
        known |= dict(zip(step.outvars, found, strict=True))
    return [node(atom) for atom in program.outvars]
