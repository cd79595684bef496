"""Solve and film the problems of docs/gallery.md and docs/guides/shapes.md.

    python benchmarks/films.py [NAME …]

Runs the programs of the pages themselves, and writes the films and what they cost onto them. Films go to
docs/images/gallery, facts to results/gallery.json.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from pathlib import Path
from typing import Any

import hcpinn as hc
from pages import write_sections

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "docs" / "gallery.md", ROOT / "docs" / "guides" / "shapes.md"
FILMS = ROOT / "docs" / "images" / "gallery"
FACTS = Path(__file__).parent / "results" / "gallery.json"
_FRAMES = 41
_BLOCK = re.compile(r"^```python\n(.*?)^```$|<!-- begin film (\w+) -->", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(
    r"^##+ ((?:(?!^##).)*?)\n(?:(?!^##).)*?<!-- begin film (\w+) -->", re.MULTILINE | re.DOTALL
)


def problems() -> dict[str, hc.Problem]:
    """The problems that the pages declare, by the names of their films."""
    found = {}
    for page in PAGES:
        names: dict[str, Any] = {}
        for program, film in _BLOCK.findall(page.read_text("utf-8")):
            if film:
                found[film] = names[film]
            elif "hc.solve" not in program and ".plot(" not in program:
                exec(program, names)
    return found


def shoot(name: str, problem: hc.Problem) -> dict[str, Any]:
    """Solve, film for light and dark pages, and state what it took."""
    before = time.process_time()
    solution = hc.solve(problem)
    seconds = time.process_time() - before
    print(f"{name}: {solution.verdict}", flush=True)
    assert solution.rel_l2 is not None
    FILMS.mkdir(exist_ok=True)
    solution.animate(FILMS / f"{name}.webp", frames=_FRAMES)
    solution.animate(FILMS / f"{name}-dark.webp", frames=_FRAMES, theme="dark")
    return {
        "verdict": solution.verdict.status,
        "method": solution.method.name,
        "error": float(f"{max(solution.rel_l2.values()):.1e}"),
        "cpu_s": round(seconds, 1),
    }


def sections() -> dict[Path, dict[str, str]]:
    """By page, for each film the pictures and the facts."""
    facts = json.loads(FACTS.read_text("utf-8"))
    found = {}
    for page in PAGES:
        folder = os.path.relpath(FILMS, page.parent)
        found[page] = {
            f"film {name}": _section(name, title, folder, facts[name])
            for title, name in _TITLE.findall(page.read_text("utf-8"))
            if name in facts
        }
    return found


def _section(name: str, title: str, folder: str, facts: dict[str, Any]) -> str:
    from PIL import Image

    with Image.open(FILMS / f"{name}.webp") as film:
        width, height = film.size
    size = f'width="{width}" height="{height}" loading="lazy"'
    films = "".join(
        f"![{title}]({folder}/{name}{ending}.webp#gh-{theme}-mode-only){{ {size} }}\n"
        for ending, theme in (("", "light"), ("-dark", "dark"))
    )
    error = f"{facts['error']:.1e}".replace("e-0", "e-")
    return f"{films}\n`{facts['verdict']}`, error {error}, {facts['cpu_s']:.0f} s of CPU time."


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="some of the films; all if none is named")
    declared = problems()
    for name in parser.parse_args().names or declared:
        found = shoot(name, declared[name])
        facts = json.loads(FACTS.read_text("utf-8")) if FACTS.exists() else {}
        kept = {n: f for n, f in {**facts, name: found}.items() if n in declared}
        FACTS.write_text(json.dumps(kept, indent=2) + "\n", "utf-8")
    for page, own in sections().items():
        write_sections(page, own)


if __name__ == "__main__":
    main()
