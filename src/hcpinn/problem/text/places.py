"""The place of each value in a TOML text, for error messages."""

from __future__ import annotations

import bisect
import re
from typing import Any

from ...errors import FileError, ProblemError
from ...machine.files import parse_toml
from .tokens import FormulaError

Path = tuple[str | int, ...]
"""The keys and numbers that lead to a value."""

_AT = re.compile(r"This is not TOML: (.*?) \(at (?:line (\d+), column (\d+)|end of document)\)\.?", re.DOTALL)
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SCALAR = re.compile(r"[^\s,\]}#]+(?: [\d:.]+)?")
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[ \t\r]*\n\s*|.)", re.DOTALL)


class TextError(ProblemError):
    """What is wrong with a problem as text, with file, line and column."""

    def __init__(self, source: str, text: str, at: int, message: str):
        at = min(max(at, 0), len(text))
        starts = [0, *(m.end() for m in re.finditer("\n", text))]
        self.line = bisect.bisect_right(starts, at)
        """From 1 on."""
        self.column = at - starts[self.line - 1] + 1
        """From 1 on."""
        shown = text[starts[self.line - 1] :].partition("\n")[0].rstrip("\r").replace("\t", " ")
        begin = max(0, self.column - 61)
        mark = " " * (self.column - 1 - begin) + "^"
        where = f"{source}, line {self.line}, column {self.column}"
        super().__init__(f"{where}: {message}\n    {shown[begin : begin + 90]}\n    {mark}")


class Document:
    """A TOML text: its values, and where they stand."""

    def __init__(self, text: str, source: str):
        """`source` is what messages call it."""
        self.text, self.source = text, source
        try:
            self.values: dict[str, Any] = parse_toml(text)
        except FileError as error:
            found = _AT.match(str(error))
            at = len(text.rstrip())
            if found and found[2]:
                lines = text.split("\n")
                at = sum(len(line) + 1 for line in lines[: int(found[2]) - 1]) + int(found[3]) - 1
            said = f"This is not TOML: {found[1]}." if found else str(error)
            raise TextError(source, text, at if found else 0, said) from error
        self.places: dict[Path, list[int]] = {}
        """For each value where it begins, and for text where each of its characters stands."""
        self.keys: dict[Path, int] = {}
        """Where the key of each value stands."""
        _Walk(text, self.places, self.keys).document()

    def error(self, path: Path, message: str, at: int = 0) -> TextError:
        """An error about the value at the end of a path or, where there is none, about what holds it."""
        while path and path not in self.places:
            path, at = path[:-1], 0
        places = self.places.get(path, [0])
        return TextError(self.source, self.text, places[min(at, len(places) - 1)], message)

    def key_error(self, path: Path, message: str) -> TextError:
        """An error about the key of a value."""
        return TextError(self.source, self.text, self.keys.get(path, 0), message)

    def formula_error(self, path: Path, error: FormulaError) -> TextError:
        """The same for something wrong within a formula."""
        return self.error(path, error.message, max(error.at, 0))


class _Walk:
    """A walk through a text that is known to be TOML."""

    def __init__(self, text: str, places: dict[Path, list[int]], keys: dict[Path, int]):
        self.text, self.places, self.keys, self.at = text, places, keys, 0
        self.tables: dict[Path, int] = {}

    def blank(self) -> None:
        self.at = _BLANK.match(self.text, self.at).end()  # type: ignore[union-attr]

    def document(self) -> None:
        table: Path = ()
        self.blank()
        while self.at < len(self.text):
            begin = self.at
            if self.text[self.at] == "[":
                several = self.text.startswith("[[", self.at)
                self.at += 2 if several else 1
                table = self.key(())
                if several:
                    self.tables[table] = self.tables.get(table, -1) + 1
                    table = (*table, self.tables[table])
                self.at = self.text.index("]", self.at) + (2 if several else 1)
                self.places.setdefault(table, [begin])
            else:
                self.pair(table)
            self.blank()

    def pair(self, table: Path) -> None:
        begin = self.at
        path = self.key(table)
        for length in range(len(table) + 1, len(path)):
            self.places.setdefault(path[:length], [begin])
        self.at = self.text.index("=", self.at) + 1
        self.blank()
        self.value(path)

    def key(self, table: Path) -> Path:
        """The path of a key within a table."""
        found: list[str | int] = [*table]
        while True:
            self.blank()
            begin = self.at
            if self.text[self.at] in "\"'":
                found.append(self.string()[0])
            else:
                bare = _BARE.match(self.text, self.at)
                found.append(bare[0] if bare else "")
                self.at = bare.end() if bare else self.at + 1
            self.keys.setdefault(tuple(found), begin)
            self.blank()
            if not self.text.startswith(".", self.at):
                return tuple(found)
            self.at += 1

    def value(self, path: Path) -> None:
        begin, character = self.at, self.text[self.at]
        self.places[path] = [begin]
        if character in "\"'":
            self.places[path] = self.string()[1]
        elif character == "[":
            self.at += 1
            number = 0
            self.blank()
            while self.text[self.at] != "]":
                self.value((*path, number))
                number += 1
                self.comma()
            self.at += 1
        elif character == "{":
            self.at += 1
            self.blank()
            while self.text[self.at] != "}":
                self.pair(path)
                self.comma()
            self.at += 1
        else:
            scalar = _SCALAR.match(self.text, self.at)
            self.at = scalar.end() if scalar else self.at + 1

    def comma(self) -> None:
        self.blank()
        if self.text[self.at] == ",":
            self.at += 1
            self.blank()

    def string(self) -> tuple[str, list[int]]:
        """A string, and where each of its characters stands; the last place is that of the closing quote."""
        quote = self.text[self.at]
        mark = quote * 3 if self.text.startswith(quote * 3, self.at) else quote
        self.at += len(mark)
        if len(mark) == 3 and self.text.startswith("\n", self.at):
            self.at += 1
        characters, places = [], []
        while not self.closes(mark):
            escape = _ESCAPE.match(self.text, self.at) if quote == '"' else None
            if escape is None or not escape[0][1:].isspace():
                characters.append(self.text[self.at])
                places.append(self.at)
            self.at = escape.end() if escape else self.at + 1
        places.append(self.at)
        self.at += len(mark)
        return "".join(characters), places

    def closes(self, mark: str) -> bool:
        """Whether a string ends here: of four quotes after a long one the first belongs to it."""
        ends = self.text.startswith(mark, self.at)
        return ends and not (len(mark) == 3 and self.text.startswith(mark[0], self.at + 3))
