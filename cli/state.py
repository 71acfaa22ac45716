"""``flinkplan state``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..executor.states import Entry, State


@click.command(short_help="Show what the state of a checkpoint holds.")
@click.argument("checkpoint", type=click.Path(file_okay=False, path_type=Path))
@click.option("--sink", metavar="NAME", help="Only the query of this sink.")
@click.option("--operator", type=int, metavar="N", help="Only this operator; list its entries.")
@click.option("--key", metavar="VALUES", help="Only entries under this key, its columns separated by commas.")
@click.option("--limit", type=int, default=20, show_default=True, help="At most so many entries a state.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.pass_obj
def command(
    debug: bool, checkpoint: Path, sink: str | None, operator: int | None, key: str | None, limit: int, format_: str
) -> None:
    """Count the entries of every state of CHECKPOINT; with --operator or --key list them, with their expiry.

    Operators are numbered as Spark numbers them, query by query. This starts Spark and reads only.
    """
    from ..executor.session import session
    from ..executor.states import count, entries, find_states
    from .jvm import quiet_jvm

    states = [
        s
        for s in find_states(checkpoint)
        if (sink is None or s.sink == sink) and (operator is None or s.operator == operator)
    ]
    listed = operator is not None or key is not None
    with quiet_jvm(debug):
        spark = session()
        for state in states:
            if listed:
                wanted = None if key is None else key.split(",")
                _print_entries(state, list(entries(spark, state, wanted, limit)), format_)
            else:
                _print_count(state, count(spark, state), format_)


def _print_count(state: State, rows: int, format_: str) -> None:
    if format_ == "json":
        _print_json({"sink": state.sink, "operator": state.operator, "state": state.name, "entries": rows})
    else:
        click.echo(f"{state.sink}  operator {state.operator}  {state.name}: {rows} entries")


def _print_entries(state: State, entries: list[Entry], format_: str) -> None:
    if format_ == "text":
        click.echo(f"{state.sink}  operator {state.operator}  {state.name}")
    for entry in entries:
        expires = entry.expires.isoformat(timespec="seconds") if entry.expires else None
        if format_ == "json":
            head = {"sink": state.sink, "operator": state.operator, "state": state.name}
            _print_json({**head, "key": list(entry.key), "value": _plain(entry.value), "expires": expires})
        else:
            value = ", ".join(f"{k}={v}" for k, v in _plain(entry.value).items())
            click.echo(f"  ({', '.join(map(str, entry.key))}): {value}  expires {expires or 'never'}")


def _plain(value: Any) -> dict[str, Any]:
    """A value as an object of its columns."""
    return value.asDict(recursive=True) if hasattr(value, "asDict") else {"value": value}


def _print_json(values: dict[str, Any]) -> None:
    import json

    click.echo(json.dumps(values, ensure_ascii=False, default=str))
