"""The declaration of a problem: one statement from which everything else is derived."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..errors import HcpinnError, ProblemError, unknown_name
from ..machine.precision import double
from .calling import Tables, argument_names, call_by_name, evaluate_data, for_numpy, tables_for
from .conditions import Condition, Periodic
from .domain import Domain
from .expression import Index, coordinate, field
from .parameters import Open, find_open
from .pieces import Piece, resolve_parts
from .samples import samples_in, settled
from .sides import Declared, Ends, Side, resolve
from .units import check_units, is_quantity, plain_number, unit_label

HORIZON = "horizon"
"""The name under which `with_parameters` takes the horizon."""

_JNP_HINT = (
    "rhs hands a field, a coordinate or one of their derivatives to a function that does not take it, such "
    "as one of jax.numpy or SciPy. Use NumPy's: np.sin(u) in place of jnp.sin(u). For another function that "
    "jax can differentiate write hcpinn.apply(function, u)."
)


@dataclass(frozen=True)
class _Restart:
    """Initial data that are the state of another solution: `state(coordinates)`, one array per field."""

    state: Callable[[list[Array]], list[Array]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """A time-dependent PDE, uₜ = F(u, uₓ, uₓₓ, …, t, x), with its initial and boundary data.

    With `order=2` it is uₜₜ = F(u, uₜ, uₓ, …, t, x), and `velocity` gives uₜ(0, x).

    `rhs` is F as you would write it: its arguments are recognised by name as coordinates (`t`, `x`),
    named parameters, or else fields. `initial` gives u(0, x), one value per field.

        Problem(
            domain=Interval(-1, 1), horizon=1.0, boundary=Periodic(),
            rhs=lambda u, gamma: gamma * u.xx - 5 * (u**3 - u),
            initial=lambda x: x**2 * jnp.cos(jnp.pi * x),
            parameters={"gamma": 1e-3},
        )
    """

    rhs: Callable[..., Any]
    """F; for a system it returns one value per field, in the order of its arguments."""
    initial: Any
    """The initial data: a number, a function of x, … and named parameters, or one of these per field."""
    domain: Domain
    """An `Interval`, a `Box`, or a shape: `Disk`, `Polygon`, … and their combinations."""
    horizon: Any
    """The time at which the problem ends: a number, or open as a parameter may be."""
    boundary: Declared = Periodic()
    """A condition for both ends of all axes; a pair (lower, upper) for the two ends; a list of conditions
    that hold together; or any of these by axis, as in {"x": Periodic(), "y": (Dirichlet(0.0), Neumann(1.0))},
    or by field, as in {"u": Dirichlet(1.0), "v": Neumann(0.0)}."""
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Named numbers, which all functions may take as arguments; those left open are ranges to solve for,
    `Between(1, 5)`."""
    ranges: Mapping[str, tuple[float, float]] = dataclasses.field(default_factory=dict)
    """The smallest and largest sensible values of some parameters."""
    start: float = 0.0
    """The time of the initial data."""
    order: int = 1
    """The order in time: `rhs` gives uₜ, or with 2 uₜₜ, and may then use `u.t`."""
    velocity: Any = None
    """The initial data of uₜ where the order in time is 2, given as `initial` is."""
    breaks: Mapping[str, Sequence[float]] = dataclasses.field(default_factory=dict)
    """Times and places, by axis, where coefficients, sources or data jump or spike: {"t": [0.5], "x": [0.3]}.

    Jumps and spikes that are written out in `rhs`, `initial` and `boundary` are found without it."""
    units: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Units of axes, fields and parameters, as in {"t": "ms", "x": "um", "u": "kelvin"}, shown on axes.

    All numbers are in these; `horizon`, `start` and parameters may be quantities of `pint`."""
    name: str = "problem"
    """Used in messages and files; it has no other effect."""

    def __post_init__(self) -> None:
        for name in ("parameters", "ranges", "breaks", "units"):
            given = getattr(self, name)
            if not isinstance(given, Mapping):
                raise ProblemError(f"{name} must name its values, as in {{'gamma': …}}, but is {given!r}.")
            object.__setattr__(self, name, MappingProxyType(dict(given)))
        if isinstance(self.domain, Domain):  # else `check_settings` says so
            self._take_units()
        for name in ("start", "horizon"):  # numbers of NumPy and JAX count as such
            value = getattr(self, name)
            if isinstance(value, np.generic | np.ndarray | Array) and np.ndim(value) == 0:
                object.__setattr__(self, name, np.asarray(value).item())
        from .checks import check_problem, check_settings

        with double():
            check_settings(self.nominal)
            for name in ("initial", "velocity"):
                object.__setattr__(self, name, settled(getattr(self, name), self, name))
            check_problem(self)

    def _take_units(self) -> None:
        """Check the units, and turn quantities into numbers in them."""
        if self.units:
            known = (*self.axes, *self.fields, *self.parameters)
            object.__setattr__(self, "units", MappingProxyType(check_units(self.units, known)))
        if not any(map(is_quantity, (self.start, self.horizon, *self.parameters.values()))):
            return
        times = dict.fromkeys(("start", HORIZON), self.units["t"]) if "t" in self.units else {}
        basis = (*self.axes, *self.fields)

        def number(name: str, value: Any) -> Any:
            return plain_number(value, name, {**self.units, **times}, basis)

        named = {name: number(name, value) for name, value in self.parameters.items()}
        object.__setattr__(self, "parameters", MappingProxyType(named))
        for name in ("start", HORIZON):
            object.__setattr__(self, name, number(name, getattr(self, name)))

    def label(self, name: str) -> str:
        """What a figure calls an axis, a field or a parameter: its name, with its unit if it has one."""
        return unit_label(name, self.units)

    @property
    def space(self) -> tuple[str, ...]:
        """Names of the space axes."""
        return self.domain.axes

    @property
    def duration(self) -> float:
        """How long the problem lasts: from `start` to `horizon`."""
        return self.horizon - self.start

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of all axes, time first."""
        return ("t", *self.domain.axes)

    @cached_property
    def open(self) -> Mapping[str, Open]:
        """The parameters, including the horizon, that do not have one value yet."""
        return MappingProxyType(find_open(self.parameters, self.horizon, HORIZON))

    @cached_property
    def nominal(self) -> Problem:
        """The same problem with every open parameter at its nominal value."""
        if not self.open:
            return self
        return self.with_parameters(**{name: value.nominal for name, value in self.open.items()})

    @cached_property
    def boundaries(self) -> tuple[Ends, ...]:
        """What holds at the ends of each space axis; nothing where conditions belong to pieces."""
        if not self.domain.product:
            return ()
        return resolve(self.boundary, self.space, self.fields)

    @property
    def sides(self) -> tuple[Side, ...]:
        """Both ends of every axis that is not periodic, with their conditions."""
        return tuple(side for ends in self.boundaries for side in ends.sides)

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The parts of a boundary that is no product of axes, with their conditions; else none."""
        return () if self.domain.product else resolve_parts(self.boundary, self.domain, self.fields)

    @property
    def continued(self) -> bool:
        """Whether it continues from the state of another solution."""
        return isinstance(self.initial, _Restart)

    @property
    def periodic(self) -> bool:
        """Whether the solution repeats itself along every space axis."""
        return self.domain.product and all(ends.periodic for ends in self.boundaries)

    @property
    def prescribed_axes(self) -> list[int]:
        """The space axes at both of whose ends the values of all fields are prescribed, and nothing else."""
        return [axis for axis, ends in enumerate(self.boundaries) if ends.prescribes_values]

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Names of the unknown fields, in the order `rhs` takes them."""
        known = {*self.axes, *self.parameters}
        return tuple(n for n in argument_names(self.rhs, "rhs", defaults=False) if n not in known)

    @cached_property
    def derivatives(self) -> tuple[Index, ...]:
        """The derivatives of the fields that `rhs` uses, found by running it."""
        return self._discovery[0]

    @property
    def leading(self) -> Index:
        """The derivative in time that `rhs` gives: uₜ, or uₜₜ."""
        return (self.order, *(0 for _ in self.space))

    @cached_property
    def complex_fields(self) -> tuple[bool, ...]:
        """Which fields are complex, found from the initial data and `rhs`."""
        return self._discovery[1]

    @cached_property
    def components(self) -> tuple[str, ...]:
        """Names of the real components: a complex field has a real and an imaginary one."""
        return tuple(self.real_parts(dict.fromkeys(self.fields, 0.0)))

    @cached_property
    def component_fields(self) -> tuple[int, ...]:
        """The number of the field that each real component belongs to."""
        return tuple(n for n, c in enumerate(self.complex_fields) for _ in range(2 if c else 1))

    def with_parameters(self, **values: Any) -> Problem:
        """The same problem with some named parameters changed; every problem has the parameter `horizon`.

        Numbers close what is open. A changed horizon is kept among the parameters, by which files and studies
        identify a problem.
        """
        for name in values:
            if name not in self.parameters and name != HORIZON:
                raise unknown_name("parameter", name, [*self.parameters, HORIZON], of=self.name)
        parameters = {**self.parameters, **values}
        return dataclasses.replace(self, parameters=parameters, horizon=parameters.get(HORIZON, self.horizon))

    @property
    def from_text(self) -> bool:
        """Whether all of it was read from a text, so that no code of a user is in it."""
        from .text import Formula

        return isinstance(self.rhs, Formula)

    def to_text(self) -> str:
        """The problem as TOML that `hcpinn.read_problem` reads again.

        Functions of Python are written down by running them on symbols; a `ProblemError` says where that
        fails, as for an `if`.
        """
        from .text import write_problem

        return write_problem(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from .text.describe import html_of

        return html_of(self)

    def restarted(
        self,
        start: float,
        horizon: float,
        initial: Callable[[list[Array]], list[Array]],
        velocity: Callable[[list[Array]], list[Array]] | None = None,
    ) -> Problem:
        """The same problem from another start to another horizon, from `initial(coordinates)` on.

        `velocity` goes with it where the order in time is 2. Nothing is checked again: the state comes from a
        solution of this problem.
        """
        problem = copy.copy(self)
        given = {"start": start, "horizon": horizon, "initial": _Restart(initial)}
        if velocity is not None:
            given["velocity"] = _Restart(velocity)
        for name, value in given.items():
            object.__setattr__(problem, name, value)
        return problem

    def evaluate_rhs(
        self,
        lookup: Callable[[int, Index], Any],
        coordinates: Sequence[Array],
        parameters: Mapping[str, Any] | None = None,
    ) -> list[Any]:
        """F at points: one array per field.

        `lookup(field, index)` supplies a derivative of a field; `coordinates` are t, x, ….
        """
        space = self.space
        available: dict[str, Any] = {}
        for number, name in enumerate(self.fields):
            available[name] = field(lambda index, n=number: lookup(n, index), space, self.order)
        for position, (name, values) in enumerate(zip(self.axes, coordinates, strict=True)):
            available[name] = coordinate(values, position - 1, space)
        given = parameters if parameters is not None else self.parameters
        try:
            result = call_by_name(self.rhs, "rhs", {**available, **given})
        except jax.errors.TracerArrayConversionError:  # NumPy's function of a parameter that JAX traces
            result = call_by_name(self.rhs, "rhs", {**available, **for_numpy(given, space)})
        if isinstance(result, np.ndarray) and result.ndim == 1:
            result = list(result)
        values = result if isinstance(result, tuple | list) else (result,)
        if any(value is None for value in values):
            raise ProblemError("rhs returned None. Is its `return` missing?")
        if len(values) != len(self.fields):
            raise ProblemError(
                f"rhs returned {len(values)} value(s) for {len(self.fields)} field(s) "
                f"({', '.join(self.fields)}). Return one right-hand side per field, as a tuple. "
                "An argument that is a constant belongs in parameters=…"
            )
        return [getattr(v, "value", v) for v in values]

    def initial_values(
        self, coordinates: Sequence[Array], parameters: Mapping[str, Any] | None = None
    ) -> list[Array]:
        """u at the start, at space coordinates x, …: one array per field."""
        return self._at_start("initial", coordinates, parameters)

    def initial_velocities(
        self, coordinates: Sequence[Array], parameters: Mapping[str, Any] | None = None
    ) -> list[Array]:
        """uₜ at the start of an equation of second order in time: one array per field."""
        return self._at_start("velocity", coordinates, parameters)

    def _at_start(
        self, role: str, coordinates: Sequence[Array], parameters: Mapping[str, Any] | None
    ) -> list[Array]:
        data = getattr(self, role)
        if isinstance(data, _Restart):
            return data.state(list(coordinates))
        given = self.parameters if parameters is None else parameters
        named = dict(zip(self.space, coordinates, strict=True))
        values = evaluate_data(data, role, named, given, self.space, self.tables, self._alone[0])
        if len(values) != len(self.fields):
            raise ProblemError(
                f"{role} gives {len(values)} value(s), but rhs has {len(self.fields)} field(s): "
                f"{', '.join(self.fields)}. Return one per field, as a tuple; if one of these is a "
                f"constant, add it to parameters=…{self._misread()}"
            )
        return values

    def _misread(self) -> str:
        """What an argument of `rhs` that counts as a field may have been meant as."""
        for name in self.fields:
            base, _, letters = name.partition("_")
            if name in ("x", "y", "z"):
                axes = ", ".join(self.space)
                return f" '{name}' counts as a field, for the domain has only {axes}."
            if letters and set(letters) <= set("txyz") and base in self.fields:
                return f" '{name}' counts as a field; for the derivative write {base}.{letters}."
        return ""

    def boundary_values(
        self,
        side: Side,
        t: Array,
        across: Sequence[Array] = (),
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> list[list[Array]]:
        """The data of one side: for each field one array per condition.

        `across` are the coordinates along the other axes, in order.
        """
        edge = jnp.full_like(t, self.domain.bounds[side.axis][side.end])
        return self.data_on(
            side, (t, *across[: side.axis], edge, *across[side.axis :]), parameters=parameters
        )

    def data_on(
        self,
        place: Side | Piece,
        coordinates: Sequence[Array],
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> list[list[Array]]:
        """The data of a side or a piece at t, x, …: for each field one array per condition."""
        given = self.parameters if parameters is None else parameters
        named = dict(zip(self.axes, coordinates, strict=True))

        def data(condition: Condition) -> Array:
            role = f"{condition.kind} data {place.where}"
            values = evaluate_data(
                condition.data, role, named, given, self.space, self.tables, self._alone[1]
            )
            if len(values) == 1:
                return values[0]
            if condition.field is None:
                raise ProblemError(f"The {role} give {len(values)} values for one field. Give it one.")
            if len(values) != len(self.fields):
                raise ProblemError(
                    f"The {role} give {len(values)} value(s) for {len(self.fields)} field(s). "
                    "Give one value for all, or one per field."
                )
            return values[condition.field]

        return [[data(condition) for condition in own] for own in place.conditions]

    def boundary_components(
        self,
        side: Side,
        t: Array,
        across: Sequence[Array] = (),
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> list[list[Array]]:
        """The data of one side: for each real component one array per condition on its field."""
        return self._as_components(self.boundary_values(side, t, across, parameters=parameters))

    def piece_components(
        self, piece: Piece, coordinates: Sequence[Array], *, parameters: Mapping[str, Any] | None = None
    ) -> list[list[Array]]:
        """The data of one piece at t, x, …: for each real component one array per condition on its field."""
        return self._as_components(self.data_on(piece, coordinates, parameters=parameters))

    def _as_components(self, values: list[list[Array]]) -> list[list[Array]]:
        found = []
        for own, is_complex in zip(values, self.complex_fields, strict=True):
            found.append([jnp.real(v) for v in own])
            if is_complex:
                found.append([jnp.imag(v) for v in own])
        return found

    def to_components(self, values: Sequence[Array]) -> Array:
        """Field values as real components in a new last axis."""
        parts = []
        for value, is_complex in zip(values, self.complex_fields, strict=True):
            parts += [jnp.real(value), jnp.imag(value)] if is_complex else [jnp.real(value)]
        return jnp.stack(jnp.broadcast_arrays(*parts), axis=-1)

    def to_fields(self, components: Any) -> list[Any]:
        """Real components (last axis) as one array per field, complex where the field is."""
        values, at = [], 0
        for is_complex in self.complex_fields:
            value = components[..., at]
            values.append(value + 1j * components[..., at + 1] if is_complex else value)
            at += 2 if is_complex else 1
        return values

    def real_parts(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Arrays by field name as real arrays by component name."""
        parts = {}
        for name, is_complex in zip(self.fields, self.complex_fields, strict=True):
            if is_complex:
                parts[f"real({name})"], parts[f"imag({name})"] = np.real(values[name]), np.imag(values[name])
            else:
                parts[name] = np.real(values[name])
        return parts

    @property
    def _alone(self) -> tuple[str, str] | tuple[None, None]:
        """The coordinate that initial data and the one that boundary data depend on, if there is but one."""
        return (self.space[0], "t") if len(self.space) == 1 else (None, None)

    @cached_property
    def tables(self) -> Tables:
        """Series for initial and boundary data that JAX cannot trace, such as splines of SciPy."""
        if self.open:
            return self.nominal.tables
        if isinstance(self.initial, _Restart):
            return ()
        whole = dict(zip(self.axes, [(self.start, self.horizon), *self.domain.bounds], strict=True))
        places = {name: whole[name] for name in self.space}
        found = tables_for(self.initial, "initial", places, self.parameters, self.space, self._alone[0])
        if self.order == 2:
            found += tables_for(
                self.velocity, "velocity", places, self.parameters, self.space, self._alone[0]
            )
        ends = {side: self.domain.bounds[side.axis][side.end] for side in self.sides}
        walls = [(side, {**whole, side.letter: (end, end)}) for side, end in ends.items()]
        for place, bounds in (*walls, *((piece, whole) for piece in self.pieces)):
            for condition in place.every:
                if not any(condition.data is known for known, _, _ in found):
                    role = f"{condition.kind} data {place.where}"
                    found += tables_for(
                        condition.data, role, bounds, self.parameters, self.space, self._alone[1]
                    )
        return tuple(found)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Remarks on how the declaration was understood."""
        tables = (
            f"Data that only NumPy or plain Python can evaluate are interpolated to rounding along {name}, "
            f"by {table.intervals} Chebyshev series."
            for _, name, table in self.tables
        )
        data = {"initial": self.initial, "velocity": self.velocity}
        for side in self.sides:
            for condition in side.every:
                data[f"{condition.kind} data {side.where}"] = condition.data
        samples = (own.note(role) for role, d in data.items() for own in samples_in(d))
        return (*self.domain.remarks, *tables, *samples)

    def varying(self, names: Sequence[str]) -> Problem:
        """The same problem, with the derivatives that `rhs` uses for any values of some parameters.

        A parameter that happens to be zero leaves out what it multiplies.
        """
        problem = copy.copy(self)
        problem.__dict__.pop("derivatives", None)
        problem.__dict__["_discovery"] = self._discovered(names)
        return problem

    @cached_property
    def _discovery(self) -> tuple[tuple[Index, ...], tuple[bool, ...]]:
        return self.nominal._discovery if self.open else self._discovered(())

    def _discovered(self, names: Sequence[str]) -> tuple[tuple[Index, ...], tuple[bool, ...]]:
        with double():
            point = jnp.asarray(self.domain.inside(np.full((1, self.domain.dimension), 0.5))[0])
            place = [point[i] for i in range(len(self.space))]
            are_complex = [jnp.iscomplexobj(v) for v in self.initial_values(place)]
            if self.order == 2:
                moving = self.initial_velocities(place)
                are_complex = [c or jnp.iscomplexobj(v) for c, v in zip(are_complex, moving, strict=True)]
            while True:
                touched, now_complex = self._trace(are_complex, names)
                if now_complex == are_complex:
                    break
                are_complex = now_complex
        zero: Index = (0,) * len(self.axes)
        return tuple(sorted(touched | {zero}, key=lambda i: (sum(i), i))), tuple(are_complex)

    def _trace(self, are_complex: list[bool], names: Sequence[str]) -> tuple[set[Index], list[bool]]:
        """Run `rhs` on placeholders: which derivatives it touches, which fields must be complex.

        The named parameters may have any values.
        """
        touched: set[Index] = set()

        def run(point: Array, given: list[Array]) -> list[Array]:
            def lookup(number: int, index: Index) -> Array:
                touched.add(index)
                return point[0] * (1 + 1j if are_complex[number] else 1.0)

            parameters = {**self.parameters, **dict(zip(names, given, strict=True))}
            values = self.evaluate_rhs(lookup, [point[i] for i in range(len(self.axes))], parameters)
            return [jnp.asarray(v) for v in values]

        try:
            outcome = jax.eval_shape(run, jnp.ones(len(self.axes)), [jnp.ones(())] * len(names))
        except HcpinnError:
            raise
        except Exception as error:
            # NumPy says the latter of what it cannot make an array of.
            if isinstance(error, TypeError | ValueError) and any(
                told in str(error) for told in ("Expression", "array element with a sequence")
            ):
                raise ProblemError(_JNP_HINT) from error
            raise ProblemError(f"rhs failed with {type(error).__name__}: {error}") from error
        for name, value in zip(self.fields, outcome, strict=True):
            if value.shape != ():
                raise ProblemError(
                    f"rhs returned an array of shape {value.shape} per point for field '{name}'. "
                    "It must give one number per point."
                )
        found = [
            c or jnp.issubdtype(v.dtype, jnp.complexfloating)
            for c, v in zip(are_complex, outcome, strict=True)
        ]
        return touched, found
