"""The CUDA kernels compiled for the CPU, thread by thread, to check their mathematics without a GPU."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from hcpinn.jets.fused import cuda
from hcpinn.jets.fused.plan import KernelPlan

HEADER = Path(__file__).with_name("emulator.h")


def emulated(plan: KernelPlan, kernel: str, folder: Path) -> ctypes.CDLL:
    """A library with a kernel of a plan; skips the test where there is no C++ compiler."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler here")
    code = cuda.source(plan, kernel).replace(
        "extern __shared__ Cell shared[];", "Cell* shared = reinterpret_cast<Cell*>(arena);"
    )
    names = [f"x{s}" for s in range(plan.streams)]
    count = 6 if kernel == "hcpinn_forward" else 5 + len(cuda.scratch(plan))
    pointers = [*names, *[f"p{i}" for i in range(count)]]
    given = ", ".join(f"real* {p}" for p in pointers)
    blocks = plan.padded // cuda.block(plan, kernel).points
    text = (
        f'#include "{HEADER}"\n{code}\nextern "C" void run({given}) {{\n'
        f"  emulate({blocks}, {max(plan.runs, 1)}, THREADS, [=] {{ {kernel}({', '.join(pointers)}); }});\n}}\n"
    )
    path = folder / "kernels.cpp"
    path.write_text(re.sub(r"#pragma unroll( \d+)?\n", "\n", text))
    library = folder / "kernels.so"
    command = [compiler, "-std=c++17", "-O1", "-shared", "-fPIC", str(path), "-o", str(library)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return ctypes.CDLL(str(library))


def call(library: ctypes.CDLL, inputs: list[np.ndarray], shapes: list[tuple[int, ...]]) -> list:
    """Runs a kernel, in the precision of its inputs; the results are filled with NaN before."""
    outputs = [np.full(shape, np.nan, inputs[0].dtype) for shape in shapes]
    arrays = [np.ascontiguousarray(a) for a in inputs] + outputs
    library.run(*[a.ctypes.data_as(ctypes.c_void_p) for a in arrays])
    return outputs
