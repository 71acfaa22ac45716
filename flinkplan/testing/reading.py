"""The rows that a test gives or expects: in the file of tests, or in a file of CSV, JSON or Parquet beside it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..plan.document import read_text
from ..plan.errors import PlanError
from ..planner.spec import nodes as yaml
from ..planner.spec.errors import SpecError
from ..planner.sql.source import Span
from .loading import kind_and_values
from .model import KINDS, Rows


class ReadRow(NamedTuple):
    """A row: its kind, the names of its columns, their values, and its place in the file of tests."""

    kind: str
    names: Sequence[str]
    values: Sequence[Any]
    span: Span


KIND_COLUMN = "__op"
"""The column of a file that holds the kinds of its rows, if it has it."""


def read_rows(rows: Rows, what: str) -> Iterator[ReadRow]:
    """The rows of the table or sink ``what``.

    Raises :class:`SpecError` for a row that is not one, :class:`PlanError` for a file that cannot be read.
    """
    if rows.file is not None:
        for row in _of_file(rows.file):
            kind = str(row.pop(KIND_COLUMN, None) or KINDS[0])
            if kind not in KINDS:
                raise PlanError(f"'{kind}' is not the kind of a row", where=str(rows.file), hint=", ".join(KINDS))
            yield ReadRow(kind, list(row), list(row.values()), rows.span)
        return
    for item in rows.items:
        kind, values, span = kind_and_values(item)
        if isinstance(values, yaml.Mapping):
            yield ReadRow(kind, [k.text for k, _ in values.entries], [v for _, v in values.entries], span)
        elif isinstance(values, yaml.Sequence) and rows.columns is not None:
            if len(values.items) != len(rows.columns):
                message = (
                    f"this row of '{what}' has {len(values.items)} values, and there are {len(rows.columns)} columns"
                )
                raise SpecError(message, span)
            yield ReadRow(kind, rows.columns, values.items, span)
        else:
            hint = "write {column: value, …}; lists of values need 'columns: […]' and 'rows: [[…], …]'"
            raise SpecError(f"this is not a row of '{what}'", span, hint)


def _of_file(path: Path) -> list[dict[str, Any]]:
    match path.suffix.lower():
        case ".csv":
            return [_without_empty(row) for row in csv.DictReader(read_text(path).splitlines())]
        case ".json" | ".jsonl" | ".ndjson":
            return _of_json(read_text(path), path)
        case ".parquet":
            return _of_parquet(path)
    hint = "rows are in files .csv (with a header), .json (a list, or an object a line) and .parquet"
    raise PlanError(f"'{path.name}' is no file of rows", where=str(path), hint=hint)


def _without_empty(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of CSV, in which what is empty is NULL."""
    return {key: value or None for key, value in row.items() if key is not None}


def _of_json(text: str, path: Path) -> list[dict[str, Any]]:
    try:
        rows = (
            json.loads(text)
            if text.lstrip().startswith("[")
            else [json.loads(line) for line in text.splitlines() if line]
        )
    except ValueError as e:
        raise PlanError(f"this is not JSON: {e}", where=str(path)) from None
    if not all(isinstance(row, dict) for row in rows):
        raise PlanError("each row must be an object", where=str(path))
    return list(rows)


def _of_parquet(path: Path) -> list[dict[str, Any]]:
    try:
        from pyarrow import ArrowInvalid, parquet
    except ImportError:
        raise PlanError("Parquet needs pyarrow", where=str(path), hint="pip install 'flinkplan[state]'") from None
    try:
        rows: list[dict[str, Any]] = parquet.read_table(str(path)).to_pylist()
    except (ArrowInvalid, OSError) as e:
        raise PlanError(f"this is not Parquet: {str(e).splitlines()[0]}", where=str(path)) from None
    return rows
