"""Methods by name: hcpinn's own and those of extensions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..descent import LBFGS, Adam, Method, load_method
from ..descent.text import ENGINES
from ..errors import unknown_name
from ..evolution import Evolution
from ..problem import Problem
from ..trial import MLP, Decay
from .expert import expert
from .extension import extensions
from .parts import edges, embedding


def quick(problem: Problem) -> Method:
    """A small network trained mostly by L-BFGS: minutes on a laptop."""
    return Method(
        name="quick",
        lift=Decay(1.0),
        embedding=embedding(problem, 5, even=True),
        network=MLP(24, 4),
        penalties=edges(problem, exact=True, even=True),
        points=4096,
        stages=(Adam(steps=1000, rate=3e-3), LBFGS(steps=3000)),
    )


def evolve(problem: Problem) -> Evolution:
    """Hidden weights are sampled, output weights evolve in time: many digits in seconds, nothing trained."""
    return Evolution()


ENGINES[Evolution.engine] = Evolution

_OWN: dict[str, Callable[[Problem], Any]] = {"evolve": evolve, "expert": expert, "quick": quick}


class _Methods(Mapping[str, Callable[[Problem], Any]]):
    """Methods by name; extensions are loaded when a name is not among hcpinn's own."""

    def __getitem__(self, name: str) -> Callable[[Problem], Any]:
        if name in _OWN:
            return _OWN[name]
        for added in extensions():
            if name in added.methods:
                return added.methods[name]
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return name in _OWN or any(name in added.methods for added in extensions())

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*_OWN, *(name for added in extensions() for name in added.methods))))

    def __len__(self) -> int:
        return sum(1 for _ in self)


METHODS: Mapping[str, Callable[[Problem], Any]] = _Methods()
"""Named methods; the docstring of each says what it is."""

DEFAULT, TAKES_OVER = "evolve", "expert"
"""The method used when none is named, and the one that takes over where it does not apply or get there."""


def find_method(name: str, problem: Problem) -> Any:
    """The method of this name with its settings for `problem`.

    Args:
        name: one of those that `hcpinn methods` lists; switches joined by `+`; or the path of a `.toml` file.
        problem: decides settings such as the embedding.
    """
    if name.endswith(".toml"):
        return load_method(Path(name))
    if name in METHODS:
        return METHODS[name](problem)
    switches = [found for added in extensions() for found in added.switches]
    for found in switches:
        if found.fits(name):
            return found.make(name, problem)
    raise unknown_name("method", name, (*METHODS, *(part for found in switches for part in found.parts)))
