"""What the model of cost foresees for the runs of a store, and what they took."""

from __future__ import annotations

from collections.abc import Iterable

from hcpinn import Run, find_problem
from hcpinn.descent import from_dict
from hcpinn.study import Record
from hcpinn.study.cost import Machine, cost
from hcpinn.study.rows import device_seconds


def foreseen(records: Iterable[Record], machine: Machine) -> list[tuple[float, float]]:
    """For each group of which there are records, the seconds foreseen on a machine and those it took."""
    pairs = []
    for record in {record.group: record for record in records if record.done}.values():
        problem = find_problem(record.problem).with_parameters(**record.parameters)
        run = Run(problem, from_dict(record.summary["method_settings"]))
        seconds = cost([run] * record.trained_together, machine).seconds
        pairs.append((seconds, device_seconds(record) * record.trained_together))
    return pairs
