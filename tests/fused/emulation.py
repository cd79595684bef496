"""The CUDA kernels compiled for the CPU, thread by thread, to check their mathematics without a GPU."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from hcpinn.fused import cuda
from hcpinn.fused.plan import Plan

HEADER = Path(__file__).with_name("emulator.h")


def emulated(plan: Plan, folder: Path) -> ctypes.CDLL:
    """A library with the kernels of a plan; skips the test where there is no C++ compiler."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler here")
    code = cuda.source(plan).replace(
        "extern __shared__ Cell shared[];", "Cell* shared = reinterpret_cast<Cell*>(arena);"
    )
    names = [f"x{s}" for s in range(plan.streams)]
    text = f'#include "{HEADER}"\n{code}\nextern "C" {{\n'
    for kernel, count in (("hcpinn_forward", 6), ("hcpinn_backward", 5)):
        pointers = [*names, *[f"p{i}" for i in range(count)]]
        given = ", ".join(f"real* {p}" for p in pointers)
        text += (
            f"void run_{kernel}({given}) {{ emulate({plan.tiles}, {max(plan.runs, 1)}, THREADS, "
            f"[=] {{ {kernel}({', '.join(pointers)}); }}); }}\n"
        )
    path = folder / "kernels.cpp"
    path.write_text(re.sub(r"#pragma unroll( 1)?\n", "\n", text) + "}\n")
    library = folder / "kernels.so"
    command = [compiler, "-std=c++17", "-O0", "-shared", "-fPIC", str(path), "-o", str(library)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return ctypes.CDLL(str(library))


def call(library: ctypes.CDLL, name: str, inputs: list[np.ndarray], shapes: list[tuple[int, ...]]) -> list:
    """Runs a kernel, in the precision of its inputs; the results are filled with NaN before."""
    outputs = [np.full(shape, np.nan, inputs[0].dtype) for shape in shapes]
    arrays = [np.ascontiguousarray(a) for a in inputs] + outputs
    getattr(library, f"run_{name}")(*[a.ctypes.data_as(ctypes.c_void_p) for a in arrays])
    return outputs
