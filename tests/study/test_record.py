"""Keys tell runs apart by what decides their outcome, and records survive being written."""

import dataclasses
import json

import jax.numpy as jnp
import numpy as np
import pytest

import hcpinn as hc
from hcpinn.errors import FileError
from hcpinn.study import Record, run_key
from hcpinn.study.record import VERSION
from small_studies import DECAY, method, record

RUN = hc.Run(DECAY, method())


def with_lift(factor):
    return method(lift=hc.CustomLift(lambda t, x: jnp.cos(jnp.pi * x) * (1 - factor * t)))


@pytest.mark.parametrize(
    "other",
    [
        hc.Run(DECAY, method(), seed=1),
        hc.Run(DECAY, method(points=65)),
        hc.Run(DECAY, method(lift=hc.Decay(0.31))),
        hc.Run(DECAY, method(stages=(hc.Adam(steps=301, rate=1e-2, precision="float64"),))),
        hc.Run(DECAY.with_parameters(k=1.0000001), method()),
        hc.Run(dataclasses.replace(DECAY, rhs=lambda u, k: -k * u + 1e-6 * u.xx), method()),
    ],
)
def test_whatever_decides_the_outcome_changes_the_key(other):
    assert run_key(other) != run_key(RUN)


def test_accuracy_decides_verdicts_and_so_the_key():
    assert run_key(RUN, 1e-3) != run_key(RUN, 1e-2)


def test_names_do_not_count():
    renamed = hc.Run(dataclasses.replace(DECAY, name="else"), method(name="else"))
    assert run_key(renamed) == run_key(RUN)
    best, row = (hc.find_method(name, hc.find_problem("allen-cahn-1")) for name in ("paper", "pbc+ic1+sa"))
    assert best.name != row.name
    problem = hc.find_problem("allen-cahn-1")
    assert run_key(hc.Run(problem, best)) == run_key(hc.Run(problem, row))


def test_functions_of_ones_own_count_by_what_they_compute():
    keys = [run_key(hc.Run(DECAY, with_lift(factor))) for factor in (0.1, 0.1, 0.2)]
    assert keys[0] == keys[1] != keys[2]


def test_a_record_survives_json():
    given = record()
    again = Record.from_plain(json.loads(json.dumps(given.to_plain(), allow_nan=False)), source="here")
    for name in (
        *("key", "problem", "parameters", "method", "method_text", "seed", "status", "reason"),
        *("summary", "group", "accuracy"),
    ):
        assert getattr(again, name) == getattr(given, name), name
    np.testing.assert_array_equal(again.history["step"], [1, 2, 9])
    np.testing.assert_allclose(again.history["loss"], [1.0, np.nan, 1 / 3], rtol=1e-4)


def test_records_from_before_groups_were_kept_are_read():
    plain = record(group=("ab" * 6,), accuracy=1e-2).to_plain()
    old = Record.from_plain({k: v for k, v in plain.items() if k not in ("group", "accuracy")}, source="here")
    assert (old.group, old.accuracy) == ((), None)
    assert Record.from_plain(plain, source="here").group == ("ab" * 6,)


def test_records_that_are_not_whole_or_of_another_version_are_refused():
    plain = record().to_plain()
    with pytest.raises(FileError, match="there is not a whole record: it has no valid 'seed'"):
        Record.from_plain({k: v for k, v in plain.items() if k != "seed"}, source="there")
    with pytest.raises(FileError, match=f"version 99; this hcpinn reads and writes version {VERSION}"):
        Record.from_plain({**plain, "version": 99}, source="there")
    with pytest.raises(FileError, match="not a record"):
        Record.from_plain([], source="there")


@pytest.mark.parametrize(
    "garbled",
    [
        {"summary": {"rel_l2": {"u": "small"}}},
        {"summary": {"verdict": {}}},
        {"summary": {"reference": True}},
        {"summary": {"versions": {"jax": 10}}},
        {"summary": {"parameters_trained": [37]}},
        {"history": {"step": [10**30], "loss": [1.0]}},
        {"history": {"step": [1], "loss": ["low"]}},
        {"method_text": {"stages": [{"steps": "many"}]}},
        {"device_s": "long"},
        {"group": [1]},
    ],
    ids=lambda garbled: f"{garbled}"[:40],
)
def test_records_whose_parts_are_of_another_kind_are_refused(garbled):
    with pytest.raises(FileError, match="there is not a whole record: it has no valid"):
        Record.from_plain({**record().to_plain(), **garbled}, source="there")
