"""Functions of one's own with PyFlink's names: ``from pyflink.table.udf import udf``.

A function is declared by a decorator, or as an instance of one of the classes:

    @udf(result_type=DataTypes.STRING())
    def loud(text):
        return None if text is None else text.upper() + "!"

It is called in SQL by the name under which it is registered, in the Table API also as ``loud(col("text"))``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ..plan.functions.model import Kind
from ..plan.functions.user import PythonDeclaration, PythonKind
from ..plan.record import replace
from ..plan.types import LogicalType, row
from ..udf.context import FunctionContext
from ..udf.interfaces import (
    AggregateFunction,
    AsyncScalarFunction,
    ImperativeAggregateFunction,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
    UserDefinedFunction,
)
from ..udf.process_interfaces import (
    ArgumentHint,
    ArgumentTrait,
    ChangelogContext,
    Context,
    OnTimerContext,
    ProcessTableFunction,
    StateHint,
    TableSemantics,
    TimeContext,
)
from .data_types import DataType, RowType, logical_type
from .expression import Expression
from .process_functions import changelog_of, process_declaration

__all__ = [
    "AggregateFunction",
    "ArgumentHint",
    "ArgumentTrait",
    "AsyncScalarFunction",
    "ChangelogContext",
    "Context",
    "FunctionContext",
    "OnTimerContext",
    "ProcessTableFunction",
    "ScalarFunction",
    "StateHint",
    "TableAggregateFunction",
    "TableFunction",
    "TableSemantics",
    "TimeContext",
    "UserDefinedFunction",
    "udaf",
    "udf",
    "udptf",
    "udtaf",
    "udtf",
]

TypeText: TypeAlias = DataType | str
"""A type, also as text of SQL."""


class DeclaredFunction:
    """A function with its declaration; ``declare`` decorates a function, or takes an instance of a class."""

    kind = Kind.SCALAR

    def __init__(
        self, function: Any, input_types: Any, func_type: str, deterministic: bool | None, name: str | None
    ) -> None:
        if inspect.isclass(function) or not (isinstance(function, UserDefinedFunction) or callable(function)):
            raise TypeError(f"Invalid function: not a function or callable (__call__ is not defined): {type(function)}")
        if deterministic is not None and isinstance(function, UserDefinedFunction):
            own = function.is_deterministic()
            if deterministic != own:
                raise ValueError(f"Inconsistent deterministic: {deterministic} and {own}")
        self.function = function
        self.name: str = name or getattr(function, "__name__", None) or type(function).__name__
        self.takes_row = False
        self._alias_names: tuple[str, ...] = ()
        self._python = PythonKind(func_type)
        self._deterministic = deterministic
        self._arguments = None if input_types is None else tuple(map(_type, _listed(input_types, "input_type")))

    def __call__(self, *args: Any) -> Expression:
        """A call of the function, as an expression of the Table API."""
        called = Expression("call", self, *args)
        return called.alias(*self._alias_names) if self._alias_names else called

    def alias(self, *alias_names: str) -> DeclaredFunction:
        """Name the columns of the result."""
        self._alias_names = alias_names
        return self

    @property
    def _func(self) -> Any:
        """What is declared: by this name tests of functions call it, as PyFlink's documentation shows."""
        return self.function

    @property
    def _name(self) -> str:
        return self.name

    @property
    def _func_type(self) -> str:
        """``general`` or ``pandas``."""
        return "pandas" if self._python is PythonKind.PANDAS else "general"

    @property
    def result(self) -> LogicalType:
        """The type of the result; of a table function the row type of its rows."""
        raise NotImplementedError

    @property
    def accumulator(self) -> LogicalType | None:
        """The type of the accumulator of an aggregate function that has one."""
        return None

    @property
    def declaration(self) -> PythonDeclaration:
        """What a planner knows of the function."""
        function = self.function
        deterministic = self._deterministic
        if deterministic is None:
            deterministic = function.is_deterministic() if isinstance(function, UserDefinedFunction) else True
        return PythonDeclaration(
            accumulator=self.accumulator,
            kind=self.kind,
            python=self._python,
            result=self.result,
            arguments=self._arguments,
            deterministic=deterministic,
            takes_row=self.takes_row,
            emits_table=isinstance(self, DeclaredTableAggregate),
            function=function,
        )


class DeclaredScalar(DeclaredFunction):
    """A scalar function."""

    def __init__(self, function: Any, result_type: Any, *rest: Any) -> None:
        super().__init__(function, *rest)
        self._result = _result(result_type)
        if isinstance(function, AsyncScalarFunction) or inspect.iscoroutinefunction(function):
            if self._python is PythonKind.PANDAS:
                raise ValueError("an async function cannot have func_type='pandas'")
            self._python = PythonKind.ASYNC

    @property
    def result(self) -> LogicalType:
        return self._result


class DeclaredTable(DeclaredFunction):
    """A table function."""

    kind = Kind.TABLE

    def __init__(self, function: Any, result_types: Any, *rest: Any) -> None:
        super().__init__(function, *rest)
        if isinstance(result_types, str):
            written = logical_type(result_types)
            self._result = written.not_null() if written.root == "ROW" else row([("f0", written)], nullable=False)
        else:
            types = map(_type, _listed(result_types, "result_type"))
            self._result = row(((f"f{i}", t) for i, t in enumerate(types)), nullable=False)

    @property
    def result(self) -> LogicalType:
        return self._result


class DeclaredAggregate(DeclaredFunction):
    """An aggregate function."""

    kind = Kind.AGGREGATE

    def __init__(self, function: Any, result_type: Any, accumulator_type: Any, *rest: Any) -> None:
        super().__init__(function, *rest)
        is_general = self._python is PythonKind.GENERAL
        if is_general and not isinstance(function, ImperativeAggregateFunction):
            raise TypeError("an aggregate function without func_type='pandas' is an instance of AggregateFunction")
        if accumulator_type is None and is_general:
            accumulator_type = function.get_accumulator_type()
        if result_type is None:
            result_type = function.get_result_type()
        self._result = _result(result_type)
        if not is_general and self._result.root == "MAP":
            raise TypeError("Invalid returnType: an aggregate function with func_type='pandas' gives no MAP")
        self._mixes_styles = is_general and isinstance(result_type, str) != isinstance(accumulator_type, str)
        if is_general and not isinstance(accumulator_type, (DataType, str)):
            raise TypeError(f"Invalid accumulator_type: it should be DataType or str but is {accumulator_type}")
        self._accumulator = _type(accumulator_type) if is_general and not self._mixes_styles else None

    @property
    def accumulator(self) -> LogicalType | None:
        return self._accumulator

    @property
    def result(self) -> LogicalType:
        if self._mixes_styles:
            raise TypeError("result_type and accumulator_type should be both DataType or both str")
        return self._result


class DeclaredTableAggregate(DeclaredAggregate):
    """A table aggregate function."""


class DeclaredProcessTable(DeclaredFunction):
    """A process table function: an instance of its class."""

    kind = Kind.PROCESS_TABLE
    function: ProcessTableFunction

    def __init__(self, function: ProcessTableFunction, name: str | None = None) -> None:
        super().__init__(function, None, "general", None, name)

    @property
    def result(self) -> LogicalType:
        result_type = self.function._result_type
        if result_type is None:
            raise TypeError(f"{self.name} does not say what it emits: decorate its class with @udptf(result_type=…)")
        return _result(result_type)

    @property
    def declaration(self) -> PythonDeclaration:
        process = process_declaration(self.function, self.result)
        return replace(
            super().declaration,
            process=process,
            changelog=changelog_of(self.function) if process.emits_changes else None,
        )


def declares(value: Any) -> bool:
    """Whether :func:`declared_function` gives a function."""
    is_own = inspect.isclass(value) and issubclass(value, ProcessTableFunction) and value is not ProcessTableFunction
    return is_own or isinstance(value, (DeclaredFunction, ProcessTableFunction))


def declared_function(value: Any) -> DeclaredFunction | None:
    """The declared function that a name of a module stands for; ``None`` for anything else.

    The class of a process table function is declared itself, and so are its instances.
    """
    if isinstance(value, DeclaredFunction):
        return value
    if inspect.isclass(value) and declares(value):
        made: Any = value()
        return DeclaredProcessTable(made, value.__name__)
    return DeclaredProcessTable(value) if isinstance(value, ProcessTableFunction) else None


def _type(given: TypeText) -> LogicalType:
    return logical_type(given)


def _result(result_type: Any) -> LogicalType:
    if not isinstance(result_type, (DataType, str)):
        raise TypeError(f"Invalid returnType: returnType should be DataType or str but is {result_type}")
    return _type(result_type)


def _listed(types: Any, what: str) -> Sequence[TypeText]:
    """The types of a declaration: a list, one alone, or the fields of a row."""
    if isinstance(types, RowType):
        return [field.data_type for field in types.fields]
    listed = [types] if isinstance(types, (DataType, str)) else list(types)
    for each in listed:
        if not isinstance(each, (DataType, str)):
            raise TypeError(f"Invalid {what}: {what} should be DataType or str but contains {each}")
    return listed


def _declared(make: Callable[[Any], DeclaredFunction], function: Any) -> Any:
    """The declared function; the decorator if it is not given yet."""
    return make if function is None else make(function)


def _check_func_type(func_type: str, allowed: Sequence[str]) -> None:
    if func_type not in allowed:
        raise ValueError(f"The func_type must be one of '{', '.join(allowed)}', got {func_type}.")


def udf(
    f: Any = None,
    input_types: Any = None,
    result_type: TypeText | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Declare a scalar function: ``udf(f, result_type=…)``, or as a decorator ``@udf(result_type=…)``.

    With ``func_type="pandas"`` it is called with pandas Series.  Raises :class:`TypeError` for an invalid type.
    """
    _check_func_type(func_type, ("general", "pandas"))
    rest = (input_types, func_type, deterministic, name)
    return _declared(lambda function: DeclaredScalar(function, result_type, *rest), f)


def udtf(
    f: Any = None,
    input_types: Any = None,
    result_types: Any = None,
    deterministic: bool | None = None,
    name: str | None = None,
) -> Any:
    """Declare a table function; ``result_types`` are the types of its columns.

    Raises :class:`TypeError` for an invalid type.
    """
    rest = (input_types, "general", deterministic, name)
    return _declared(lambda function: DeclaredTable(function, result_types, *rest), f)


def udaf(
    f: Any = None,
    input_types: Any = None,
    result_type: TypeText | None = None,
    accumulator_type: TypeText | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Declare an aggregate function: an :class:`AggregateFunction`, or with ``func_type="pandas"`` any function.

    Raises :class:`TypeError` for an invalid type.
    """
    _check_func_type(func_type, ("general", "pandas"))
    rest = (input_types, func_type, deterministic, name)
    return _declared(lambda function: DeclaredAggregate(function, result_type, accumulator_type, *rest), f)


def udtaf(
    f: Any = None,
    input_types: Any = None,
    result_type: TypeText | None = None,
    accumulator_type: TypeText | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> Any:
    """Declare a table aggregate function.  Raises :class:`TypeError` for an invalid type."""
    _check_func_type(func_type, ("general",))
    rest = (input_types, func_type, deterministic, name)
    return _declared(lambda function: DeclaredTableAggregate(function, result_type, accumulator_type, *rest), f)


def udptf(f: Any = None, result_type: TypeText | None = None, deterministic: bool = True) -> Any:
    """Declare what the class of a process table function emits: ``@udptf(result_type="ROW<page STRING, n BIGINT>")``.

    The class stays what it is, and is called by the name under which it, or an instance, is registered.  Raises
    :class:`TypeError` for what is no such class, and for an invalid type.
    """

    def declared(cls: Any) -> Any:
        if not (inspect.isclass(cls) and issubclass(cls, ProcessTableFunction)):
            raise TypeError(f"{cls!r} is no class of process table functions: it should extend ProcessTableFunction")
        _result(result_type)
        cls._result_type, cls._deterministic = result_type, deterministic
        return cls

    return declared if f is None else declared(f)
