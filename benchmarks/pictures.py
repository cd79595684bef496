"""Draw the pictures of docs/ that show solutions: the gallery, Allen–Cahn, Burgers and the stirred scalar.

    python benchmarks/pictures.py [NAME …]

A minute or two in all.
"""

from __future__ import annotations

import argparse
import runpy
import tempfile
from collections.abc import Callable
from pathlib import Path

import hcpinn as hc
from hcpinn.catalog import ENTRIES
from hcpinn.solution.canvas import finish
from hcpinn.solution.figures import gallery_figure
from hcpinn.study.picture import small_png

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"


def gallery(folder: Path) -> Path:
    """The references of all problems."""
    shown = [(entry.title, entry.problem, hc.solve_reference(entry.problem)) for entry in ENTRIES.values()]
    finish(gallery_figure(shown), folder / "gallery.png")
    return folder / "gallery.png"


def allen_cahn_1(folder: Path) -> Path:
    """Reference, solution and error."""
    solution = hc.solve(hc.find_problem("allen-cahn-1"), accuracy=1e-6)
    solution.plot(folder / "allen-cahn-1.png")
    return folder / "allen-cahn-1.png"


def burgers(folder: Path) -> Path:
    """Profiles at three times."""
    _example("burgers", folder)
    return (folder / "slices.png").rename(folder / "burgers.png")


def stirring(folder: Path) -> Path:
    """The animation."""
    _example("stirring", folder)
    return (folder / "solution.gif").rename(folder / "stirring.gif")


def _example(name: str, folder: Path) -> None:
    runpy.run_path(str(ROOT / "examples" / f"{name}.py"))["main"](folder=folder)


PICTURES: dict[str, Callable[[Path], Path]] = {
    draw.__name__.replace("_", "-"): draw for draw in (gallery, allen_cahn_1, burgers, stirring)
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(PICTURES)}")
    for name in parser.parse_args().names or PICTURES:
        with tempfile.TemporaryDirectory() as folder:
            drawn = PICTURES[name](Path(folder))
            content = drawn.read_bytes()
            (IMAGES / drawn.name).write_bytes(small_png(content) if drawn.suffix == ".png" else content)
        print(f"written to {IMAGES / drawn.name}", flush=True)


if __name__ == "__main__":
    main()
