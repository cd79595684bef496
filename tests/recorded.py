"""Records for tests: real settings of real methods, with errors chosen by the test."""

import json
from functools import cache

import numpy as np

from hcpinn.catalog import find_method, find_problem
from hcpinn.descent import to_dict, with_budget
from hcpinn.descent.runs import Run
from hcpinn.study import Record, run_key


@cache
def _declared(problem, parameters):
    return find_problem(problem).with_parameters(**dict(parameters))


def record(
    problem, method, error=None, *, l1=None, seed=0, steps=None, reason="", together=1, at=None, **parameters
):
    """A finished run with this relative L2 error (a number, or one per field), or one that failed."""
    declared = _declared(problem, tuple(parameters.items()))
    settings = find_method(method, declared) if isinstance(method, str) else method
    if steps is not None:
        settings = with_budget(settings, steps=steps)
    fields = error if isinstance(error, dict) else {"u": error}
    step = np.asarray([1, 25_000, 50_000, 52_000, 55_000])
    summary = {
        "rel_l2": fields,
        "rel_l1": {"u": l1},
        "rel_l2_at": at or {},
        "verdict": "converged" if error is not None and max(fields.values()) <= 1e-2 else "not converged",
        "wall_s": 120.0,
        "device": "cpu: test",
        "versions": {"hcpinn": "0.1.0", "jax": "0.10.2"},
        "reference": {"solver": "Fourier", "error_estimate": 1e-9},
    }
    return Record(
        key=run_key(Run(declared, settings, seed)),
        problem=problem,
        parameters=dict(declared.parameters),
        method=settings.name,
        method_text=json.dumps(to_dict(settings)),
        seed=seed,
        status="failed" if reason else "done",
        reason=reason,
        summary={} if reason else summary,
        history={} if reason else {"step": step, "loss": np.asarray([1.0, 1e-2, 1e-3, 1e-4, 1e-5])},
        trained_together=together,
        commit="0123abc",
        finished=f"2026-01-0{1 + seed % 9}T12:00:00+00:00",
    )
