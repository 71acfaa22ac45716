"""Updates of columns that are not deterministic: where they are refused, and lookups that are kept to avoid that.

A row is taken back by its values.  If a column is computed again for the row that is taken back, by ``RAND()`` for
example, an operator that compares whole rows does not find the row.

Source: ``StreamNonDeterministicUpdatePlanVisitor``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...plan.errors import TABLE
from ...plan.functions import called
from ...plan.functions.user import FunctionName, UserFunction
from ...plan.record import replace
from ...plan.rex import Call, InputRef, RexNode, children
from ...plan.settings import DETERMINISM, value_of
from ...plan.specs import AggregateCall, JoinType, ReadingMetadata, UpdateFastStrategy
from ..algebra import physical as p
from ..algebra.dispatch import Dispatch
from ..algebra.lookups import LookupJoin
from ..algebra.names import uniquify
from ..algebra.physical_bases import AccumulatorPhase, AggregateBase, PhysicalBinary
from ..algebra.rel import Rel
from ..algebra.traits import ReadsInserts
from ..algebra.tree import with_inputs
from ..errors import Part, PlanningError
from ..metadata.keys import Key, join_spec, keys_in_group_range, upsert_keys
from ..rex.expressions import and_, refs
from ..rex.numbered import numbered
from ..rex.printer import expression, operator_name
from .changelog import primary_key


class DeterminismError(PlanningError):
    """An update that needs a column or a condition of ``rel`` to be deterministic, which it is not."""

    def __init__(self, message: str, in_flink: str, rel: Rel, function: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint or _HINT, part=Part.FUNCTION if function else None, name=function)
        self.in_flink = (TABLE, in_flink)
        self.rel = rel


_NONE: Key = frozenset()
_HINT = f"use a deterministic function, leave the column out, or SET '{DETERMINISM}' = 'IGNORE'"


def require_determinism(sink: Rel, config: Mapping[str, str]) -> Rel:
    """The tree, with lookups that are kept until their row is taken back; itself unless the strategy is TRY_RESOLVE.

    Raises :class:`PlanningError` where a column or a condition is not deterministic, and an update needs it to be.
    """
    if value_of(config, DETERMINISM).upper() != "TRY_RESOLVE":
        return sink
    return resolve_determinism(sink)


def resolve_determinism(root: Rel) -> Rel:
    """The same, whatever the strategy is; the root may also be the operator below a sink."""
    return _RULES[root](root, _NONE)


def _passed_on(rel: Rel, required: Key) -> Rel:
    """The relation whose inputs each have to be deterministic in the ``required`` columns."""
    return with_inputs(rel, tuple([_visit(each, required) for each in rel.inputs]))


def _visit(rel: Rel, required: Key) -> Rel:
    return _RULES[rel](rel, _beside_key(rel, required))


def _beside_key(rel: Rel, required: Key) -> Key:
    """The required columns outside of the upsert key that leaves the fewest; a key is always deterministic."""
    return min((required - key for key in upsert_keys(rel)), key=len, default=required)


def _reads_inserts(rel: Rel) -> bool:
    return all(each.changes.are_insertions for each in rel.inputs)


def _whole(rel: Rel) -> Key:
    return frozenset(range(rel.width))


# ---------------------------------------------------------------- what is not deterministic


def _unstable_call(rex: RexNode | None) -> str | None:
    """The name of the first function in an expression that is not deterministic."""
    if rex is None:
        return None
    function = called(rex)
    if function is not None and not function.deterministic:
        assert isinstance(rex, Call)
        return operator_name(rex)
    return next((name for each in children(rex) if (name := _unstable_call(each))), None)


def _unstable_aggregate(call: AggregateCall) -> str | None:
    """The name of an aggregate function of a user that is not deterministic."""
    name = call.system_name or call.catalog_name or call.class_
    function = name.function if isinstance(name, FunctionName) else None
    return call.function_name if isinstance(function, UserFunction) and not function.deterministic else None


def _no_lines(rel: Rel) -> tuple[str, ...]:
    """Physical operators have no subqueries."""
    return ()


def _check_condition(rel: Rel, rex: RexNode | None, names: tuple[str, ...]) -> None:
    name = _unstable_call(rex)
    if rex is not None and name is not None:
        condition, digest = expression(rex, uniquify(names)), numbered(rex, _no_lines)
        raise DeterminismError(
            f"the condition {condition} calls {name}, which is not deterministic, so that a row which passed it may "
            "not be taken back when it is updated or deleted",
            f"There exists non deterministic function: '{name}' in condition: '{digest}' which may cause wrong result "
            "in update pipeline.",
            rel,
            name,
        )


def _check_columns(rel: Rel, required: Key, unstable: Mapping[int, str]) -> None:
    """Raise :class:`PlanningError` where a required column is computed by one of the ``unstable`` functions."""
    columns = sorted(required & unstable.keys())
    if not columns:
        return
    texts = [f"'{rel.names[i]}' (by {unstable[i]})" for i in columns]
    noun, verb = ("column", "is") if len(texts) == 1 else ("columns", "are")
    in_flink = " ".join(f"{rel.names[i]}(generated by non-deterministic function: {unstable[i]} )" for i in columns)
    names = {unstable[i] for i in columns}
    raise DeterminismError(
        f"the {noun} {', '.join(texts)} {verb} not deterministic, so that the row which an update or a deletion takes "
        "back may not be found",
        f"The column(s): {in_flink} can not satisfy the determinism requirement for correctly processing update "
        "message('UB'/'UA'/'D' in changelogMode, not 'I' only), this usually happens when input node has no "
        "upsertKey(upsertKeys=[{}]) or current node outputs non-deterministic update messages. Please consider "
        "removing these non-deterministic columns or making them deterministic by using deterministic functions.\n",
        rel,
        names.pop() if len(names) == 1 else "",
    )


def _unsupported(rel: Rel, required: Key) -> Rel:
    """Operators that Flink's analysis does not know."""
    raise PlanningError(
        f"Flink cannot compile {_NAMES.get(type(rel), 'this query')} with '{DETERMINISM}' = 'TRY_RESOLVE'",
        hint=f"SET '{DETERMINISM}' = 'IGNORE'",
    )


_NAMES: dict[type[Rel], str] = {
    p.ProcessTable: "a process table function",
}


# ---------------------------------------------------------------- operators


def _sink(rel: p.Sink, required: Key) -> Rel:
    """An upsert sink needs its key, another one the whole row."""
    if _reads_inserts(rel):
        return _passed_on(rel, _NONE)
    key = primary_key(rel)
    return _passed_on(rel, key if key and not rel.upsert_materialize else _whole(rel.input))


def _scan(rel: p.SourceScan, required: Key) -> Rel:
    """The metadata of a change is not that of the row when it was inserted, unless the changelog is normalized."""
    if rel.changes.are_insertions or rel.normalized:
        return rel
    columns = {c.name for c in rel.table.resolved.schema.columns if c.kind == "METADATA"}
    unstable = [rel.names[i] for i in sorted(required) if rel.names[i] in columns]
    if unstable and any(isinstance(ability, ReadingMetadata) for ability in rel.abilities):
        names = ", ".join(unstable)
        raise DeterminismError(
            f"the metadata of '{rel.table.identifier.name}' ({names}) is that of each change, so that the row which an "
            "update or a deletion takes back may not be found",
            f"The metadata column(s): '{names}' in cdc source may cause wrong result or error on downstream operators, "
            "please consider removing these columns or use a non-cdc source that only has insert messages.",
            rel,
            hint=f"leave the column out, or SET '{DETERMINISM}' = 'IGNORE'",
        )
    return rel


def _calc(rel: p.Calc, required: Key) -> Rel:
    if _reads_inserts(rel) or not required:
        return _passed_on(rel, _NONE)
    _check_program(rel, required)
    return _passed_on(rel, frozenset().union(*(refs(rel.projection[i]) for i in required)))


def _check_program(rel: p.Calc, required: Key) -> None:
    _check_condition(rel, rel.condition, rel.input.names)
    unstable = {i: name for i, rex in enumerate(rel.projection) if (name := _unstable_call(rex))}
    _check_columns(rel, required, unstable)


def _normalize(rel: p.ChangelogNormalize, required: Key) -> Rel:
    _check_condition(rel, rel.condition, rel.names)
    return _passed_on(rel, required)


def _table_function(rel: p.TableFunctionJoin, required: Key) -> Rel:
    if _reads_inserts(rel) or not required:
        return _passed_on(rel, _NONE)
    _check_condition(rel, rel.condition, rel.names)
    width = rel.input.width
    if name := _unstable_call(rel.call):
        _check_columns(rel, required, dict.fromkeys(range(width, rel.width), name))
    return _passed_on(rel, frozenset(i for i in required if i < width))


def _lookup(rel: LookupJoin, required: Key) -> Rel:
    """The rows of the table may change between two lookups, so that required columns of it are kept in state."""
    if _reads_inserts(rel) or not required:
        return _passed_on(rel, _NONE)
    _check_condition(rel, rel.before, rel.names)
    _check_condition(rel, rel.condition, rel.names)
    width = rel.input.width
    if rel.calc is not None:
        _check_program(rel.calc, frozenset(i - width for i in required if i >= width))
    needed = [i for i in required if i >= width]
    key = _selected_key(rel)
    asked = {column for column, _ in rel.keys}
    settled = not needed or (all(i in asked for i in key) and all(i in key for i in needed))
    return _passed_on(replace(rel, materializes=not settled), frozenset(i for i in required if i < width))


def _selected_key(rel: LookupJoin) -> tuple[int, ...]:
    """The positions of the table's primary key among the columns that are selected of it; none if one is missing.

    Source: ``CommonPhysicalLookupJoin.getOutputIndexesOfTemporalTablePrimaryKey``.
    """
    schema = rel.table.table.resolved.schema
    if schema.primary_key is None:
        return ()
    names = rel.table.names
    if not all(column in names for column in schema.primary_key.columns):
        return ()
    key = tuple(names.index(column) for column in schema.primary_key.columns)
    if rel.calc is None:
        return key
    places = {rex.index: i for i, rex in enumerate(rel.calc.projection) if isinstance(rex, InputRef)}
    return tuple(places[i] for i in key) if all(i in places for i in key) else ()


def _aggregate(rel: AggregateBase | AccumulatorPhase, required: Key) -> Rel:
    """An aggregation of updates takes back what it has added, so that it needs all columns of its input."""
    if not _reads_inserts(rel):
        return _passed_on(rel, _whole(rel.inputs[0]))
    if isinstance(rel, AggregateBase):
        _check_columns(rel, required, _unstable_calls(rel.calls, len(rel.grouping)))
    return _passed_on(rel, _NONE)


def _table_aggregate(rel: p.GroupTableAggregate, required: Key) -> Rel:
    """It takes back what it has emitted, however its input changes."""
    return _passed_on(rel, _NONE if _reads_inserts(rel) else _whole(rel.input))


def _unstable_calls(calls: Iterable[AggregateCall], first: int) -> dict[int, str]:
    return {i: name for i, call in enumerate(calls, first) if (name := _unstable_aggregate(call))}


def _over(rel: p.OverAggregate, required: Key) -> Rel:
    width = rel.input.width
    if _reads_inserts(rel):
        _check_columns(rel, required, _unstable_calls(rel.calls, width))
        return _passed_on(rel, _NONE)
    needed = {i for i in required if i < width} | set(rel.partition)
    needed |= {f.index for group in rel.groups for f in group.order_by.fields}
    for i, call in enumerate(rel.calls, width):
        if i in required:
            needed |= {c for c in (*call.arg_list, call.filter_arg) if 0 <= c < width}
    return _passed_on(rel, frozenset(needed))


def _expand(rel: p.Expand, required: Key) -> Rel:
    return _passed_on(rel, required - {rel.expand_index})


def _join(rel: PhysicalBinary, required: Key) -> Rel:
    """A side with updates is kept by its key, or row by row if it has none."""
    spec = join_spec(rel)
    updates = not (rel.left.changes.are_insertions and rel.right.changes.are_insertions)
    if updates or spec.join_type not in (JoinType.INNER, JoinType.SEMI):
        _check_condition(rel, rel.condition, (*rel.left.names, *rel.right.names))
    width = rel.left.width
    needed = (
        frozenset(i for i in required if i < width),
        frozenset(i - width for i in required if i >= width),
    )
    inputs = [
        _join_input(side, keys, own)
        for side, keys, own in zip(rel.inputs, (spec.left_keys, spec.right_keys), needed, strict=True)
    ]
    return with_inputs(rel, tuple(inputs))


def _join_input(rel: Rel, keys: tuple[int, ...], required: Key) -> Rel:
    if rel.changes.are_insertions:
        return _visit_below(rel, _NONE)
    return _visit_below(rel, required if keys_in_group_range(rel, keys) else _whole(rel))


def _visit_below(rel: Rel, required: Key) -> Rel:
    """An input of a join is an exchange, which is not looked at itself."""
    return _passed_on(rel, required) if isinstance(rel, p.Exchange) else _visit(rel, required)


def _multi_join(rel: p.MultiJoin, required: Key) -> Rel:
    if _reads_inserts(rel) and all(kind is JoinType.INNER for kind in rel.kinds):
        return _passed_on(rel, _NONE)
    _check_condition(rel, and_(rel.conditions), rel.names)
    inputs, start = [], 0
    for operand, keys in zip(rel.operands, rel.keys, strict=True):
        own = frozenset(i - start for i in required if start <= i < start + operand.width)
        if operand.changes.are_insertions:
            own = _NONE
        elif not keys_in_group_range(operand, keys):
            own = _whole(operand)
        inputs.append(_visit(operand, own))
        start += operand.width
    return with_inputs(rel, tuple(inputs))


def _rank(rel: p.Rank, required: Key) -> Rel:
    if _reads_inserts(rel):
        return _passed_on(rel, _NONE)
    if isinstance(rel.strategy, UpdateFastStrategy):
        keys = {*rel.partition, *(f.index for f in rel.order), rel.input.width}
        return _passed_on(rel, required - keys)
    return _passed_on(rel, _whole(rel.input))


def _of_inserts(rel: Rel, required: Key) -> Rel:
    """Operators whose results are deterministic, since they read inserts only."""
    return _passed_on(rel, _NONE)


def _windows(rel: p.WindowTableFunction, required: Key) -> Rel:
    width = rel.input.width
    return _passed_on(rel, _NONE if _reads_inserts(rel) else frozenset(i for i in required if i < width))


def _constant(rel: Rel, required: Key) -> Rel:
    return rel


_RULES: Dispatch[Rel] = Dispatch(
    "which columns must be deterministic",
    {
        p.Sink: _sink,
        p.SourceScan: _scan,
        p.ConstantRows: _constant,
        p.Calc: _calc,
        p.ChangelogNormalize: _normalize,
        p.TableFunctionJoin: _table_function,
        LookupJoin: _lookup,
        **dict.fromkeys(
            (p.GroupAggregate, p.LocalGroupAggregate, p.GlobalGroupAggregate, p.IncrementalGroupAggregate), _aggregate
        ),
        **dict.fromkeys((p.WindowAggregate, p.LocalWindowAggregate, p.GlobalWindowAggregate), _aggregate),
        p.LegacyWindowAggregate: _aggregate,
        p.GroupTableAggregate: _table_aggregate,
        p.OverAggregate: _over,
        p.Expand: _expand,
        **dict.fromkeys((p.RegularJoin, p.IntervalJoin, p.WindowJoin, p.VersionedJoin), _join),
        p.MultiJoin: _multi_join,
        p.Rank: _rank,
        ReadsInserts: _of_inserts,
        p.WindowTableFunction: _windows,
        **dict.fromkeys((p.DropUpdateBefore, p.MiniBatchAssigner, p.UnionAll, p.FullSort, p.Limit), _passed_on),
        **dict.fromkeys((p.SortLimit, p.TemporalSort, p.WatermarkAssigner, p.Exchange), _passed_on),
        **dict.fromkeys((p.ProcessTable, p.WindowOperator, p.LateRows), _unsupported),
    },
    unknown=(),
    physical=True,
)
