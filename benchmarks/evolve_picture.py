"""Draw what `evolve` does on Burgers' equation, for docs/guides/evolve.md.

    python benchmarks/evolve_picture.py

Sampled features, the orthonormal functions made of them, their weights in time, lift, solution and error.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

import hcpinn as hc
from hcpinn.evolution import Function
from hcpinn.machine.precision import double
from hcpinn.study.picture import small_png

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "evolve.png"
_SHOWN = 6
"""How many orthonormal functions and weights are drawn."""

BURGERS = hc.Problem(
    name="burgers",
    domain=hc.Interval(-1, 1),
    horizon=1.0,
    boundary=hc.Dirichlet(0.0),
    rhs=lambda u: 0.01 / np.pi * u.xx - u * u.x,
    initial=lambda x: -jnp.sin(np.pi * x),
)


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    solution = hc.solve(BURGERS, "evolve", accuracy=1e-6)
    print(solution.verdict)
    function, reference = solution.function, solution.reference
    assert isinstance(function, Function)
    assert reference is not None
    image = io.BytesIO()
    draw(function, reference).savefig(image, format="png", dpi=130)
    PICTURE.write_bytes(small_png(image.getvalue()))
    print(f"written to {PICTURE}")


def draw(function: Function, reference: hc.Reference) -> Figure:
    """Six panels: from features to functions to weights; and lift, solution, error."""
    figure, axes = plt.subplots(2, 3, figsize=(11, 5.6), layout="constrained")
    x, layer = np.linspace(-1, 1, 2001), function.layers[0].kinds[0]
    neurons = layer.neurons(x, 0)[0]
    chosen = np.linspace(0, neurons.shape[1] - 2, 24).astype(int)
    _lines(axes[0, 0], x, neurons[:, chosen], f"24 of {neurons.shape[1] - 1} sampled features")
    heading = f"{_SHOWN} of {layer.mix.shape[1]} functions φⱼ(x)"
    _lines(axes[0, 1], x, layer.derivatives(x, 0)[0][:, :_SHOWN], heading)
    times = np.linspace(function.edges[0], function.edges[-1], 400)
    _lines(axes[0, 2], times, _weights(function, times), "… and their weights cⱼ(t)", "t")
    (coordinates,) = reference.coordinates
    with double():
        lift = function.carrier.on_grid(reference.times, [coordinates], (0, 0))[0]
        found = function.on_grid(reference.times, coordinates)[0]
    scale = float(np.abs(found).max())
    for ax, values, heading in ((axes[1, 0], lift, "lift ψ(t, x)"), (axes[1, 1], found, "u = ψ + Σ cⱼ φⱼ")):
        shown = ax.pcolormesh(reference.times, coordinates, values.T, cmap="RdBu_r", vmin=-scale, vmax=scale)
        _frame(figure, ax, shown, heading)
    error = np.abs(found - reference.values["u"])
    norm = LogNorm(1e-4 * error.max(), error.max(), clip=True)
    shown = axes[1, 2].pcolormesh(reference.times, coordinates, error.T, cmap="magma", norm=norm)
    _frame(figure, axes[1, 2], shown, "|u − classical solution|")
    return figure


def _weights(function: Function, times: np.ndarray) -> np.ndarray:
    """c₁(t), c₂(t), …: on each time step a polynomial."""
    step = np.clip(np.searchsorted(function.edges, times, side="left") - 1, 0, len(function.edges) - 2)
    share = 2 * (times - function.edges[step]) / np.diff(function.edges)[step] - 1
    powers = function.powers[step, :, 0, :_SHOWN]
    return np.einsum("tq,tqj->tj", share[:, None] ** np.arange(powers.shape[1]), powers)


def _lines(ax: Axes, x: np.ndarray, values: np.ndarray, heading: str, label: str = "x") -> None:
    for number, line in enumerate(values.T):
        ax.plot(x, line, lw=1, color=plt.get_cmap("viridis")(0.9 * number / (values.shape[1] - 1)))
    ax.set(title=heading, xlabel=label)


def _frame(figure: Figure, ax: Axes, shown: object, heading: str) -> None:
    ax.set(title=heading, xlabel="t", ylabel="x")
    figure.colorbar(shown, ax=ax)  # pyright: ignore[reportArgumentType]


if __name__ == "__main__":
    main()
