"""Theory on the paper's page: the numbers, tables and figures that `hcpinn theory` left in the store."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ...errors import UnusableFileError
from ...machine.files import read_json, reading
from ...machine.plain import NUMBER, has_shape
from ...study.elements import code, facts, pictures
from ...study.numbers import number
from ...study.page import Chapter
from ...study.picture import small_png

_KINDS = (".json", ".md", ".png")
_LARGEST = 2**25
"""Bytes of a file that are read; no figure or table comes near."""

_ASIDE = ("method_settings", "versions", "device", "settings")
"""What a summary repeats of the settings."""

_SUMMARY = {
    "problem": str,
    "findings": {"reasons": (None, [str]), "status": (None, str)},
    **dict.fromkeys(("hessian_bounds", "consistency"), (None, {str: NUMBER})),
}
"""What the page reads of a summary."""


def read_theory(folder: Path) -> dict[str, Mapping[str, Any]]:
    """The summaries below a folder, by problem."""
    found = [_loaded(path, folder) for path in sorted(folder.rglob("*.json"))]
    return {
        data["problem"]: data
        for data in found
        if isinstance(data, Mapping) and {"problem", "findings"} <= data.keys()
    }


def theory_chapter(folder: Path) -> Chapter:
    """What `hcpinn theory` left in the folder of a study."""
    parts = theory_parts(folder / "theory")
    later = (
        '<p class="about">Not yet run: there are no numbers in the folder <code>theory</code> of this study. '
        "<code>hcpinn theory NAME --out DIR/theory/NAME</code> computes them.</p>"
    )
    return Chapter("theory", "Theory", parts or later, "" if parts else "not yet run")


def theory_parts(folder: Path) -> str:
    """HTML for every file below a folder, by sub-folder; empty if there are none."""
    found = sorted(path for path in folder.rglob("*") if path.suffix in _KINDS)
    parts = []
    for place in dict.fromkeys(path.parent for path in found):
        here = [path for path in found if path.parent == place]
        title = "" if place == folder else place.relative_to(folder).as_posix()
        tables = {path.stem for path in here if path.suffix == ".md"}
        told = [_table(path, folder) for path in here if path.suffix == ".md"]
        told += [
            _numbers(path, folder) for path in here if path.suffix == ".json" and path.stem not in tables
        ]
        images = [
            _image(_picture(path, folder), f"{title}: {_words(path.stem)}".removeprefix(": "))
            for path in here
            if path.suffix == ".png"
        ]
        heading = f"<h3>{escape(title)}</h3>" if title else ""
        parts.append(f'<div class="part">{heading}{"".join(told)}{pictures(images)}</div>')
    return "".join(parts)


def _numbers(path: Path, folder: Path) -> str:
    """What was found, in sentences, and all figures folded away."""
    data = _loaded(path, folder)
    findings = data.get("findings") if isinstance(data, Mapping) else None
    said = ""
    if isinstance(findings, Mapping):
        reasons = "".join(f"<li>{code(str(reason))}</li>" for reason in findings.get("reasons") or ())
        status = escape(str(findings.get("status", "")))
        said = f'<p>Explanation: <span class="badge">{status}</span></p><ul>{reasons}</ul>'
    if isinstance(data, Mapping):
        data = {name: value for name, value in data.items() if name not in _ASIDE and name != "findings"}
    try:
        rows = list(_flat(data, ""))
    except RecursionError as error:
        raise UnusableFileError(f"{path} is damaged: it has too many lists within lists.") from error
    card = facts(_words(path.stem), rows)
    return f"{said}<details><summary>{len(rows)} numbers</summary>{card}</details>"


def _table(path: Path, folder: Path) -> str:
    """A pipe table of Markdown."""
    lines = [
        line.strip().strip("|").split("|")
        for line in _text(path, folder).splitlines()
        if line.startswith("|")
    ]
    if len(lines) < 2:
        return ""
    body = "".join(f"<tr>{_cells('td', row)}</tr>" for row in lines[2:])
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(_words(path.stem))}"><table>'
        f"<thead><tr>{_cells('th', lines[0])}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _image(content: bytes, title: str) -> str:
    """A PNG as a figure that enlarges on a click."""
    data = base64.b64encode(content).decode()
    return (
        f'<figure><button type="button" aria-label="Enlarge: {escape(title)}"><img alt="{escape(title)}" '
        f'src="data:image/png;base64,{data}"></button><figcaption>{escape(title)}</figcaption></figure>'
    )


def _cells(tag: str, texts: Sequence[str]) -> str:
    return "".join(f"<{tag}>{code(text.strip())}</{tag}>" for text in texts)


def _flat(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """Every figure below a value, under its path; long lists by their length and ends."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{name} › {_words(str(key))}" if name else _words(str(key)))
    elif isinstance(value, list) and len(value) <= 4 and all(isinstance(v, int | float | str) for v in value):
        yield name, ", ".join(_said(v) for v in value)
    elif isinstance(value, list) and value and all(isinstance(v, int | float) for v in value):
        yield name, f"{len(value)} values from {_said(min(value))} to {_said(max(value))}"
    elif isinstance(value, list):
        for index, inner in enumerate(value, start=1):
            yield from _flat(inner, f"{name} {index}")
    else:
        yield name, _said(value)


def _said(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, float) else str(value)


def _words(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")


def _loaded(path: Path, folder: Path) -> Any:
    found = read_json(path, inside=folder.parent)
    if not (isinstance(found, Mapping) and "findings" in found) or has_shape(found, _SUMMARY):
        return found
    raise UnusableFileError(f"{path} is damaged: parts of the summary are of another kind.")


def _text(path: Path, folder: Path) -> str:
    try:
        return _read(path, folder).decode()
    except UnicodeDecodeError as error:
        raise UnusableFileError(f"{path} is damaged: it is not text ({error}).") from error


def _picture(path: Path, folder: Path) -> bytes:
    from PIL import Image

    try:
        return small_png(_read(path, folder))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise UnusableFileError(f"{path} is damaged: it is not a PNG of usual size ({error}).") from error


def _read(path: Path, folder: Path) -> bytes:
    """A file below `folder`, which belongs to a store."""
    with reading(path, inside=folder.parent) as stream:
        return stream.read(_LARGEST)
