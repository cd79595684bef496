"""The code of a problem's functions as a short hexadecimal string: what they compute, whatever it is.

Values at points cannot tell two functions apart that differ between the points. Here a function is its
bytecode, its constants, defaults and closure, and all that its code names, followed to the end. Where
something cannot be followed there is no string, and nothing may be assumed to be the same.
"""

from __future__ import annotations

import builtins
import dis
import functools
import hashlib
import re
import sys
import types
from typing import Any

import numpy as np

from ..problem import Problem
from .fingerprint import fingerprint

_PURE = {
    "abs", "all", "any", "bool", "complex", "divmod", "enumerate", "filter", "float", "getattr", "int",
    "isinstance", "len", "list", "map", "max", "min", "pow", "range", "reversed", "round", "sorted", "sum",
    "tuple", "zip", "dict", "set", "type", "str", "hasattr", "slice", "True", "False", "None",
}  # fmt: skip
"""Built-in functions whose results depend on their arguments alone."""

_LIBRARIES = {
    "numpy",
    "jax",
    "scipy",
    "math",
    "cmath",
    "hcpinn",
    "operator",
    "functools",
    "itertools",
    "jaxlib",
}
"""Packages whose functions are known by their names and the package's version."""

_READING = re.compile(r"load\w*|from(file|regex)|genfromtxt|memmap|read\w*|open\w*|random|\w*callback\w*")
"""Names of functions whose results depend on more than their arguments."""

_DEEPEST = 40


class _Unknown(Exception):
    """Something whose content cannot be told."""


def content_of(problem: Problem) -> str | None:
    """64 hexadecimal digits that no other problem has, by code and by values; None where code cannot be read.

    Problems with equal ones have the same solution. The converse does not hold.
    """
    digest = hashlib.sha256(fingerprint(problem).encode())
    data = (problem.initial, problem.velocity, problem.boundary)
    try:
        for part in (problem.rhs, *data, problem.parameters, problem.breaks):
            _add(digest, part, ())
    except _Unknown:
        return None
    return digest.hexdigest()


def _add(digest: Any, thing: Any, above: tuple[int, ...]) -> None:
    """Add what a thing is; `above` are those that it is part of."""
    if id(thing) in above:
        digest.update(f"<{above.index(id(thing))}>".encode())  # a function that calls itself
        return
    if len(above) > _DEEPEST:
        raise _Unknown
    inside = (*above, id(thing))
    kind = type(thing)
    digest.update(f"({kind.__module__}.{kind.__qualname__}".encode())
    if (
        thing is None
        or thing is Ellipsis
        or isinstance(thing, bool | int | float | complex | str | bytes | np.generic)
    ):
        digest.update(repr(thing).encode())
    elif isinstance(thing, tuple | list):
        for item in thing:
            _add(digest, item, inside)
    elif isinstance(thing, frozenset | set):
        for item in sorted(thing, key=repr):
            _add(digest, item, inside)
    elif isinstance(thing, dict | types.MappingProxyType):
        for key in sorted(thing, key=repr):
            _add(digest, key, inside)
            _add(digest, thing[key], inside)
    elif _is_array(thing):
        values = np.asarray(thing)
        if values.dtype.hasobject:
            raise _Unknown
        digest.update(f"{values.dtype}{values.shape}".encode() + values.tobytes())
    elif isinstance(thing, types.CodeType):
        digest.update(thing.co_code + repr((thing.co_names, thing.co_varnames, thing.co_freevars)).encode())
        digest.update(getattr(thing, "co_exceptiontable", b""))
        _add(digest, thing.co_consts, inside)
    elif isinstance(thing, types.ModuleType):
        _library(digest, thing.__name__, thing.__name__)
    elif _library_name(thing) is not None:
        _library(digest, str(_library_name(thing)), getattr(thing, "__qualname__", repr(kind)))
    elif isinstance(thing, types.FunctionType):
        _function(digest, thing, inside)
    elif isinstance(thing, types.MethodType):
        _add(digest, thing.__func__, inside)
        _add(digest, thing.__self__, inside)
    elif isinstance(thing, functools.partial):
        _add(digest, (thing.func, thing.args, thing.keywords), inside)
    elif (
        isinstance(thing, types.BuiltinFunctionType | type)
        and getattr(builtins, thing.__name__, None) is thing
    ):
        if thing.__name__ not in _PURE:
            raise _Unknown
        digest.update(thing.__name__.encode())
    elif isinstance(thing, type):
        raise _Unknown
    else:
        _instance(digest, thing, inside)
    digest.update(b")")


def _function(digest: Any, function: types.FunctionType, inside: tuple[int, ...]) -> None:
    _add(digest, function.__code__, inside)
    _add(digest, (function.__defaults__, function.__kwdefaults__), inside)
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError as error:  # not yet filled
            raise _Unknown from error
        _add(digest, content, inside)
    wrapped = getattr(function, "__wrapped__", None)
    if wrapped is not None:
        _add(digest, wrapped, inside)
    for path in sorted(_globals(function.__code__)):
        name, *attributes = path
        if name in function.__globals__:
            digest.update(".".join(path).encode())
            _named(digest, function.__globals__[name], attributes, inside)
        elif hasattr(builtins, name) and name not in _PURE:
            raise _Unknown


def _named(digest: Any, thing: Any, attributes: list[str], inside: tuple[int, ...]) -> None:
    """A global that code names; of a module, what the code takes from it."""
    while isinstance(thing, types.ModuleType):
        if thing.__name__.partition(".")[0] in _LIBRARIES:
            return _library(digest, thing.__name__, ".".join(attributes))
        if not attributes:
            raise _Unknown  # handed on as a whole
        thing = getattr(thing, attributes.pop(0), None)
    _add(digest, thing, inside)


def _globals(code: types.CodeType) -> set[tuple[str, ...]]:
    """The globals that a piece of code and those inside it name, each with the attributes taken from it."""
    if any(_READING.fullmatch(name) for name in code.co_names):
        raise _Unknown
    own, path = set(), ()
    for instruction in dis.get_instructions(code):
        name = instruction.argval
        if instruction.opname == "IMPORT_NAME" and name.partition(".")[0] not in _LIBRARIES:
            raise _Unknown
        if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and path:
            path = (*path, name)
            continue
        if path:
            own.add(path)
        path = (name,) if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME") else ()
    if path:
        own.add(path)
    return own.union(*(_globals(c) for c in code.co_consts if isinstance(c, types.CodeType)))


def _instance(digest: Any, thing: Any, inside: tuple[int, ...]) -> None:
    """An object by the methods of its class and by its state."""
    cls = type(thing)
    if cls.__module__.partition(".")[0] not in _LIBRARIES:
        if "__slots__" in vars(cls) or not hasattr(thing, "__dict__"):
            raise _Unknown
        for owner in cls.__mro__[:-1]:
            for name, member in sorted(vars(owner).items()):
                if isinstance(member, types.FunctionType):
                    digest.update(name.encode())
                    _add(digest, member, inside)
                elif isinstance(member, property | staticmethod | classmethod):
                    _add(digest, getattr(member, "__func__", None) or member.fget, inside)  # type: ignore[union-attr]
    elif cls.__module__.partition(".")[0] != "hcpinn":
        raise _Unknown
    _add(digest, vars(thing), inside)


def _is_array(thing: Any) -> bool:
    return isinstance(thing, np.ndarray) or (
        type(thing).__module__.startswith("jax") and hasattr(thing, "__array__") and hasattr(thing, "dtype")
    )


def _library_name(thing: Any) -> str | None:
    """The package of a function or class that a library defines, unless it was made while running."""
    if "<" in getattr(thing, "__qualname__", ""):
        return None
    if not isinstance(thing, types.FunctionType | types.BuiltinFunctionType | type | np.ufunc) and not (
        callable(thing)
        and type(thing).__module__.partition(".")[0] in ("jax", "jaxlib")
        and hasattr(thing, "__name__")
    ):
        return None
    if isinstance(thing, types.FunctionType):  # whatever it has been made to look like
        module = str(thing.__globals__.get("__name__", ""))
    else:
        module = "numpy" if isinstance(thing, np.ufunc) else str(getattr(thing, "__module__", None) or "")
    package = module.partition(".")[0]
    return package if package in _LIBRARIES else None


def _library(digest: Any, module: str, name: str) -> None:
    package = module.partition(".")[0]
    if package not in _LIBRARIES:
        raise _Unknown
    version = getattr(sys.modules.get(package), "__version__", "")
    digest.update(f"{module}:{name}:{version}".encode())
