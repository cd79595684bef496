"""Commands as a user gives them, within this process."""

import contextlib
import io
import sys

import pytest

from hcpinn.cli.commands import run


def hcpinn(*arguments):
    """Exit code, output and errors of a command."""
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.setattr(sys, "argv", ["hcpinn", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            run()
    return end.value.code or 0, out.getvalue(), err.getvalue()


def assert_refused(code, complaint, *words):
    assert code == 2
    assert "Traceback" not in complaint
    for word in words:
        assert word in " ".join(complaint.split())
