"""Compares two plans and gives the edits from the old one to the new one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..plan.codec import field_codecs
from ..plan.document import Plan
from ..plan.nodes import ExecNode, OpaqueNode, TableSourceScan
from ..plan.record import Record
from ..plan.text.positions import pointer
from ..plan.uids import Uids
from .columns import Scope, Shown
from .edits import Edit, FieldChange, Insert, Keep, Move, Remove, Replace, Update
from .lineage import Lineage, Meanings
from .matching import Pair, match
from .normal import content, trim

_NOT_COMPARED = ("id", "version", "description", "output_type")
"""Fields that follow from others, or whose changes have rules of their own."""


class Comparison(Record):
    """Two plans with the meanings of their columns, and the edits between them."""

    old: Lineage
    new: Lineage
    edits: tuple[Edit, ...]
    uids: Uids = Uids()
    one_by_one: bool = False
    """Whether Flink's state is restored by a service that restores each aggregate by itself."""

    def pairs(self) -> Iterator[Keep | Update | Move | Replace]:
        """The edits of nodes that are in both plans."""
        return (e for e in self.edits if not isinstance(e, Insert | Remove))

    def became(self) -> Mapping[int, ExecNode]:
        """The new counterpart of each old node that has one, by the old id."""
        return {e.old.id: e.new for e in self.pairs()}


def compare(old: Plan, new: Plan, uids: Uids | None = None, one_by_one: bool = False) -> Comparison:
    """Compare two plans.  Raises :class:`UnsupportedError` where they are too large."""
    matching = match(old, new)
    meanings = Meanings()
    old_lineage = Lineage(old, meanings, frozenset(p.old.id for p in matching.pairs))
    new_lineage = Lineage(
        new, meanings, frozenset(p.new.id for p in matching.pairs), _renamed(matching.pairs, old, new)
    )
    edits: list[Edit] = [Remove(n) for n in matching.removed]
    for pair in matching.pairs:
        edits.extend(_edits(pair, old_lineage, new_lineage))
    edits += [Insert(n) for n in matching.inserted]
    return Comparison(old_lineage, new_lineage, tuple(edits), uids or Uids(), one_by_one)


def _renamed(pairs: Iterable[Pair], old: Plan, new: Plan) -> dict[int, str]:
    """The old names of renamed tables, by the ids of their scans; a table that is in both plans keeps its name."""
    before, after = ({_table(node) for node in plan.nodes if isinstance(node, TableSourceScan)} for plan in (old, new))
    return {
        p.new.id: _table(p.old)
        for p in pairs
        if isinstance(p.old, TableSourceScan) and isinstance(p.new, TableSourceScan)
        if _table(p.old) not in after and _table(p.new) not in before
    }


def _table(scan: TableSourceScan) -> str:
    return scan.scan_table_source.table.identifier


def _edits(pair: Pair, old: Lineage, new: Lineage) -> Iterator[Edit]:
    if pair.old.metadata.name != pair.new.metadata.name:
        yield Replace(pair.old, pair.new)
        return
    if pair.same:
        yield Keep(pair.old, pair.new)
        return
    changes = tuple(field_changes(pair.old, pair.new, old, new))
    if pair.swapped:
        yield Move(pair.old, pair.new)
    elif changes:
        yield Update(pair.old, pair.new, changes)
    else:
        yield Keep(pair.old, pair.new)


def field_changes(old: ExecNode, new: ExecNode, old_lineage: Lineage, new_lineage: Lineage) -> Iterator[FieldChange]:
    """The differences in meaning between two nodes of the same type."""
    if isinstance(old, OpaqueNode):
        yield from _differences("unknown", "", content(old), content(new))
        return
    before = Scope(old, old_lineage).resolve_object(old)
    after = Scope(new, new_lineage).resolve_object(new)
    for codec in field_codecs(type(old)):
        if codec.name in _NOT_COMPARED or (
            _is_local(new, codec.name) and getattr(old, codec.name) == getattr(new, codec.name)
        ):
            continue
        yield from _differences(
            codec.name, pointer(codec.json), trim(before.get(codec.json)), trim(after.get(codec.json))
        )


def _is_local(node: ExecNode, field: str) -> bool:
    """Whether an equal field is unchanged even if its columns have other meanings now.

    Only state depends on where columns come from.  For other fields the change is reported where it was made.
    """
    return not node.is_stateful or field in node.metadata.results or field in ("configuration", "input_properties")


def _differences(name: str, at: str, old: Any, new: Any) -> Iterator[FieldChange]:
    """The places where two resolved values differ; lists of different lengths differ as a whole."""
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in {**old, **new}:
            yield from _differences(name, at + pointer(key), old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (old_item, new_item) in enumerate(zip(old, new, strict=True)):
            yield from _differences(name, at + pointer(i), old_item, new_item)
    else:
        yield FieldChange(name, at, shown(old), shown(new))


def shown(value: Any) -> Any:
    """A resolved value as JSON."""
    match value:
        case Shown():
            return value.json
        case Mapping():
            return {k: shown(v) for k, v in value.items()}
        case list():
            return [shown(v) for v in value]
    return value
