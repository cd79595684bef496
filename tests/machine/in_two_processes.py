"""One of two processes that train together: ADDRESS NUMBER FOLDER. Run by `test_processes.py`."""

import sys

from hcpinn.machine.processes import is_first, join

address, number, folder = sys.argv[1:]
join(f"{address},2,{number}")

import hcpinn as hc  # noqa: E402  (whose problems compute, so that it would be too late to join)

problem = hc.find_problem("advection").with_parameters(c=2.0)
method = hc.Method(
    points=40,
    weights=hc.SelfAdaptive(),
    network=hc.MLP(4, 1),
    embedding=hc.Fourier(1),
    stages=(hc.Adam(steps=300, precision="float64"),),
)
options = {"reference": False, "out": folder}
# Time is up for the first, which decides for both.
early = hc.solve(problem, method, **options, max_seconds=0.0 if is_first() else None)
assert 0 < len(early.history.loss) < 300
solution = hc.solve(problem, method, **options, resume=True)
if is_first():
    solution.save(f"{folder}/solution.npz")
