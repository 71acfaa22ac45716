"""Loads the JSON Schemas that lie beside this module."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

DIALECT = "https://json-schema.org/draft/2020-12/schema"
PLAN = "plan-v1"
DIFF = "diff-v1"
SPEC = "spec-v1"


def schema_file(name: str) -> Path:
    """The file of the schema ``name``."""
    return Path(__file__).parent / f"{name}.schema.json"


@cache
def load_schema(name: str) -> dict[str, Any]:
    """The schema ``name``."""
    found: dict[str, Any] = json.loads(schema_file(name).read_text("utf-8"))
    return found


@cache
def validator(name: str) -> Validator:
    """A validator for the schema ``name``; imports jsonschema, which takes a moment."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator(load_schema(name))
