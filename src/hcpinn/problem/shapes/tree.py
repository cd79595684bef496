"""A shape as a tree: simple shapes joined by union, intersection and difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

Member = Callable[[np.ndarray], np.ndarray]
"""Points ↦ whether they are inside."""

OPERATIONS: dict[str, tuple[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "|": ("union", np.logical_or),
    "&": ("intersection", np.logical_and),
    "-": ("difference", lambda a, b: a & ~b),
}


@dataclass(frozen=True, eq=False)
class Made:
    """How a simple shape was declared: its kind, its arguments, and how it was moved since."""

    kind: str
    arguments: tuple[Any, ...]
    """Numbers, tuples of them, or for `implicit` its function first."""
    named: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments by name."""
    moves: tuple[tuple[str, tuple[float, ...]], ...] = ()
    """Methods called on it, with their arguments."""


@dataclass(frozen=True, eq=False)
class Leaf:
    """One simple shape: its pieces of boundary, and which points are inside."""

    name: str
    pieces: tuple[Any, ...]
    """Curves in the plane, surfaces in space; each has a `part`, `mapped` and `renamed`."""
    member: Member
    words: str
    """How its declaration reads."""
    made: Made | None = None
    """How it was declared; nothing for a leaf that belongs to the declaration of another."""

    def leaves(self) -> Iterator[Leaf]:
        yield self

    def each(self, change: Callable[[Leaf], Leaf]) -> Leaf:
        """The same tree of changed leaves, left to right."""
        return change(self)

    def renamed(self, name: str) -> Leaf:
        """The leaf by another name; names of its parts follow."""

        def part(old: str) -> str:
            return name + old[len(self.name) :] if old.startswith(self.name) else f"{name}.{old}"

        return replace(self, name=name, pieces=tuple(p.renamed(part(p.part)) for p in self.pieces))

    def mapped(self, matrix: np.ndarray, shift: np.ndarray, move: tuple[str, tuple[float, ...]]) -> Leaf:
        """The image under x ↦ M x + s, which `move` is the declaration of."""
        inverse, member = np.linalg.inv(matrix), self.member
        return replace(
            self,
            made=self.made and replace(self.made, moves=(*self.made.moves, move)),
            pieces=tuple(p.mapped(matrix, shift) for p in self.pieces),
            member=lambda points: member((points - shift) @ inverse.T),
        )

    @property
    def signature(self) -> list[Any]:
        return [self.name, *(p.signature for p in self.pieces)]


@dataclass(frozen=True, eq=False)
class Branch:
    """Two shapes joined."""

    operation: str
    left: Tree
    right: Tree

    @property
    def words(self) -> str:
        return f"({self.left.words} {self.operation} {self.right.words})"

    def leaves(self) -> Iterator[Leaf]:
        yield from self.left.leaves()
        yield from self.right.leaves()

    def each(self, change: Callable[[Leaf], Leaf]) -> Branch:
        left = self.left.each(change)
        return Branch(self.operation, left, self.right.each(change))

    def member(self, points: np.ndarray) -> np.ndarray:
        """Whether points are inside."""
        return OPERATIONS[self.operation][1](self.left.member(points), self.right.member(points))

    @property
    def signature(self) -> list[Any]:
        return [self.operation, self.left.signature, self.right.signature]


Tree = Leaf | Branch


def joined(operation: str, left: Tree, right: Tree) -> Branch:
    """Two trees as one; a name that occurs again gets a number."""
    taken: set[str] = {leaf.name for leaf in left.leaves()}

    def own(leaf: Leaf) -> Leaf:
        name, number = leaf.name, 1
        while name in taken:
            number += 1
            name = f"{leaf.name}{number}"
        taken.add(name)
        return leaf if name == leaf.name else leaf.renamed(name)

    return Branch(operation, left, right.each(own))
