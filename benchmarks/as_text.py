"""Solve every problem of examples/*.toml by its one command and as declared in Python, and compare the bits.

    python benchmarks/as_text.py --out benchmarks/results/as_text-cpu.json

The declarations in Python are those of tests/problem/text/test_read.py.
"""

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import hcpinn as hc

ROOT = Path(__file__).parents[1]


def declarations():
    """The problems as a user of Python would declare them, by the names of their files."""
    path = ROOT / "tests" / "problem" / "text" / "test_read.py"
    spec = importlib.util.spec_from_file_location("declared_in_python", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.declared()


def compared(name, settings, folder):
    """What the command left behind, and whether Python has the same values to the last bit."""
    command = [sys.executable, "-m", "hcpinn.cli", "solve", f"examples/{name}.toml", "--out", folder / name]
    ended = subprocess.run([*command, "--quiet"], cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
    facts = json.loads((folder / name / "summary.json").read_text("utf-8"))
    text = hc.load(folder / name / "solution.npz")
    before = time.process_time()
    python = hc.solve(hc.Problem(**settings), progress=False)
    seconds = time.process_time() - before
    one, other = (s.on_grid(11, *[41] * len(s.problem.space)) for s in (text, python))
    return {
        "exit_code": ended.returncode,
        "verdict": facts["verdict"],
        "rel_l2": facts["rel_l2"],
        "same_bits": all(np.array_equal(one[n], other[n], equal_nan=True) for n in one),
        "same_steps": text.history.stages == python.history.stages,
        "cpu_s": round(seconds, 1),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[])
    arguments = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, settings in declarations().items():
            if not arguments.only or name in arguments.only:
                found[name] = compared(name, settings, Path(folder))
                print(name, found[name], flush=True)
                arguments.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
