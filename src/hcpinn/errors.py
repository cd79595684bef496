"""Errors that hcpinn raises: each message names the thing, gives the numbers, and says what to do."""

import difflib
from collections.abc import Iterable


class HcpinnError(Exception):
    """Base of every error hcpinn raises on purpose."""


class ProblemError(HcpinnError):
    """A problem that cannot be solved as declared."""


class MethodError(HcpinnError):
    """A training method that does not fit the problem, or does not make sense."""


class NoSolutionError(HcpinnError):
    """A problem of which an engine found no solution at all."""


class OutOfTimeError(NoSolutionError):
    """The time was up before an engine had found anything."""


class NoReferenceError(HcpinnError):
    """There is no classical reference solution, or it could not be computed."""


class FileError(HcpinnError):
    """A file that cannot be read or written, for a reason that may pass."""


class UnusableFileError(FileError):
    """A file that was read and is of no use: it is damaged, or belongs to something else."""


class UnknownNameError(HcpinnError):
    """A name that nothing answers to."""


def unknown_name(kind: str, name: str, known: Iterable[str], *, of: str = "") -> UnknownNameError:
    """The error for an unknown name, with the nearest known one as a suggestion."""
    choices = sorted(known)
    owner = f" of {of}" if of else ""
    if not choices:
        return UnknownNameError(f"There is no {kind} '{name}'{owner}: there are none at all.")
    near = difflib.get_close_matches(str(name), choices, n=1, cutoff=0.5)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return UnknownNameError(f"There is no {kind} '{name}'{owner}.{hint} Known: {', '.join(choices)}.")
