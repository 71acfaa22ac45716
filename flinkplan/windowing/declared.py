"""What classes of a user's own have in common: a plan can name them, with the arguments that they are made with."""

from __future__ import annotations

import inspect
import json
from typing import Any, TypeVar

T = TypeVar("T", bound="Declared")


class Declared:
    """Remembers what it was made with, so that a plan can tell how to make it again."""

    _made_with: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls: type[T], *args: Any, **kwargs: Any) -> T:
        made = super().__new__(cls)
        made._made_with = (args, kwargs)
        return made


def import_path(declared: Declared) -> str:
    """``module:Class``.  Raises :class:`ValueError` for a class that no import finds."""
    of = type(declared)
    if of.__module__ == "__main__" or "<" in of.__qualname__:
        raise ValueError(f"{of.__qualname__} must be at the top of a module that can be imported")
    return f"{of.__module__}:{of.__qualname__}"


def arguments(declared: Declared) -> dict[str, Any]:
    """What it was made with, by the names of the parameters.  Raises :class:`ValueError` for what JSON cannot tell."""
    args, kwargs = declared._made_with
    signature = inspect.signature(type(declared).__init__)
    found = dict(signature.bind(declared, *args, **kwargs).arguments)
    found.pop(next(iter(signature.parameters)))
    for kind, name in ((p.kind, p.name) for p in signature.parameters.values() if p.name in found):
        if kind is inspect.Parameter.VAR_KEYWORD:
            found |= found.pop(name)
        elif kind is inspect.Parameter.VAR_POSITIONAL and found.pop(name):
            raise ValueError(f"{type(declared).__name__} takes arguments without names")
    if json.loads(json.dumps(found, default=repr)) != found:
        raise ValueError(f"the arguments of {type(declared).__name__} must be numbers, texts, lists and mappings")
    return found
