"""The methods that the paper compares its own with."""

from __future__ import annotations

from dataclasses import replace

from ...catalog.parts import edges, embedding
from ...descent import LBFGS, Adam, Exponential, Method
from ...objective import Attention, Causal, InitialPenalty
from ...problem import Problem
from ...trial import MLP, Characteristic, ModifiedMLP, NoGate, NoLift
from .ablation import fourier_modes, row


def causal(problem: Problem) -> Method:
    """Causal training as its authors ran it: 4×128, soft initial data, ε = 100, all 300,000 steps of Adam."""
    return replace(
        _rival(problem),
        name="causal",
        network=MLP(128, 4),
        weights=Causal(tolerances=(100.0,), threshold=1.0),
    )


def rba(problem: Problem) -> Method:
    """Residual-based attention as its authors ran it: modified MLP 6×128, 300,000 steps of Adam."""
    return replace(_rival(problem), name="rba", network=ModifiedMLP(128, 6), weights=Attention())


def causal_50k(problem: Problem) -> Method:
    """Causal training within the paper's budget: its points, features, 7×32 network and step counts."""
    weights = Causal(tolerances=(100.0,))
    return replace(_short(causal(problem), problem), name="causal-50k", network=MLP(32, 7), weights=weights)


def rba_50k(problem: Problem) -> Method:
    """Residual-based attention within the paper's budget and features, with a modified MLP of 7×32."""
    return replace(_short(rba(problem), problem), name="rba-50k", network=ModifiedMLP(32, 7))


def cinn(problem: Problem) -> Method:
    """For transport: a network of x − ct alone, with penalties on initial data and periodicity."""
    return replace(row("", problem), name="cinn", embedding=Characteristic())


def _rival(problem: Problem) -> Method:
    """What the authors of causal and attention weights have in common."""
    return Method(
        lift=NoLift(),
        gate=NoGate(),
        embedding=embedding(problem, 10),
        penalties=(InitialPenalty(512, weight=100.0), *edges(problem, exact=False)),
        points=25_600,
        stages=(_decaying(300_000),),
    )


def _short(method: Method, problem: Problem) -> Method:
    """A rival with the paper's points, features and steps."""
    features = embedding(problem, fourier_modes(problem))
    return replace(method, embedding=features, points=16_384, stages=(_decaying(50_000), LBFGS()))


def _decaying(steps: int) -> Adam:
    return Adam(steps=steps, schedule=Exponential(0.9, 5000))
