"""Plain data, as JSON holds it: whether it has the shape that its readers count on."""

from __future__ import annotations

from typing import Any

NUMBER = int | float | None
"""A number that may be unknown."""


def has_shape(value: Any, shape: Any) -> bool:
    """Whether data are of a shape.

    A shape is a type or a union of types; `None`; a tuple of shapes, any of which will do; `[shape]`, a list
    of such; `{str: shape}`, such under any names; or `{"name": shape, …}`, such under these names where they
    are there, and anything under others.
    """
    if shape is None:
        return value is None
    if isinstance(shape, tuple):
        return any(has_shape(value, each) for each in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(has_shape(item, shape[0]) for item in value)
    if isinstance(shape, dict):
        every = shape.get(str)
        return isinstance(value, dict) and all(
            has_shape(item, every if str in shape else shape.get(name, object))
            for name, item in value.items()
        )
    return isinstance(value, shape)
