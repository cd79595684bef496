"""Studies that train in seconds."""

import json
import time

import numpy as np

import hcpinn as hc
from declarations import declare
from hcpinn.study import Record, Section, Study

DECAY = declare(name="decay", rhs=lambda u, k: -k * u, parameters={"k": 1.0})


def method(**changes):
    settings = {
        "name": "small",
        "lift": hc.Decay(0.3),
        "embedding": hc.Fourier(1),
        "network": hc.MLP(6, 1),
        "points": 64,
        "stages": (hc.Adam(steps=300, rate=1e-2, precision="float64"),),
    }
    return hc.Method(**{**settings, **changes})


def soft(**changes):
    return method(
        name="soft", lift=hc.NoLift(), gate=hc.NoGate(), penalties=(hc.InitialPenalty(16),), **changes
    )


def study(*runs, name="small", **settings):
    return Study(name, name, (Section("only", "The only section", tuple(runs), **settings),))


def same(one, other):
    """Whether two records tell of the same outcome, to the bit."""
    apart = ("wall_s", "device", "versions")
    facts = [{k: v for k, v in r.summary.items() if k not in apart} for r in (one, other)]
    curves = set(one.history) == set(other.history) and all(
        np.array_equal(one.history[name], other.history[name], equal_nan=True) for name in one.history
    )
    return (one.key, one.status, one.trained_together) == (
        other.key,
        other.status,
        other.trained_together,
    ) and (facts[0] == facts[1] and curves)


def wait_for(happened, child=None):
    """What a function finds, once it does; a child that ends before is a failure."""
    deadline = time.monotonic() + 120
    while not (found := happened()):
        assert time.monotonic() < deadline
        assert child is None or child.poll() is None
        time.sleep(0.01)
    return found


def record(**changes):
    settings = {
        "key": "ab" * 20,
        "problem": "decay",
        "parameters": {"k": 1.0},
        "method": "small",
        "method_text": json.dumps({"name": "small", "points": 64}),
        "seed": 3,
        "status": "done",
        "summary": {"rel_l2": {"u": 0.1}, "method_settings": {"name": "small", "points": 64}},
        "history": {"step": np.array([1, 2, 9]), "loss": np.array([1.0, np.nan, 1 / 3])},
        "trained_together": 4,
        "commit": "abc",
        "finished": "2026-01-01T00:00:00+00:00",
        "group": ("ab" * 6, "cd" * 6),
        "accuracy": 1e-2,
    }
    return Record(**{**settings, **changes})
