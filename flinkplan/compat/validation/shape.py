"""The findings of the JSON Schema, in words that say what to write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...plan.findings import Finding, nearest
from ...plan.text.positions import pointer
from ...schemas.loader import PLAN, validator
from .raw import RawNode, RawPlan
from .rules import RULES

_KINDS = {
    "integer": "a whole number",
    "string": "a text",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}


def check_schema(plan: RawPlan) -> Iterator[Finding]:
    """Every violation of the schema, each told once."""
    told: set[tuple[str, str]] = set()
    nodes = {node.index: node for node in plan.nodes}
    for error in validator(PLAN).iter_errors(plan.json):
        for leaf in _leaves(error):
            for message, path, hint in _words(leaf):
                at = pointer(*path)
                if (at, message) not in told:
                    told.add((at, message))
                    yield _finding(nodes, message, at, path, hint)


def _leaves(error: Any) -> Iterator[Any]:
    """The errors that say something: of an alternative with null, those of the other branch."""
    if error.validator != "anyOf":
        yield error
        return
    branches = [e for e in error.context if e.validator_value != "null"]
    for inner in branches:
        yield from _leaves(inner)


def _words(error: Any) -> Iterator[tuple[str, tuple[Any, ...], str | None]]:
    path, value, expected = tuple(error.absolute_path), error.instance, error.validator_value
    match error.validator:
        case "required":
            missing = [name for name in expected if name not in value]
            for name in missing:
                yield f"the field '{name}' is missing", path, nearest(name, value)
        case "additionalProperties":
            known = error.schema.get("properties", {})
            for name in sorted(value.keys() - known.keys()):
                yield f"there is no field '{name}' here", (*path, name), nearest(name, known)
        case "type":
            kinds = [expected] if isinstance(expected, str) else expected
            wanted = " or ".join(_KINDS.get(kind, kind) for kind in kinds)
            yield f"expected {wanted}, found {_shown(value)}", path, None
        case "enum":
            words = [str(word) for word in expected]
            listed = ", ".join(words[:12]) + (", …" if len(words) > 12 else "")
            yield f"{_shown(value)} is none of {listed}", path, nearest(str(value), words)
        case _:
            yield error.message[:200], path, None


def _shown(value: Any) -> str:
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case None | True | False:
            return {None: "null", True: "true", False: "false"}[value]
        case str():
            return repr(value if len(value) <= 60 else value[:57] + "…")
    return str(value)[:60]


def _finding(nodes: Mapping[int, RawNode], message: str, at: str, path: tuple[Any, ...], hint: str | None) -> Finding:
    severity = RULES["schema"].severity
    node = nodes.get(path[1]) if len(path) > 1 and path[0] == "nodes" else None
    if node is not None:
        return Finding("schema", severity, message, at, None, node.id, node.type_name, hint)
    return Finding("schema", severity, message, at, None, hint=hint)
