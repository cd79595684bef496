"""Peak memory of a training step (loss and gradient) at many points: AC-1, 7 × 32, 10 Fourier modes.

python benchmarks/memory.py [--points 1000000] [--precision float64]
"""

from __future__ import annotations

import argparse
import resource
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "contestants"))

import hcpinn_jets


def peak_gib() -> float:
    """The most memory this process ever held."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--precision", choices=["float32", "float64"], default="float64")
    options = parser.parse_args()
    steps = hcpinn_jets.make(options.points, 2, options.precision)
    loss = steps(1)
    print(
        f"{options.points:,} points, {options.precision}: loss {loss:.6g}, peak memory {peak_gib():.2f} GiB"
    )


if __name__ == "__main__":
    main()
