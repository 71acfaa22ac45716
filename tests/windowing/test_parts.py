"""Every declared assigner, trigger and evictor has its implementations, which take the declared fields."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from flinkplan.datastream import assigners, evictors
from flinkplan.datastream import triggers as datastream_triggers
from flinkplan.plan.specs import Evictor, Trigger, WindowAssigner
from flinkplan.plan.specs.window_parts import ValueKind, WindowPart, declared_arguments, declared_parts
from flinkplan.windowing import builtins

SOURCES = Path(__file__).parents[2] / "flinkplan/executor/runtime/src/flinkplan/runtime/window"
JAVA_TYPES = {
    ValueKind.DURATION: "long",
    ValueKind.COUNT: "long",
    ValueKind.NUMBER: "double",
    ValueKind.FLAG: "boolean",
    ValueKind.PAIR_EXPRESSION: "PairFunction",
    ValueKind.TRIGGER: "Trigger",
}
PARTS = [*declared_parts(WindowAssigner), *declared_parts(Trigger), *declared_parts(Evictor)]
BASES = (WindowAssigner, Trigger, Evictor)


def base_of(part: type[WindowPart]) -> type[WindowPart]:
    return next(base for base in BASES if issubclass(part, base))


def java_class(part: type[WindowPart]) -> tuple[str, str]:
    """The file of the base class, and the name of the nested class."""
    if issubclass(part, WindowAssigner):
        return "Assigner", part.kind.capitalize()
    base = base_of(part).__name__
    return base, part.__name__.removesuffix(base)


def java_types(part: type[WindowPart]) -> list[str]:
    types = [JAVA_TYPES[each.kind] for each in declared_arguments(part) if not each.argument.per_row]
    if issubclass(part, Trigger):
        return [*types, "int"] if part.keeps_number else types
    return [*types, "boolean"]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_the_kernel_takes_the_declared_fields(part: type[WindowPart]) -> None:
    file, name = java_class(part)
    source = (SOURCES / f"{file}.java").read_text("utf-8")
    assert f"public static final class {name} extends" in source
    constructor = re.search(rf"\bpublic {name}\(([^)]*)\)", source)
    parameters = [] if constructor is None else re.findall(r"(\w+) \w+", constructor[1])
    assert parameters == java_types(part)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_python_takes_the_declared_fields_unless_they_are_sql(part: type[WindowPart]) -> None:
    name = f"{part.kind.capitalize()}Windows" if issubclass(part, WindowAssigner) else part.__name__
    if any(each.kind is ValueKind.PAIR_EXPRESSION for each in declared_arguments(part)):
        assert not hasattr(builtins, name)
        return
    count = sum(not each.argument.per_row for each in declared_arguments(part)) + (not issubclass(part, Trigger))
    inspect.signature(getattr(builtins, name)).bind(*range(count))


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_the_datastream_api_has_it(part: type[WindowPart]) -> None:
    module = {WindowAssigner: assigners, Trigger: datastream_triggers, Evictor: evictors}[base_of(part)]
    assert part.__name__ in module.__all__
