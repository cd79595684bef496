"""Draw the pictures of docs/ that show solutions, for light and dark pages.

    python benchmarks/pictures.py [NAME …]

A minute or two in all.
"""

from __future__ import annotations

import argparse
import runpy
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hcpinn as hc
from hcpinn.catalog import ENTRIES
from hcpinn.solution.canvas import finish
from hcpinn.solution.figures import gallery_figure
from hcpinn.study.picture import small_png

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
Draw = Callable[..., Any]
"""Draws to a path, on a page of a theme."""


def gallery() -> Draw:
    """The references of all problems."""
    shown = [(entry.title, entry.problem, hc.solve_reference(entry.problem)) for entry in ENTRIES.values()]
    return lambda path, *, theme: finish(gallery_figure(shown), path, theme)


def allen_cahn_1() -> Draw:
    """Reference, solution and error."""
    return hc.solve(hc.find_problem("allen-cahn-1"), accuracy=1e-6).plot


def burgers() -> Draw:
    """Profiles at three times."""
    problem = runpy.run_path(str(ROOT / "examples" / "burgers.py"))["problem"]
    return hc.solve(problem).plot_slices


PICTURES: dict[str, Callable[[], Draw]] = {
    draw.__name__.replace("_", "-"): draw for draw in (gallery, allen_cahn_1, burgers)
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(PICTURES)}")
    for name in parser.parse_args().names or PICTURES:
        draw = PICTURES[name]()
        for theme, ending in (("light", ""), ("dark", "-dark")):
            with tempfile.TemporaryDirectory() as folder:
                content = Path(draw(Path(folder) / "drawn.png", theme=theme)).read_bytes()
            path = IMAGES / f"{name}{ending}.png"
            path.write_bytes(small_png(content))
            print(f"written to {path}", flush=True)


if __name__ == "__main__":
    main()
