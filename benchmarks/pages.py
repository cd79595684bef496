"""Pages whose sections between `<!-- begin NAME -->` and `<!-- end NAME -->` are generated from data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path


def filled(page: str, sections: Mapping[str, str]) -> str:
    """A page with these texts for its sections; rules under the heads of tables have no blanks."""
    for name, text in sections.items():
        text = re.sub(r"^\|[ :|-]+\|$", lambda rule: rule[0].replace(" ", ""), text, flags=re.MULTILINE)
        between = re.compile(f"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        page, count = between.subn(lambda m, text=text: f"{m[1]}\n{text}\n\n{m[2]}", page)
        if count != 1:
            raise SystemExit(f"The page has {count} sections '{name}', not one.")
    return page


def short(value: float) -> str:
    """A number of two digits for a table, as 1.4e-9."""
    return f"{value:.1e}".replace("e-0", "e-").replace(".0e", "e")


def write_sections(path: Path, sections: Mapping[str, str]) -> None:
    """Replace the sections of a file."""
    path.write_text(filled(path.read_text("utf-8"), sections), "utf-8")
    print(f"written to {path}")
