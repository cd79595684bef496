"""`make lint` notices an import that the layers of `pyproject.toml` forbid."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The package and its contracts, without what they do not look at."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(ROOT / "src" / "hcpinn", folder / "hcpinn", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def complaints(folder):
    """Exit code and output of the layer checker on a copy of the package."""
    code = "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports_command as c; c()"
    done = subprocess.run(
        [sys.executable, "-c", code, "--no-cache", "--no-logo"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("trial/gate.py", "from ..reference import solve_reference"),
        ("descent/driver.py", "import hcpinn.reference.solve"),
        ("reference/fourier.py", "from ..trial import Trial"),
        ("problem/domain.py", "from ..equation import fingerprint"),
        ("study/store.py", "from ..papers.hao2026 import rows"),
    ],
)
def test_a_forbidden_import_is_noticed(copy, module, line):
    offender = f"hcpinn.{module.removesuffix('.py').replace('/', '.')} ->"
    path = copy / "hcpinn" / module
    text = path.read_text("utf-8")
    assert offender not in complaints(copy)[1]
    path.write_text(f"{text}\n{line}\n", "utf-8")
    try:
        code, said = complaints(copy)
    finally:
        path.write_text(text, "utf-8")
    assert code == 1
    assert offender in said
