"""The command `hcpinn new`: a commented problem to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import FileError
from .app import app, check_folder

TEMPLATE = """\
# A problem for hcpinn. Solve it with:  hcpinn solve {name}
# Look at it first with:                hcpinn show {name}

# The equation as on paper: u_x, u_xx, u_xy, (u^3)_xx, laplacian(u), |u|^2, sin(u), …
# Things side by side are multiplied. A system is a list: ["u_t = …", "v_t = …"].
# A wave is stated by u_tt = …, and takes an initial `velocity` too.
equation = "u_t = gamma u_xx - 5 (u^3 - u)"

# An interval, or a box: {{ x = [0, 1], y = [0, "2 pi"] }}. Numbers may be formulas.
# A curved one: "disk((0, 0), 1) - disk((0.3, 0), 0.2, name=hole)", with conditions for `disk` and `hole`.
domain = {{ x = [-1, 1] }}

# The time at which it ends. It starts at 0, or at `start`.
horizon = 1

# At the start; of a system {{ u = "…", v = "…" }}.
initial = "x^2 cos(pi x)"

# "periodic", or what holds at every wall, such as "u = 0" or "u_n = 0", n pointing outwards.
boundary = "periodic"

# For each end its own, in place of the line above:
# [boundary]
# x.lower = "u = sin(t)"
# x.upper = "u_n + 2 u = 0"

# Named numbers, which --set changes: hcpinn solve {name} --set gamma=0.01
# A range solves for all values at once: gamma = "0.001..0.1 log"
# hcpinn fit finds an unknown from data: gamma = {{ guess = 0.01, low = 0.0001 }}
[parameters]
gamma = 0.001

# Curves from files of two columns, used as functions: initial = "profile(x)"
# [data]
# profile = "profile.csv"
"""


@app.command()
def new(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The file to write.")] = Path(
        "problem.toml"
    ),
) -> None:
    """Write a commented problem as text, to be edited and solved.

    [bold]hcpinn show[/bold] draws it before anything runs, [bold]hcpinn solve[/bold] solves it.

    Examples:

        hcpinn new mine.toml

        hcpinn new plate/problem.toml
    """
    from ..machine.files import write_bytes

    if file.suffix != ".toml":
        raise FileError(f"A problem as text ends in .toml: write hcpinn new {file.stem or 'problem'}.toml.")
    if file.exists():
        raise FileError(f"{file} exists already. Choose another name.")
    check_folder(file.parent)
    write_bytes(file, TEMPLATE.format(name=file).encode())
    typer.echo(f"Wrote {file}. Edit it, then: hcpinn solve {file}")
