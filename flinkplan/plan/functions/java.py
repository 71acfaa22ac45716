"""Functions of users in Java: what a plan and the planner know of them, without a JVM.

Their signatures come from a JVM that was asked once, or from a file that ``flinkplan functions`` has written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from ..errors import PlanError
from ..record import PartlyCompared, Record
from ..rex import Literal, RexNode
from ..types import LogicalType
from ..types.parser import parse_type
from ..types.readable import readable
from .model import Kind
from .process import ProcessDeclaration, process_from_json
from .user import FunctionReference, PythonKind, UserFunction, called_function

ANY = "ANY"
"""In a signature, in the place of a type: an argument of any type."""

KINDS = {
    "SCALAR": Kind.SCALAR,
    "ASYNC_SCALAR": Kind.SCALAR,
    "TABLE": Kind.TABLE,
    "AGGREGATE": Kind.AGGREGATE,
    "PROCESS_TABLE": Kind.PROCESS_TABLE,
}
"""The kinds of functions by the constants of Flink's ``FunctionKind``."""


class JavaSignature(Record):
    """One way of calling a function.

    ``arguments`` and ``rest`` are ``None`` for an argument of any type; ``rest`` is the type of any number of further
    arguments, if ``is_varying``.  ``names`` and ``optional`` are given where arguments can be named.
    """

    arguments: tuple[LogicalType | None, ...]
    result: LogicalType
    is_varying: bool = False
    rest: LogicalType | None = None
    accumulator: LogicalType | None = None
    names: tuple[str, ...] = ()
    optional: tuple[bool, ...] = ()

    def parameters(self, count: int) -> tuple[LogicalType | None, ...] | None:
        """The types of so many arguments; ``None`` if the function does not take so many."""
        further = count - len(self.arguments)
        if further < 0 or (further and not self.is_varying):
            return None
        return (*self.arguments, *[self.rest] * further)

    def __str__(self) -> str:
        parts = list(map(_shown, self.arguments))
        if self.names:
            parts = [f"{name} {part}" for name, part in zip(self.names, parts, strict=True)]
        if self.is_varying:
            parts.append(f"{_shown(self.rest)}…")
        return ", ".join(parts)


def _shown(t: LogicalType | None) -> str:
    return "any type" if t is None else readable(t.nullable_().text)


class CallTypes(Record):
    """The types of a call: those that its arguments are cast to, and those of its result and its accumulator."""

    arguments: tuple[LogicalType, ...]
    result: LogicalType
    accumulator: LogicalType | None = None


class JavaAnswers(Protocol):
    """Answers what only the code of a function knows."""

    def types(
        self, class_name: str, arguments: Sequence[LogicalType], literals: Sequence[str | None]
    ) -> CallTypes | None:
        """The types of a call; ``None`` if the function refuses it."""

    def value(self, class_name: str, call: Sequence[Literal], result: LogicalType) -> Any:
        """The value of a call of constants, as a literal of the result's type has it.

        Raises :class:`UnknownValueError` where it fails.
        """

    def changelog(
        self, class_name: str, inputs: Sequence[Sequence[str] | None], required: Sequence[str]
    ) -> tuple[str, ...]:
        """The kinds of rows that a process table function emits, as plans name them.

        ``inputs`` are the kinds of each argument's rows, ``None`` where it is no table.  Raises :class:`PlanError`.
        """


class UnknownValueError(Exception):
    """A function of constants has no value that is known when a plan is compiled."""


class JavaDeclaration(PartlyCompared):
    """The declaration of a Java function.

    ``signatures`` is ``None`` for a class that infers the types of each call by code of its own, which ``answers``
    gives.  ``jars`` are the paths of its code.
    """

    apart: ClassVar[frozenset[str]] = frozenset(("jars", "answers"))

    class_name: str
    kind: Kind
    is_async: bool = False
    deterministic: bool = True
    folds_constants: bool = True
    is_stateless: bool = True
    """Whether instances have no fields but transient ones, so that the class says all of a permanent function."""
    requirements: tuple[str, ...] = ()
    methods: frozenset[str] = frozenset()
    """Which of the optional methods of an aggregate function it has: ``retract``, ``merge``, ``resetAccumulator``."""
    signatures: tuple[JavaSignature, ...] | None = None
    process: ProcessDeclaration | None = None
    """Of a process table function, in place of signatures."""
    jars: tuple[str, ...] = ()
    answers: JavaAnswers | None = None


class JavaFunction(UserFunction, eq=False, kw_only=True):
    """A registered Java function; ``infer`` gives the types of a call, ``None`` if the arguments do not fit."""

    declaration: JavaDeclaration
    infer: Callable[[Sequence[RexNode]], CallTypes | None]

    def accept_operands(self, operands: Sequence[RexNode]) -> tuple[LogicalType, ...] | None:
        types = self.infer(operands)
        return None if types is None else types.arguments

    @property
    def calc_kind(self) -> PythonKind | None:
        return PythonKind.ASYNC if self.declaration.is_async else None

    @property
    def process(self) -> ProcessDeclaration | None:
        return self.declaration.process

    def changelog(self, inputs: Sequence[Sequence[str] | None], required: Sequence[str]) -> tuple[str, ...]:
        answers = self.declaration.answers
        assert answers is not None, "who loads a declaration can ask for more"
        return answers.changelog(self.declaration.class_name, inputs, required)

    @property
    def usage(self) -> tuple[str, ...]:
        signatures = self.declaration.signatures
        if self.declaration.process is not None:
            return (f"{self.name}({self.declaration.process})",)
        return tuple(f"{self.name}({s})" for s in signatures or ()) or (f"what {self.declaration.class_name} accepts",)


JAR, FUNCTIONS = ".jar", ".json"
"""How the names of jars, and of the files that ``flinkplan functions`` writes, end."""


def is_java_code(path: str) -> bool:
    """Whether a file of code is a jar, or has what is known of functions in jars."""
    return path.endswith((JAR, FUNCTIONS))


def called_java(name: str | None) -> JavaFunction | None:
    """The Java function that the name in an aggregate call stands for; ``None`` if it is not one."""
    function = called_function(name)
    return function if isinstance(function, JavaFunction) else None


def java_function_of(rex: RexNode) -> JavaFunction | None:
    """The Java function that an expression calls; ``None`` if it calls none itself."""
    reference = getattr(rex, "reference", None)
    function = reference.function if isinstance(reference, FunctionReference) else None
    return function if isinstance(function, JavaFunction) else None


def declaration_from_json(class_name: str, described: Mapping[str, Any]) -> JavaDeclaration:
    """The declaration in what a JVM has told of a class.  Raises :class:`PlanError` for one that cannot be called."""
    if "error" in described:
        raise PlanError(f"the class {class_name} is no function that Flink accepts: {described['error']}")
    kind = KINDS.get(described["kind"])
    if kind is None:
        name = described["kind"].lower().replace("_", " ")
        raise PlanError(f"{class_name} is a function of the kind '{name}', which is not supported")
    signatures = described.get("signatures")
    return JavaDeclaration(
        class_name,
        kind,
        is_async=described["kind"] == "ASYNC_SCALAR",
        deterministic=described["deterministic"],
        folds_constants=described["constant_folding"],
        is_stateless=described["stateless"],
        requirements=tuple(described["requirements"]),
        methods=frozenset(described.get("methods", ())),
        signatures=None if signatures is None else tuple(map(_signature, signatures)),
        process=process_from_json(described["process"]) if "process" in described else None,
    )


def _signature(json: Mapping[str, Any]) -> JavaSignature:
    return JavaSignature(
        arguments=tuple(map(_argument, json["arguments"])),
        result=parse_type(json["result"]),
        is_varying="rest" in json,
        rest=_argument(json["rest"]) if "rest" in json else None,
        accumulator=parse_type(json["accumulator"]) if "accumulator" in json else None,
        names=tuple(json.get("names", ())),
        optional=tuple(json.get("optional", ())),
    )


def _argument(text: str) -> LogicalType | None:
    return None if text == ANY else parse_type(text)
