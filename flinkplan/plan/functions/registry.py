"""Functions by SQL name and by what a plan calls them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ..rex import FUNCTION
from .model import Function, Kind, ReturnRule, Signature

_by_name: dict[str, Function] = {}
_by_key: dict[tuple[str, str], Function] = {}


def declare(
    name: str,
    signatures: Signature | Iterable[Signature],
    returns: ReturnRule,
    *,
    internal_name: str | None = None,
    syntax: str = FUNCTION,
    kind: Kind = Kind.SCALAR,
    deterministic: bool = True,
    aliases: tuple[str, ...] = (),
    named: bool = True,
    bridged: bool = False,
) -> Function:
    """Declare a function; its internal name is ``$NAME$1`` unless said otherwise."""
    function = Function(
        name,
        internal_name or f"${name}$1",
        (signatures,) if isinstance(signatures, Signature) else tuple(signatures),
        returns,
        syntax,
        kind,
        deterministic,
        aliases,
        named,
        bridged,
    )
    if function.key in _by_key:
        raise ValueError(f"{function.key} is declared twice")
    _by_key[function.key] = function
    if named:
        for sql_name in (name, *aliases):
            _by_name[sql_name] = function
    return function


def find_function(name: str) -> Function | None:
    """The function that SQL calls by this name, in any case."""
    return _by_name.get(name.upper())


def function_of(syntax: str, internal_name: str) -> Function | None:
    """The function that a plan names so."""
    return _by_key.get((syntax, internal_name))


def all_functions() -> tuple[Function, ...]:
    """Every declared function, by name."""
    return tuple(sorted(_by_key.values(), key=lambda f: (f.name, f.syntax)))


def nearest_names(name: str, count: int = 3) -> list[str]:
    """The SQL names most like a misspelt one."""
    name = name.upper()
    near = difflib.get_close_matches(name, _by_name, count, 0.6)
    return near + [known for known in _by_name if name.endswith("_" + known) and known not in near][:count]
