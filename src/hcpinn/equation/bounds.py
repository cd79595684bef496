"""Interval arithmetic for JAX's elementary operations: bounds of results from bounds of arguments.

Bounds of booleans are False ≤ True. A complex value has bounds of its real and its imaginary part. An
operation without a rule is sampled at the ends and in the middle, which is no bound, but exact on numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import numpy as np
import scipy.special


class Real(NamedTuple):
    """low ≤ value ≤ high, elementwise; the first axis counts intervals."""

    low: np.ndarray
    high: np.ndarray


class Complex(NamedTuple):
    """A rectangle of the complex plane."""

    real: Real
    imag: Real


Bounds = Real | Complex


def exactly(values: Any) -> Bounds:
    """Values that are known."""
    values = np.asarray(values)
    if np.iscomplexobj(values):
        return Complex(Real(values.real, values.real), Real(values.imag, values.imag))
    return Real(values, values)


def apply(equation: Any, inputs: list[Bounds]) -> list[Bounds]:
    """Bounds of the results of one equation of a traced program."""
    name, parameters = equation.primitive.name, equation.params
    rule: Callable[..., Any] | None
    if any(isinstance(i, Complex) for i in inputs) or name == "complex":
        rule = _COMPLEX.get(name)
    else:
        rule = _REAL.get(name)
    shaped = _SHAPES.get(name)
    if shaped is not None:
        found = _parts(lambda *a: shaped(*a, equation=equation), inputs)
    elif rule is not None:
        found = rule(*_aligned(inputs), **_named(name, parameters))
    elif name in _WHOLE and not any(isinstance(i, Complex) for i in inputs):
        known = _WHOLE[name](*inputs, equation=equation)
        if known is None:
            return _sampled(equation, inputs)
        found = known
    else:
        return _sampled(equation, inputs)
    return [found]


def _parts(function: Callable[..., np.ndarray], inputs: list[Bounds]) -> Bounds:
    """A rearrangement of values, applied to each bound."""
    if any(isinstance(i, Complex) for i in inputs):
        wide = [_complex(i) for i in inputs]
        return Complex(
            _parts(function, [w.real for w in wide]),  # type: ignore[arg-type]
            _parts(function, [w.imag for w in wide]),  # type: ignore[arg-type]
        )
    return Real(function(*(i[0] for i in inputs)), function(*(i[1] for i in inputs)))


def has_rule(equation: Any) -> bool:
    """Whether the results of an operation on real numbers are bounded, not just sampled."""
    return any(equation.primitive.name in table for table in (_REAL, _SHAPES, _WHOLE, _COMPLEX))


def _aligned(inputs: list[Bounds]) -> list[Bounds]:
    """With equal numbers of axes: scalars beside arrays get axes behind their first."""
    most = max(_axes(i) for i in inputs)

    def widen(values: np.ndarray) -> np.ndarray:
        return values.reshape(*values.shape, *[1] * (most - values.ndim))

    return [_parts(widen, [i]) for i in inputs]


def _axes(value: Bounds) -> int:
    return (value.real.low if isinstance(value, Complex) else value.low).ndim


def _named(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    wanted = {"integer_pow": ("y",), "convert_element_type": ("new_dtype",)}.get(name, ())
    return {key: parameters[key] for key in wanted}


def _rising(function: Callable[..., Any]) -> Callable[..., Real]:
    return lambda a: Real(function(a.low), function(a.high))


def _falling(function: Callable[..., Any]) -> Callable[..., Real]:
    return lambda a: Real(function(a.high), function(a.low))


def _even(function: Callable[..., Any]) -> Callable[..., Real]:
    """An even function that rises from 0 on."""

    def rule(a: Real) -> Real:
        near = np.where((a.low <= 0) & (a.high >= 0), 0, np.minimum(np.abs(a.low), np.abs(a.high)))
        return Real(function(near), function(np.maximum(np.abs(a.low), np.abs(a.high))))

    return rule


def _add(a: Real, b: Real) -> Real:
    return Real(a.low + b.low, a.high + b.high)


def _negate(a: Real) -> Real:
    return Real(-a.high, -a.low)


def _subtract(a: Real, b: Real) -> Real:
    return _add(a, _negate(b))


def _multiply(a: Real, b: Real) -> Real:
    if a.low is b.low and a.high is b.high:
        return _even(np.square)(a)
    products = [np.nan_to_num(x * y, nan=0.0, posinf=np.inf, neginf=-np.inf) for x in a for y in b]
    return Real(np.minimum.reduce(products), np.maximum.reduce(products))


def _inverse(a: Real) -> Real:
    crosses = (a.low < 0) & (a.high > 0)
    low = np.where(a.high == 0, -np.inf, 1 / a.high)
    high = np.where(a.low == 0, np.inf, 1 / a.low)
    return Real(np.where(crosses, -np.inf, low), np.where(crosses, np.inf, high))


def _divide(a: Real, b: Real) -> Real:
    same = (b.low == b.high) & (b.low != 0)
    quotient = _multiply(a, _inverse(b))
    first, second = a.low / b.low, a.high / b.low
    return Real(
        np.where(same, np.minimum(first, second), quotient.low),
        np.where(same, np.maximum(first, second), quotient.high),
    )


def _integer_power(a: Real, y: int) -> Real:
    if y < 0:
        return _inverse(_integer_power(a, -y))
    return (_even if y % 2 == 0 else _rising)(lambda x: x**y)(a)


def _power(a: Real, b: Real) -> Real:
    """aᵇ for a ≥ 0; anything where a may be negative."""
    corners = [np.power(np.maximum(x, 0.0), y) for x in a for y in b]
    low, high = np.minimum.reduce(corners), np.maximum.reduce(corners)
    exact = (a.low == a.high) & (b.low == b.high)
    direct = np.power(a.low, b.low)
    unknown = (a.low < 0) & ~exact
    return Real(
        np.where(exact, direct, np.where(unknown, -np.inf, low)),
        np.where(exact, direct, np.where(unknown, np.inf, high)),
    )


def _sine(a: Real) -> Real:
    at = np.sin(a.low), np.sin(a.high)
    # Crests lie at π/2 + 2πk, troughs half a turn later.
    crest = np.floor((a.high - math.pi / 2) / (2 * math.pi)) >= np.ceil((a.low - math.pi / 2) / (2 * math.pi))
    trough = np.floor((a.high + math.pi / 2) / (2 * math.pi)) >= np.ceil(
        (a.low + math.pi / 2) / (2 * math.pi)
    )
    wide = ~np.isfinite(a.high - a.low)
    return Real(np.where(trough | wide, -1.0, np.minimum(*at)), np.where(crest | wide, 1.0, np.maximum(*at)))


def _cosine(a: Real) -> Real:
    found = _sine(Real(a.low + math.pi / 2, a.high + math.pi / 2))
    exact = a.low == a.high
    return Real(np.where(exact, np.cos(a.low), found.low), np.where(exact, np.cos(a.low), found.high))


def _tangent(a: Real) -> Real:
    pole = np.floor((a.high - math.pi / 2) / math.pi) >= np.ceil((a.low - math.pi / 2) / math.pi)
    return Real(np.where(pole, -np.inf, np.tan(a.low)), np.where(pole, np.inf, np.tan(a.high)))


def _angle(y: Real, x: Real) -> Real:
    """The angle of (x, y): the extremes are at corners, unless the rectangle meets the cut along x ≤ 0."""
    corners = [np.arctan2(v, u) for v in y for u in x]
    cut = (y.low <= 0) & (y.high >= 0) & (x.low <= 0) & ((y.low < y.high) | (x.low < x.high))
    return Real(
        np.where(cut, -np.pi, np.minimum.reduce(corners)), np.where(cut, np.pi, np.maximum.reduce(corners))
    )


def _remainder(a: Real, b: Real) -> Real:
    exact = (b.low == b.high) & (np.trunc(a.low / b.low) == np.trunc(a.high / b.low))
    most = np.maximum(np.abs(b.low), np.abs(b.high))
    return Real(
        np.where(exact, np.fmod(a.low, b.low), np.where(a.low < 0, -most, 0.0)),
        np.where(exact, np.fmod(a.high, b.low), np.where(a.high > 0, most, 0.0)),
    )


def _select(which: Real, *cases: Bounds) -> Bounds:
    if any(isinstance(c, Complex) for c in cases):
        wide = [_complex(c) for c in cases]
        return Complex(
            _select(which, *(c.real for c in wide)),  # type: ignore[arg-type]
            _select(which, *(c.imag for c in wide)),  # type: ignore[arg-type]
        )
    low, high = None, None
    for number, case in enumerate(cases):
        assert isinstance(case, Real)
        possible = (which.low <= number) & (number <= which.high)
        below, above = np.where(possible, case.low, np.inf), np.where(possible, case.high, -np.inf)
        low = below if low is None else np.minimum(low, below)
        high = above if high is None else np.maximum(high, above)
    assert low is not None
    assert high is not None
    kind = np.result_type(*(c.low for c in cases))  # type: ignore[union-attr]
    return Real(low.astype(kind), high.astype(kind))


def _clamp(low: Real, value: Real, high: Real) -> Real:
    return _least(_most(value, low), high)


def _least(a: Real, b: Real) -> Real:
    return Real(np.minimum(a.low, b.low), np.minimum(a.high, b.high))


def _most(a: Real, b: Real) -> Real:
    return Real(np.maximum(a.low, b.low), np.maximum(a.high, b.high))


def _less(a: Real, b: Real) -> Real:
    return Real(a.high < b.low, a.low < b.high)


def _less_equal(a: Real, b: Real) -> Real:
    return Real(a.high <= b.low, a.low <= b.high)


def _equal(a: Real, b: Real) -> Real:
    certain = (a.low == a.high) & (b.low == b.high) & (a.low == b.low)
    return Real(certain, (a.low <= b.high) & (b.low <= a.high))


def _not(a: Real) -> Real:
    return Real(~a.high, ~a.low)


def _exclusive(a: Real, b: Real) -> Real:
    known = (a.low == a.high) & (b.low == b.high)
    return Real(known & (a.low ^ b.low), np.where(known, a.low ^ b.low, True))


def _converted(a: Bounds, new_dtype: Any) -> Bounds:
    if isinstance(a, Complex):
        return a if np.issubdtype(new_dtype, np.complexfloating) else a.real
    if np.issubdtype(new_dtype, np.complexfloating):
        return _complex(a)
    if new_dtype == np.bool_:
        return Real(_not(_equal(a, Real(0 * a.low, 0 * a.low))).low, (a.low != 0) | (a.high != 0))
    if np.issubdtype(new_dtype, np.integer):
        return Real(np.trunc(a.low), np.trunc(a.high))
    return Real(a.low.astype(float), a.high.astype(float))


_REAL: dict[str, Callable[..., Any]] = {
    "add": _add, "add_any": _add, "sub": _subtract, "mul": _multiply, "div": _divide, "neg": _negate,
    "rem": _remainder, "max": _most, "min": _least, "clamp": _clamp, "select_n": _select,
    "square": _even(np.square), "abs": _even(np.abs), "cosh": _even(np.cosh),
    "integer_pow": _integer_power, "pow": _power,
    "exp": _rising(np.exp), "exp2": _rising(np.exp2), "expm1": _rising(np.expm1),
    "log": _rising(lambda x: np.log(np.maximum(x, 0))),
    "log1p": _rising(lambda x: np.log1p(np.maximum(x, -1))),
    "sqrt": _rising(lambda x: np.sqrt(np.maximum(x, 0))),
    "rsqrt": _falling(lambda x: 1 / np.sqrt(np.maximum(x, 0))),
    "cbrt": _rising(np.cbrt), "sinh": _rising(np.sinh), "tanh": _rising(np.tanh),
    "atan": _rising(np.arctan), "asinh": _rising(np.arcsinh),
    "atanh": _rising(lambda x: np.arctanh(np.clip(x, -1, 1))),
    "acosh": _rising(lambda x: np.arccosh(np.maximum(x, 1))),
    "erf_inv": _rising(scipy.special.erfinv), "atan2": _angle,
    "asin": _rising(lambda x: np.arcsin(np.clip(x, -1, 1))),
    "acos": _falling(lambda x: np.arccos(np.clip(x, -1, 1))),
    "logistic": _rising(scipy.special.expit), "erf": _rising(scipy.special.erf),
    "erfc": _falling(scipy.special.erfc),
    "floor": _rising(np.floor), "ceil": _rising(np.ceil), "round": _rising(np.round),
    "sign": _rising(np.sign),
    "sin": _sine, "cos": _cosine, "tan": _tangent,
    "lt": _less, "le": _less_equal, "gt": lambda a, b: _less(b, a), "ge": lambda a, b: _less_equal(b, a),
    "eq": _equal, "ne": lambda a, b: _not(_equal(a, b)),
    "and": lambda a, b: Real(a.low & b.low, a.high & b.high),
    "or": lambda a, b: Real(a.low | b.low, a.high | b.high), "not": _not, "xor": _exclusive,
    "convert_element_type": _converted, "real": lambda a: a, "imag": lambda a: Real(0 * a.low, 0 * a.low),
    "is_finite": lambda a: Real(np.isfinite(a.low) & np.isfinite(a.high), np.ones_like(a.low, bool)),
    "copy": lambda a: a, "copy_p": lambda a: a, "stop_gradient": lambda a: a, "reduce_precision": lambda a: a,
}  # fmt: skip


def _complex(a: Bounds) -> Complex:
    if isinstance(a, Complex):
        return a
    zero = np.zeros_like(a.low, dtype=float)
    return Complex(a, Real(zero, zero))


def _each(rule: Callable[..., Real]) -> Callable[..., Complex]:
    """A rule that holds for real and imaginary parts on their own."""

    def both(*values: Bounds) -> Complex:
        wide = [_complex(v) for v in values]
        return Complex(rule(*(w.real for w in wide)), rule(*(w.imag for w in wide)))

    return both


def _complex_product(a: Bounds, b: Bounds) -> Complex:
    p, q = _complex(a), _complex(b)
    return Complex(
        _subtract(_multiply(p.real, q.real), _multiply(p.imag, q.imag)),
        _add(_multiply(p.real, q.imag), _multiply(p.imag, q.real)),
    )


def _conjugate(a: Bounds) -> Complex:
    wide = _complex(a)
    return Complex(wide.real, _negate(wide.imag))


def _square_modulus(a: Complex) -> Real:
    return _add(_even(np.square)(a.real), _even(np.square)(a.imag))


def _complex_quotient(a: Bounds, b: Bounds) -> Complex:
    below = _square_modulus(_complex(b))
    above = _complex_product(a, _conjugate(b))
    return Complex(_divide(above.real, below), _divide(above.imag, below))


def _complex_exponential(a: Bounds) -> Complex:
    wide = _complex(a)
    size = _REAL["exp"](wide.real)
    return Complex(_multiply(size, _cosine(wide.imag)), _multiply(size, _sine(wide.imag)))


def _complex_power(a: Bounds, y: int) -> Complex:
    if y < 0:
        one = _complex(exactly(np.ones((1,) * _axes(a))))
        return _complex_quotient(one, _complex_power(a, -y))
    found = _complex(a)
    for _ in range(y - 1):
        found = _complex_product(found, a)
    return found


_COMPLEX: dict[str, Callable[..., Any]] = {
    "add": _each(_add), "add_any": _each(_add), "sub": _each(_subtract), "neg": _each(_negate),
    "mul": _complex_product, "div": _complex_quotient, "conj": _conjugate, "exp": _complex_exponential,
    "integer_pow": _complex_power, "square": lambda a: _complex_product(a, a),
    "abs": lambda a: _REAL["sqrt"](_square_modulus(_complex(a))),
    "real": lambda a: _complex(a).real, "imag": lambda a: _complex(a).imag,
    "complex": lambda a, b: Complex(a, b), "select_n": _select, "convert_element_type": _converted,
    "copy": lambda a: a, "copy_p": lambda a: a, "stop_gradient": lambda a: a,
}  # fmt: skip


def _broadcast(a: np.ndarray, equation: Any) -> np.ndarray:
    shape, at = equation.params["shape"], equation.params["broadcast_dimensions"]
    full = [1] * len(shape)
    for own, axis in enumerate(at):
        full[axis] = a.shape[own + 1]
    return np.broadcast_to(a.reshape(len(a), *full), (len(a), *shape))


def _reshaped(a: np.ndarray, equation: Any) -> np.ndarray:
    return a.reshape(len(a), *equation.outvars[0].aval.shape)


def _joined(*arrays: np.ndarray, equation: Any) -> np.ndarray:
    count = max(map(len, arrays))
    full = [np.broadcast_to(a, (count, *a.shape[1:])) for a in arrays]
    return np.concatenate(full, axis=equation.params["dimension"] + 1)


def _stacked(*arrays: np.ndarray, equation: Any) -> np.ndarray:
    count = max(map(len, arrays))
    full = [np.broadcast_to(a, (count, *a.shape[1:])) for a in arrays]
    return np.stack(full, axis=equation.params["axis"] + 1)


def _added_up(a: np.ndarray, equation: Any) -> np.ndarray:
    axis = equation.params["axis"] + 1
    if equation.params["reverse"]:
        return np.flip(np.cumsum(np.flip(a, axis), axis), axis)
    return np.cumsum(a, axis)


def _turned(a: np.ndarray, equation: Any) -> np.ndarray:
    return np.transpose(a, (0, *(i + 1 for i in equation.params["permutation"])))


def _sliced(a: np.ndarray, equation: Any) -> np.ndarray:
    p = equation.params
    strides = p["strides"] or (1,) * len(p["start_indices"])
    cuts = map(slice, p["start_indices"], p["limit_indices"], strides)
    return a[(slice(None), *cuts)]


def _reduced(function: Any) -> Callable[..., np.ndarray]:
    return lambda a, equation: function(a, axis=tuple(i + 1 for i in equation.params["axes"]))


_SHAPES: dict[str, Callable[..., np.ndarray]] = {
    "broadcast_in_dim": _broadcast, "reshape": _reshaped, "squeeze": _reshaped, "expand_dims": _reshaped,
    "stack": _stacked, "cumsum": _added_up, "concatenate": _joined, "transpose": _turned, "slice": _sliced,
    "reduce_sum": _reduced(np.sum), "reduce_max": _reduced(np.max), "reduce_min": _reduced(np.min),
}  # fmt: skip


def _product(a: Real, b: Real, equation: Any) -> Real | None:
    """A sum of products where one factor is known: what is positive in it takes bounds as they are."""
    (of_a, of_b), (along_a, along_b) = equation.params["dimension_numbers"]
    if along_a or along_b:
        return None
    if len(a.low) == 1 and a.low is a.high:
        a, b, of_a, of_b, turned = b, a, of_b, of_a, True
    elif len(b.low) == 1 and b.low is b.high:
        turned = False
    else:
        return None
    factor = b.low[0].astype(float)
    positive, negative = np.maximum(factor, 0), np.minimum(factor, 0)

    def times(values: np.ndarray, matrix: np.ndarray) -> np.ndarray:
        found = np.tensordot(values.astype(float), matrix, ([i + 1 for i in of_a], list(of_b)))
        own = a.low.ndim - len(of_a)
        if not turned:
            return found
        return np.moveaxis(found, range(1, own), range(found.ndim - own + 1, found.ndim))

    return Real(
        times(a.low, positive) + times(a.high, negative), times(a.high, positive) + times(a.low, negative)
    )


def _looked_up(table: Real, *starts: Real, equation: Any) -> Real | None:
    """One entry of a table that is known, at a place between two: the least and the largest between them."""
    if len(starts) != 1 or len(table.low) > 1 or table.low is not table.high or table.low.ndim != 2:
        return None
    if equation.params["slice_sizes"] != (1,):
        return None
    values = table.low[0]
    first, last = (np.clip(np.asarray(s), 0, len(values) - 1).astype(int) for s in starts[0])
    level = np.log2(np.maximum(last - first + 1, 1)).astype(int)
    found = []
    for pick in (np.minimum, np.maximum):
        rows = [values]
        for step in 2 ** np.arange(int(level.max(initial=0))):
            ahead = np.concatenate([rows[-1][step:], np.full(min(step, len(values)), rows[-1][-1])])
            rows.append(pick(rows[-1], ahead[: len(values)]))
        stack = np.stack(rows)
        found.append(pick(stack[level, first], stack[level, last + 1 - 2**level])[:, None])
    return Real(*found)


def _largest_place(a: Real, equation: Any) -> Real:
    """Where the largest entry may be; of equal ones it is the first."""
    (axis,) = equation.params["axes"]
    low, high = (np.moveaxis(v, axis + 1, -1).astype(float) for v in a)
    before = np.maximum.accumulate(np.insert(low, 0, -np.inf, -1), axis=-1)[..., :-1]
    possible = (high > before) & (high >= low.max(axis=-1, keepdims=True))
    return Real(np.argmax(possible, -1), possible.shape[-1] - 1 - np.argmax(possible[..., ::-1], -1))


_WHOLE: dict[str, Callable[..., Real | None]] = {
    "dot_general": _product, "dynamic_slice": _looked_up, "argmax": _largest_place,
}  # fmt: skip
"""Rules that take all of their arguments at once; None where they know no bounds."""


def _sampled(equation: Any, inputs: list[Bounds]) -> list[Bounds]:
    """Results at the ends and in the middle of all arguments together, in place of bounds."""
    rows = max(len(i.real.low if isinstance(i, Complex) else i.low) for i in inputs) if inputs else 1
    room = max(64, 4 ** math.ceil(math.log(rows, 4)))  # few sizes, few compilations
    picks = []
    for value, variable in zip(inputs, equation.invars, strict=True):
        kind, shape = variable.aval.dtype, variable.aval.shape

        def full(values: np.ndarray, kind: Any = kind, shape: Any = shape) -> np.ndarray:
            if len(values) == 1:  # one for all rows, such as a table
                return values[0].astype(kind)
            spread = np.broadcast_to(values, (rows, *shape)).astype(kind)
            return np.concatenate([spread, np.broadcast_to(spread[-1:], (room - rows, *shape))])

        if isinstance(value, Complex):
            low, high = value.real.low + 1j * value.imag.low, value.real.high + 1j * value.imag.high
        else:
            low, high = value
        middle = low if low.dtype == bool or np.array_equal(low, high) else (low + high) / 2
        picks.append((full(low), full(middle), full(high)))
    exact = all(np.array_equal(low, high) for low, _, high in picks)
    along = tuple(0 if p[0].ndim > v.aval.ndim else None for p, v in zip(picks, equation.invars, strict=True))
    function = _mapped(_Held(equation), along)
    runs = [function(*(p[n] for p in picks)) for n in ((0,) if exact else (0, 1, 2))]
    found: list[Bounds] = []
    for results in zip(*runs, strict=True):
        arrays = [np.asarray(r) for r in results]
        arrays = [a[:rows] if any(axis == 0 for axis in along) else a[None] for a in arrays]
        if np.iscomplexobj(arrays[0]):
            parts = [_hull([f(a) for a in arrays]) for f in (np.real, np.imag)]
            found.append(Complex(*parts))
        else:
            found.append(_hull(arrays))
    return found


def _hull(arrays: list[np.ndarray]) -> Real:
    return Real(np.minimum.reduce(arrays), np.maximum.reduce(arrays))


class _Held:
    """An equation as a key: itself, by identity."""

    def __init__(self, equation: Any):
        self.equation = equation

    def __hash__(self) -> int:
        return id(self.equation)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and self.equation is other.equation


@lru_cache(256)
def _mapped(held: _Held, along: tuple[int | None, ...]) -> Callable[..., Any]:
    """An operation on many rows at once; arguments that are `along` None have one for all."""
    primitive, parameters = held.equation.primitive, held.equation.params

    def run(*arguments: Any) -> Any:
        given = primitive.get_bind_params(dict(parameters))
        before, given = given if isinstance(given, tuple) else ((), given)  # older JAX splits them
        found = primitive.bind(*before, *arguments, **given)
        return found if primitive.multiple_results else [found]

    return jax.jit(jax.vmap(run, in_axes=along) if any(axis == 0 for axis in along) else run)
