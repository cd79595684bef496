"""The run-time type checker of the tests: as in static typing, an int passes for a float."""

from beartype import BeartypeConf, beartype

_check = beartype(conf=BeartypeConf(is_pep484_tower=True))


def check(checked):
    """Check calls of it, unless it is defined within a function: it would be prepared anew every time."""
    return checked if "<locals>" in getattr(checked, "__qualname__", "") else _check(checked)
