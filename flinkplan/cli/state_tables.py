"""``flinkplan state`` for states that are read as tables: savepoints of Flink, and exported directories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

import click

from ..flink.savepoint import is_savepoint, read_savepoint
from ..plan.document import Plan, load
from ..plan.errors import PlanError
from ..plan.printable import aligned, json_text, one_line
from ..plan.record import Record
from ..plan.uids import Uids
from ..state.filtering import has_key
from ..state.form import VALUE, JobState, Kind, OperatorState, StateTable
from ..state.form_folder import FolderState, is_state_folder
from ..state.keys import KeyValues
from ..state.naming import NamedState
from ..state.plain import plain_value
from .entries import EntryProgress, operator_name


class Selection(Record):
    """The entries that the options of the command select."""

    operator: str | None
    key: KeyValues | None
    limit: int


def is_tables(place: str) -> bool:
    """Whether a path is that of a savepoint or an exported directory."""
    return is_savepoint(place) or is_state_folder(place)


def named_plan(file: str | None) -> Plan | None:
    """The plan in a file, if one is named."""
    return None if file is None else load(file)


@contextmanager
def opened(place: str, flink: str | None, plan: Plan | None = None) -> Iterator[JobState]:
    """The state at a path, with the names of a plan if there is one; see :func:`read_state`."""
    holders = {} if plan is None else {uid: node for uid, (node, _) in Uids().holders(plan)}
    with read_state(place, flink, list(holders)) as state:
        yield state if plan is None else NamedState(state, plan, holders)


@contextmanager
def read_state(place: str, flink: str | None, uids: Sequence[str] = ()) -> Iterator[JobState]:
    """The state at a path; ``uids`` are those of a plan's operators.

    Remarks about parts that could not be read are printed to standard error.
    """
    folder = FolderState(place) if is_state_folder(place) else None
    progress = EntryProgress()
    with nullcontext(folder) if folder else read_savepoint(place, flink, uids, progress.read) as state:
        progress.end()
        for remark in state.manifest.remarks:
            click.echo(one_line(f"note: {remark}"), err=True)
        yield state


def show(state: JobState, selection: Selection, format_: str) -> None:
    """Print the states, or the selected entries."""
    if selection.operator is None and not any(state.manifest.tables()):
        click.echo("no operator of this job has state", err=True)
        return
    tables = chosen_tables(state, selection.operator)
    if selection.operator is None and selection.key is None:
        _print_counts(tables, format_)
        return
    key = selection.key
    if key is not None:
        tables = [(operator, table) for operator, table in tables if table.kind.is_keyed]
        key.check({table.name: len(table.key) for _, table in tables})
    for operator, table in tables:
        if key is None or key.fits(len(table.key)):
            _print_entries(state, operator, table, selection, format_)


def chosen_tables(state: JobState, pattern: str | None) -> list[tuple[OperatorState, StateTable]]:
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


def _rows(state: JobState, table: StateTable, key: KeyValues | None) -> Iterator[dict[str, Any]]:
    """The entries, with ``key`` only those of this key."""
    for batch in state.batches(table):
        for row in batch.to_pylist():
            if key is None or has_key(row["key"], key):
                yield row


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
    return {name: plain_value(part) for name, part in entry.items()}


def _part(part: dict[str, Any]) -> Any:
    return part[VALUE] if list(part) == [VALUE] else part


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
