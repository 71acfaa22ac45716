"""``flinkplan state`` for states that are read as tables: savepoints of Flink, and exported directories."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

import click

from ..flink.savepoint import is_savepoint, read_savepoint
from ..plan.document import load
from ..plan.errors import PlanError
from ..plan.printable import json_text, one_line
from ..plan.record import Record
from ..plan.uids import Uids
from ..state.form import ROW_KIND, VALUE, JobState, Kind, OperatorState, StateTable
from ..state.form_folder import FolderState, is_state_folder
from ..state.naming import NamedState
from .entries import operator_name
from .tables import aligned

_KINDS = ("+I", "-U", "+U", "-D")


class Selection(Record):
    """The entries that the options of the command select."""

    operator: str | None
    key: str | None
    limit: int


def is_tables(place: str) -> bool:
    """Whether a path is that of a savepoint or an exported directory."""
    return is_savepoint(place) or is_state_folder(place)


@contextmanager
def opened(place: str, flink: str | None, plan_file: str | None = None) -> Iterator[JobState]:
    """The state at a path, with the names of a plan if there is one.

    Remarks about parts that could not be read are printed to standard error.
    """
    plan = None if plan_file is None else load(plan_file)
    holders = {} if plan is None else {uid: node for uid, (node, _) in Uids().holders(plan)}
    folder = FolderState(place) if is_state_folder(place) else None
    with nullcontext(folder) if folder else read_savepoint(place, flink, list(holders)) as state:
        for remark in state.manifest.remarks:
            click.echo(one_line(f"note: {remark}"), err=True)
        yield state if plan is None else NamedState(state, plan, holders)


def show(state: JobState, selection: Selection, format_: str) -> None:
    """Print the states, or the selected entries."""
    tables = _chosen(state, selection.operator)
    if selection.operator is None and selection.key is None:
        _print_counts(tables, format_)
        return
    for operator, table in tables:
        if table.kind.is_keyed or selection.key is None:
            _print_entries(state, operator, table, selection, format_)


def _chosen(state: JobState, pattern: str | None) -> list[tuple[OperatorState, StateTable]]:
    """The states of matching operators.  Raises :class:`PlanError` where there are none."""
    tables = list(state.manifest.tables())
    chosen = [(o, t) for o, t in tables if pattern is None or any(fnmatchcase(n, pattern) for n in _names(o))]
    if not chosen:
        known = ", ".join(dict.fromkeys(operator_name(operator) for operator, _ in tables))
        raise PlanError(
            "the state has no such operator", hint=f"the operators are {known}" if known else "no operator has state"
        )
    return chosen


def _names(operator: OperatorState) -> tuple[str, ...]:
    uid = operator.uid or ""
    return (uid, uid.partition("_")[0], uid.partition("_")[2], operator.hash or "")


def _print_counts(tables: list[tuple[OperatorState, StateTable]], format_: str) -> None:
    if format_ == "json":
        for operator, table in tables:
            _print_json({**_head(operator, table), "entries": table.entries})
        return
    rows = [(operator_name(o), t.name, _kind(t), str(t.entries)) for o, t in tables]
    click.echo(aligned(("operator", "state", "kind", "entries"), rows))


def _kind(table: StateTable) -> str:
    return f"{table.kind.value}, not decoded" if table.opaque else table.kind.value


def _head(operator: OperatorState, table: StateTable) -> dict[str, Any]:
    return {"operator": operator.uid, "hash": operator.hash, "state": table.name, "kind": table.kind.value}


def _print_entries(
    state: JobState, operator: OperatorState, table: StateTable, selection: Selection, format_: str
) -> None:
    if format_ == "text":
        click.echo(one_line(f"{operator_name(operator)}, {table.name} ({_kind(table)})"))
    for row in islice(_rows(state, table, selection.key), selection.limit):
        entry = _entry(table, row)
        if format_ == "json":
            _print_json({**_head(operator, table), **entry})
        else:
            click.echo(one_line(f"  {_as_line(entry)}"))


def _rows(state: JobState, table: StateTable, key: str | None) -> Iterator[dict[str, Any]]:
    """The entries, with ``key`` only those of this key.  Raises :class:`PlanError` for another number of columns."""
    wanted = None if key is None else key.split(",")
    if wanted is not None and len(wanted) != len(table.key):
        raise PlanError(f"the key of {table.name} has {len(table.key)} columns, not {len(wanted)}")
    for batch in state.batches(table):
        for row in batch.to_pylist():
            if wanted is None or [_text(value) for value in row["key"].values()] == wanted:
                yield row


def _text(value: Any) -> str:
    plain = _plain(value)
    return plain if isinstance(plain, str) else json_text(plain, default=str)


def _entry(table: StateTable, row: dict[str, Any]) -> dict[str, Any]:
    """The parts of an entry by name; a part with a single column is replaced by its value."""
    entry = {name: _part(part) if isinstance(part, dict) else part for name, part in row.items()}
    if table.kind.is_keyed:
        entry["key"] = list(row["key"].values())
    accessed = entry.pop("accessed", None)
    if accessed is not None:
        entry["accessed"] = accessed.isoformat(timespec="milliseconds")
    if table.kind is Kind.TIMERS:
        entry["value"] = row["value"]["timestamp"]
    return {name: _plain(part) for name, part in entry.items()}


def _part(part: dict[str, Any]) -> Any:
    return part[VALUE] if list(part) == [VALUE] else part


def _plain(value: Any) -> Any:
    """A value that JSON can represent: row kinds as texts (+I is left out), binary values as hexadecimal digits."""
    if isinstance(value, dict):
        kind = value.get(ROW_KIND)
        fields = {name: _plain(item) for name, item in value.items() if name != ROW_KIND}
        return {**fields, ROW_KIND: _KINDS[kind]} if kind else fields
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if hasattr(value, "isoformat") else value


def _as_line(entry: dict[str, Any]) -> str:
    shown = dict(entry)
    key = shown.pop("key", None)
    value = shown.pop("value", None)
    rest = "".join(f"  {name.replace('_', ' ')} {_json(part)}" for name, part in shown.items())
    return f"{_json(value)}{rest}" if key is None else f"{_json(key)}: {_json(value)}{rest}"


def _print_json(values: dict[str, Any]) -> None:
    click.echo(_json(values))


def _json(value: Any) -> str:
    return json_text(value, default=str)
