"""Rows of Python values within a plan: those of PyFlink's ``from_elements``.

PyFlink writes the rows to a temporary file, which is gone when its process ends, and its plan has the file's name.  So
that a plan can be executed later, the node that scans the table holds the rows as well, in a property of its own:
literals, and arrays, maps and rows of these.  Source: ``PythonDynamicTableFactory`` of flink-python.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import FlinkplanError, PlanError
from .functions import called
from .functions.collection import ARRAY, MAP, ROW
from .options import OptionType
from .rex import Literal, RexNode, rex_from_json, rex_to_json, walk

NAME, FILE = "python-input-format", "file-path"
"""The connector, and its option for the file."""

OPTION = "flinkplan.rows"
"""The option of the table that has the rows until a plan is made."""

_PROPERTY = "rows"


def elements_options(rows: Sequence[Sequence[RexNode]]) -> dict[str, str]:
    """The options of a table of these rows.

    The file has a name as those of PyFlink; equal rows have the same, so that equal programs give equal plans.
    """
    text = json.dumps([[rex_to_json(rex) for rex in row] for row in rows], separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"batched": "true", FILE: f"/tmp/tmp{digest[:8]}/tmp{digest[8:16]}", OPTION: text}


def without_elements(options: Mapping[str, str]) -> dict[str, str]:
    """The options as they stand in a plan."""
    return {key: value for key, value in options.items() if key != OPTION}


def _rows(text: str) -> Any:
    """The rows of an option's value."""
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError):
        rows = None
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise FlinkplanError("it is what from_elements() writes: JSON of rows of expressions")
    return rows


ROWS = OptionType("rows", _rows)
"""The type of :data:`OPTION`."""


def elements_property(options: Mapping[str, str]) -> dict[str, Any]:
    """The property in which a node keeps the rows."""
    return {_PROPERTY: _rows(options[OPTION])} if OPTION in options else {}


def elements_of(own: Mapping[str, Any], width: int) -> list[list[RexNode]]:
    """The rows of so many values in the properties of a node.  Raises :class:`PlanError` where it has none."""
    rows = own.get(_PROPERTY)
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise PlanError(
            "the plan does not hold the rows of from_elements(): PyFlink keeps them in a file until its process ends",
            hint="compile the program with flinkplan",
        )
    read = [[rex_from_json(rex) for rex in row] for row in rows]
    if any(len(row) != width for row in read):
        raise PlanError(f"each row of from_elements() has {width} values, as many as its table has columns")
    for part in (part for row in read for rex in row for part in walk(rex)):
        if not isinstance(part, Literal) and called(part) not in (ARRAY, MAP, ROW):
            raise PlanError(f"the rows of from_elements() are made of literals, arrays, maps and rows, not of {part}")
    return read
