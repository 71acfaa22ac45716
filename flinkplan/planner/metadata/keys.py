"""Unique keys and upsert keys of relations, logical and physical ones.

A unique key identifies a row at any time; an upsert key also survives the changelog: all changes of one key
arrive in order.  Sources: ``FlinkRelMdUniqueKeys``, ``FlinkRelMdUpsertKeys``, ``FlinkRelMdImmutableColumns``.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from ...plan.functions.cast import CAST
from ...plan.record import cached_on_record
from ...plan.rex import InputRef, RexNode
from ...plan.specs import ConstantRankRange, JoinSpec, JoinType, ReceivedKind
from ...plan.types import CHARACTER, INTEGERS, TIMESTAMPS, LogicalType
from ..algebra import logical as a
from ..algebra import physical as p
from ..algebra.calls import python_calls
from ..algebra.dispatch import Dispatch
from ..algebra.logical import Aggregate, Filter, Join, Project, Scan, Sort, Watermark
from ..algebra.lookups import LookupJoin
from ..algebra.physical_bases import AggregateBase, SpecifiedJoin
from ..algebra.rel import LEFT_NULLABLE, ONE_SIDED, RIGHT_NULLABLE, Rel, Unary
from ..algebra.scan_columns import scan_columns
from ..algebra.traits import OneRowPerKey, UnknownKeys
from ..rex.expressions import is_call, unaliased
from .join_kinds import join_keys
from .modify_kinds import UPDATE, modify_kinds
from .process_tables import partitions

Key = frozenset[int]
Keys = frozenset[Key]
NO_KEYS: Keys = frozenset()
NO_COLUMNS: Key = frozenset()


def unique_keys(rel: Rel) -> Keys:
    """The unique keys of a relation's rows."""
    return _keys(rel, False)


def upsert_keys(rel: Rel) -> Keys:
    """The upsert keys of a relation's changelog."""
    return _keys(rel, True)


@cached_on_record
def immutable_columns(rel: Rel) -> Key:
    """The columns whose values never change in the rows of one upsert key; none where there is no such key."""
    rule = _IMMUTABLE_COLUMNS.get(rel)
    immutable = rule(rel) if rule else NO_COLUMNS
    return immutable if immutable and upsert_keys(rel) else NO_COLUMNS


def _immutable_in_scan(rel: p.SourceScan) -> Key:
    primary = rel.table.resolved.schema.primary_key
    names = primary.columns if primary else ()
    return frozenset(i for i, name in enumerate(scan_columns(rel)) if name in names)


def _immutable_in_calc(rel: p.Calc) -> Key:
    below = immutable_columns(rel.input)
    return frozenset(
        i for i, rex in enumerate(map(unaliased, rel.projection)) if isinstance(rex, InputRef) and rex.index in below
    )


def _immutable_in_join(rel: SpecifiedJoin) -> Key:
    left, right = map(immutable_columns, rel.inputs)
    if rel.kind in ONE_SIDED:
        return left
    left = NO_COLUMNS if rel.kind in LEFT_NULLABLE else left
    right = NO_COLUMNS if rel.kind in RIGHT_NULLABLE else right
    return left | {i + rel.left.width for i in right}


def _immutable_in_input(rel: Unary) -> Key:
    return immutable_columns(rel.input)


_IMMUTABLE_COLUMNS: Dispatch[Key] = Dispatch(
    "immutable columns",
    {
        p.SourceScan: _immutable_in_scan,
        p.Calc: _immutable_in_calc,
        **dict.fromkeys((p.RegularJoin, p.WindowJoin, p.VersionedJoin), _immutable_in_join),
        **dict.fromkeys((p.Exchange, p.ChangelogNormalize, p.DropUpdateBefore), _immutable_in_input),
        **dict.fromkeys((p.MiniBatchAssigner, p.WatermarkAssigner), _immutable_in_input),
    },
    unknown=(
        UnknownKeys,
        OneRowPerKey,
        *(a.Aggregate, a.Correlate, a.Filter, a.Join, a.LateRows, a.Lateral, a.Match, a.MultiJoin, a.ProcessTable),
        *(a.Project, a.Scan),
        *(a.SetOp, a.Snapshot, a.Sort, a.TableAggregate, a.TableModify, a.TemporalJoin, a.Values, a.Watermark),
        *(
            a.WindowFunction,
            a.WindowOperator,
            LookupJoin,
            p.Expand,
            p.FullSort,
            p.IntervalJoin,
            p.LegacyWindowAggregate,
            p.Limit,
        ),
        *(p.MultiJoin, p.OverAggregate, p.Rank, p.SortLimit, p.TemporalSort, p.WindowRank),
    ),
    logical=True,
    physical=True,
)


def smallest_key(keys: Keys) -> tuple[int, ...] | None:
    """The key with the fewest columns, the leftmost of those.  Source: ``UpsertKeyUtil``."""
    return min((tuple(sorted(k)) for k in keys), key=lambda k: (len(k), k), default=None)


def keys_in_group_range(rel: Rel, partition: tuple[int, ...]) -> Keys:
    """The upsert keys below the exchange that brings rows of equal ``partition`` together."""
    if isinstance(rel, p.Exchange) and rel.keys == partition:
        rel = rel.input
    return upsert_keys(rel)


def _covered(keys: Keys, columns: Iterable[int]) -> bool:
    wanted = set(columns)
    return any(k <= wanted for k in keys)


@cached_on_record
def _keys(rel: Rel, upsert: bool) -> Keys:
    rule = _RULES.get(rel)
    return rule(rel, upsert) if rule else NO_KEYS


def _within(keys: Keys, partition: Iterable[int], fixed: Key = NO_COLUMNS) -> Keys:
    """The keys that contain all partition columns but the immutable ``fixed`` ones.

    Changes of other keys lose their order in the shuffle.
    """
    wanted = frozenset(partition) - fixed
    return frozenset(k for k in keys if wanted <= k)


def _scan(rel: p.SourceScan, upsert: bool) -> Keys:
    primary = rel.table.resolved.schema.primary_key
    if primary is None:
        return NO_KEYS
    positions = {name: i for i, name in enumerate(scan_columns(rel))}
    if not all(c in positions for c in primary.columns):
        return NO_KEYS
    return frozenset({frozenset(positions[c] for c in primary.columns)})


def _stored(rel: Scan, upsert: bool) -> Keys:
    primary = rel.table.resolved.schema.primary_key
    names = rel.names
    return NO_KEYS if primary is None else frozenset({frozenset(names.index(c) for c in primary.columns)})


def _exchange(rel: p.Exchange, upsert: bool) -> Keys:
    keys = _keys(rel.input, upsert)
    return _within(keys, rel.keys, immutable_columns(rel.input)) if upsert else keys


def _calc(rel: p.Calc, upsert: bool) -> Keys:
    return project_keys(rel.projection, _keys(rel.input, upsert))


def project_keys(projection: tuple[RexNode, ...], keys: Keys) -> Keys:
    """The keys of a projection: those whose columns are all selected, as they are or by an injective cast.

    Of the choices among columns that are selected several times Flink takes those that go through all of them at once.
    """
    places: dict[int, list[int]] = {}
    for i, named in enumerate(projection):
        rex = unaliased(named)
        if is_call(rex, CAST) and _is_injective(rex.operands[0].type, rex.type):
            rex = rex.operands[0]
        if isinstance(rex, InputRef):
            places.setdefault(rex.index, []).append(i)
    if not places:
        return NO_KEYS
    projected = set()
    for key in keys:
        if all(c in places for c in key):
            copies = [places[c] for c in key]
            choices = prod(map(len, copies))
            projected |= {frozenset(at[i % len(at)] for at in copies) for i in range(choices)}
    return frozenset(projected)


def _is_injective(source: LogicalType, target: LogicalType) -> bool:
    """Whether a cast keeps different values apart.  Source: ``LogicalTypeCasts.supportsInjectiveCast``."""
    if source.root == target.root == "ROW" and len(source.fields) == len(target.fields):
        return all(map(_is_injective, source.field_types, target.field_types))
    if source.root in INTEGERS and target.root in INTEGERS:
        return INTEGERS.index(source.root) <= INTEGERS.index(target.root)
    if target.root in CHARACTER and source.root not in (*CHARACTER, "DECIMAL"):
        longest = _longest_text(source)
        return longest is not None and longest <= (target.length or 0)
    if (source.root, target.root) in _WIDENING:
        return (source.length or 0) <= (target.length or 0)
    if {source.root, target.root} <= set(TIMESTAMPS):
        return source.precision == target.precision
    return source.root in _ITSELF and source.regular().same_as(target.regular())


_WIDENING = {
    *(("CHAR", "CHAR"), ("CHAR", "VARCHAR"), ("VARCHAR", "VARCHAR")),
    *(("BINARY", "BINARY"), ("BINARY", "VARBINARY"), ("VARBINARY", "VARBINARY")),
}
_ITSELF = {"DECIMAL", "FLOAT", "DOUBLE", "BOOLEAN", "DATE", "TIME", "TIMESTAMP_TZ"}
_TEXTS = {"BOOLEAN": 5, "TINYINT": 4, "SMALLINT": 6, "INT": 11, "BIGINT": 20, "FLOAT": 15, "DOUBLE": 24, "DATE": 10}
"""The length of the longest text of a value."""


def _longest_text(t: LogicalType) -> int | None:
    """The length of the longest text of a value; ``None`` where two values may have one text."""
    without_fraction = 8 if t.root == "TIME" else 19 if t.root in TIMESTAMPS else None
    if without_fraction is None:
        return _TEXTS.get(t.root)
    return without_fraction + (1 + t.precision if t.precision else 0)


def _project(rel: Project, upsert: bool) -> Keys:
    return project_keys(rel.exprs, _keys(rel.input, upsert))


def _grouped(rel: Aggregate, upsert: bool) -> Keys:
    if rel.grouping_sets is not None:
        return NO_KEYS
    return frozenset({frozenset(range(len(rel.grouping)))})


def _one_row_per_key(rel: OneRowPerKey, upsert: bool) -> Keys:
    if isinstance(rel, AggregateBase) and python_calls(rel.calls):
        return NO_KEYS  # Flink knows no key of the operators that call Python functions
    return frozenset({frozenset(rel.unique_key)})


def _legacy_window(rel: p.LegacyWindowAggregate, upsert: bool) -> Keys:
    if python_calls(rel.calls):
        return NO_KEYS
    width = rel.width
    grouping = frozenset(range(len(rel.grouping)))
    return frozenset(grouping | {i} for i in range(width - len(rel.properties), width))


def _expand(rel: p.Expand, upsert: bool) -> Keys:
    kept = {
        i
        for i in range(rel.input.width)
        if all(isinstance(rex := p[i], InputRef) and rex.index == i for p in rel.projects if i < len(p))
    }
    return frozenset(k | {rel.expand_index} for k in _keys(rel.input, upsert) if k <= kept)


def join_spec(rel: Rel) -> JoinSpec:
    """The join spec of any join of two inputs."""
    if isinstance(rel, Join):
        return join_keys(rel.condition, rel.left.width).spec(rel.type)
    if isinstance(rel, p.IntervalJoin):
        return rel.spec.join_spec
    spec: JoinSpec = rel.spec  # type: ignore[attr-defined]
    return spec


def _join_keys(rel: Rel, upsert: bool) -> Keys:
    left, right = rel.inputs
    spec = join_spec(rel)
    keys, right_keys = _keys(left, upsert), _keys(right, upsert)
    if upsert:
        keys = _within(keys, spec.left_keys, immutable_columns(left))
        right_keys = _within(right_keys, spec.right_keys, immutable_columns(right))
    if spec.join_type in (JoinType.SEMI, JoinType.ANTI):
        return keys
    moved = frozenset(frozenset(i + left.width for i in k) for k in right_keys)
    joined = {a | b for a in keys for b in moved}
    if _covered(right_keys, spec.right_keys) and spec.join_type not in (JoinType.RIGHT, JoinType.FULL):
        joined |= keys
    if _covered(keys, spec.left_keys) and spec.join_type not in (JoinType.LEFT, JoinType.FULL):
        joined |= moved
    return frozenset(joined)


def _lookup_join(rel: LookupJoin, upsert: bool) -> Keys:
    """The keys of the input, if a lookup finds at most one row."""
    return _keys(rel.input, upsert) if rel.has_primary_key else NO_KEYS


def _multi_join(rel: p.MultiJoin, upsert: bool) -> Keys:
    """The keys as if the inputs were joined one by one on the common join key."""
    keys = _keys(rel.operands[0], upsert)
    width = rel.operands[0].width
    for operand, kind, common in zip(rel.operands[1:], rel.kinds[1:], rel.keys[1:], strict=True):
        right = _keys(operand, upsert)
        moved = frozenset(frozenset(i + width for i in k) for k in right)
        joined = {a | b for a in keys for b in moved}
        if _covered(right, common):
            joined |= keys
        if _covered(keys, rel.keys[0]) and kind is JoinType.INNER:
            joined |= moved
        keys = frozenset(joined)
        width += operand.width
    return keys


def _rank(rel: p.Rank | p.WindowRank, upsert: bool) -> Keys:
    partition = frozenset(rel.partition)
    keys = _keys(rel.input, upsert)
    if upsert:
        keys = _within(keys, rel.partition, immutable_columns(rel.input))
    if rel.kind != "ROW_NUMBER":
        return keys
    ranked = frozenset({partition | {rel.width - 1}}) if rel.rank is not None else NO_KEYS
    first = isinstance(rel.range, ConstantRankRange) and rel.range.start == rel.range.end == 1
    if not first or not (partition or isinstance(rel, p.Rank)):
        return keys | ranked
    if upsert and rel.rank is None:
        return frozenset({partition})
    return keys | ranked | {partition}


def _sort(rel: Sort | p.SortLimit | p.TemporalSort | p.FullSort | p.Limit, upsert: bool) -> Keys:
    keys = _keys(rel.input, upsert)
    order = () if isinstance(rel, p.Limit) else (f.index for f in rel.order)
    return _within(keys, order, immutable_columns(rel.input)) if upsert else keys


def _process_table(rel: p.ProcessTable, upsert: bool) -> Keys:
    """What a function that updates rows partitions them by; before its mode is inferred, any that updates some.

    Source: ``FlinkRelMdUniqueKeys.getPtfUniqueKeys``.
    """
    updates = UPDATE in modify_kinds(rel)
    takes_back = rel.mode is not None and ReceivedKind.UPDATE_BEFORE in rel.mode
    return frozenset(partitions(rel)) if updates and not takes_back else NO_KEYS


def _passed_on(rel: Unary, upsert: bool) -> Keys:
    return _keys(rel.input, upsert)


_RULES: Dispatch[Keys] = Dispatch(
    "unique and upsert keys",
    {
        **dict.fromkeys((Filter, Watermark, p.ChangelogNormalize, p.DropUpdateBefore), _passed_on),
        **dict.fromkeys((p.MiniBatchAssigner, p.WatermarkAssigner, p.OverAggregate), _passed_on),
        **dict.fromkeys((Join, p.RegularJoin, p.IntervalJoin, p.WindowJoin, p.VersionedJoin), _join_keys),
        LookupJoin: _lookup_join,
        Scan: _stored,
        p.SourceScan: _scan,
        p.Exchange: _exchange,
        p.Calc: _calc,
        Project: _project,
        Aggregate: _grouped,
        p.MultiJoin: _multi_join,
        OneRowPerKey: _one_row_per_key,
        p.ProcessTable: _process_table,
        p.LegacyWindowAggregate: _legacy_window,
        p.Expand: _expand,
        p.Rank: _rank,
        p.WindowRank: _rank,
        **dict.fromkeys((Sort, p.SortLimit, p.TemporalSort, p.FullSort, p.Limit), _sort),
    },
    unknown=(
        UnknownKeys,
        *(a.Correlate, a.LateRows, a.Lateral, a.Match, a.MultiJoin, a.ProcessTable, a.SetOp, a.Snapshot, a.TableModify),
        *(a.TableAggregate, a.TemporalJoin, a.Values, a.WindowFunction, a.WindowOperator),
    ),
    logical=True,
    physical=True,
)
