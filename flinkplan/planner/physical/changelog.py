"""Changelog modes: which kinds of changes each operator emits, and whether updates come with their old row.

Source: ``SatisfyUpdateKindTraitVisitor`` of ``FlinkChangelogModeInferenceProgram``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...plan import row_kinds
from ...plan.connectors import CHANGELOG, kinds_are_assumed
from ...plan.connectors import INSERTS as TAKES_INSERTS
from ...plan.record import cached_on_record, replace
from ...plan.row_kinds import Kinds
from ...plan.settings import is_batch_mode, is_on, value_of
from ...plan.specs import (
    AppendFastStrategy,
    RankStrategy,
    ReceivedKind,
    RetractStrategy,
    RowKind,
    SortField,
    UpdateFastStrategy,
)
from ..algebra import physical as p
from ..algebra.changes import Changes, Updates
from ..algebra.dispatch import Dispatch
from ..algebra.rel import Rel
from ..algebra.traits import CompleteUpdates, SameUpdates
from ..algebra.tree import with_inputs
from ..catalog.catalog import Table
from ..connectors import required_kinds, sink_kinds, source_kinds, table_options
from ..errors import Part, PlanningError
from ..metadata.keys import Keys, immutable_columns, keys_in_group_range, upsert_keys
from ..metadata.modify_kinds import DELETE, INSERT, INSERT_ONLY, UPDATE, modify_kinds
from ..metadata.monotonicity import CONSTANT, DECREASING, INCREASING, monotonicity
from ..metadata.process_tables import process_table_mode
from ..metadata.upserts import takes_upserts
from ..rex.expressions import refs


def infer_changelog_modes(sink: Rel, config: Mapping[str, str]) -> p.Sink:
    """The sink with the changes of all operators; it may get a materializer, sources a DropUpdateBefore.

    Raises :class:`PlanningError` where the sink cannot take what the query emits.
    """
    assert isinstance(sink, p.Sink)
    kinds = modify_kinds(sink.input)
    if is_batch_mode(config):
        return _as_batch(sink, kinds)
    accepted = sink_kinds(sink.table, dict(sink.options), kinds <= INSERT_ONLY)
    if missing := kinds - accepted:
        emitted = f"no {_kind_names(missing)}, which {_origin(sink)} emits"
        options = table_options(sink.table, dict(sink.options))
        raise PlanningError(
            f"the table '{sink.table.identifier.name}' takes {emitted}",
            hint=f"its connector is not known here: if it takes upserts, say '{CHANGELOG}' = 'I,UA,D'"
            if kinds_are_assumed(options, as_sink=True)
            else "write to a changelog format such as debezium-json, or make the query append-only",
            part=Part.SINK,
        )
    wanted = required_kinds(sink.table, dict(sink.options), kinds <= INSERT_ONLY)
    _check_conflict(sink, wanted)
    materialize = materializes(sink, kinds, wanted, config)
    for updates in _sink_requirement(sink, kinds, accepted):
        source = _visit(sink.input, updates)
        if source is not None:
            return replace(sink, input=source, upsert_materialize=materialize, change_trait=source.changes)
    raise PlanningError(f"no changelog of the query suits the table '{sink.table.identifier.name}'", part=Part.SINK)


def _as_batch(sink: p.Sink, kinds: Kinds) -> p.Sink:
    """The sink where what its query comes to is written in the end, all changes taken into account."""
    updates = Updates.BEFORE_AND_AFTER if UPDATE in kinds else Updates.NONE
    source = _visit(sink.input, updates)
    if source is None:
        raise PlanningError(f"no changelog of the query suits the table '{sink.table.identifier.name}'", part=Part.SINK)
    return replace(sink, input=source, upsert_materialize=False, change_trait=source.changes)


def _check_conflict(sink: p.Sink, wanted: Kinds) -> None:
    """Raise :class:`PlanningError` where ON CONFLICT has no meaning, or not the watermarks that it waits for."""
    if sink.conflict is None:
        return
    name = sink.table.identifier.name
    if RowKind.UPDATE_BEFORE in wanted or wanted == TAKES_INSERTS:
        takes = "needs retractions" if RowKind.UPDATE_BEFORE in wanted else "gets inserts only"
        raise PlanningError(
            f"ON CONFLICT is for sinks that take upserts, but '{name}' {takes}",
            hint="leave ON CONFLICT out of the statement",
            part=Part.SINK,
        )
    without = [table for table in _sources(sink) if not table.resolved.schema.watermark_specs]
    if sink.conflict != "DEDUPLICATE" and without:
        names = ", ".join(dict.fromkeys(f"'{table.identifier.name}'" for table in without))
        raise PlanningError(
            f"ON CONFLICT DO {sink.conflict} waits for watermarks, and there are none for {names}",
            hint="add WATERMARK FOR … AS … to each source, or say ON CONFLICT DO DEDUPLICATE",
        )


def _sources(rel: Rel) -> Iterator[Table]:
    if isinstance(rel, p.SourceScan):
        yield rel.table
    for each in rel.inputs:
        yield from _sources(each)


def _origin(sink: p.Sink) -> str:
    """In words, the lowest operator that turns inserts into updates."""
    rel: Rel = sink.input
    while True:
        updating = [i for i in rel.inputs if not modify_kinds(i) <= INSERT_ONLY]
        if not updating:
            return _ORIGINS.get(type(rel), "the query")
        rel = updating[0]


_ORIGINS: dict[type[Rel], str] = {
    p.SourceScan: "a source",
    p.GroupAggregate: "an aggregation without a window",
    p.GroupTableAggregate: "a table aggregate function",
    p.RegularJoin: "an outer join",
    p.MultiJoin: "an outer join",
    p.Rank: "a Top-N",
    p.SortLimit: "ORDER BY … LIMIT",
    p.Deduplicate: "a deduplication that keeps the last row",
    p.OverAggregate: "OVER ordered by no time attribute",
    p.ChangelogNormalize: "a source",
}


def _kind_names(kinds: Kinds) -> str:
    names = {UPDATE: "updates", INSERT: "inserts", DELETE: "deletions"}
    return " and no ".join(word for kind, word in names.items() if kind in kinds)


def _sink_requirement(sink: p.Sink, kinds: Kinds, accepted: Kinds) -> tuple[Updates, ...]:
    """The ways in which a sink accepts updates, the preferred first."""
    if UPDATE not in kinds:
        return (Updates.NONE,)
    if RowKind.UPDATE_BEFORE in accepted:
        return (Updates.BEFORE_AND_AFTER,)
    key = primary_key(sink)
    fixed = immutable_columns(sink.input)
    if key is not None and not any(k <= key <= k | fixed for k in upsert_keys(sink.input)):
        return (Updates.BEFORE_AND_AFTER,)
    return (Updates.ONLY_AFTER, Updates.BEFORE_AND_AFTER)


def primary_key(sink: p.Sink) -> frozenset[int] | None:
    """The columns of the sink's primary key, if it has one."""
    schema = sink.table.resolved.schema
    if schema.primary_key is None:
        return None
    stored = [c.name for c in schema.columns if c.kind is None or c.is_virtual is False]
    return frozenset(stored.index(c) for c in schema.primary_key.columns)


def materializes(sink: p.Sink, kinds: Kinds, wanted: Kinds, config: Mapping[str, str]) -> bool:
    """Whether the sink must keep rows by key to resolve conflicts.  Source: ``analyzeUpsertMaterializeStrategy``.

    Raises :class:`PlanningError` where the statement must have ON CONFLICT.
    """
    key = primary_key(sink)
    option = value_of(config, "table.exec.sink.upsert-materialize").upper()
    if key is None or RowKind.UPDATE_BEFORE in wanted or option == "NONE":
        return False
    if option == "FORCE":
        return True
    if wanted == TAKES_INSERTS or (kinds <= INSERT_ONLY and sink.conflict == "DEDUPLICATE"):
        return False
    if any(k <= key for k in upsert_keys(sink.input)):
        return False
    if sink.conflict is None and is_on(config, "table.exec.sink.require-on-conflict"):
        of_query = (
            "a key of the query's rows" if kinds <= INSERT_ONLY else "the key by which the query updates its rows"
        )
        raise PlanningError(
            f"the key of the table '{sink.table.identifier.name}' is not {of_query}",
            part=Part.SINK,
            hint="add ON CONFLICT DO DEDUPLICATE, NOTHING or ERROR to the statement, "
            "or set table.exec.sink.require-on-conflict to false",
        )
    return True


@cached_on_record
def _visit(rel: Rel, required: Updates) -> Rel | None:
    """The relation with its changes and inputs that let it emit updates as required; ``None`` where it cannot."""
    return _RULES[rel](rel, required)


def _best(rel: Rel) -> Updates:
    """-U and +U where a relation updates."""
    return Updates.BEFORE_AND_AFTER if UPDATE in modify_kinds(rel) else Updates.NONE


def _only_after(rel: Rel) -> Updates:
    return Updates.ONLY_AFTER if UPDATE in modify_kinds(rel) else Updates.NONE


def _done(rel: Rel, inputs: tuple[Rel | None, ...], updates: Updates) -> Rel | None:
    """The relation over new inputs, with its changes; ``None`` where an input is ``None``."""
    if any(i is None for i in inputs):
        return None
    kinds = modify_kinds(rel)
    changes = Changes(kinds, updates if UPDATE in kinds else Updates.NONE)
    return replace(with_inputs(rel, tuple(i for i in inputs if i is not None)), change_trait=changes)


def _retracting(rel: Rel, required: Updates) -> Rel | None:
    inputs = tuple(_visit(i, _best(i)) for i in rel.inputs)
    return _done(rel, inputs, required)


def _forwarding(rel: Rel, required: Updates) -> Rel | None:
    inputs = tuple(_visit(i, required if UPDATE in modify_kinds(i) else Updates.NONE) for i in rel.inputs)
    return _done(rel, inputs, required)


def _calc(rel: p.Calc, required: Updates) -> Rel | None:
    """A filter on columns beyond the key would lose the old row of an update that no longer passes."""
    if required is Updates.ONLY_AFTER and rel.condition is not None:
        read = refs(rel.condition)
        keys = upsert_keys(rel.input)
        if not any(read <= key for key in keys):
            return None
    return _forwarding(rel, required)


def _scan(rel: p.SourceScan, required: Updates) -> Rel | None:
    return _dropping(_done(rel, (), _source_updates(rel)), required)


def _source_updates(source: p.SourceScan) -> Updates:
    """How a source emits updates: as -U and +U, or as +U alone."""
    both = RowKind.UPDATE_BEFORE in source_kinds(source.table, dict(source.options))
    return _best(source) if both else _only_after(source)


def _mini_batches(rel: p.MiniBatchAssigner, required: Updates) -> Rel | None:
    """Over a source the assigner stands below the operator that drops -U rows."""
    if not isinstance(rel.input, p.SourceScan):
        return _forwarding(rel, required)
    updates = _source_updates(rel.input)
    return _dropping(_done(rel, (_visit(rel.input, updates),), updates), required)


def _dropping(source: Rel | None, required: Updates) -> Rel | None:
    """The source without -U rows, where it has some that are not required."""
    if source is None or required is not Updates.ONLY_AFTER:
        return source
    if not source.changes.has_update_before:
        return source
    return _done(p.DropUpdateBefore(input=source), (source,), Updates.ONLY_AFTER)


def _join(rel: p.RegularJoin, required: Updates) -> Rel | None:
    return _joined(rel, (rel.spec.left_keys, rel.spec.right_keys), required)


def _process_table(rel: p.ProcessTable, required: Updates) -> Rel | None:
    """Each input as its argument declares it; the function says what it emits.  Source: ``isPtfUpsert``."""
    inputs: list[Rel | None] = []
    for index, child in enumerate(rel.inputs):
        inputs.append(_visit(child, _only_after(child) if takes_upserts(rel, index) else _best(child)))
    if any(each is None for each in inputs):
        return None
    modes = [ReceivedKind.of(each.changes.row_kinds) for each in inputs if each is not None]
    wanted = row_kinds.rows(row_kinds.CHANGES, required is not Updates.ONLY_AFTER)
    mode = process_table_mode(rel, modes, ReceivedKind.of(wanted))
    kinds = frozenset(kind.row_kind for kind in mode)
    updates = Updates.BEFORE_AND_AFTER if RowKind.UPDATE_BEFORE in kinds else _only_after(rel)
    if required is Updates.BEFORE_AND_AFTER and updates is Updates.ONLY_AFTER:
        return None
    return _done(replace(rel, mode=mode), tuple(inputs), updates)


def _multi_join(rel: p.MultiJoin, required: Updates) -> Rel | None:
    """Without a common join key no unique key contains it, not even the empty key of a single row."""
    if required is Updates.ONLY_AFTER and not rel.keys[0] and any(UPDATE in modify_kinds(i) for i in rel.inputs):
        return None
    return _joined(rel, rel.keys, required)


def _joined(rel: Rel, join_keys: tuple[tuple[int, ...], ...], required: Updates) -> Rel | None:
    """+U alone is possible only where the unique key of each updating input contains the join key."""
    inputs: list[Rel | None] = []
    for child, keys in zip(rel.inputs, join_keys, strict=True):
        if required is not Updates.ONLY_AFTER:
            inputs.append(_visit(child, _best(child)))
        elif UPDATE not in modify_kinds(child) or _contain(keys_in_group_range(child, keys), keys):
            inputs.append(_visit(child, _only_after(child)))
        else:
            return None
    return _done(rel, tuple(inputs), required)


def _contain(unique: Keys, join_key: tuple[int, ...]) -> bool:
    return any(frozenset(join_key) <= key for key in unique)


def _versioned(rel: p.VersionedJoin, required: Updates) -> Rel | None:
    left = _visit(rel.left, required if UPDATE in modify_kinds(rel.left) else Updates.NONE)
    right = _visit(rel.right, _only_after(rel.right)) or _visit(rel.right, _best(rel.right))
    return _done(rel, (left, right), required)


def _normalize(rel: p.ChangelogNormalize, required: Updates) -> Rel | None:
    return _done(rel, (_visit(rel.input, Updates.ONLY_AFTER),), required)


def _rank(rel: p.Rank | p.SortLimit, required: Updates) -> Rel | None:
    partition = rel.partition if isinstance(rel, p.Rank) else ()
    for strategy in rank_strategies(rel.input, partition, rel.order, modify_kinds(rel.input)):
        needed = {UpdateFastStrategy: Updates.ONLY_AFTER, AppendFastStrategy: Updates.NONE}
        child = _visit(rel.input, needed.get(type(strategy), _best(rel.input)))
        if child is not None:
            return _done(replace(rel, strategy=strategy), (child,), required)
    return None


def _limit(rel: p.Limit, required: Updates) -> Rel | None:
    strategy: RankStrategy = AppendFastStrategy() if modify_kinds(rel.input) <= INSERT_ONLY else RetractStrategy()
    return _done(replace(rel, strategy=strategy), (_visit(rel.input, _best(rel.input)),), required)


def rank_strategies(
    rel: Rel, partition: tuple[int, ...], order: tuple[SortField, ...], kinds: Kinds
) -> tuple[RankStrategy, ...]:
    """The strategies with which Top-N can process an input, the preferred first.

    Source: ``RankProcessStrategy.analyzeRankProcessStrategies``.
    """
    if kinds <= INSERT_ONLY:
        return (AppendFastStrategy(),)
    keys = [k for k in keys_in_group_range(rel, partition) if k >= frozenset(partition)]
    directions = monotonicity(rel)
    if not keys or directions is None or not order:
        return (RetractStrategy(),)

    def upwards(f: SortField) -> bool:
        return directions[f.index] in (CONSTANT, DECREASING if f.is_ascending else INCREASING)

    if not all(map(upwards, order)):
        return (RetractStrategy(),)
    key = min(tuple(sorted(k)) for k in keys)
    return (UpdateFastStrategy(key), RetractStrategy())


_RULES: Dispatch[Rel | None] = Dispatch(
    "how updates are emitted",
    {
        SameUpdates: _forwarding,
        CompleteUpdates: _retracting,
        p.Calc: _calc,
        p.SourceScan: _scan,
        p.MiniBatchAssigner: _mini_batches,
        p.RegularJoin: _join,
        p.MultiJoin: _multi_join,
        p.ProcessTable: _process_table,
        p.VersionedJoin: _versioned,
        p.ChangelogNormalize: _normalize,
        p.Rank: _rank,
        p.SortLimit: _rank,
        p.Limit: _limit,
    },
    unknown=(p.Sink, p.DropUpdateBefore),
    physical=True,
)
"""No sink stands below another one, and this phase is what makes DropUpdateBefore."""
