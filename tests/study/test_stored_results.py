"""The stores of `results/` open, and their solutions are judged as their records say."""

from pathlib import Path

import pytest

from hcpinn.descent import from_dict
from hcpinn.study import Store

RESULTS = Path(__file__).parents[2] / "results"
STORES = {
    "paper": 584,
    "experiments": 14,
    "speed/penalties-alone": 4,
    "speed/penalties-alone-after": 4,
    "speed/penalties-together": 12,
    "speed/table": 12,
}


@pytest.mark.parametrize("name", STORES)
def test_every_record_is_there(name):
    records = Store(RESULTS / name).records()
    assert len({record.key for record in records}) == len(records) == STORES[name]
    assert all(record.done and record.summary["rel_l2"] and len(record.history["loss"]) for record in records)


@pytest.mark.parametrize("name", ["paper", "experiments"])
def test_a_solution_of_each_problem_is_judged_as_its_record_says(name):
    store, found = Store(RESULTS / name), {}
    for record in store.records():
        with store.file("solutions", record.key) as path:
            if path is not None:
                found.setdefault(record.problem, record)
    assert len(found) == {"paper": 9, "experiments": 1}[name]
    for record in found.values():
        said = store.solution(record.key).summary()
        # A lean solution has no reference, old records do not say how kernels were chosen or estimate errors,
        # and the sentences about stops have changed.
        for part in ("reference", "kernels", "estimated_error", "stop_reason", "engine", "notes"):
            del said[part]
        assert from_dict(said.pop("method_settings")) == from_dict(record.summary["method_settings"])
        assert said == {part: record.summary[part] for part in said}
