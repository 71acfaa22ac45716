"""``--warm-up TABLE=FILES``: the history of tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..plan.document import Plan
from ..plan.nodes import TableSourceScan
from ..plan.tables import called, plan_tables

if TYPE_CHECKING:
    from ..executor.checkpoints.warm_up import WarmUp

_FORMATS = {".json": "json", ".jsonl": "json", ".csv": "csv", ".parquet": "parquet", ".orc": "orc", ".avro": "avro"}
"""The formats of files by their endings."""
_PATTERN = re.compile(r"[*?\[]")


def warm_up_of(plan: Plan, history: Sequence[tuple[str, str]], emits: bool, checkpoint: str | None) -> WarmUp | None:
    """The history that ``execute`` is to begin with; ``None``: there is none."""
    if not history:
        if emits:
            raise click.UsageError("--emit is for --warm-up alone")
        return None
    if checkpoint is None:
        raise click.UsageError("--warm-up needs --checkpoint: that is where the job goes on")
    from ..executor.checkpoints.warm_up import WarmUp

    return WarmUp(history_tables(plan, history), emits)


def history_tables(plan: Plan, history: Sequence[tuple[str, str]]) -> dict[str, Mapping[str, str]]:
    """The options of tables over the files that are named on the command line, by the names of the tables.

    Raises :class:`click.UsageError` where there are no such files.
    """
    return {name: _options(plan, name, files) for name, files in history}


def _options(plan: Plan, name: str, files: str) -> Mapping[str, str]:
    """The options of a table over files."""
    place = _PATTERN.split(files, maxsplit=1)[0]
    folder = files if place == files else place[: place.rfind("/") + 1] or "."
    if not Path(folder).exists():
        raise click.UsageError(f"--warm-up {name}: there is no file or directory {folder}")
    path = str(Path(folder).absolute())
    own = {} if place == files else {"source.path.regex-pattern": _regex(str(Path(files).absolute()))}
    return {"connector": "filesystem", "path": path, **own, **_format(plan, name, files)}


def _regex(pattern: str) -> str:
    """The expression for the paths that a shell's pattern matches."""
    wild = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*|\*|\?|\[[^]]+\])", pattern)
    return "".join(wild.get(part) or _bracket(part) or re.escape(part) for part in parts)


def _bracket(part: str) -> str | None:
    """A set of characters."""
    return part.replace("[!", "[^", 1) if part.startswith("[") and part.endswith("]") else None


def _format(plan: Plan, name: str, files: str) -> dict[str, str]:
    """The format of files: that of the table, with its options, unless their ending says another one."""
    table: Mapping[str, str] = {}
    for node, reference in plan_tables(plan):
        if isinstance(node, TableSourceScan) and name in called(reference):
            table = reference.options
    own = table.get("format") or table.get("value.format")
    endings = [ending for ending in Path(files).suffixes if ending in _FORMATS]
    ending = _FORMATS[endings[-1]] if endings else None
    format_ = own if own is not None and (ending is None or ending in own.split("-")) else ending or own
    if format_ is None:
        raise click.UsageError(f"--warm-up {name}: the format of {files} is not known by its ending")
    prefixed = {key.removeprefix("value."): value for key, value in table.items()}
    return {"format": format_, **{k: v for k, v in prefixed.items() if k.startswith(f"{format_}.")}}
