"""Functions of users: what a plan and the planner know of them.  Their code is not part of a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, ClassVar, TypeAlias

from ..record import Json, PartlyCompared
from ..rex import FUNCTION, Call, FieldAccess, RexNode, callees
from ..types import LogicalType
from .model import Function, Kind
from .process import ProcessDeclaration


class PythonKind(Enum):
    """How a Python function is called.  Source: ``PythonFunctionKind``."""

    GENERAL = "general"
    """Once for each row."""
    PANDAS = "pandas"
    """Once for each batch, with pandas Series."""
    ASYNC = "async"
    """As a coroutine, once for each row."""


Changelog: TypeAlias = Callable[[Sequence[Sequence[str] | None], Sequence[str]], tuple[str, ...]]
"""The kinds of rows that a process table function emits, as plans name them.

It takes the kinds of each argument's rows, ``None`` where it is no table, and those that what reads the function takes.
"""


class PythonDeclaration(PartlyCompared):
    """The declaration of a Python function by ``udf``, ``udtf``, ``udaf``, ``udtaf`` or ``udptf``.

    ``arguments`` are the declared types of its arguments, ``None`` if it takes any; ``result`` is the type of its
    result, of a table function the row type of its rows.  ``function`` is the function itself, or an instance of a
    class, which only executing it needs; ``folders`` are where its module was found.
    """

    apart: ClassVar[frozenset[str]] = frozenset(("function", "folders", "changelog"))

    kind: Kind
    python: PythonKind
    result: LogicalType
    arguments: tuple[LogicalType, ...] | None = None
    deterministic: bool = True
    takes_row: bool = False
    accumulator: LogicalType | None = None
    emits_table: bool = False
    """Whether it is a table aggregate function, which emits several rows for a group."""
    process: ProcessDeclaration | None = None
    """Of a process table function."""
    changelog: Changelog | None = None
    """Of one that emits updates."""
    function: Any = None
    folders: tuple[str, ...] = ()


class UserFunction(Function, eq=False, kw_only=True):
    """A registered function of a user; ``reference`` is the JSON by which a plan names it."""

    reference: Json
    is_permanent: bool = False
    """Whether it is stored in a catalog.  Source: ``FunctionCatalog``."""

    @property
    def calc_kind(self) -> PythonKind | None:
        """How it is called in calcs of its own; ``None`` if it may stand beside built-in functions."""
        return None

    @property
    def process(self) -> ProcessDeclaration | None:
        """What a process table function declares; ``None`` for another one."""
        raise NotImplementedError

    def changelog(self, inputs: Sequence[Sequence[str] | None], required: Sequence[str]) -> tuple[str, ...]:
        """The kinds of rows that a process table function emits, as :data:`Changelog` says them."""
        raise NotImplementedError

    @property
    def is_pushable(self) -> bool:
        """Flink looks a function up by its name without underscores; one that is not registered has none."""
        return "_" not in self.name and not self.reference.keys().isdisjoint(("systemName", "catalogName"))

    def typed(self, t: LogicalType, *operands: RexNode) -> Call:
        return Call("", operands, t, self.syntax, self.as_reference())

    def as_reference(self) -> FunctionReference:
        """The JSON by which a plan names the function, with the function."""
        reference = FunctionReference(self.reference)
        reference.function = self
        return reference


class FunctionReference(Json):
    """The JSON by which a plan names a user's function, with the function."""

    function: UserFunction


class FunctionName(str):
    """The name of a user's aggregate function in a plan, with the function."""

    __slots__ = ("function",)
    function: UserFunction

    @property
    def written(self) -> str:
        """The function's name as the statement has it."""
        return self.function.name


class PythonFunction(UserFunction, eq=False, kw_only=True):
    """A registered Python function.  If it is permanent, it cannot be in a plan."""

    declaration: PythonDeclaration

    @property
    def calc_kind(self) -> PythonKind:
        return self.declaration.python

    @property
    def process(self) -> ProcessDeclaration | None:
        return self.declaration.process

    def changelog(self, inputs: Sequence[Sequence[str] | None], required: Sequence[str]) -> tuple[str, ...]:
        assert self.declaration.changelog is not None, "it emits changes"
        return self.declaration.changelog(inputs, required)

    @property
    def usage(self) -> tuple[str, ...]:
        return super().usage if self.process is None else (f"{self.name}({self.process})",)


def called_function(name: str | None) -> UserFunction | None:
    """The user's function that the name in an aggregate call stands for; ``None`` if it is not one."""
    return name.function if isinstance(name, FunctionName) else None


def called_python(name: str | None) -> PythonFunction | None:
    """The Python function that the name in an aggregate call stands for; ``None`` if it is not one."""
    function = called_function(name)
    return function if isinstance(function, PythonFunction) else None


def python_kind(rex: RexNode) -> PythonKind | None:
    """How the Python function that an expression calls is called; ``None`` if it calls none."""
    if type(rex) is Call and isinstance(rex.reference, FunctionReference):
        return rex.reference.function.calc_kind
    return None


def calls_python(rex: RexNode, kind: PythonKind | None = None) -> bool:
    """Whether a Python function is called in an expression, outside of accesses to fields.

    Source: ``PythonUtil.containsPythonCall``, which does not look into accesses to fields either.
    """
    if type(rex) is not Call:
        return False
    own = python_kind(rex)
    return (own is not None and kind in (None, own)) or any(calls_python(o, kind) for o in rex.operands)


def calls_builtin(rex: RexNode) -> bool:
    """Whether a function that is not a Python function is called, outside of accesses to fields."""
    return type(rex) is Call and (python_kind(rex) is None or any(map(calls_builtin, rex.operands)))


def calls_python_anywhere(rex: RexNode) -> bool:
    """Whether a Python function is called in an expression."""
    return (FUNCTION, "") in callees(rex) and _calls_python(rex)


def _calls_python(rex: RexNode) -> bool:
    while type(rex) is FieldAccess:
        rex = rex.expr
    return type(rex) is Call and (python_kind(rex) is not None or any(map(_calls_python, rex.operands)))
