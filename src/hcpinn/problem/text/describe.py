"""A problem in lines that people read: its equation typeset, its domain, conditions and data in words."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import jax.numpy as jnp
import numpy as np

from ...errors import HcpinnError
from ...machine.precision import double
from ..declaration import Problem
from ..parameters import Between, Open
from ..sides import Side
from ..unknown import Unknown
from .shapes import write_domain
from .tree import Derivative, Name, Node
from .typeset import MATHML, TERMINAL, Style
from .write import condition_text, data_nodes, equation_nodes

_UNTOLD = "a function of Python"


def equation_lines(problem: Problem, style: Style = TERMINAL) -> list[str]:
    """Each equation, typeset; where a function of Python cannot be followed, what it depends on."""
    rates = [Derivative(Name(field), "t" * problem.order) for field in problem.fields]
    try:
        right = [style.write(node) for node in equation_nodes(problem)]
    except HcpinnError:
        right = [f"F({', '.join(_derivative_names(problem))})"] * len(rates)
        right = [f"<mi>{html.escape(r)}</mi>" for r in right] if style is MATHML else right
    return [f"{style.write(rate)}{style.equals}{r}" for rate, r in zip(rates, right, strict=True)]


def _derivative_names(problem: Problem) -> list[str]:
    found = []
    for field in problem.fields:
        for index in problem.derivatives:
            letters = "".join(a * n for a, n in zip(problem.axes, index, strict=True))
            found.append(TERMINAL.write(Derivative(Name(field), letters) if letters else Name(field)))
    return found


def facts(problem: Problem) -> dict[str, str]:
    """What else it states, by title, as plain text."""
    found = {"domain": _domain(problem), "time": f"{problem.start:g} ≤ t ≤ {_shown(problem.horizon)}"}
    if problem.periodic:
        found["boundary"] = "periodic"
    else:
        found["boundary"] = "\n".join(_boundary(problem))
    found["initial data"] = "\n".join(_data(problem, "initial", ""))
    if problem.units:
        found["units"] = ", ".join(map(problem.label, problem.units))
    if problem.order == 2:
        found["velocity"] = "\n".join(_data(problem, "velocity", "ₜ"))
    if problem.parameters:
        found["parameters"] = ", ".join(
            f"{TERMINAL.name(n)} = {_shown(v)}" for n, v in problem.parameters.items()
        )
    return found


def _shown(value: object) -> str:
    if isinstance(value, Between):
        return f"{value.low:g} to {value.high:g}{' (in powers)' if value.log else ''}"
    if isinstance(value, Unknown):
        low, high = value.bounds
        ends = f", {low:g} to {high:g}" if np.isfinite([low, high]).any() else ""
        return f"unknown, about {value.guess:g}{ends}"
    if isinstance(value, Open):
        return f"open, about {value.nominal:g}"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _domain(problem: Problem) -> str:
    ends = zip(problem.space, problem.domain.bounds, strict=True)
    box = ", ".join(f"{low:g} ≤ {name} ≤ {high:g}" for name, (low, high) in ends)
    if problem.domain.product:
        return box
    try:
        shape = write_domain(problem.domain)
    except HcpinnError:
        shape = str(problem.domain)
    size = "area" if problem.domain.dimension == 2 else "volume"
    return f"{shape}\n{size} {problem.domain.volume:.4g}, within {box}"


def _boundary(problem: Problem) -> list[str]:
    places: dict[str, list[str]] = {}
    for side in (*problem.sides, *problem.pieces):
        for number, own in enumerate(side.conditions):
            for condition in own:
                try:
                    text = condition_text(problem, side, number, condition, TERMINAL)
                except HcpinnError:
                    text = f"{condition.kind} on {problem.fields[number]}, data by {_UNTOLD}"
                places.setdefault(text, []).append(side.place if isinstance(side, Side) else side.part)
    where = "at" if problem.domain.product else "on"
    found = [f"{text} {where} {_listed(own)}" for text, own in places.items()]
    periodic = [a for a, ends in zip(problem.space, problem.boundaries, strict=False) if ends.periodic]
    return [*found, *(f"periodic along {a}" for a in periodic)]


def _listed(places: list[str]) -> str:
    """Places in words; the two ends of an axis as one."""
    axes = list(dict.fromkeys(place.rpartition(" ")[2] for place in places))
    if len(places) == 2 and len(axes) == 1 and all(place.startswith("the ") for place in places):
        return f"both ends of {axes[0]}"
    return " and ".join([", ".join(places[:-1]), places[-1]] if places[1:] else places)


def _data(problem: Problem, role: str, mark: str) -> list[str]:
    nodes: Sequence[Node | None]
    try:
        nodes = data_nodes(problem, role)
    except HcpinnError:
        nodes = [None] * len(problem.fields)
    places = ", ".join((f"{problem.start:g}", *problem.space))
    return [
        f"{TERMINAL.name(field)}{mark}({places}) = {_UNTOLD if node is None else TERMINAL.write(node)}"
        for field, node in zip(problem.fields, nodes, strict=True)
    ]


def initial_picture(
    problem: Problem, counts: Sequence[int]
) -> tuple[list[np.ndarray], Mapping[str, np.ndarray]]:
    """The initial data by real component on a grid, in the middle of further axes; NaN outside the domain."""
    bounds = problem.domain.bounds
    axes = [np.linspace(*end, n) for end, n in zip(bounds, counts, strict=False)]
    middle = [np.array([(low + high) / 2]) for low, high in bounds[len(axes) :]]
    mesh = np.meshgrid(*axes, *middle, indexing="ij")
    with double():
        found = problem.nominal.initial_values([jnp.asarray(m) for m in mesh])
        parts = problem.real_parts(dict(zip(problem.fields, map(np.asarray, found), strict=True)))
    values = {name: np.array(v, float).reshape([len(a) for a in axes]) for name, v in parts.items()}
    if not problem.domain.product:
        points = np.stack([m.ravel() for m in mesh], axis=1)
        member = np.asarray(problem.domain.contains(points)).reshape([len(a) for a in axes])
        values = {name: np.where(member, v, np.nan) for name, v in values.items()}
    return axes, values


_COLOURS = ("#1f5fa8", "#d1602b", "#3a8f5c", "#7a4fa3", "#b3892f")


def html_of(problem: Problem) -> str:
    """The problem for a notebook: its equation typeset, its data, and a picture of its initial state."""
    rows = "".join(
        f"<tr><th style='text-align:left;vertical-align:top'>{title}</th>"
        f"<td style='text-align:left'>{html.escape(text).replace(chr(10), '<br>')}</td></tr>"
        for title, text in facts(problem).items()
    )
    lines = "".join(
        f"<div style='margin:.4em 0'><math><mrow>{line}</mrow></math></div>"
        for line in equation_lines(problem, MATHML)
    )
    return f"<div><b>{html.escape(problem.name)}</b>{lines}<table>{rows}</table>{_svg(problem)}</div>"


def _svg(problem: Problem) -> str:
    """The initial data as a small picture: curves on an interval, colours in the plane."""
    wide, high = 320, 120
    if len(problem.space) == 1:
        [x], values = initial_picture(problem, [161])
        low = min(float(np.min(v)) for v in values.values())
        span = max(float(np.max(v)) for v in values.values()) - low or 1.0
        across = (x - x[0]) / (x[-1] - x[0]) * (wide - 8) + 4
        curves = "".join(
            f"<polyline fill='none' stroke-width='1.8' stroke='{colour}' points='"
            + " ".join(
                f"{a:.1f},{high - 6 - (v - low) / span * (high - 12):.1f}"
                for a, v in zip(across, own, strict=True)
            )
            + f"'><title>{html.escape(name)}</title></polyline>"
            for (name, own), colour in zip(values.items(), _COLOURS * 4, strict=False)
        )
        frame = (
            f"<rect width='{wide}' height='{high}' fill='none' stroke='currentColor' stroke-opacity='.4'/>"
        )
        return _whole(wide, high, curves + frame, "initial data along x")
    _, values = initial_picture(problem, [40, 40])
    name, own = next(iter(values.items()))
    most = float(np.nanmax(np.abs(own))) or 1.0
    cells = "".join(
        f"<rect x='{4 * i}' y='{4 * (39 - j)}' width='4' height='4' fill='{_colour(v / most)}'/>"
        for (i, j), v in np.ndenumerate(own)
        if np.isfinite(v)
    )
    return _whole(160, 160, cells, f"initial data of {name}")


def _whole(wide: int, high: int, inner: str, title: str) -> str:
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{wide}' height='{high}' viewBox='0 0 {wide} {high}' "
        f"role='img' aria-label='{html.escape(title)}'>{inner}</svg>"
    )


def _colour(share: float) -> str:
    """From blue at −1 by white to red at 1."""
    ends = (178, 24, 43) if share > 0 else (33, 102, 172)
    return "#" + "".join(f"{round(247 + (end - 247) * abs(share)):02x}" for end in ends)
