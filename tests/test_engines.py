"""Solving by the engine that evolves, which is the default, and what takes over where it does not get there."""

import dataclasses
import json
import tomllib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from declarations import declare
from hcpinn.descent import from_dict, to_dict, to_toml
from hcpinn.errors import MethodError, NoSolutionError, OutOfTimeError
from hcpinn.outcome import Stop
from hcpinn.solving import calls
from hcpinn.study import Store, run_study
from small_studies import study

HEAT = declare(rhs=lambda u: 0.02 * u.xx, initial=lambda x: jnp.sin(jnp.pi * x), boundary=hc.Periodic())
SMALL = hc.Method(embedding=hc.Fourier(1), network=hc.MLP(6, 1), points=64, stages=(hc.Adam(steps=2),))


def exact(t, x):
    return np.exp(-0.02 * np.pi**2 * t) * np.sin(np.pi * x)


@pytest.fixture(scope="module")
def solution():
    return hc.solve(HEAT, accuracy=1e-6, progress=False)


def test_the_default_evolves_and_gets_six_digits(solution):
    t, x = np.linspace(0, HEAT.horizon, 5)[:, None], np.linspace(-1, 1, 41)
    assert solution.function.engine == "evolution"
    assert solution.verdict.converged
    assert solution.stop is Stop.ACCURACY
    assert np.abs(solution(t, x) - exact(t, x)).max() < 1e-6
    assert max(solution.rel_l2.values()) <= 3 * solution.estimated_error


def test_its_derivatives_are_those_of_the_solution(solution):
    t, x = 0.4, np.linspace(-0.9, 0.9, 7)
    assert solution.dxx(t, x) == pytest.approx(-(np.pi**2) * exact(t, x), abs=1e-4)
    assert solution.dt(t, x) == pytest.approx(-0.02 * np.pi**2 * exact(t, x), abs=1e-4)
    assert np.abs(solution.residual(t, x)).max() < 1e-4


def test_it_can_be_used_inside_other_programs(solution):
    slope = jax.jit(jax.grad(lambda x: solution(0.3, x)))
    many = jax.vmap(lambda x: solution(0.3, x))(jnp.linspace(-1, 1, 5))
    assert float(slope(0.2)) == pytest.approx(
        np.pi * np.exp(-0.02 * np.pi**2 * 0.3) * np.cos(0.2 * np.pi), rel=1e-5
    )
    assert np.asarray(many) == pytest.approx(exact(0.3, np.linspace(-1, 1, 5)), abs=1e-6)


def test_a_grid_and_scattered_points_agree(solution):
    t, x = np.linspace(0, HEAT.horizon, 4), np.linspace(-1, 1, 9)
    scattered = solution(t[:, None], x)
    assert solution.on_grid(t, x)["u"] == pytest.approx(scattered, abs=1e-9)


def test_it_comes_back_from_its_file(solution, tmp_path):
    back = hc.load(solution.save(tmp_path / "solution.npz"), problem=HEAT)
    assert back.function.engine == "evolution"
    assert back.method == solution.method
    assert back.estimated_error == solution.estimated_error
    assert back(0.3, 0.1) == pytest.approx(float(solution(0.3, 0.1)), abs=1e-12)
    assert json.dumps(back.summary())


def test_its_method_is_text_like_any_other():
    method = hc.Evolution(features=120)
    assert from_dict(to_dict(method)) == method
    assert from_dict(tomllib.loads(to_toml(method))) == method
    with pytest.raises(hc.HcpinnError, match="no engine 'evolutoin'"):
        from_dict({"engine": "evolutoin"})


def test_training_takes_over_where_evolution_does_not_apply(monkeypatch):
    monkeypatch.setattr(calls, "why_not", lambda problem: "It does not apply.")
    monkeypatch.setattr(calls, "find_method", lambda name, problem: dataclasses.replace(SMALL, name=name))
    found = hc.solve(HEAT, reference=False, progress=False)
    assert found.function.engine == "descent"
    assert found.notes == ("expert took over from evolve: It does not apply.",)
    assert found.summary()["notes"] == list(found.notes)


def test_training_takes_over_where_evolution_finds_nothing(monkeypatch):
    def nothing(problem, **options):
        raise NoSolutionError("evolve found no solution.")

    named = {"expert": SMALL, "evolve": hc.Evolution()}
    monkeypatch.setattr("hcpinn.solving.engines.evolve", nothing)
    monkeypatch.setattr(calls, "find_method", lambda name, problem: named[name])
    found = hc.solve(HEAT, reference=False, progress=False)
    assert found.function.engine == "descent"
    assert "evolve found no solution." in found.notes[0]


def test_no_time_at_all_is_said_and_no_error_of_numpy():
    with pytest.raises(OutOfTimeError, match="Nothing was found within max_seconds = 0"):
        hc.solve(HEAT, "evolve", max_seconds=0.0, reference=False, progress=False)


def test_runs_by_different_engines_are_not_solved_together():
    with pytest.raises(MethodError, match="different engines"):
        hc.solve_batch([hc.Run(HEAT, SMALL), hc.Run(HEAT, hc.Evolution())])


def test_steps_and_points_are_for_training():
    with pytest.raises(MethodError, match="trains nothing"):
        hc.descent.with_budget(hc.Evolution(), points=100)


def test_a_study_holds_evolutions_like_trainings(tmp_path):
    runs = [hc.Run(HEAT, hc.Evolution(), seed) for seed in (0, 1)]
    assert run_study(study(*runs), tmp_path / "store").complete
    records = Store(tmp_path / "store").records()
    assert [r.summary["verdict"] for r in records] == ["converged", "converged"]
    assert {r.summary["engine"] for r in records} == {"evolution"}


@pytest.mark.parametrize("setting", [{"accuracy": "1e-3"}, {"accuracy": float("nan")}, {"max_seconds": "5"}])
def test_settings_that_are_no_numbers_are_refused(setting):
    with pytest.raises(MethodError, match=f"{next(iter(setting))} must be a"):
        hc.solve(HEAT, **setting)
