"""Loads the JSON Schemas in this folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

DIALECT = "https://json-schema.org/draft/2020-12/schema"
PLAN = "plan-v1"
DIFF = "diff-v1"
LINEAGE = "lineage-v1"
PROJECT_DIFF = "project-diff-v1"
SPEC = "spec-v1"
STATE = "state-v1"
TEST = "test-v1"


def schema_file(name: str) -> Path:
    """The file of the schema ``name``."""
    return Path(__file__).parent / f"{name}.schema.json"


@cache
def load_schema(name: str) -> dict[str, Any]:
    """The schema ``name``."""
    schema: dict[str, Any] = json.loads(schema_file(name).read_text("utf-8"))
    return schema


@cache
def validator(name: str) -> Validator:
    """A validator for the schema ``name``; jsonschema is imported here, because that is slow."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    fast_validator = extend(Draft202012Validator, {"allOf": _all_of})
    return cast("Validator", fast_validator(load_schema(name)))


def _all_of(validator: Any, branches: list[Any], instance: Any, schema: Any) -> Iterator[Any]:
    """``allOf`` that skips the branches for objects with another type: a node has one of fifty types."""
    for i, branch in enumerate(branches):
        if not _is_for_another_type(instance, branch):
            yield from validator.descend(instance, branch, schema_path=i)


def _is_for_another_type(instance: Any, branch: Any) -> bool:
    """Whether ``branch`` is an ``if`` on the value of one field, and ``instance`` is an object with another value."""
    if not isinstance(instance, dict) or branch.keys() != {"if", "then"}:
        return False
    match branch["if"]:
        case {"required": [name], "properties": {**fields}} if fields.keys() == {name}:
            values: list[Any] | None = cast("Any", fields[name]).get("enum")
            return values is not None and instance.get(name) not in values
    return False
