"""The algebra a right-hand side is written in: `u.xx`, `(u**3).xx`, `np.sin(u)`, `x * u`.

An `Expression` is a quantity with a value at the points and a rule for its derivatives, in space and, where
the equation is of second order in time, along t. Both are worked out only when asked for, so running a
right-hand side touches exactly the derivatives of the fields that it needs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

from ..errors import ProblemError

Index = tuple[int, ...]
"""How often a quantity is differentiated along each axis, time first: `u_xx` is (0, 2)."""

MAX_ORDER = 6
"""The highest total order of derivative that hcpinn propagates."""

TIME = -1
"""The axis of time, where space axes are counted from 0."""


_differentiated: ContextVar[list[Expression] | None] = ContextVar("differentiated", default=None)


@contextlib.contextmanager
def watch_differentiated() -> Iterator[list[Expression]]:
    """Collect the quantities that may jump and are differentiated meanwhile.

    Where one does jump its derivative is no function, and the chain rule leaves the jump out.
    """
    found: list[Expression] = []
    token = _differentiated.set(found)
    try:
        yield found
    finally:
        _differentiated.reset(token)


class PointwiseError(ProblemError):
    """A quantity at all points at once is used like one number."""


class Expression(np.lib.mixins.NDArrayOperatorsMixin):
    """A quantity on the right-hand side of a PDE: differentiate it with `.x`, `.xx`, `.xy`…

    It takes part in arithmetic, and NumPy's functions apply to it: `np.sin(u)`.
    """

    def __init__(
        self,
        axes: tuple[str, ...],
        value: Any,
        derivative: Callable[[int], Expression] | None,
    ):
        """`axes` are the spatial axes' names; `value` the values, or a function that gives them
        when they are first needed; no `derivative` means a constant in space."""
        self._axes = axes
        self._value = value
        self._derivative = derivative
        self._derivatives: dict[int, Expression] = {}

    @property
    def value(self) -> Any:
        """The values at the points."""
        if callable(self._value):
            self._value = self._value()
        return self._value

    @property
    def is_zero(self) -> bool:
        return self._derivative is None and not callable(self._value) and _is_number(self._value, 0)

    _may_jump = False

    def _marked(self) -> Expression:
        """Itself, known to be a function of a kind that may jump."""
        self._may_jump = True
        return self

    def derivative(self, axis: int) -> Expression:
        """The derivative along one spatial axis, counted from 0, or along `TIME`."""
        watched = _differentiated.get()
        if watched is not None and self._may_jump:
            watched.append(self)
        if self._derivative is None:
            return constant(0.0, self._axes)
        if axis not in self._derivatives:
            self._derivatives[axis] = self._derivative(axis)
        return self._derivatives[axis]

    def __getattr__(self, name: str) -> Expression:
        if name.startswith("_") or not name.isalpha():
            raise AttributeError(name)
        if name == "laplacian":
            second = (self.derivative(a).derivative(a) for a in range(len(self._axes)))
            return sum(second, start=constant(0.0, self._axes))
        unknown = [letter for letter in name if letter not in ("t", *self._axes)]
        if unknown:
            if set(name) <= set("txyz"):
                raise ProblemError(
                    f"The right-hand side asks for the derivative '.{name}', but the domain has only "
                    f"the space axes {', '.join(self._axes)}."
                )
            raise AttributeError(f"'{name}' is not a derivative such as .x or .xx")
        if len(name) > MAX_ORDER:
            raise ProblemError(
                f"The right-hand side asks for '.{name}', a derivative of order {len(name)}; "
                f"the highest supported order is {MAX_ORDER}. Write the equation as a system of "
                "lower order."
            )
        result = self
        for letter in name:
            result = result.derivative(TIME if letter == "t" else self._axes.index(letter))
        return result

    @property
    def real(self) -> Expression:
        return Expression(self._axes, lambda: jnp.real(self.value), lambda a: self.derivative(a).real)

    @property
    def imag(self) -> Expression:
        return Expression(self._axes, lambda: jnp.imag(self.value), lambda a: self.derivative(a).imag)

    def conj(self) -> Expression:
        """The complex conjugate."""
        return Expression(self._axes, lambda: jnp.conj(self.value), lambda a: self.derivative(a).conj())

    def _wrap(self, other: Any) -> Expression:
        return other if isinstance(other, Expression) else constant(other, self._axes)

    def _plus(self, other: Expression) -> Expression:
        if other.is_zero:
            return self
        if self.is_zero:
            return other
        return Expression(
            self._axes,
            lambda: self.value + other.value,
            lambda a: self.derivative(a) + other.derivative(a),
        )

    def _times(self, other: Expression) -> Expression:
        if self.is_zero or other.is_zero:
            return constant(0.0, self._axes)
        if _is_one(other):
            return self
        if _is_one(self):
            return other
        return Expression(
            self._axes,
            lambda: self.value * other.value,
            lambda a: self.derivative(a) * other + self * other.derivative(a),
        )

    def _power(self, exponent: Any) -> Expression:
        if isinstance(exponent, np.generic):
            exponent = exponent.item()
        if not isinstance(exponent, int | float):
            return apply(jnp.power, self, exponent)
        if float(exponent).is_integer():
            exponent = int(exponent)
        if exponent == 0:
            return constant(1.0, self._axes)
        if exponent == 1:
            return self
        return Expression(
            self._axes,
            lambda: self.value**exponent,
            lambda a: exponent * self ** (exponent - 1) * self.derivative(a),
        )

    def _modulus(self) -> Expression:
        def derivative(a: int) -> Expression:
            slope = self.conj() * self.derivative(a)
            return (slope.real / abs(self))._marked()

        return _Modulus(self._axes, lambda: jnp.abs(self.value), derivative, self)

    def __hash__(self) -> int:
        return id(self)  # as `==` compares values

    def __bool__(self) -> bool:
        raise PointwiseError(
            "The right-hand side branches on the value of a field (an `if`, `and`, or comparison). "
            "Use np.where or np.maximum so that it holds at every point at once."
        )

    def __float__(self) -> float:
        raise PointwiseError(
            "The right-hand side makes a single number of a field, a coordinate or one of their derivatives, "
            "as float() and the functions of the module math do. It stands for the values at all points: use "
            "NumPy's functions, such as np.sin or np.exp."
        )

    def __getitem__(self, _: Any) -> Expression:
        raise ProblemError(
            "The right-hand side asks for an entry of a field, a coordinate or one of their derivatives, as "
            "in u[0]. In rhs each stands for the values at all points: write u itself."
        )

    __iter__ = None  # which would else try the entries

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Python's operators come here too: `u += v` with `out`, which is no more than `u = u + v`."""
        written = kwargs.pop("out", inputs[:1])
        if method != "__call__" or kwargs or ufunc.nout > 1 or written[0] is not inputs[0]:
            return NotImplemented
        if ufunc.signature is not None:
            raise _mixes(ufunc.__name__)
        if ufunc is np.power:
            return self._wrap(inputs[0])._power(inputs[1])
        if ufunc in _ARITHMETIC:
            return _ARITHMETIC[ufunc](*map(self._wrap, inputs))
        name = ufunc.__name__
        function = getattr(jnp, name, None) or getattr(jax.scipy.special, name, None)
        if function is None:
            return NotImplemented
        if ufunc in _CONDITIONS:
            wrapped = [self._wrap(i) for i in inputs]
            return Expression(self._axes, lambda: function(*(w.value for w in wrapped)), None)._marked()
        return apply(function, *inputs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func in (np.real, np.imag):
            return getattr(args[0], func.__name__)
        if func is np.select:
            return _selected(*args, **kwargs)
        function = getattr(jnp, func.__name__, None)
        if function is None or kwargs:
            return NotImplemented
        if not _elementwise(func, args):
            raise _mixes(func.__name__)
        return apply(function, *(jnp.asarray(a) if isinstance(a, list | tuple) else a for a in args))

    def __repr__(self) -> str:
        return f"Expression({'constant' if self._derivative is None else 'field'})"


class _Modulus(Expression):
    """`abs(u)`, whose even powers are smooth: `abs(u)**2` is `u.conj() * u`."""

    def __init__(self, axes: Any, value: Any, derivative: Any, inner: Expression):
        super().__init__(axes, value, derivative)
        self._inner = inner

    def _power(self, exponent: Any) -> Expression:
        if isinstance(exponent, int | float) and exponent > 0 and exponent % 2 == 0:
            square = (self._inner.conj() * self._inner).real
            return square ** (int(exponent) // 2)
        return super()._power(exponent)


def constant(value: Any, axes: tuple[str, ...]) -> Expression:
    """A quantity that does not vary in space; NumPy scalars lose their dtype to keep float32 runs float32."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    return Expression(axes, value, None)


def coordinate(value: Array, axis: int, axes: tuple[str, ...]) -> Expression:
    """A space coordinate (its `axis` counted from 0), or time (`axis=TIME`)."""
    return Expression(axes, lambda: value, lambda a: constant(1.0 if a == axis else 0.0, axes))


def field(
    lookup: Callable[[Index], Any], axes: tuple[str, ...], order: int = 1, index: Index | None = None
) -> Expression:
    """An unknown field, whose values and derivatives `lookup` supplies by index.

    `order` is that of the equation in time: derivatives along t are of lower order.
    """
    at: Index = index if index is not None else (0,) * (len(axes) + 1)

    def derivative(axis: int) -> Expression:
        found = tuple(n + (i == axis + 1) for i, n in enumerate(at))
        if found[0] >= order:
            raise ProblemError(
                "The right-hand side asks for a derivative '.t', but it states u_t = F(u, u_x, …), so it "
                "cannot use time derivatives. An equation u_tt = F is declared with order=2, velocity=…"
                if order == 1
                else "The right-hand side asks for a derivative '.tt', but with order=2 it states "
                "u_tt = F(u, u_t, u_x, …), so it can use '.t' once only. Solve the equation for u_tt."
            )
        return field(lookup, axes, order, found)

    return Expression(axes, lambda: lookup(at), derivative)


def apply(function: Callable[..., Any], *arguments: Any) -> Expression:
    """`function` of the arguments, elementwise; any JAX-differentiable function will do.

    `apply(jnp.sinc, u).xx` differentiates through it by the chain rule.
    """
    axes = next((a._axes for a in arguments if isinstance(a, Expression)), None)
    if axes is None:
        raise ProblemError("apply(function, …) needs at least one field or coordinate among its arguments.")
    wrapped = [a if isinstance(a, Expression) else constant(a, axes) for a in arguments]

    def partial(position: int) -> Callable[..., Any]:
        def slope(*values: Any) -> Any:
            def along(v: Any) -> Any:
                return function(*values[:position], v, *values[position + 1 :])

            v = jnp.asarray(values[position])
            return jax.jvp(along, (v,), (jnp.ones_like(v),))[1]

        return slope

    def derivative(axis: int) -> Expression:
        # A condition has no slope; whether what it chooses jumps is seen by the whole.
        inner = [(i, w.derivative(axis)) for i, w in enumerate(wrapped) if w._derivative is not None]
        terms = (apply(partial(i), *wrapped) * d for i, d in inner if not d.is_zero)
        return sum(terms, start=constant(0.0, axes))

    return Expression(axes, lambda: function(*(w.value for w in wrapped)), derivative)._marked()


def _elementwise(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
    """Whether a function of NumPy takes each value by itself: tried at three unordered values."""

    def given(pick: Callable[[np.ndarray], Any]) -> list[Any]:
        found = []
        for number, a in enumerate(arguments):
            if isinstance(a, Expression):
                found.append(pick(np.array([0.3, -1.7, 0.9]) + 0.1 * number))
            else:
                found.append(np.full(a.shape, 0.7) if isinstance(a, Tracer) else a)
        return found

    try:
        with np.errstate(all="ignore"):
            together = function(*given(lambda values: values))
            alone = [function(*given(lambda values, n=n: values[n])) for n in range(3)]
    except Exception:  # it does not even take them
        return False
    return np.shape(together) == (3,) and np.allclose(together, np.stack(alone), equal_nan=True)


def _is_number(value: Any, number: float) -> bool:
    return isinstance(value, int | float) and value == number


def _is_one(expression: Expression) -> bool:
    return expression._derivative is None and _is_number(expression._value, 1)


def _selected(conditions: Any, choices: Any, default: Any = 0.0) -> Any:
    """`np.select`: the choice of the first condition that holds."""
    found = default
    for condition, choice in reversed(list(zip(conditions, choices, strict=True))):
        found = np.where(condition, choice, found)
    return found


def _mixes(name: str) -> ProblemError:
    return ProblemError(
        f"The right-hand side applies np.{name} to a field, a coordinate or one of their derivatives. It "
        "mixes the values at several points, as means, norms, integrals and shifts do, but F at a point may "
        "depend on the fields and their derivatives at that point only."
    )


_ARITHMETIC: dict[np.ufunc, Callable[..., Expression]] = {
    np.add: Expression._plus,
    np.subtract: lambda a, b: a + b * -1.0,
    np.multiply: Expression._times,
    np.divide: lambda a, b: a * b**-1,
    np.negative: lambda a: a * -1.0,
    np.positive: lambda a: a,
    np.absolute: Expression._modulus,
    np.square: lambda a: a**2,
    np.reciprocal: lambda a: a**-1,
}

_CONDITIONS = {
    np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert,
    np.logical_and, np.logical_or, np.logical_xor, np.logical_not,
}  # fmt: skip
"""They hold or not, and have no slope."""
