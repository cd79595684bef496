"""One self-contained page with sliders for time and parameters, which evaluates the network in the browser.

The page holds the network at all nodes of a family, or of one solution, as numbers, and the few lines that
evaluate it. What initial and boundary data add is Python code, so it comes as Chebyshev series to rounding.
"""

from __future__ import annotations

import base64
import html
import itertools
import json
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import HcpinnError
from ..evolution import Function
from ..family import Exact, Member, Network, Remains
from ..family.nodes import leja
from ..machine.files import write_bytes
from ..machine.precision import double
from ..trial.edges import join_edges
from ..trial.walls import Walls

if TYPE_CHECKING:
    from .family import Family
    from .solution import Solution

_DEGREE = 12
_MOST_PIECES = 64
_CLOSE = 1e-10
_LARGE = 1 << 20
"""Numbers of an array from which on single precision will do."""


def write_page(solution: Solution | Family, path: str | Path) -> Path:
    """Write the page of a solution or a family, in one space dimension."""
    problem = solution.problem
    if len(problem.space) != 1:
        raise HcpinnError(
            f"A page shows one space dimension, but {problem.name} has {len(problem.space)}. "
            "Use plot() or animate(…)."
        )
    with double():
        network, exact, nodes = _parts(solution)
        facts = _facts(solution) | _network(network) | _carried(network, exact, nodes)
    template = resources.files(__name__.rpartition(".")[0]).joinpath("page.html").read_text(encoding="utf-8")
    text = template.replace("@title@", html.escape(problem.name)).replace(
        "@verdict@", html.escape(str(solution.verdict))
    )
    return write_bytes(path, text.replace("@data@", json.dumps(facts).replace("<", "\\u003c")).encode())


def _parts(solution: Any) -> tuple[Network, Exact, np.ndarray]:
    """The network, what carries the data, and the parameters of each node."""
    function = solution.function
    if isinstance(function, Member):
        return function.network, function.exact, np.asarray(function.values, float).reshape(1, -1)
    if isinstance(function, Function):
        carrier, waves = function.carrier, function.carrier.waves
        tail = None if waves is None else waves.tail_rate
        components = len(solution.problem.components)
        remains = Remains.none(components) if tail is None else Remains.of([carrier], tail, 0.0)
        network = Network(function.layers, function.edges, function.powers, remains)
        return network, Carried(carrier), np.zeros((1, 0))
    if hasattr(function, "interpolation"):
        return function.network, function.exact, function.interpolation.nodes
    raise HcpinnError(
        f"A page evaluates networks that evolved, but this one was found by {function.engine}: solve with "
        "evolve."
    )


class Carried(Exact):
    """ψ of one evolution, without the waves that go with the network."""

    def __init__(self, carrier: Any):
        tail = None if carrier.waves is None else carrier.waves.tail_rate
        super().__init__(carrier.problem, (), tail)
        self.carrier = carrier

    def __call__(self, rows: Any) -> Any:
        """ψ at rows."""
        return self.carrier.function(rows) if self.tail is None else super().__call__(rows)


def _facts(solution: Any) -> dict[str, Any]:
    """What the page says and lets be chosen."""
    problem = solution.problem
    whole = getattr(solution.function, "interpolation", None)
    horizon = whole and solution.function.exact.problem.horizon
    facts: dict[str, Any] = {
        "components": list(problem.components),
        "time": [problem.start, horizon or problem.horizon],
        "space": list(problem.domain.bounds[0]),
        "axis": problem.space[0],
        "parameters": [],
        "pieces": [{"low": 0.0, "high": 1.0, "indices": [[]], "surpluses": [[1.0]]}],
        "leja": leja().tolist(),
    }
    if whole is not None:
        facts["parameters"] = [
            {"name": name, "low": own.low, "high": own.high, "log": own.log}
            for name, own in zip(solution.names, whole.ranges, strict=True)
        ]
        facts["pieces"] = [
            {
                "low": piece.low,
                "high": piece.high,
                "indices": piece.grid.indices.tolist(),
                "surpluses": piece.grid.to_surpluses.tolist(),
            }
            for piece in whole.pieces
        ]
    return facts


def _network(network: Network) -> dict[str, Any]:
    (layers,) = network.layers
    own = network.remains
    return {
        "edges": np.asarray(network.edges).tolist(),
        "powers": _packed(network.powers),
        "of": list(layers.of),
        "layers": [
            {
                "weights": _packed(layer.weights),
                "biases": _packed(layer.biases),
                "mix": _packed(layer.mix),
                "polynomials": _packed(layer.polynomials),
                "low": layer.low,
                "high": layer.high,
                "periodic": layer.periodic,
                "powers": list(layer.powers),
            }
            for layer in layers.kinds
        ],
        "waves": {
            "numbers": _packed(own.numbers),
            "real": _packed(np.real(own.amplitudes)),
            "imag": _packed(np.imag(own.amplitudes)),
            "decay": _packed(np.real(own.rates)),
            "turn": _packed(np.imag(own.rates)),
            "start": own.start,
            "low": own.low,
            "tail": own.tail,
        },
    }


def _carried(network: Network, exact: Exact, nodes: np.ndarray) -> dict[str, Any]:
    """ψ = P(t, x) + e^{−Λ(t − t₀)} A(x) at every node, as series on pieces of the axis and on time steps."""
    problem, tail = exact.problem, exact.tail or 0.0
    (low, high), start = problem.domain.bounds[0], float(problem.start)
    compiled = jax.jit(exact)

    def carried(t: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Nodes × places × components."""
        points = np.stack([t, x], axis=1)
        values = np.repeat(nodes[:, : len(exact.names)], len(points), axis=0)
        rows = np.concatenate([np.tile(points, (len(nodes), 1)), values], axis=1)
        return np.asarray(compiled(jnp.asarray(rows))).reshape(len(nodes), len(points), -1)

    def fixed(x: np.ndarray) -> np.ndarray:
        begin = carried(np.full_like(x, start), x)
        return begin - moved(np.full_like(x, start), x) if exact.tail else begin

    def moved(t: np.ndarray, x: np.ndarray) -> np.ndarray:
        if not exact.tail:
            return carried(t, x) - carried(np.full_like(t, start), x)
        found = []
        for own in nodes if len(exact.names) else [()]:
            values = {**problem.parameters, **dict(zip(exact.names, map(float, own), strict=True))}
            edges = join_edges(problem, Walls(problem).held, values)
            found.append(np.asarray(edges(jnp.asarray(t), [jnp.asarray(x)])))
        return np.stack(found)

    nodes_x = np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
    to_series = 2 / (_DEGREE + 1) * np.cos(np.outer(np.arange(_DEGREE + 1), np.arccos(nodes_x)))
    to_series[0] /= 2
    check = np.linspace(-0.97, 0.97, 9)
    at_check = np.cos(np.outer(np.arccos(check), np.arange(_DEGREE + 1)))
    pieces, todo = [], [(low, high)]
    while todo:
        a, b = todo.pop()
        middle, half = (a + b) / 2, (b - a) / 2
        values = fixed(middle + half * nodes_x)
        series = np.einsum("dn,knc->kdc", to_series, values)
        gap = np.abs(np.einsum("pd,kdc->kpc", at_check, series) - fixed(middle + half * check)).max()
        if gap <= _CLOSE * max(1.0, np.abs(values).max()) or b - a < (high - low) / _MOST_PIECES:
            pieces.append((a, b, series))
        else:
            todo += [(middle, b), (a, middle)]
    result: dict[str, Any] = {
        "tail": tail,
        "cuts": [pieces[0][0], *(b for _, b, _ in pieces)],
        "fixed": _packed(np.stack([s for _, _, s in pieces])),
        "moved": None,
    }
    edges = np.asarray(network.edges, float)
    times = np.concatenate([a + (b - a) * (1 + nodes_x) / 2 for a, b in itertools.pairwise(edges)])
    probe = moved(np.linspace(start, edges[-1], 7), np.full(7, 0.37 * low + 0.63 * high))
    if np.abs(probe).max() > 1e-13:
        tables = []
        for a, b, _ in pieces:
            x = (a + b) / 2 + (b - a) / 2 * nodes_x
            t, place = (g.ravel() for g in np.meshgrid(times, x, indexing="ij"))
            values = moved(t, place).reshape(len(nodes), len(edges) - 1, _DEGREE + 1, _DEGREE + 1, -1)
            tables.append(np.einsum("pt,qx,kstxc->skpqc", to_series, to_series, values))
        result["moved"] = _packed(np.stack(tables))  # piece × step × node × power of t × of x × component
    return {"carried": result}


def _packed(array: Any) -> dict[str, Any]:
    """An array as base64."""
    values = np.ascontiguousarray(np.asarray(array, "<f8"))
    kind = "f8" if values.size < _LARGE else "f4"
    data = base64.b64encode(values.astype(f"<{kind}").tobytes()).decode()
    return {"shape": list(values.shape), "kind": kind, "data": data}
