"""The base of users' classes: a plan refers to them by import path and constructor arguments."""

from __future__ import annotations

import inspect
import json
from typing import Any, TypeVar

T = TypeVar("T", bound="Declared")


class Declared:
    """Remembers its constructor arguments, so that a plan can contain them."""

    _constructor_arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls: type[T], *args: Any, **kwargs: Any) -> T:
        instance = super().__new__(cls)
        instance._constructor_arguments = (args, kwargs)
        return instance


def import_path(declared: Declared) -> str:
    """``module:Class``.  Raises :class:`ValueError` for a class that cannot be imported."""
    cls = type(declared)
    if cls.__module__ == "__main__" or "<" in cls.__qualname__:
        raise ValueError(f"{cls.__qualname__} must be at the top of a module that can be imported")
    return f"{cls.__module__}:{cls.__qualname__}"


def arguments(declared: Declared) -> dict[str, Any]:
    """The constructor arguments by parameter name.  Raises :class:`ValueError` if JSON cannot represent them."""
    args, kwargs = declared._constructor_arguments
    signature = inspect.signature(type(declared).__init__)
    by_name = dict(signature.bind(declared, *args, **kwargs).arguments)
    by_name.pop(next(iter(signature.parameters)))
    for kind, name in ((p.kind, p.name) for p in signature.parameters.values() if p.name in by_name):
        if kind is inspect.Parameter.VAR_KEYWORD:
            by_name |= by_name.pop(name)
        elif kind is inspect.Parameter.VAR_POSITIONAL and by_name.pop(name):
            raise ValueError(f"{type(declared).__name__} takes arguments without names")
    if json.loads(json.dumps(by_name, default=repr)) != by_name:
        raise ValueError(f"the arguments of {type(declared).__name__} must be numbers, texts, lists and mappings")
    return by_name
