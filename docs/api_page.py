"""Fill api.md with every public name, room by room: a hook of MkDocs.

There is no second list: a name that `hcpinn` or the `__init__.py` of one of the guests below makes public is
on the page, under the package that defines it. A class that users make shows its arguments, one that they
receive its public members.
"""

import ast
import dataclasses
import importlib
import inspect
import re
import textwrap
from types import ModuleType

_SECTIONS = "<!-- every public name -->"
_FIRST = ("problem", "solving", "solution", "evolution", "descent", "trial", "objective")
"""Packages that a reader meets first; the others follow in the order of their names."""
_GUESTS = ("hcpinn.study", "hcpinn.theory", "hcpinn.papers.hao2026.theory")
"""Packages with public names of their own."""
_RECEIVED = ("Solution", "Verdict", "Reference", "Fit", "Family", "Store", "Record")
"""Classes that are handed to users, who do not make them."""
_SHAPE = ("plot", "move", "scale", "turn")
_METHODS = {
    "Problem": ("with_parameters", "to_text", "axes", "fields"),
    "Disk": _SHAPE,
    "Polygon": ("from_file",),
}
"""What users call on an object that they have made."""


def on_page_markdown(markdown: str, page, **_) -> str:
    """Put the sections where the page has its mark."""
    return markdown.replace(_SECTIONS, sections()) if page.file.src_uri == "api.md" else markdown


def on_page_content(html: str, page, **_) -> str:
    """Docstrings link to pages by their files; let these links lead to what is built of them."""
    return (
        re.sub(r'href="([^":]+)\.md([#"])', r'href="\1.html\2', html)
        if page.file.src_uri == "api.md"
        else html
    )


def sections() -> str:
    """A section for each package that defines public names, then one for each guest."""
    package = importlib.import_module("hcpinn")
    rooms: dict[str, list[str]] = {}
    for name in sorted(package.__all__, key=lambda name: (name.islower(), name)):  # classes, then functions
        found = getattr(package, name)
        room = rooms.setdefault(".".join(_home(found, "hcpinn").split(".")[:2]), [])
        room += [_entry("hcpinn", each.__name__, each) for each in _family(found)] or [
            _entry("hcpinn", name, found)
        ]
    parts = [
        _section(name.capitalize(), f"hcpinn.{name}", rooms[f"hcpinn.{name}"]) for name in _ordered(rooms)
    ]
    for guest in _GUESTS:
        module = importlib.import_module(guest)
        entries = [_entry(guest, name, getattr(module, name)) for name in public(module)]
        parts.append(_section(f"`{guest}`", guest, entries))
    return "\n\n".join(parts)


def public(module: ModuleType) -> list[str]:
    """The names that a package makes public: those it imports from its modules."""
    names = (name for name, found in vars(module).items() if not inspect.ismodule(found))
    return sorted(
        (name for name in names if not name.startswith("_")), key=lambda name: (name.islower(), name)
    )


def _ordered(rooms: dict[str, list[str]]) -> list[str]:
    names = [room.partition(".")[2] for room in rooms]
    return [*(name for name in _FIRST if name in names), *sorted({*names} - {*_FIRST})]


def _family(found: object) -> list[type]:
    """An error and those derived from it; nothing for anything else."""
    if not (inspect.isclass(found) and issubclass(found, Exception)):
        return []
    return [found, *(each for derived in found.__subclasses__() for each in _family(derived))]


def _section(title: str, module: str, entries: list[str]) -> str:
    about = inspect.getdoc(importlib.import_module(module)) or ""
    return "\n\n".join([f"## {title}", about.partition("\n\n")[0], *entries])


def _entry(package: str, name: str, found: object) -> str:
    """The directive for a name: where it is defined, or, for a plain value, where it is public."""
    place = f"{_home(found, package)}.{getattr(found, '__qualname__', name)}"
    directive = f"::: {place}"
    if not inspect.isclass(found) or name in _RECEIVED:
        return directive
    parts = [f"{directive}\n    options:\n      members: false", arguments(found)]
    for member in _METHODS.get(name, ()):
        method = getattr(found, member, None)
        own = (
            f"{method.__module__}.{method.__qualname__}"
            if inspect.isfunction(method)
            else f"{place}.{member}"
        )
        parts.append(f"::: {own}\n    options:\n      heading_level: 4")
    return "\n\n".join(part for part in parts if part)


def arguments(kind: type) -> str:
    """A table of what a dataclass takes, with the texts under its fields; nothing if they have none."""
    if not dataclasses.is_dataclass(kind):
        return ""
    texts = {name: text for base in reversed(kind.__mro__) for name, text in _field_texts(base).items()}
    taken = [
        field.name for field in dataclasses.fields(kind) if field.init and not field.name.startswith("_")
    ]
    rows = [f"| `{name}` | {texts[name]} |" for name in taken if texts.get(name)]
    return "\n".join(["| argument | meaning |", "|---|---|", *rows]) if rows else ""


def _field_texts(kind: type) -> dict[str, str]:
    """The string under each annotated name of a class, in one line."""
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    except (OSError, TypeError):  # a builtin
        return {}
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for statement, after in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(statement, ast.AnnAssign) and isinstance(after, ast.Expr):
            text = getattr(after.value, "value", None)
            if isinstance(text, str) and isinstance(statement.target, ast.Name):
                found[statement.target.id] = " ".join(text.split()).replace("|", "\\|")
    return found


def _home(found: object, package: str) -> str:
    """The module that defines a class or function; of anything else, the package that has it."""
    named = inspect.isclass(found) or inspect.isfunction(found)
    return found.__module__ if named else package
