"""A method: everything that decides how a problem is trained, and nothing of one PDE in particular."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import MethodError, unknown_name
from ..sampling import SAMPLERS
from ..training import LBFGS, Adam, Stage
from ..trial import MLP, Decay, Embedding, Fourier, Gate, Lift, LinearGate, Network


@dataclass(frozen=True, kw_only=True)
class Method:
    """How to train: the trial function's parts, the points, and the stages of optimisation.

    The defaults are the protocol of the study: 7 hidden layers of 32, 10 Fourier modes,
    16,384 Latin-hypercube points, Adam for 50,000 steps, then L-BFGS for 5,000.
    Change one thing with `dataclasses.replace(method, points=4096)`.
    """

    name: str = "custom"
    lift: Lift = Decay(1.0)
    gate: Gate = LinearGate()
    embedding: Embedding = Fourier(10)
    network: Network = MLP(32, 7)
    points: int = 16_384
    sampler: str = "latin-hypercube"
    stages: tuple[Stage, ...] = (Adam(), LBFGS())

    def __post_init__(self) -> None:
        kinds = {"lift": Lift, "gate": Gate, "embedding": Embedding, "network": Network}
        for part, kind in kinds.items():
            if not isinstance(getattr(self, part), kind):
                raise MethodError(f"{part} must be a {kind.__name__}, but is {getattr(self, part)!r}.")
        if not (isinstance(self.points, int) and self.points >= 1):
            raise MethodError(f"A method needs at least one point, but points = {self.points!r}.")
        if self.sampler not in SAMPLERS:
            raise unknown_name("sampler", self.sampler, SAMPLERS)
        if not isinstance(self.stages, tuple) or not all(isinstance(s, Stage) for s in self.stages):
            raise MethodError(f"stages must be a tuple such as (Adam(), LBFGS()), but is {self.stages!r}.")
        if not self.stages:
            raise MethodError("A method needs at least one stage of training.")
