"""The arithmetic of one neuron at one point, written as CUDA or C++.

The formulas are those of `jets`: they are traced by JAX, so there is no second copy of them, and printed
one operation a line. The compiler merges what repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Literal
from jaxtyping import Array

from ...machine.precision import double
from ...problem import Index
from .. import taylor as jets
from ..taylor import Activation

Streams = tuple[Array, ...]
"""A jet as a tuple, in the order of its indices; the value comes first."""

_INFIX = {"add": "+", "add_any": "+", "sub": "-", "mul": "*", "div": "/"}
_CALLS = ("tanh", "sin", "cos")
_INLINED = {"jit": "jaxpr", "pjit": "jaxpr", "custom_jvp_call": "call_jaxpr"}
_SAME = ("convert_element_type", "copy", "stop_gradient")


def functions(
    activation: Activation, indices: Sequence[Index], *, number: str, precision: str, kind: str, mixed: bool
) -> str:
    """Source of what is done to one neuron at one point, in a type of numbers.

    `begin(z)`, `outer(own, jet)` and `pull(own, wanted, inner)`, where `own` is what is kept of a neuron: its
    value, or z where the slopes need it, and the derivatives of z. If layers are `mixed` also
    `mix(first, second, jet, mixture)` and `unmix(first, second, jet, wanted, of_first, of_second, of_jet)`.
    `number` is a type whose elements have the precision; `kind` is what stands before a function.
    """
    known = tuple(indices)
    begin = activation.value if activation.from_value else lambda z: z

    def function(name: str, given: Sequence[str], found: Sequence[str], formula: Callable[..., Any]) -> str:
        arrays = [f"const {number} (&{a})[{len(known)}]" for a in given]
        arrays += [f"{number} (&{a})[{len(known)}]" for a in found]
        entries = [f"{a}[{s}]" for a in (*given, *found) for s in range(len(known))]
        inputs = entries[: len(given) * len(known)]
        stores = [f"{entry} = {{}};" for entry in entries[len(inputs) :]]

        def flat(*numbers: Array) -> list[Array]:
            parts = [numbers[i : i + len(known)] for i in range(0, len(numbers), len(known))]
            return jax.tree.leaves(formula(*parts))

        return _function(number, precision, f"void {name}({', '.join(arrays)})", flat, inputs, stores)

    parts = [
        _function(number, precision, f"{number} begin({number} z)", begin, ["z"], ["return {};"]),
        function("outer", ["own"], ["jet"], partial(outer, activation, known)),
        function("pull", ["own", "wanted"], ["inner"], partial(pull, activation, known)),
    ]
    if mixed:
        given, found = ["first", "second", "jet"], ["of_first", "of_second", "of_jet"]
        parts.append(function("mix", given, ["mixture"], partial(mix, known)))
        parts.append(function("unmix", [*given, "wanted"], found, partial(unmix, known)))
    return "\n".join(f"{kind} {part}" for part in parts)


def outer(activation: Activation, indices: tuple[Index, ...], own: Streams) -> Streams:
    """The jet after an activation, from what was kept of it."""
    y, z = (own[0], None) if activation.from_value else (activation.value(own[0]), own[0])
    inner = dict(zip(indices[1:], own[1:], strict=True))
    found = jets.combine(activation, y, z, inner, indices)
    return tuple(found[index] for index in indices)


def pull(activation: Activation, indices: tuple[Index, ...], own: Streams, wanted: Streams) -> Streams:
    """The cotangent of what goes into an activation, from that of what comes out of it."""
    _, back = jax.vjp(partial(outer, activation, indices), own)
    (found,) = back(wanted)
    if not activation.from_value:
        return found
    (slope,) = activation.slopes(own[0], None, 1)
    return (found[0] * slope, *found[1:])


def mix(indices: tuple[Index, ...], first: Streams, second: Streams, jet: Streams) -> Streams:
    """The jet z of a layer between two encodings, (1 − z) first + z second."""
    one, other, z = (dict(zip(indices, streams, strict=True)) for streams in (first, second, jet))
    found = jets.mixture(one, other, z, indices)
    return tuple(found[index] for index in indices)


def unmix(
    indices: tuple[Index, ...], first: Streams, second: Streams, jet: Streams, wanted: Streams
) -> tuple[Streams, Streams, Streams]:
    """The cotangents of what was mixed, from that of the mixture."""
    _, back = jax.vjp(partial(mix, indices), first, second, jet)
    return back(wanted)


def _function(
    number: str,
    precision: str,
    head: str,
    function: Callable[..., Any],
    names: Sequence[str],
    stores: Sequence[str],
) -> str:
    """A function; `names` are those of its numbers, `stores` says what happens to each result."""
    with double():
        traced = jax.make_jaxpr(function)(*[jnp.asarray(0.5, precision)] * len(names))
    lines: list[str] = []
    results = _statements(traced, names, lines, number, "f" if precision == "float32" else "")
    lines += [store.replace("{}", result) for store, result in zip(stores, results, strict=True)]
    body = "\n".join(f"  {line}" for line in lines)
    return f"{head} {{\n{body}\n}}\n"


def _statements(
    closed: ClosedJaxpr, names: Sequence[str], lines: list[str], number: str, suffix: str
) -> list[str]:
    """Appends the statements of a traced function; returns what its results are called.

    `suffix` is what C puts behind a number of the precision.
    """
    known: dict[Any, str] = dict(zip(closed.jaxpr.invars, names, strict=True))
    known.update(
        {
            variable: _number(value, suffix)
            for variable, value in zip(closed.jaxpr.constvars, closed.consts, strict=True)
        }
    )

    def name(atom: Any) -> str:
        return _number(atom.val, suffix) if isinstance(atom, Literal) else known[atom]

    for equation in closed.jaxpr.eqns:
        given, kind = [name(atom) for atom in equation.invars], equation.primitive.name
        if kind in _INLINED:
            inside = equation.params[_INLINED[kind]]
            found = _statements(inside, given, lines, number, suffix)
            known.update(zip(equation.outvars, found, strict=True))
            continue
        if kind in _SAME:
            known[equation.outvars[0]] = given[0]
            continue
        variable = f"v{len(lines)}"
        lines.append(f"const {number} {variable} = {_expression(equation, kind, given)};")
        known[equation.outvars[0]] = variable
    return [name(atom) for atom in closed.jaxpr.outvars]


def _expression(equation: Any, kind: str, given: list[str]) -> str:
    if kind in _INFIX:
        return f" {_INFIX[kind]} ".join(given)
    if kind in _CALLS:
        return f"{kind}({given[0]})"
    if kind == "neg":
        return f"-{given[0]}"
    if kind == "square":
        return f"{given[0]} * {given[0]}"
    if kind == "integer_pow" and equation.params["y"] >= 1:
        return " * ".join(given * equation.params["y"])
    if kind in ("broadcast_in_dim", "full_like"):
        return given[0]
    raise NotImplementedError(f"The fused kernels have no {kind}.")


def _number(value: Any, suffix: str) -> str:
    return f"({float(value)!r}{suffix})"
