"""The vector z that stands for all unknowns, and the smoothness prior of functions among them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.optimize

from ..errors import ProblemError
from ..problem import HORIZON, Between, Problem, Unknown
from .curve import Curve, UnknownFunction, roughness

_FARTHEST = 100.0
"""How many times larger or smaller than its guess an unknown without bounds may be."""

_STRENGTHS = (-16.0, 24.0)
"""Logarithms of the weakest and the strongest prior."""


class Layout:
    """Which entries of z belong to which unknown: numbers first, then the coefficients of functions."""

    def __init__(self, problem: Problem):
        """`problem` has unknowns among its parameters, and nothing else that is open."""
        self.unknowns: dict[str, Unknown] = {}
        self.curves: dict[str, Curve] = {}
        self.units: dict[str, float] = {}
        for name, value in problem.open.items():
            if name == HORIZON:
                raise ProblemError(
                    "The horizon cannot be unknown: end the problem after the last measurement."
                )
            if isinstance(value, Between):  # a range to solve for is one to search, too
                value = Unknown(value.nominal, value.low, value.high, value.log)
            if isinstance(value, Unknown):
                self.unknowns[name] = value
            elif isinstance(value, UnknownFunction):
                self.curves[name], self.units[name] = value.start(problem.nominal), value.unit
            else:
                raise ProblemError(
                    f"The parameter '{name}' of {problem.name} is {value}, which cannot be found from "
                    "measurements. "
                    "Write Unknown(guess), or close it with problem.with_parameters(…)."
                )
        self.names = tuple(self.unknowns)
        self.numbers = len(self.names)
        """How many entries of z are numbers."""
        self.slices: dict[str, slice] = {}
        size = self.numbers
        for name, curve in self.curves.items():
            self.slices[name] = slice(size, size + len(curve.coefficients))
            size += len(curve.coefficients)
        self.size = size
        if not size:
            raise ProblemError(
                f"{problem.name} has no unknowns. Declare one: parameters={{'k': hcpinn.Unknown(1.0)}}."
            )
        each = self.unknowns.values()
        spline = [c.coefficients / self.units[name] for name, c in self.curves.items()]
        endless = np.full(size - self.numbers, np.inf)
        self.start = np.concatenate([[u.to_z(u.guess) for u in each], *spline])
        self.lower = np.concatenate([[u.to_z(u.bounds[0]) for u in each], -endless])
        self.upper = np.concatenate([[u.to_z(u.bounds[1]) for u in each], endless])
        self._bounded = np.isfinite(self.lower[: self.numbers]) & np.isfinite(self.upper[: self.numbers])
        # Without bounds a search that the data do not hold would go on for ever.
        reach = np.array([np.log(_FARTHEST) if u.log else _FARTHEST for u in each] + list(endless))
        self.lower = np.maximum(self.lower, self.start - reach)
        self.upper = np.minimum(self.upper, self.start + reach)
        self.strength = dict.fromkeys(self.curves, 1.0)
        """The weight of each function's roughness relative to residuals in units of the noise."""
        self._rough = {n: roughness(len(c.coefficients), periodic=c.periodic) for n, c in self.curves.items()}

    def values(self, z: Any) -> Mapping[str, Any]:
        """The parameters that z stands for, traceable."""
        found: dict[str, Any] = {n: u.from_z(z[i]) for i, (n, u) in enumerate(self.unknowns.items())}
        for name, curve in self.curves.items():
            found[name] = dataclasses.replace(curve, coefficients=z[self.slices[name]] * self.units[name])
        return found

    def closed(self, problem: Problem, z: np.ndarray) -> Problem:
        """The problem with the parameters that z stands for."""
        found = self.values(np.asarray(z))
        closed = problem.with_parameters(
            **{name: v if isinstance(v, Curve) else float(v) for name, v in found.items()}
        )
        return closed.varying(self.names)

    def drawn(self, rng: np.random.Generator) -> np.ndarray:
        """Another place to start from: anywhere between bounds, else within a few times the guess."""
        logs = np.array([bool(u.log) for u in self.unknowns.values()], bool)
        found = self.start.copy()
        lower, upper = self.lower[: self.numbers], self.upper[: self.numbers]
        bounded = self._bounded
        low, high = np.where(bounded, lower, 0.0), np.where(bounded, upper, 1.0)
        inside = low + (high - low) * rng.uniform(0.05, 0.95, self.numbers)
        near = found[: self.numbers] + np.where(logs, 1.0, 0.5) * rng.standard_normal(self.numbers)
        found[: self.numbers] = np.clip(np.where(bounded, inside, near), lower, upper)
        for name in self.curves:
            found[self.slices[name]] += 0.3 * rng.standard_normal()
        return found

    def prior(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals that are asked to be small beside those of the data, and their slopes."""
        rows = np.zeros((sum(len(r) for r in self._rough.values()), self.size))
        first = 0
        for name, rough in self._rough.items():
            root = np.sqrt(self.strength[name])
            rows[first : first + len(rough), self.slices[name]] = root * rough
            first += len(rough)
        return rows @ z, rows

    def freedom(self, jacobian: np.ndarray) -> float:
        """How many numbers the data decide: those of z less what the prior takes."""
        if not self.curves:
            return float(self.size)
        data, prior = jacobian.T @ jacobian, self.prior(self.start)[1]
        whole = data + prior.T @ prior
        return float(np.trace(np.linalg.lstsq(whole, data, rcond=1e-14)[0]))

    def smooth(self, z: np.ndarray, residuals: np.ndarray, jacobian: np.ndarray, *, known: bool) -> None:
        """Choose the strength of each prior by the marginal likelihood of the linearised model.

        Rows are in units of the noise. Where that is not `known`, its size is chosen along.
        """
        if not self.curves:
            return
        target = jacobian @ z - residuals
        gram, right, square = jacobian.T @ jacobian, jacobian.T @ target, float(target @ target)
        ridge = 1e-10 * float(np.trace(gram)) / self.size * np.eye(self.size)
        grams, ranks = [], []
        for name, rough in self._rough.items():
            own = np.zeros((self.size, self.size))
            own[self.slices[name], self.slices[name]] = rough.T @ rough
            grams.append(own)
            ranks.append(np.linalg.matrix_rank(rough))
        free = len(target) - (self.size - sum(ranks))

        def cost(logs: np.ndarray) -> float:
            logs = np.clip(logs, *_STRENGTHS)
            whole = gram + ridge + sum(np.exp(v) * g for v, g in zip(logs, grams, strict=True))
            sign, size = np.linalg.slogdet(whole)
            if sign <= 0:
                return np.inf
            left = max(square - float(right @ np.linalg.solve(whole, right)), 1e-300)
            fit = left if known else free * np.log(left)
            return fit + size - float(np.dot(ranks, logs))

        start = np.log([self.strength[name] for name in self.curves])
        if len(start) == 1:
            tried = np.arange(_STRENGTHS[0], _STRENGTHS[1], 1.0)
            start = np.array([tried[np.argmin([cost(np.array([v])) for v in tried])]])
        found = scipy.optimize.minimize(
            cost, start, method="Nelder-Mead", options={"xatol": 0.05, "fatol": 1e-3}
        )
        for name, value in zip(self.curves, np.clip(found.x, *_STRENGTHS), strict=True):
            self.strength[name] = float(np.exp(value))
