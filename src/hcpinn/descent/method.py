"""A method: everything that decides how a problem is trained, and nothing of one PDE in particular."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..errors import MethodError, unknown_name
from ..objective import Batches, Penalty, WeightRule
from ..objective.sampling import SAMPLERS
from ..trial import MLP, Decay, Embedding, Fourier, Gate, Lift, LinearGate, Network, NoLift
from .lessons import Curriculum, Growth, Horizons, Lesson, Repetition, Resampling, Rule, Schedule, Windows
from .optimisers.adam import Adam
from .optimisers.lbfgs import LBFGS
from .optimisers.stage import LARGEST_COUNT, Stage


@dataclass(frozen=True, kw_only=True)
class Method:
    """How to train: the trial function's parts, the points, the weights, and the stages of optimisation.

    The defaults: 7 hidden layers of 32, 10 Fourier modes, 16,384 Latin-hypercube points, Adam for 50,000
    steps, then L-BFGS for 5,000.
    Change one thing with `dataclasses.replace(method, points=4096)`.
    """

    engine: ClassVar[str] = "descent"
    name: str = "custom"
    """Used in messages, files and tables; it has no other effect."""
    lift: Lift = Decay(1.0)
    """Carries the initial and boundary data: `Decay`, `Semigroup`, `CustomLift` or `NoLift`."""
    gate: Gate = LinearGate()
    """Vanishes where data are given: `LinearGate`, `ExponentialGate`, `CustomGate` or `NoGate`."""
    embedding: Embedding = Fourier(10)
    """What the network sees of a point: `Fourier`, `Even`, `Plain` or `Characteristic`."""
    network: Network = MLP(32, 7)
    """`MLP`, `ModifiedMLP` or `CustomNetwork`."""
    penalties: tuple[Penalty, ...] = ()
    """Conditions that the loss takes care of, because lift, gate and embedding do not."""
    points: int = 16_384
    """Residual points, per time window."""
    sampler: str = "latin-hypercube"
    """How residual points are drawn: "latin-hypercube", "sobol" or "uniform"."""
    batches: Batches | None = None
    """Mini-batches of the residual points, in first-order stages."""
    weights: WeightRule | None = None
    """How the weights of points change while a first-order stage runs; later stages freeze them."""
    resampling: Resampling | None = None
    """When residual points are replaced; never by default."""
    windows: int = 1
    """Time windows, one network each, trained one after the other from the end of the one before."""
    horizons: tuple[float, ...] = (1.0,)
    """Growing shares of a window over which all stages run in turn, on one network; the last is 1."""
    curriculum: Curriculum | None = None
    """A parameter of the problem that starts easy."""
    lessons: int = 1
    """How many times, at most, all stages run over the whole of a window, resampling before each.

    With more than one, a window ends once its estimated error is small enough for the accuracy.
    """
    growth: Growth | None = None
    """Neurons that are added to the network where its training stalls above the accuracy."""
    stages: tuple[Stage, ...] = (Adam(), LBFGS())
    """Optimisers, one after the other, each starting from the result of the one before."""

    def __post_init__(self) -> None:
        kinds: dict[str, Any] = {
            "lift": Lift,
            "gate": Gate,
            "embedding": Embedding,
            "network": Network,
        }
        choices: dict[str, Any] = {
            "batches": Batches,
            "weights": WeightRule,
            "resampling": Resampling,
            "curriculum": Curriculum,
            "growth": Growth,
        }
        for part, kind in {**kinds, **choices}.items():
            value = getattr(self, part)
            if not isinstance(value, kind) and not (value is None and part in choices):
                raise MethodError(f"{part} must be a {kind.__name__}, but is {value!r}.")
        if not isinstance(self.name, str):
            raise MethodError(f"The name of a method must be text, but is {self.name!r}.")
        for part in ("points", "windows", "lessons"):
            value = getattr(self, part)
            if not (isinstance(value, int) and 1 <= value <= LARGEST_COUNT):
                raise MethodError(
                    f"A method needs at least one of its {part} and at most {LARGEST_COUNT:,}, but {part} = "
                    f"{value!r}."
                )
        if self.sampler not in SAMPLERS:
            raise unknown_name("sampler", self.sampler, SAMPLERS)
        self._check_tuple("stages", Stage, "(Adam(), LBFGS())")
        self._check_tuple("penalties", Penalty, "(InitialPenalty(),)")
        if not self.stages:
            raise MethodError("A method needs at least one stage of training.")
        self._check_horizons()
        self._check_together()

    @property
    def schedule(self) -> Schedule:
        """The order of lessons: growth, within repetitions, horizons, the curriculum and windows."""
        rules: list[Rule] = [] if self.growth is None else [self.growth]
        rules += [Repetition(self.lessons), Horizons(self.horizons)]
        if self.curriculum is not None:
            rules.append(self.curriculum)
        return Schedule((*rules, Windows(self.windows)))

    def label(self, lesson: Lesson, stage: Stage) -> str:
        """The text next to the progress bar."""
        parts = ["growth" if lesson.growing else stage.label]
        if self.windows > 1:
            parts.append(f"window {lesson.window + 1}/{self.windows}")
        if self.curriculum:
            parts.append(f"{self.curriculum.parameter} × {lesson.factor:g}")
        if len(self.horizons) > 1 or self.lessons > 1:
            parts.append(f"to {lesson.share:.0%} of T")
        return ", ".join(parts)

    def __str__(self) -> str:
        from .text import to_toml

        return to_toml(self)

    def _check_tuple(self, name: str, kind: type, example: str) -> None:
        value = getattr(self, name)
        if not isinstance(value, tuple) or not all(isinstance(item, kind) for item in value):
            raise MethodError(f"{name} must be a tuple such as {example}, but is {value!r}.")

    def _check_horizons(self) -> None:
        shares: tuple[float, ...] = self.horizons
        good = isinstance(shares, tuple) and all(isinstance(s, int | float) and 0 < s <= 1 for s in shares)
        if not good or tuple(shares)[-1:] != (1.0,) or list(shares) != sorted(set(shares)):
            raise MethodError(
                f"horizons must be a tuple of growing shares that ends in 1.0, as in (0.25, 0.5, 1.0), but "
                f"is {shares!r}. For several lessons over the whole, use lessons=3."
            )

    def _check_together(self) -> None:
        """Refuse parts that make no sense together."""
        tolerant = any(stage.tolerant for stage in self.stages)
        for part in ("batches", "weights"):
            if getattr(self, part) is not None and not tolerant:
                raise MethodError(
                    f"{part} need a first-order stage such as Adam, and this method has none: a line search "
                    "compares losses, so they must not change from step to step."
                )
        if self.batches is not None:
            self.batches.check(self.points)
        if self.growth is not None:
            self._check_growth()

    def _check_growth(self) -> None:
        if self.lessons == 1:
            raise MethodError(
                "growth follows the error that lessons estimate: use several, such as lessons=10."
            )
        if self.penalties or isinstance(self.lift, NoLift):
            raise MethodError(
                "growth needs a lift, and conditions that hold by construction, but the lift is "
                f"{self.lift!r} and penalties are {self.penalties!r}."
            )
        if self.windows > 1:
            raise MethodError(
                f"growth adds neurons over the whole of time, but there are {self.windows} windows. Use "
                "horizons=(0.1, 0.3, 1.0) instead, which grow in time on one network."
            )


def with_budget(method: Method, *, steps: Sequence[int] | None = None, points: int | None = None) -> Method:
    """The method with other budgets: steps for each stage in turn, where 0 leaves it out, and points."""
    if method.engine != Method.engine and (steps is not None or points is not None):
        raise MethodError(
            f"{method.name} trains nothing, so it takes no steps or points. Name another method."
        )
    if points is not None:
        batches = method.batches and replace(method.batches, size=-(-points // method.batches.count))
        method = replace(method, points=points, batches=batches)
    if steps is not None:
        if len(steps) != len(method.stages) or min(steps) < 0:
            names, count = ", ".join(stage.label for stage in method.stages), len(method.stages)
            raise MethodError(
                f"steps takes {count} whole number{'s' * (count > 1)}, one for each of {names}; not "
                f"'{','.join(map(str, steps))}'. A zero leaves a stage out."
            )
        pairs = zip(method.stages, steps, strict=True)
        kept = tuple(stage.with_steps(count) for stage, count in pairs if count)
        method = replace(method, stages=kept)
    return method
