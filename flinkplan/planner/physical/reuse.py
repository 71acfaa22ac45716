"""Sharing among the sinks of a job: scans, sinks of one table, and equal sub-plans.

Sources: ``SubplanReuser`` (equal digests), ``ScanReuser`` (scans of one table that differ in their columns),
``SinkReuser`` (sinks of one table).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from ...plan.record import Record, Struct, cached_on_record, field, replace
from ...plan.settings import is_on
from ...plan.specs import ProjectPushDown, ReadingMetadata
from ..algebra.builders import merge_calc
from ..algebra.physical import Calc, Exchange, LocalGroupAggregate, LocalWindowAggregate, Sink, SourceScan, UnionAll
from ..algebra.rel import Rel
from ..algebra.row_types import row_of
from ..algebra.scan_columns import project_scan
from ..algebra.tree import Pass, Rewrite, bottom_up, walk_once, with_inputs
from ..catalog.catalog import Table
from ..rex.expressions import are_columns, identity

_SUBPLANS = "table.optimizer.reuse-sub-plan-enabled"


def merge_scans(sinks: Sequence[Rel], config: Mapping[str, str]) -> Sequence[Rel]:
    """Scans of one table that read different columns become one that reads all of these, where options allow it."""
    if not is_on(config, _SUBPLANS) or not is_on(config, "table.optimizer.reuse-source-enabled"):
        return sinks
    groups: dict[Any, list[SourceScan]] = {}
    for sink in sinks:
        for scan, _ in walk_once(sink).values():
            if isinstance(scan, SourceScan):
                groups.setdefault(_source_key(scan), []).append(scan)
    merged: dict[Any, SourceScan] = {}
    for key, scans in groups.items():
        wanted = {_columns(s) for s in scans}
        if len(wanted) > 1:
            union = tuple(sorted({c for columns in wanted for c in columns}))
            merged[key] = _reading(scans[0], union)

    def change(rel: Rel) -> Rel:
        if isinstance(rel, SourceScan):
            return _narrowed(rel, merged.get(_source_key(rel)))
        if isinstance(rel, Calc) and isinstance(rel.input, Calc):
            selects = rel.input.condition is None and are_columns(rel.input.projection)
            return replace(merge_calc(rel, merges_python=selects), change_trait=rel.change_trait)
        return rel

    return tuple([bottom_up(sink, change) for sink in sinks]) if merged else tuple(sinks)


def _narrowed(rel: SourceScan, source: SourceScan | None) -> Rel:
    """The merged scan, under a calc that selects the columns of the scan that it replaces."""
    if source is None:
        return rel
    available = _columns(source)
    if available == _columns(rel):
        return source
    columns = identity(source.types)
    picked = tuple(columns[available.index(c)] for c in _columns(rel))
    return Calc(input=source, projection=picked, names=rel.names, change_trait=rel.change_trait)


@cached_on_record
def _source_key(scan: SourceScan) -> Hashable:
    """The key that scans must have in common to be merged: everything but the columns."""
    others = tuple(a for a in scan.abilities if not isinstance(a, (ProjectPushDown, ReadingMetadata)))
    return (scan.table.identifier, scan.options, scan.alias, others)


def _columns(scan: SourceScan) -> tuple[int, ...]:
    for ability in scan.abilities:
        if isinstance(ability, ProjectPushDown):
            return tuple(path[0] for path in ability.projected_fields)
    return tuple(range(scan.width))


def _reading(scan: SourceScan, columns: tuple[int, ...]) -> SourceScan:
    """The scan with other columns."""
    physical = [c for c in scan.table.resolved.schema.columns if c.kind is None]
    types = [c.data_type.regular() for c in physical if c.data_type is not None]
    fields = row_of((c.name for c in physical), types)
    others = tuple(a for a in scan.abilities if not isinstance(a, (ProjectPushDown, ReadingMetadata)))
    return project_scan(replace(scan, abilities=others, fields=fields), columns)


def merge_sinks(sinks: Sequence[Rel], config: Mapping[str, str]) -> Sequence[Rel]:
    """Sinks that write the same changes to one table become the first of them, over a union of their inputs.

    Only where options allow it.
    """
    if not is_on(config, _SUBPLANS) or not is_on(config, "table.optimizer.reuse-sink-enabled") or len(sinks) == 1:
        return sinks
    groups: dict[Any, list[Sink]] = {}
    for sink in sinks:
        assert isinstance(sink, Sink)
        groups.setdefault(_sink_key(sink), []).append(sink)
    return tuple(_united(group) for group in groups.values())


def _sink_key(sink: Sink) -> Any:
    """The key that sinks must have in common to be merged: everything but inputs and column names."""
    own = (name for name in sink.__struct_fields__ if name not in ("input", "conflict"))
    types = tuple(t.nullable_() for t in sink.types)
    return repr((*(getattr(sink, name) for name in own), types)), sink.input.changes


def _united(group: list[Sink]) -> Rel:
    first = group[0]
    if len(group) == 1:
        return first
    union = UnionAll(operands=tuple(sink.input for sink in group), change_trait=first.input.change_trait)
    return replace(first, input=union, is_united=True)


class Operator(Record):
    """A physical relation of a job; ``inputs`` are the positions of its inputs among the job's operators."""

    rel: Rel
    inputs: tuple[int, ...]


def share(sinks: Sequence[Rel], *, subplans: bool, sources: bool) -> tuple[Operator, ...]:
    """The operators of a job, inputs first, sink by sink.  With ``subplans`` equal sub-trees are shared.

    Sinks are never shared, and without ``sources`` neither are scans and their exchanges; operators over equal scans
    are equal nevertheless.
    """
    sharing = _Sharing(subplans, sources)
    for sink in sinks:
        sharing.visit(sink)
    return tuple(sharing.operators)


def name_first_phases(sink: Rel) -> Rel:
    """The tree of a sink in which equal first phases have equal names of calls: those of the last one, breadth-first.

    Aggregations are split from below, and a new first phase replaces those that equal it.
    Source: ``HepPlanner`` with the match order ``BOTTOM_UP``.
    """
    if sum(places for rel, places in walk_once(sink).values() if isinstance(rel, _FIRST_PHASES)) < 2:
        return sink
    sharing = _Sharing(subplans=True, sources=True)
    sharing.visit(sink)
    firsts = (rel for rel in _by_distance(sink) if isinstance(rel, _FIRST_PHASES))
    calls = {sharing.firsts[id(rel)]: rel.calls for rel in firsts}

    def change(rel: Rel, visit: Rewrite) -> Rel:
        below = rel.over(visit)
        return replace(below, calls=calls[sharing.firsts[id(rel)]]) if isinstance(below, _FIRST_PHASES) else below

    return Pass(change).visit(sink)


_FIRST_PHASES = (LocalGroupAggregate, LocalWindowAggregate)


def _by_distance(sink: Rel) -> Iterator[Rel]:
    """The relation and all below it, breadth-first; the input of a first phase is on the level of the phase."""
    level: list[Rel] = [sink]
    while level:
        below: list[Rel] = []
        for rel in level:
            while isinstance(rel, _FIRST_PHASES):
                yield rel
                rel = rel.input
            yield rel
            below += rel.inputs
        level = list({id(rel): rel for rel in reversed(below)}.values())[::-1]


class _Sharing(Struct):
    """The operators of a job so far.

    ``alike`` has relations with their positions by class and inputs; ``firsts`` has, by the ``id`` of a relation, the
    position of the first one that equals it.
    """

    subplans: bool
    sources: bool
    operators: list[Operator] = field(default_factory=list)
    alike: dict[tuple[type[Rel], tuple[int, ...]], list[tuple[Rel, int]]] = field(default_factory=dict)
    firsts: dict[int, int] = field(default_factory=dict)

    def visit(self, rel: Rel) -> tuple[int, int]:
        """The positions of the relation and of the first one that equals it."""
        known = self.firsts.get(id(rel))
        if known is not None and self.subplans and not self._stays_apart(rel):
            return known, known
        start = len(self.operators)
        inputs = [self.visit(i) for i in rel.inputs]
        place = len(self.operators)
        equal = self.firsts[id(rel)] = self._first_equal(rel, tuple([first for _, first in inputs]), place)
        if self.subplans and equal < place and not self._stays_apart(rel):
            del self.operators[start:]  # what it reads, too, is there already
            return equal, equal
        places = tuple([i for i, _ in inputs])
        new = with_inputs(rel, tuple([self.operators[i].rel for i in places]))
        self.operators.append(Operator(new, places))
        return place, equal

    def _first_equal(self, rel: Rel, inputs: tuple[int, ...], place: int) -> int:
        """The position of the first relation of the same class and inputs that equals this one."""
        others = self.alike.setdefault((type(rel), inputs), [])
        for other, first in others:
            if _own(other) == _own(rel):
                return first
        others.append((rel, place))
        return place

    def _stays_apart(self, rel: Rel) -> bool:
        if isinstance(rel, Exchange):
            return self._stays_apart(rel.input)
        return isinstance(rel, Sink) or (isinstance(rel, SourceScan) and not self.sources)


_UNCOMPARED = ("input", "left", "right", "operands", "shown_hints")


@cached_on_record
def _own(rel: Rel) -> tuple[Any, ...]:
    """The fields by which operators on the same inputs are compared: all but the names of calls of a first phase.

    Within a job the identifier of a table stands for the table.
    """
    if isinstance(rel, _FIRST_PHASES):
        rel = replace(rel, calls=tuple(replace(c, name=None) for c in rel.calls))
    own = (getattr(rel, name) for name in rel.__struct_fields__ if name not in _UNCOMPARED)
    return tuple([value.identifier if isinstance(value, Table) else value for value in own])
