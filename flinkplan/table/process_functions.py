"""The declarations of process table functions: what their hints say, with types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..plan.durations import DurationError, parse_duration
from ..plan.functions.process import ON_TIME, UID, ProcessArgument, ProcessDeclaration, ProcessState, Trait
from ..plan.functions.user import Changelog
from ..plan.types import DESCRIPTOR, LogicalType
from ..udf.changelog_mode import ChangelogMode
from ..udf.process_interfaces import (
    ArgumentParameter,
    ChangelogContext,
    ProcessTableFunction,
    StateParameter,
    process_methods,
)
from .data_types import logical_type


def process_declaration(function: ProcessTableFunction, result: LogicalType) -> ProcessDeclaration:
    """What a function declares.  Raises :class:`TypeError` or :class:`ValueError` for what Flink would not accept."""
    methods = function._methods = process_methods(function)
    arguments = tuple(map(_argument, methods.arguments))
    states = tuple(map(_state, methods.states))
    _check(arguments, states, methods.timer_takes_context is not None)
    return ProcessDeclaration(
        arguments=arguments,
        result=result,
        states=states,
        has_system_arguments=True,
        emits_changes=type(function).get_changelog_mode is not ProcessTableFunction.get_changelog_mode,
        has_timers=methods.timer_takes_context is not None,
        takes_context=methods.takes_context,
    )


_SEMANTICS = {Trait.ROW_SEMANTIC_TABLE, Trait.SET_SEMANTIC_TABLE}
_NEEDED = {
    Trait.PASS_COLUMNS_THROUGH: Trait.TABLE,
    Trait.SUPPORT_UPDATES: Trait.TABLE,
    Trait.REQUIRE_ON_TIME: Trait.TABLE,
    Trait.OPTIONAL_PARTITION_BY: Trait.SET_SEMANTIC_TABLE,
    Trait.REQUIRE_UPDATE_BEFORE: Trait.SUPPORT_UPDATES,
    Trait.REQUIRE_FULL_DELETE: Trait.SUPPORT_UPDATES,
}
"""Which trait another one needs.  Source: ``StaticArgumentTrait``."""


def _argument(parameter: ArgumentParameter) -> ProcessArgument:
    given = set(parameter.hint.traits)
    kinds = given & {*_SEMANTICS, Trait.SCALAR}
    if len(kinds) > 1:
        raise TypeError(f"the argument {parameter.name} is {' and '.join(sorted(k.value for k in kinds))}")
    given.add(Trait.TABLE if kinds & _SEMANTICS or Trait.TABLE in given else Trait.SCALAR)
    if Trait.TABLE in given and not kinds:
        given.add(Trait.ROW_SEMANTIC_TABLE)
    for trait in given:
        needed = _NEEDED.get(trait)
        if needed is not None and needed not in given:
            raise TypeError(f"the trait {trait.value} of the argument {parameter.name} needs {needed.value}")
    t = _type(parameter.hint.type)
    if Trait.TABLE in given:
        if parameter.is_optional:
            raise TypeError(f"the table {parameter.name} cannot be left out")
        if t is not None and t.root != "ROW":
            raise TypeError(f"the rows of the table {parameter.name} are of a ROW type, not {t}")
    elif t is None:
        raise TypeError(f"the argument {parameter.name} has no type: ArgumentHint(type=…), or a trait of a table")
    return ProcessArgument(parameter.name, t, frozenset(given), parameter.is_optional)


def _type(given: Any) -> LogicalType | None:
    if given is None:
        return None
    return DESCRIPTOR if str(given).upper() == "DESCRIPTOR" else logical_type(given)


def _state(parameter: StateParameter) -> ProcessState:
    t, kind, key = logical_type(parameter.hint.type), parameter.kind, None
    wanted = {"value": "ROW", "list": "ARRAY", "map": "MAP"}[kind]
    if t.root != wanted:
        raise TypeError(f"the state {parameter.name} is of the type {t}, but a {kind} is of a {wanted} type")
    if kind == "list":
        t = t.element
    elif kind == "map":
        key, t = t.children
    try:
        ttl = None if parameter.hint.ttl is None else parse_duration(parameter.hint.ttl)
    except DurationError as error:
        raise ValueError(f"the TTL of the state {parameter.name}: {error.message}") from None
    return ProcessState(parameter.name, kind, t, key, ttl)


def _check(arguments: Sequence[ProcessArgument], states: Sequence[ProcessState], has_timers: bool) -> None:
    """Source: ``ProcessTableFunctionTypeInference`` and ``SystemTypeInference``."""
    names = [argument.name for argument in arguments]
    for name in names:
        if names.count(name) > 1 or name in (ON_TIME, UID):
            raise TypeError(f"the name {name} of an argument is taken")
    named = [state.name for state in states]
    if len(set(named)) < len(named):
        raise TypeError("two states have the same name")
    tables = [argument for argument in arguments if argument.is_table]
    are_sets = [table.is_set for table in tables]
    if len(tables) > 1 and not all(are_sets):
        raise TypeError("of several tables each needs the trait SET_SEMANTIC_TABLE")
    if len(tables) > 1 and any(table.passes_columns for table in tables):
        raise TypeError("of several tables no columns can be passed through")
    if states and not any(are_sets):
        raise TypeError("states need a table with the trait SET_SEMANTIC_TABLE")
    if has_timers and not any(are_sets):
        raise TypeError("timers need a table with the trait SET_SEMANTIC_TABLE")


def changelog_of(function: ProcessTableFunction) -> Changelog:
    """What a function that overrides ``get_changelog_mode`` says."""

    def answer(inputs: Sequence[Sequence[str] | None], required: Sequence[str]) -> tuple[str, ...]:
        return function.get_changelog_mode(_Call(inputs, required)).as_plan()

    return answer


class _Call(ChangelogContext):
    def __init__(self, inputs: Sequence[Sequence[str] | None], required: Sequence[str]) -> None:
        self._inputs = inputs
        self._required = required

    def get_table_changelog_mode(self, arg_pos: int) -> ChangelogMode | None:
        kinds = self._inputs[arg_pos] if arg_pos < len(self._inputs) else None
        return None if kinds is None else ChangelogMode.of_plan(kinds)

    def get_required_changelog_mode(self) -> ChangelogMode:
        return ChangelogMode.of_plan(self._required)
