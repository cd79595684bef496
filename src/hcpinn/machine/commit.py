"""Which source hcpinn runs from."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

VARIABLE = "HCPINN_COMMIT"
"""Says the commit where the source was copied without its history."""


@cache
def source_commit() -> str:
    """The commit of hcpinn's own checkout, '+' after it if files differ; '' where it has none."""
    if os.environ.get(VARIABLE):
        return os.environ[VARIABLE]
    folder = Path(__file__).parents[1]
    try:
        # An installed copy may lie in a folder of someone else's repository.
        _git(folder, "ls-files", "--error-unmatch", "__init__.py")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", ".")
        return _git(folder, "rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return ""


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()
