"""Partition pruning by predicates on the partition columns.

Sources: ``PushPartitionIntoTableSourceScanRule``, ``PartitionPruner``, ``PartitionPathUtils``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ...plan.connectors import default_partition
from ...plan.functions import is_deterministic
from ...plan.functions.cast import CAST
from ...plan.functions.comparison import AND, OR
from ...plan.record import Json, replace
from ...plan.rex import Call, InputRef, Literal, RexNode
from ...plan.specs import PartitionPushDown
from ...plan.types import APPROXIMATE, INTEGER_BITS, INTEGERS, LogicalType
from ..algebra.builders import filtered
from ..algebra.logical import Filter, Values
from ..algebra.physical import SourceScan
from ..algebra.rel import Rel
from ..connectors import source_of, table_options
from ..errors import PlanningError
from ..rex import sargs
from ..rex.evaluation.numbers import java_float
from ..rex.evaluation.registry import UnknownValue
from ..rex.evaluation.time_texts import read_moment, read_time
from ..rex.expressions import conjunctions, is_call, is_strict, refs, rewrite
from ..rex.normal_forms import to_cnf
from ..rex.simplify import simplify
from ..rex.unplanned import Approximate
from .rule import rule

Partition = Mapping[str, str | None]
"""The texts of the partition columns in a folder's path; ``None``: the default partition, whose rows hold NULL."""


@rule(on=Filter, over=SourceScan)
def push_partitions(rel: Filter, scan: SourceScan) -> Rel:
    """Push predicates on partition columns into the source, which reads only the partitions that match.

    They stay a filter where the folders cannot be listed here: where only the run knows the path, or a file system
    other than the local one has them.  Where none of the partitions is chosen, nothing is read.

    Raises :class:`PlanningError` for a folder whose name is no value of the partition column's type.
    """
    keys = scan.table.resolved.partition_keys or ()
    is_pushed = any(isinstance(a, PartitionPushDown) for a in scan.abilities)
    if is_pushed or not keys or not source_of(scan.table).partitions:
        return rel
    options = table_options(scan.table, dict(scan.options))
    root = _local(options.get("path", ""))
    if root is None:
        return rel
    names = scan.names
    parts = conjunctions(to_cnf(rel.condition))
    chosen = [p for p in parts if refs(p) and is_deterministic(p) and all(names[i] in keys for i in refs(p))]
    if not chosen:
        return rel
    default = default_partition(options)
    kept, undecided = [], set[RexNode]()
    for partition in _partitions(root, keys, default):
        verdicts = [(p, _verdict(p, partition, scan)) for p in chosen]
        if all(verdict is not False for _, verdict in verdicts):
            kept.append(partition)
            undecided.update(p for p, verdict in verdicts if verdict is None)
    if not kept:
        return Values(tuples=(), fields=rel.row_type)
    pushed = replace(scan, abilities=(*scan.abilities, PartitionPushDown(tuple(map(Json, kept)))))
    if len(chosen) == len(conjunctions(rel.condition)) == len(parts) and not undecided:
        return pushed
    return filtered(pushed, [p for p in parts if p not in chosen or p in undecided])


def _local(path: str) -> Path | None:
    """The folder that a path names on this machine, or ``None``."""
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):", path)
    if not path or "${" in path or (scheme is not None and scheme[1] != "file"):
        return None
    return Path(re.sub(r"^file:(//)?", "", path))


def _partitions(root: Path, keys: Iterable[str], default: str) -> Iterator[Partition]:
    folders: list[tuple[Path, dict[str, str | None]]] = [(root, {})]
    for key in keys:
        below: list[tuple[Path, dict[str, str | None]]] = []
        for folder, values in folders:
            if folder.is_dir():
                for child in sorted(folder.iterdir()):
                    name, equals, text = map(unquote, child.name.partition("="))
                    if equals and name == key:
                        below.append((child, {**values, key: None if text == default else text}))
        folders = below
    for _, values in folders:
        yield values


def _verdict(predicate: RexNode, partition: Partition, scan: SourceScan) -> bool | None:
    """Whether a predicate holds in a partition; ``None`` if that is only known when the job runs."""
    fields = scan.fields.fields

    def known(node: RexNode) -> RexNode:
        if isinstance(node, InputRef):
            field = fields[node.index]
            text = partition[field.name]
            if text is not None and field.type.root not in _READERS:
                return node
            try:
                value = None if text is None else _value(field.name, text, field.type, scan)
            except UnknownValue:
                return node
            return Literal(value, field.type.with_nullability(value is None))
        if isinstance(node, Call) and (is_strict(node) or is_call(node, AND, OR, CAST)):
            node = replace(node, type=node.type.with_nullability(any(o.type.nullable for o in node.operands)))
        return _without_nullability(simplify(node))

    result = rewrite(rewrite(predicate, sargs.expand), known)
    return result.value is True if isinstance(result, Literal) else None


def _without_nullability(rex: RexNode) -> RexNode:
    """A literal without the cast that only makes it nullable."""
    if is_call(rex, CAST) and isinstance(literal := rex.operands[0], Literal) and rex.type.not_null() == literal.type:
        return literal
    return rex


# ---------------------------------------------------------------- values of folders


def _value(column: str, text: str, t: LogicalType, scan: SourceScan) -> Any:
    """The value of the literal for the value in a folder's name.

    Raises :class:`PlanningError` where it is none of the column's type.
    """
    if t.root in APPROXIMATE and text.strip(" +-").lower() in ("nan", "infinity"):
        raise UnknownValue
    try:
        return _READERS[t.root](text, t)
    except ValueError:
        folder = f"{column}={text}"
        raise PlanningError(
            f"the folder '{folder}' of the table '{scan.table.identifier.name}' is no partition of it:"
            f" '{text}' is no {t} for the column '{column}'",
            hint="move the folder elsewhere, or declare the column as a STRING",
        ) from None


def _integer(text: str, t: LogicalType) -> int:
    if not re.fullmatch(r"[+-]?[0-9]+", text, re.ASCII):
        raise ValueError
    value, limit = int(text), 1 << (INTEGER_BITS[t.root] - 1)
    if not -limit <= value < limit:
        raise ValueError
    return value


_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")


def _number(text: str) -> Decimal:
    if not _NUMBER.fullmatch(text):
        raise ValueError
    return Decimal(text)


def _approximate(text: str, t: LogicalType) -> Approximate:
    """As Java reads numbers: blanks around them, and a letter behind them that names a type, do not matter."""
    value = float(_number(re.sub(r"[fFdD]?$", "", text.strip(" "), count=1)))
    return Approximate(Decimal(java_float(value, single=t.root == "FLOAT")))


def _decimal(text: str, t: LogicalType) -> str | None:
    """The digits of an exact number; NULL where it has more than its type."""
    value = _number(text)
    if value.adjusted() >= (t.precision or 0):
        return None
    rounded = value.quantize(Decimal(1).scaleb(-(t.scale or 0)), ROUND_HALF_UP)
    return None if len(rounded.as_tuple().digits) > (t.precision or 0) else format(rounded or abs(rounded), "f")


_ISO = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}:[0-9]{2})(:[0-9]{2}(?:\.[0-9]{1,9})?)?")


def _timestamp(text: str, t: LogicalType) -> str:
    iso = _ISO.fullmatch(text)
    moment = read_moment(f"{iso[1]} {iso[2]}{iso[3] or ':00'}" if iso else text, t)
    if moment is None:
        raise ValueError
    return moment


_READERS: dict[str, Callable[[str, LogicalType], Any]] = {
    "CHAR": lambda text, t: text,
    "VARCHAR": lambda text, t: text,
    "BOOLEAN": lambda text, t: text.lower() == "true",
    **dict.fromkeys(INTEGERS, _integer),
    "DECIMAL": _decimal,
    "FLOAT": _approximate,
    "DOUBLE": _approximate,
    "DATE": read_moment,
    "TIME": read_time,
    "TIMESTAMP": _timestamp,
}
"""Readers of partition values by type.  As in Flink, a text that is no date or time of day is NULL."""
