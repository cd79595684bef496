"""Problems as commands take them: a name of the catalogue, a TOML file, or a name in a Python file."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import FileError, ProblemError, unknown_name

if TYPE_CHECKING:
    from ..problem import Problem

HELP = "A problem of [bold]hcpinn list[/bold], a TOML file, or FILE.py:NAME."
"""What help says of such an argument."""

METAVAR = "NAME|FILE.toml|FILE.py:NAME"


def problem_from(name: str) -> Problem:
    """The problem that an argument stands for. A Python file is run, which FILE.py:NAME asks for."""
    from ..catalog import ENTRIES, find_problem

    path, colon, variable = name.rpartition(":")
    if colon and path.endswith(".py"):
        return _from_python(Path(path), variable)
    if name.endswith(".py"):
        raise FileError(
            f"Say which problem of the file is meant, as in {name}:problem. Running that file is then "
            "part of the command."
        )
    if name not in ENTRIES and not name.endswith(".toml") and Path(name).is_file():
        raise FileError(f"{name} is neither a .toml nor a .py file. A problem as text ends in .toml.")
    return find_problem(name)


def folder_name(name: str) -> str:
    """What the output folder of such an argument is called."""
    path, colon, variable = name.rpartition(":")
    if colon and path.endswith(".py"):
        return f"{Path(path).stem}-{variable}"
    return Path(name).stem if name.endswith(".toml") else name


def _from_python(path: Path, variable: str) -> Problem:
    from ..problem import Problem

    if not path.is_file():
        raise FileError(f"There is no file {path}.")
    spec = importlib.util.spec_from_file_location("_hcpinn_declared", path)
    if spec is None or spec.loader is None:
        raise FileError(f"{path} cannot be read as Python.")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))  # its own imports
    try:
        spec.loader.exec_module(module)
    except (SyntaxError, UnicodeDecodeError) as error:
        raise FileError(f"{path} is not Python: {error}.") from error
    finally:
        sys.path.pop(0)
    problems = [key for key, value in vars(module).items() if isinstance(value, Problem)]
    found = getattr(module, variable, None)
    if found is None:
        raise unknown_name("problem", variable, problems, of=str(path))
    if callable(found):
        found = found()
    if not isinstance(found, Problem):
        raise ProblemError(
            f"{variable} of {path} must be an hcpinn.Problem or a function returning one, but is {found!r}."
        )
    return found
