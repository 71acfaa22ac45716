"""Checks the content of nodes: types, expressions, functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...plan.codec import field_codecs, read_field
from ...plan.errors import FlinkplanError
from ...plan.findings import Finding, nearest
from ...plan.functions.process import DEFAULT, DESCRIPTOR
from ...plan.nodes import OpaqueNode
from .raw import RawPlan

_USER_FUNCTION = {"catalogName", "systemName", "class", "instance"}


def check_types_and_expressions(plan: RawPlan) -> Iterator[Finding]:
    """Every field of a node can be read."""
    for node in plan.nodes:
        if node.cls is None:
            continue
        for codec in field_codecs(node.cls):
            if codec.name in ("version", "id", "state") or codec.json not in node.json:
                continue
            try:
                read_field(codec, node.json[codec.json])
            except FlinkplanError as e:
                yield node.finding("type", e.message, codec.json, hint=e.hint)


def check_functions(plan: RawPlan) -> Iterator[Finding]:
    """Every built-in function is in the function table and accepts its operands; unknown nodes are skipped."""
    from ...plan.functions import all_functions

    known = {function.key: function for function in all_functions()}
    names = {name for _, name in known}
    for node in plan.nodes:
        if node.cls is None or issubclass(node.cls, OpaqueNode):
            continue
        for path, value in objects_in(node.json, ()):
            name = value.get("internalName")
            syntax = value.get("syntax", "FUNCTION")
            if name in (DEFAULT, DESCRIPTOR):
                continue  # no functions, but parts of a call of one
            if not isinstance(name, str) or not isinstance(syntax, str) or value.keys() & _USER_FUNCTION:
                continue
            function = known.get((syntax, name))
            if function is None:
                hint = nearest(name, names)
                if name in names:
                    hint = f"it exists as {' and '.join(sorted(s for s, n in known if n == name))}"
                message = f"the function {name} ({syntax}) is not known"
                yield node.finding("function", message, *path, "internalName", hint=hint)
                continue
            if not function.is_restorable:
                message = f"Flink 2.3 writes the function {name} into plans and cannot read it: this one runs only here"
                hint = "leave STDDEV and VAR out of plans for Flink"
                yield node.finding("lost-function", message, *path, "internalName", hint=hint)
            field = "argList" if "argList" in value else "operands"
            operands = value.get(field, [])
            if isinstance(operands, list) and not any(s.takes(len(operands)) for s in function.signatures):
                message = f"the function {name} has {len(operands)} operands"
                hint = f"write {' or '.join(function.usage)}"
                yield node.finding("operand-count", message, *path, *([field] if field in value else []), hint=hint)


def objects_in(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    """All objects inside a JSON value, with their paths."""
    pending: list[tuple[tuple[str | int, ...], Any]] = [(path, value)]
    while pending:
        at, item = pending.pop()
        if isinstance(item, Mapping):
            yield at, item
            pending.extend(((*at, k), v) for k, v in item.items())
        elif isinstance(item, list):
            pending.extend(((*at, i), v) for i, v in enumerate(item))
