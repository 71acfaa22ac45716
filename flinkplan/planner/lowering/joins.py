"""Lowering of joins."""

from __future__ import annotations

from collections.abc import Iterable

from ...plan import nodes, specs
from ...plan.durations import format_duration
from ...plan.nodes.base import OWN, ExecNode
from ...plan.nodes.joins import SNAPSHOT_TTL
from ...plan.record import Json, replace
from ...plan.settings import MINI_BATCH, PROCESSING_TIME_JOINS, STATE_TTL, WAIT_FOR_SNAPSHOT, is_on, value_of
from ..algebra import logical as a
from ..algebra import physical as p
from ..algebra.lookups import LookupJoin
from ..algebra.names import uniquify
from ..algebra.physical_bases import PhysicalBinary
from ..algebra.rel import Correlation, NaryJoin, Rel
from ..metadata.keys import Keys, keys_in_group_range, smallest_key, upsert_keys
from ..metadata.multi_joins import equalities
from ..rex.expressions import and_, is_always_true
from ..rex.printer import expression, record_type, untyped_literal
from .context import Context, Parts, Rules, Texts, columns, input_fields
from .relational import select, source_spec
from .windows import windowing_text

JOIN_NAMES = {
    specs.JoinType.INNER: "InnerJoin",
    specs.JoinType.LEFT: "LeftOuterJoin",
    specs.JoinType.RIGHT: "RightOuterJoin",
    specs.JoinType.FULL: "FullOuterJoin",
    specs.JoinType.SEMI: "LeftSemiJoin",
    specs.JoinType.ANTI: "LeftAntiJoin",
}


def _head(spec: specs.JoinSpec) -> str:
    return f"joinType=[{JOIN_NAMES[spec.join_type]}]"


def _where(rel: PhysicalBinary) -> str:
    fields = uniquify([*rel.left.names, *rel.right.names])
    return f"where=[{expression(rel.condition, fields)}]"


def _select(rel: PhysicalBinary) -> str:
    return f"select=[{', '.join(rel.names)}]"


def _keys_json(keys: Keys) -> tuple[tuple[int, ...], ...] | None:
    ordered = sorted((tuple(sorted(k)) for k in keys), key=lambda k: (len(k), k))
    return tuple(ordered) or None


def _input_spec(keys: Keys, join_keys: tuple[int, ...]) -> str:
    if not keys:
        return "NoUniqueKey"
    contained = any(k <= frozenset(join_keys) for k in keys)
    return "JoinKeyContainsUniqueKey" if contained else "HasUniqueKey"


def _regular(rel: p.RegularJoin, ctx: Context) -> ExecNode:
    spec = rel.spec
    left, right = keys_in_group_range(rel.left, spec.left_keys), keys_in_group_range(rel.right, spec.right_keys)
    text = (
        f"{_head(spec)}, {_where(rel)}, {_select(rel)}, leftInputSpec=[{_input_spec(left, spec.left_keys)}], "
        f"rightInputSpec=[{_input_spec(right, spec.right_keys)}]"
    )
    if is_on(ctx.config, MINI_BATCH):
        text += ", miniBatch=[true]"
    hinted = dict(rel.ttl.by_input) if rel.ttl else {}
    return ctx.node(
        nodes.Join,
        rel,
        text,
        join_spec=spec,
        left_upsert_keys=_keys_json(left),
        right_upsert_keys=_keys_json(right),
        state=ctx.states(nodes.Join, (hinted.get(0), hinted.get(1))),
    )


def _interval(rel: p.IntervalJoin, ctx: Context) -> ExecNode:
    bounds = rel.spec.window_bounds
    window = (
        f"isRowTime={str(bounds.is_event_time).lower()}, leftLowerBound={bounds.left_lower_bound}, "
        f"leftUpperBound={bounds.left_upper_bound}, leftTimeIndex={bounds.left_time_index}, "
        f"rightTimeIndex={bounds.right_time_index}"
    )
    text = f"{_head(rel.spec.join_spec)}, windowBounds=[{window}], {_where(rel)}, {_select(rel)}"
    return ctx.node(nodes.IntervalJoin, rel, text, interval_join_spec=rel.spec)


def _window(rel: p.WindowJoin, ctx: Context) -> ExecNode:
    left, right = (
        windowing_text(rel.left_windowing, rel.left.names),
        windowing_text(rel.right_windowing, rel.right.names),
    )
    text = f"leftWindow=[{left}], rightWindow=[{right}], {_head(rel.spec)}, {_where(rel)}, {_select(rel)}"
    return ctx.node(
        nodes.WindowJoin,
        rel,
        text,
        join_spec=rel.spec,
        left_windowing=rel.left_windowing,
        right_windowing=rel.right_windowing,
    )


def _versioned(rel: p.VersionedJoin, ctx: Context) -> ExecNode:
    waits = value_of(ctx.config, PROCESSING_TIME_JOINS).upper() == WAIT_FOR_SNAPSHOT
    own = {SNAPSHOT_TTL: value_of(ctx.config, STATE_TTL)} if waits and rel.right_time < 0 else None
    return ctx.node(
        nodes.TemporalJoin,
        rel,
        _head(rel.spec),
        _where(rel),
        _select(rel),
        join_spec=rel.spec,
        is_temporal_function_join=False,
        left_time_attribute_index=rel.left_time,
        right_time_attribute_index=rel.right_time,
        unknown=Json({OWN: own} if own else {}),
    )


def _lookup(rel: LookupJoin, ctx: Context) -> ExecNode:
    table, fields = rel.table, rel.input.names
    where = rel.calc.condition if rel.calc else None
    conditions = "".join(expression(c, rel.names) for c in (rel.before, rel.condition) if c is not None)
    answers = rel.names[len(fields) :]
    if rel.calc is not None:
        answers = (select(rel.calc.projection, rel.calc.names, table.names),)
    retry, key = rel.hint.retry, smallest_key(upsert_keys(rel.input))
    text = [
        f"table=[{table.table.identifier.summary}]",
        f"joinType=[{JOIN_NAMES[rel.kind]}]",
        f"lookup=[{', '.join(_lookup_text(rel, column, key) for column, key in rel.keys)}]",
        *([f"where=[{expression(where, table.names)}]"] if where is not None else []),
        *([f"joinCondition=[{conditions}]"] if conditions else []),
        f"select=[{', '.join([*fields, *answers])}]",
        *(["upsertMaterialize=[true]"] if rel.materializes else []),
        *(["shuffle=[true]"] if rel.hint.shuffle else []),
        *([f"retry=[{_retry_text(retry)}]"] if retry else []),
        *([f"upsertKey=[[{', '.join(map(str, key))}]]"] if key else []),
    ]
    return ctx.node(
        nodes.LookupJoin,
        rel,
        *text,
        join_type=rel.kind,
        pre_filter_condition=rel.before,
        join_condition=rel.condition,
        temporal_table=specs.TemporalTable(source_spec(table, ctx), table.row_type.not_null()),
        lookup_keys=Json({str(column): key for column, key in sorted(rel.keys)}),
        projection_on_temporal_table=rel.calc and rel.calc.projection,
        filter_on_temporal_table=where,
        lookup_key_contains_primary_key=rel.has_primary_key,
        require_upsert_materialize=rel.materializes,
        state=ctx.states(nodes.LookupJoin) if rel.materializes else None,
        retry_options=retry,
        input_changelog_mode=specs.ReceivedKind.of(rel.input.changes.row_kinds),
        input_upsert_key=key,
        prefer_custom_shuffle=False,
    )


def _lookup_text(rel: LookupJoin, column: int, key: specs.LookupKey) -> str:
    name = rel.table.names[column]
    if isinstance(key, specs.ConstantLookupKey):
        return f"{name}={untyped_literal(key.literal)}"
    assert isinstance(key, specs.FieldLookupKey)
    return f"{name}={rel.input.names[key.index]}"


def _retry_text(retry: specs.RetryLookup) -> str:
    return f"{retry.retry_predicate}, {retry.retry_strategy}, {retry.fixed_delay}ms, {retry.max_attempts}"


def _several(rel: p.MultiJoin, ctx: Context) -> ExecNode:
    unique = [_unique_keys(o, k) for o, k in zip(rel.operands, rel.keys, strict=True)]
    conditions = ", ".join(expression(c, rel.names) for c in rel.conditions[1:])
    key_texts = (
        ", ".join(f"({columns(o, key)})" if key else "" for key in keys) if keys else "noUniqueKey"
        for o, keys in zip(rel.operands, unique, strict=True)
    )
    text = [
        f"commonJoinKey=[{columns(rel.operands[0], rel.keys[0]) or 'noCommonJoinKey'}]",
        f"joinTypes=[{', '.join(t.name for t in rel.kinds[1:])}]",
        f"inputUniqueKeys=[{', '.join(key_texts)}]",
        *_ttl_text(rel.ttls),
        f"joinConditions=[{conditions}]",
        f"select=[{','.join(rel.names)}]",
        f"rowType=[{record_type(rel.row_type)}]",
    ]
    return replace(
        ctx.node(
            nodes.MultiJoin,
            rel,
            *text,
            join_types=rel.kinds,
            join_conditions=rel.conditions,
            multi_join_condition=None if is_always_true(condition := and_(rel.conditions)) else condition,
            join_attribute_map=_attribute_map(rel) if rel.keys[0] else None,
            input_unique_keys=tuple(unique),
            state=ctx.states(nodes.MultiJoin, _ttls(rel), len(rel.operands)),
        ),
        input_properties=tuple(
            replace(specs.PIPELINED_INPUT, required_distribution=_distribution(key), priority=i)
            for i, key in enumerate(rel.keys)
        ),
    )


def _unique_keys(rel: Rel, key: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The keys of one of several inputs.  Where that is such a join itself, none are known when Flink asks for them."""
    source = rel
    while isinstance(source, (p.Exchange, p.Calc)):
        source = source.input
    if isinstance(source, p.MultiJoin):
        return ()
    keys = keys_in_group_range(rel, key)
    return tuple(sorted((tuple(sorted(k)) for k in keys), key=lambda k: (_bucket(k, len(keys)), k)))


def _bucket(columns: Iterable[int], count: int) -> int:
    """The bucket of a set of columns among ``count`` of them in Java's ``HashSet``, which Flink goes through in order.

    Source: ``ImmutableBitSet.hashCode``; a table begins with 16 buckets, and doubles where three quarters are taken.
    """
    words: dict[int, int] = {}
    for column in columns:
        words[column // 64] = words.get(column // 64, 0) | 1 << column % 64
    hashed = 1234
    for i, word in words.items():
        hashed ^= word * (i + 1)
    code = (hashed >> 32 ^ hashed) & 0xFFFFFFFF
    buckets = 16
    while count > buckets * 3 // 4:
        buckets *= 2
    return (code ^ code >> 16) & (buckets - 1)


def _distribution(key: tuple[int, ...]) -> specs.Distribution:
    return (
        specs.Distribution(specs.DistributionType.HASH, key)
        if key
        else specs.Distribution(specs.DistributionType.SINGLETON)
    )


def _ttls(rel: p.MultiJoin) -> tuple[int | None, ...]:
    """The TTLs of hints; unlike in a join of two inputs, an input without a hint keeps its state for ever."""
    is_hinted = any(ttl is not None for ttl in rel.ttls)
    return tuple(0 if is_hinted and ttl is None else ttl for ttl in rel.ttls)


def _ttl_text(ttls: tuple[int | None, ...]) -> list[str]:
    if not any(ttl is not None for ttl in ttls):
        return []
    options = ("0s" if ttl is None else format_duration(ttl).replace(" ", "") for ttl in ttls)
    return [f"stateTtlHints=[[[STATE_TTL options:[{', '.join(options)}]]]]"]


def _attribute_map(rel: p.MultiJoin) -> dict[str, list[dict[str, int]]]:
    """For each input the columns that are equal to one of an earlier input; for the first, those that are compared."""
    by_input: dict[str, list[dict[str, int]]] = {str(i): [] for i in range(len(rel.operands))}
    for (left, left_column), (right, right_column) in equalities(rel):
        by_input[str(right)].append(_attributes(left, left_column, right, right_column))
        if left == 0:
            by_input["0"].append(_attributes(-1, -1, 0, left_column))
    return by_input


def _attributes(left: int, left_column: int, right: int, right_column: int) -> dict[str, int]:
    return {
        "leftInputId": left,
        "leftFieldIndex": left_column,
        "rightInputId": right,
        "rightFieldIndex": right_column,
    }


# ---------------------------------------------------------------- the texts of explain --rules


def join_parts(rel: a.Join | a.TemporalJoin | PhysicalBinary) -> Parts:
    """A join of two inputs."""
    yield f"joinType=[{JOIN_NAMES[rel.kind]}]"
    yield f"where=[{expression(rel.condition, input_fields(rel))}]"
    if isinstance(rel, a.TemporalJoin):
        yield f"asOf=[{expression(rel.time, input_fields(rel))}]"
    yield f"select=[{', '.join(rel.names)}]"


def multi_join_parts(rel: NaryJoin) -> Parts:
    """A join of several inputs."""
    yield f"joinTypes=[{', '.join(JOIN_NAMES[kind] for kind in rel.kinds[1:])}]"
    yield f"where=[{', '.join(expression(condition, rel.names) for condition in rel.conditions[1:])}]"
    yield f"select=[{', '.join(rel.names)}]"


def correlate_parts(rel: Correlation) -> Parts:
    """A join with a table function."""
    yield f"joinType=[{JOIN_NAMES[rel.type]}]"
    yield f"call=[{expression(rel.call, rel.input.names)}]"
    yield f"select=[{', '.join(rel.names)}]"
    if rel.condition is not None:
        yield f"where=[{expression(rel.condition, rel.names)}]"


def _lookup_parts(rel: LookupJoin) -> Parts:
    yield f"table=[{rel.table.table.identifier.name}]"
    yield f"joinType=[{JOIN_NAMES[rel.kind]}]"
    yield f"lookup=[{', '.join(rel.table.names[column] for column, _ in rel.keys)}]"
    fields = uniquify([*rel.input.names, *rel.answers.names])
    if rel.condition is not None:
        yield f"where=[{expression(rel.condition, fields)}]"
    yield f"select=[{', '.join(rel.names)}]"


TEXTS: Texts = {
    **dict.fromkeys((p.RegularJoin, p.IntervalJoin, p.WindowJoin, p.VersionedJoin), join_parts),
    p.MultiJoin: multi_join_parts,
    p.TableFunctionJoin: correlate_parts,
    LookupJoin: _lookup_parts,
}


RULES: Rules = {
    p.MultiJoin: _several,
    p.RegularJoin: _regular,
    p.IntervalJoin: _interval,
    p.WindowJoin: _window,
    p.VersionedJoin: _versioned,
    LookupJoin: _lookup,
}
