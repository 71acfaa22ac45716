from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flinkplan.schemas.loader import SPEC, load_schema, validator


def objects(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every part of the schema that lists keys of a mapping."""
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            yield path, schema
        for key, value in schema.items():
            yield from objects(value, f"{path}/{key}")


def test_it_is_a_schema() -> None:
    type(validator(SPEC)).check_schema(load_schema(SPEC))


def test_it_takes_no_unknown_key() -> None:
    assert [path for path, schema in objects(load_schema(SPEC)) if schema["additionalProperties"] is not False] == []


def test_it_describes_every_key() -> None:
    schema = load_schema(SPEC)
    undescribed = [
        f"{path}/{key}"
        for path, part in objects(schema)
        for key, value in part["properties"].items()
        if not {**schema["$defs"].get(value.get("$ref", "").rpartition("/")[2], {}), **value}.get("description")
    ]
    assert undescribed == []
