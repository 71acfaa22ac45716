"""Process table functions: the base class, how their arguments and states are declared, and what they are called with.

A method ``eval`` takes a :class:`Context` if it wants one, then its states, then its arguments; what each parameter is
stands in its type hint:

    class Visits(ProcessTableFunction):
        def eval(
            self,
            seen: Annotated[Row, StateHint("ROW<visits BIGINT>", ttl="1 d")],
            click: Annotated[Row, ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE)],
        ):
            seen.visits = (seen.visits or 0) + 1
            yield f"visit {seen.visits} of {click.page}"

The contract is that of Flink's ``ProcessTableFunction`` in Java: PyFlink has none.
"""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, TypeVar

from ..plan.functions.process import Trait as ArgumentTrait
from ..plan.record import Record
from ..windowing.rows import Row, row_maker
from .changelog_mode import ChangelogMode
from .data_view import DataView, ListView, MapView
from .interfaces import UserDefinedFunction

__all__ = [
    "ArgumentHint",
    "ArgumentTrait",
    "ChangelogContext",
    "Context",
    "OnTimerContext",
    "ProcessTableFunction",
    "StateHint",
    "TableSemantics",
    "TimeContext",
]

Time = TypeVar("Time", datetime, int)


class ArgumentHint:
    """What an argument of ``eval`` is: a table by its traits, else a value of a type.

    ``type`` is that of a value, or of a table's rows if these may not be any, as a ``DataType`` or text of SQL;
    ``"DESCRIPTOR"`` is a list of names of columns.  ``name`` is the argument's in SQL, by default the parameter's.
    ``optional`` says that it may be left out: then it is the parameter's default value, ``None`` without one.
    """

    def __init__(
        self, *traits: ArgumentTrait, type: Any = None, name: str | None = None, optional: bool = False
    ) -> None:
        self.traits = traits
        self.type = type
        self.name = name
        self.optional = optional


class StateHint:
    """What a state of a function holds, as a ``DataType`` or text of SQL, and how long.

    A parameter that is hinted as a :class:`~.data_view.ListView` is a list, as a :class:`~.data_view.MapView` a map,
    others are a row.  ``ttl`` is how long an entry stays after it was written, such as ``"1 d"``; ``"0 ms"``: for ever;
    by default as long as ``table.exec.state.ttl`` says.  ``name`` is the state's, by default the parameter's.
    """

    def __init__(self, type: Any, ttl: str | None = None, name: str | None = None) -> None:
        self.type = type
        self.ttl = ttl
        self.name = name


class TableSemantics(Record):
    """What a call says of a table, whose columns are counted from 0."""

    column_names: tuple[str, ...]
    partition_keys: tuple[int, ...]
    order_keys: tuple[int, ...]
    directions: tuple[str, ...]
    time: int
    kinds: tuple[str, ...]

    def data_type(self) -> list[str]:
        """The names of the columns."""
        return list(self.column_names)

    def partition_by_columns(self) -> list[int]:
        """The columns of PARTITION BY."""
        return list(self.partition_keys)

    def order_by_columns(self) -> list[int]:
        """The columns of ORDER BY."""
        return list(self.order_keys)

    def order_by_directions(self) -> list[str]:
        """How each of them is sorted, such as ``ASC_NULLS_LAST``."""
        return list(self.directions)

    def time_column(self) -> int:
        """The column that ``on_time`` names; -1 without one."""
        return self.time

    def changelog_mode(self) -> ChangelogMode:
        """The kinds of its rows."""
        return ChangelogMode.of_plan(self.kinds)


class TimeContext(typing.Generic[Time]):
    """Times of a call, and its timers: as :class:`~datetime.datetime` without a zone, or ``int`` milliseconds, in UTC.

    A timer with a name takes the place of the former one of that name; without one there is one timer for each time.
    """

    def time(self) -> Time | None:
        """The time of the row or the timer; ``None`` where rows have none."""
        raise NotImplementedError

    def current_watermark(self) -> Time | None:
        """The watermark; ``None`` before there is one."""
        raise NotImplementedError

    def table_watermark(self) -> Time | None:
        """The watermark of the row's table; ``None`` in ``on_timer``."""
        raise NotImplementedError

    def register_on_time(self, name_or_time: str | Time, time: Time | None = None) -> None:
        """Have ``on_timer`` called: ``register_on_time(time)``, or ``register_on_time(name, time)``."""
        raise NotImplementedError

    def clear_timer(self, name_or_time: str | Time) -> None:
        """Remove the timer of a name, or the one without a name at a time."""
        raise NotImplementedError

    def clear_all_timers(self) -> None:
        """Remove all timers of the key."""
        raise NotImplementedError


class Context:
    """What ``eval`` can ask and do beside its states."""

    def collect(self, row: Any) -> None:
        """Emit a row, as ``yield`` does."""
        raise NotImplementedError

    def time_context(self, conversion: type[Time] = datetime) -> TimeContext[Time]:  # type: ignore[assignment]
        """Times and timers, as ``datetime`` or ``int`` milliseconds."""
        raise NotImplementedError

    def table_semantics_for(self, arg_name: str) -> TableSemantics:
        """What the call says of a table.  Raises :class:`ValueError` for a name that no table has."""
        raise NotImplementedError

    def clear_state(self, state_name: str) -> None:
        """Clear a state when the call is over.  Raises :class:`ValueError` for a name that no state has."""
        raise NotImplementedError

    def clear_all_state(self) -> None:
        """Clear all states of the key when the call is over."""
        raise NotImplementedError

    def clear_all_timers(self) -> None:
        """Remove all timers of the key."""
        raise NotImplementedError

    def clear_all(self) -> None:
        """Clear all states and timers of the key."""
        raise NotImplementedError

    def get_changelog_mode(self) -> ChangelogMode:
        """The kinds of rows that the function emits."""
        raise NotImplementedError


class OnTimerContext(Context):
    """What ``on_timer`` can ask and do beside its states."""

    def current_timer(self) -> str | None:
        """The name of the timer; ``None`` if it has none."""
        raise NotImplementedError


class ChangelogContext:
    """What :meth:`ProcessTableFunction.get_changelog_mode` can ask of the call."""

    def get_table_changelog_mode(self, arg_pos: int) -> ChangelogMode | None:
        """The kinds of rows of an argument; ``None`` where it is no table."""
        raise NotImplementedError

    def get_required_changelog_mode(self) -> ChangelogMode:
        """The kinds of rows that what reads the function takes."""
        raise NotImplementedError


class ProcessTableFunction(UserDefinedFunction):
    """A function from tables to a table, with states and timers.

    A method ``on_timer`` takes an :class:`OnTimerContext` if it wants one, then all states of ``eval``.  Both methods
    yield rows, or return an iterable of rows: each a value, a tuple or a Row.
    """

    _result_type: Any = None
    _deterministic: bool = True
    _methods: ProcessMethods | None = None
    """What the methods take; kept where the function is declared, for hints can be read only there."""

    def eval(self, *args: Any, **kwargs: Any) -> Any:
        """Take a row of one of the tables."""
        raise NotImplementedError

    def is_deterministic(self) -> bool:
        return self._deterministic

    def get_changelog_mode(self, changelog_context: ChangelogContext) -> ChangelogMode:
        """The kinds of rows that a function emits; those that do not override it emit insertions."""
        return ChangelogMode.insert_only()


class StateParameter(Record):
    """A parameter that is a state: its ``name``, and the class of its values, ``None`` for rows."""

    name: str
    hint: StateHint
    kind: str
    made_by: Any


class ArgumentParameter(Record):
    """A parameter that is an argument."""

    name: str
    hint: ArgumentHint
    is_optional: bool
    default: Any


class ProcessMethods(Record):
    """What the methods of a function take.  ``timer_takes_context`` is ``None`` where there is no ``on_timer``."""

    takes_context: bool
    states: tuple[StateParameter, ...]
    arguments: tuple[ArgumentParameter, ...]
    timer_takes_context: bool | None


def process_methods(function: ProcessTableFunction) -> ProcessMethods:
    """What the methods of a function take.  Raises :class:`TypeError` where their hints do not say it."""
    name = type(function).__name__
    parameters = list(inspect.signature(function.eval).parameters.values())
    try:
        hints = typing.get_type_hints(type(function).eval, include_extras=True)
    except NameError as error:
        raise TypeError(f"a type hint of {name}.eval: {error}") from None
    takes_context = bool(parameters) and _is_context(parameters[0], hints)
    states: list[StateParameter] = []
    arguments: list[ArgumentParameter] = []
    for parameter in parameters[takes_context:]:
        annotated, hint = _hinted(hints.get(parameter.name))
        if parameter.kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD or hint is None:
            raise TypeError(
                f"the parameter {parameter.name} of {name}.eval says neither what state it is, by "
                "Annotated[…, StateHint(type)], nor what argument, by Annotated[…, ArgumentHint(trait)]"
            )
        if isinstance(hint, StateHint):
            if arguments:
                raise TypeError(f"the state {parameter.name} of {name}.eval stands behind an argument")
            states.append(StateParameter(hint.name or parameter.name, hint, *_state_kind(annotated)))
        else:
            has_default = parameter.default is not inspect.Parameter.empty
            default = parameter.default if has_default else None
            arguments.append(
                ArgumentParameter(hint.name or parameter.name, hint, hint.optional or has_default, default)
            )
    return ProcessMethods(takes_context, tuple(states), tuple(arguments), _timer_takes_context(function, len(states)))


def _is_context(parameter: inspect.Parameter, hints: dict[str, Any]) -> bool:
    hint = hints.get(parameter.name)
    if hint is None:
        return parameter.name in ("ctx", "context")
    return isinstance(hint, type) and issubclass(hint, Context)


def _hinted(annotation: Any) -> tuple[Any, StateHint | ArgumentHint | None]:
    """The class in an annotation, and the hint beside it."""
    if typing.get_origin(annotation) is not Annotated:
        return annotation, None
    annotated, *further = typing.get_args(annotation)
    return annotated, next((each for each in further if isinstance(each, (StateHint, ArgumentHint))), None)


def _state_kind(annotated: Any) -> tuple[str, Any]:
    """The kind of a state, and the class whose instances stand for its rows."""
    cls = typing.get_origin(annotated) or annotated
    if isinstance(cls, type) and issubclass(cls, DataView):
        return ("list" if issubclass(cls, ListView) else "map" if issubclass(cls, MapView) else "value"), None
    return "value", cls if dataclasses.is_dataclass(cls) else None


def _timer_takes_context(function: ProcessTableFunction, states: int) -> bool | None:
    method = getattr(function, "on_timer", None)
    if method is None:
        return None
    count = len(inspect.signature(method).parameters)
    if count not in (states, states + 1):
        raise TypeError(
            f"{type(function).__name__}.on_timer takes {count} parameters: it should take a context, and the {states} "
            "states of eval"
        )
    return count == states + 1


def new_state(parameter: StateParameter, names: Sequence[str]) -> Any:
    """A value without anything in it."""
    if parameter.made_by is None:
        return row_maker(tuple(names), StateRow)([None] * len(names))
    return parameter.made_by()


class StateRow(Row):
    """A row whose values can be set by their names: ``row.visits = 1``."""

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            self[name] = value
