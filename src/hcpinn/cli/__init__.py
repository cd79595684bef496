"""The command line: one file per command, and `main`, which is there before any of them is imported."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

from ..machine import signals


def main() -> NoReturn:
    """Run the command line and end the process, without waiting for compilations that nobody needs."""
    signals.watch_over()
    from .commands import run

    code: Any = 0
    try:
        signals.handle_by(signals.interrupt)
        run()
    except SystemExit as end:
        code = end.code
    finally:
        signals.ignore()
    background = sys.modules.get("hcpinn.machine.background")  # which imports JAX
    if background is not None and background.any_running() and isinstance(code, int | None):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code or 0)
    sys.exit(code)
