"""Registers functions, and finds them by their name in SQL or in a plan."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict, Unpack

from ..record import cached_on_record
from ..rex import FUNCTION, Call, RexNode, callees, internal_name, walk
from .model import Aggregation, Function, Kind, LocalTime, Pushing, ReturnRule, Signature, Style
from .user import FunctionReference

_by_name: dict[str, Function] = {}
_by_key: dict[tuple[str, str], Function] = {}
_aggregations: dict[str, Aggregation] = {}
_UNKNOWN = Aggregation()
_USERS = (FUNCTION, "")
"""The key of all functions of users."""


class Facts(TypedDict, total=False):
    """The optional properties of a declaration; see :class:`.model.Function`."""

    syntax: str
    kind: Kind
    deterministic: bool
    aliases: tuple[str, ...]
    named: bool
    bridged: bool
    strict: bool
    sees_null: bool
    masks: bool
    commutes: bool
    states_target_type: bool
    safe: bool
    pushing: Pushing
    local_time: LocalTime
    style: Style
    printed: str | None
    is_restorable: bool
    aggregation: Aggregation


def declare(
    name: str,
    signatures: Signature | Iterable[Signature],
    returns: ReturnRule,
    **facts: Unpack[Facts],
) -> Function:
    """Declare a function; its internal name is ``$NAME$1``."""
    all_signatures = (signatures,) if isinstance(signatures, Signature) else tuple(signatures)
    function = Function(name, internal_name(name), all_signatures, returns, **facts)
    if function.key in _by_key:
        raise ValueError(f"{function.key} is declared twice")
    _by_key[function.key] = function
    if function.kind is Kind.AGGREGATE:
        _aggregations[function.internal_name] = function.aggregation
    if function.named:
        for sql_name in (name, *function.aliases):
            _by_name[sql_name] = function
    return function


def find_function(name: str) -> Function | None:
    """The function with this SQL name, which is case-insensitive."""
    return _by_name.get(name.upper())


def function_of(syntax: str, internal_name: str) -> Function | None:
    """The function with this syntax and internal name in a plan."""
    return _by_key.get((syntax, internal_name))


def called(rex: RexNode) -> Function | None:
    """The function that an expression calls; ``None`` if it is no call or the function is not declared."""
    if type(rex) is not Call:
        return None
    if rex.reference is not None:
        return rex.reference.function if isinstance(rex.reference, FunctionReference) else None
    return _by_key.get((rex.syntax, rex.name))


@cached_on_record
def is_deterministic(rex: RexNode) -> bool:
    """Whether evaluating the expression twice gives the same value."""
    keys = callees(rex)
    if not all(function is None or function.deterministic for function in (function_of(*key) for key in keys)):
        return False
    if _USERS not in keys:
        return True
    return all(function is None or function.deterministic for function in map(called, walk(rex)))


def aggregation_of(internal_name: str | None) -> Aggregation:
    """The properties of the aggregate function with this internal name; none if it is not declared."""
    return _aggregations.get(internal_name or "", _UNKNOWN)


def all_functions() -> tuple[Function, ...]:
    """Every declared function, by name."""
    return tuple(sorted(_by_key.values(), key=lambda f: (f.name, f.syntax)))


def nearest_names(name: str, count: int = 3) -> list[str]:
    """The SQL names most like a misspelt one."""
    import difflib

    name = name.upper()
    matches = difflib.get_close_matches(name, _by_name, count, 0.6)
    return matches + [known for known in _by_name if name.endswith("_" + known) and known not in matches][:count]
