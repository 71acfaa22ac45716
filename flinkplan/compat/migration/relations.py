"""Finds rows of the new plan in what old operators keep: in one state, or computed from the rows of several."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from ...plan.functions.comparison import AND, EQ
from ...plan.names import node_names
from ...plan.nodes import (
    Calc,
    ChangelogNormalize,
    Deduplicate,
    DropUpdateBefore,
    Exchange,
    ExecNode,
    GlobalGroupAggregate,
    GroupAggregate,
    IntervalJoin,
    Join,
    MiniBatchAssigner,
    MultiJoin,
    Rank,
    TableSourceScan,
    WatermarkAssigner,
    WindowJoin,
)
from ...plan.record import Record, cached_property, replace
from ...plan.rex import Call, InputRef, RexNode, input_refs, transform, walk
from ...plan.savepoint import flink_states
from ...plan.savepoint.layout import KeptState, Part, written
from ...plan.specs import ConstantRankRange, JoinSpec, JoinType
from ...plan.types import BOOLEAN, RowField
from ...plan.types.widening import holds
from ..comparing import Comparison
from ..lineage import Meaning
from .accumulator_values import Accumulator
from .accumulators import accumulators_of
from .conditions import is_computed
from .context import Impossible
from .recipe_steps import Computed, FirstField, Joined, KeptValue, NoRows, NullIfZero, Relation, Stored, Taken, Widened
from .row_sets import RowComparison, RowSet, conjuncts

_PASSING = (Exchange, MiniBatchAssigner, DropUpdateBefore, WatermarkAssigner)
"""Nodes whose rows are those of their input."""
_MOST_NODES = 200
"""How many nodes the rows of a node are followed through: what several nodes read is followed several times."""


class _Kept(Record):
    """Rows that an old operator keeps: in which state, and what their columns are.

    ``columns`` has ``None`` for what does not follow from the state; ``stored`` has no columns yet.
    """

    rows: RowSet
    stored: Stored
    columns: tuple[KeptValue | None, ...]
    meanings: tuple[Meaning, ...]
    fields: tuple[RowField, ...]


class Relations:
    """Rows of nodes of the new plan."""

    def __init__(self, comparison: Comparison, rows: RowComparison) -> None:
        self._comparison = comparison
        self._rows = rows
        self._plan = comparison.new.plan
        self._unwidened = comparison.new.meanings.unwidened
        self._visited = 0

    def of(self, node: ExecNode, needed: Collection[int]) -> Relation:
        """The rows of a node with these of its columns.  Raises :class:`Impossible` where they are not kept."""
        if not all(0 <= i < len(node.fields) for i in needed):
            raise Impossible("a column is read that is not there", "correct the plan")
        self._visited += 1
        if self._visited > _MOST_NODES:
            raise Impossible("it has rows of too many joins below")
        if (stored := self._stored(node, needed)) is not None:
            return stored
        match node:
            case Calc():
                return self._calc(node, needed)
            case Join():
                return self._join(node, needed)
            case MultiJoin():
                return self._multi_join(node, needed)
        if isinstance(node, _PASSING):
            return self.of(self._plan.inputs(node)[0], needed)
        if not self._rows.has_been_read(self._rows.new.of(node)):
            return NoRows()
        raise self._not_kept(node, needed)

    def _not_kept(self, node: ExecNode, needed: Collection[int]) -> Impossible:
        """Why the rows of a node are not there: all of them, or some columns."""
        wanted = self._rows.new.of(node)
        kept = [each for each in self._kept if self._filters(each, wanted) is not None]
        name = f"{node_names(self._plan)[node.id]} (node {node.id})"
        name = f"table {node.scan_table_source.table.name}" if isinstance(node, TableSourceScan) else name
        for old in self._comparison.old.plan.nodes:
            read = self._rows.old.read_by(old) if isinstance(old, IntervalJoin | WindowJoin) else ()
            if not kept and any(self._rows.difference(rows, wanted) is None for rows in read):
                keeper = node_names(self._comparison.old.plan)[old.id]
                return Impossible(f"{keeper} has kept the rows of {name} only until they were past", f"keep {keeper}")
        columns = [i for i in sorted(needed) if all(self._values(each, node, (i,)) is None for each in kept)]
        if not kept or not columns:
            return Impossible(
                f"the old state has not all rows of {name}, with the columns that are read", "leave it out"
            )
        column = node.fields[columns[0]].name
        return Impossible(f"the old state lacks the column {column} of {name}", f"leave out the column {column}")

    def _calc(self, node: Calc, needed: Collection[int]) -> Relation:
        if len(node.projection) != len(node.fields):
            raise Impossible("a projection has other columns than its rows", "correct the plan")
        read = [node.projection[i] for i in sorted(needed)]
        condition = [] if node.condition is None else [node.condition]
        if not all(isinstance(rex, InputRef) or is_computed(rex) for rex in read) or not all(
            map(is_computed, condition)
        ):
            raise Impossible("an expression below is not computed from kept rows")
        rows = self.of(self._plan.inputs(node)[0], set().union(*map(input_refs, [*read, *condition])))
        projection = tuple(rex if i in needed else None for i, rex in enumerate(node.projection))
        return Computed(rows, projection, node.condition)

    def _join(self, node: Join, needed: Collection[int]) -> Relation:
        spec = node.join_spec
        left, right = self._plan.inputs(node)
        width = len(left.fields)
        condition = spec.non_equi_condition
        read = {*needed, *spec.left_keys, *(width + key for key in spec.right_keys), *_references(condition)}
        return _joined(
            (self.of(left, _below(read, width)), self.of(right, _behind(read, width))),
            (width, len(right.fields)),
            (spec.left_keys, spec.right_keys),
            spec.join_type,
            tuple(i for i, (*_, filters) in enumerate(_key_columns(spec)) if filters),
            condition,
        )

    def _multi_join(self, node: MultiJoin, needed: Collection[int]) -> Relation:
        """The inputs joined one after the other."""
        inputs = self._plan.inputs(node)
        if not len(inputs) == len(node.join_types) == len(node.join_conditions):
            raise Impossible("a join of several inputs has other conditions than inputs", "correct the plan")
        read = set(needed).union(*map(_references, node.join_conditions))
        width = len(inputs[0].fields)
        rows = self.of(inputs[0], _below(read, width))
        for source, kind, condition in zip(inputs[1:], node.join_types[1:], node.join_conditions[1:], strict=True):
            own = len(source.fields)
            right = self.of(source, _behind(_below(read, width + own), width))
            keys, rest = _parted(condition, width)
            never_null = tuple(range(len(keys[0])))
            rows = _joined((rows, right), (width, own), keys, kind, never_null, rest)
            width += own
        return rows

    def _stored(self, node: ExecNode, needed: Collection[int]) -> Stored | None:
        """The rows from one state, best from one without a TTL; ``None`` where none has all columns."""
        wanted = self._rows.new.of(node)
        found = None
        for kept in self._kept:
            filters = self._filters(kept, wanted)
            values = None if filters is None else self._values(kept, node, needed)
            if filters is None or values is None:
                continue
            stored = replace(kept.stored, values=values, filters=(*kept.stored.filters, *filters))
            if not stored.expires:
                return stored
            found = found or stored
        return found

    def _values(self, kept: _Kept, node: ExecNode, needed: Collection[int]) -> tuple[KeptValue | None, ...] | None:
        """For each column of a node what it is in the state; ``None`` where the state lacks one."""
        values: list[KeptValue | None] = [None] * len(node.fields)
        row = self._comparison.new.rows[node.id]
        for i in needed:
            value = self._value(kept, self._unwidened(row[i]), node.fields[i])
            if value is None:
                return None
            values[i] = value
        return tuple(values)

    def _value(self, kept: _Kept, meaning: Meaning, field: RowField) -> KeptValue | None:
        for own, value, old in zip(kept.meanings, kept.columns, kept.fields, strict=False):
            if own == meaning and value is not None and holds(written(old.type), written(field.type)):
                is_same = old.type.regular().nullable_() == field.type.regular().nullable_()
                return value if is_same else Widened(value, field.type.regular())
        return None

    def _filters(self, kept: _Kept, wanted: RowSet) -> tuple[RexNode, ...] | None:
        """Conditions over the values of a state that its rows must meet now; ``None`` where they are others."""
        if self._rows.difference(kept.rows, wanted) is None:
            return ()
        conditions = self._rows.added_conditions(kept.rows, wanted)
        if conditions is None:
            return None
        filters = []
        for condition in conditions:
            places = {
                ref: self._place(kept, condition.row, ref) for ref in walk(condition.rex) if isinstance(ref, InputRef)
            }
            if None in places.values() or not is_computed(condition.rex):
                return None
            filters.append(transform(condition.rex, lambda rex, places=places: places.get(rex, rex)))  # type: ignore[misc]
        return tuple(filters)

    def _place(self, kept: _Kept, row: Sequence[Meaning], ref: InputRef) -> InputRef | None:
        """A column of a condition as a value of a state."""
        meaning = self._unwidened(row[ref.index])
        for own, value, field in zip(kept.meanings, kept.columns, kept.fields, strict=False):
            is_same = field.type.regular().nullable_() == ref.type.regular().nullable_()
            if own == meaning and is_same and isinstance(value, Taken) and value.state:
                return replace(ref, index=value.place)
        return None

    @cached_property
    def _kept(self) -> list[_Kept]:
        """The rows that old operators keep."""
        return [kept for old in self._comparison.old.plan.nodes for kept in self._kept_by(old)]

    def _kept_by(self, old: ExecNode) -> Iterator[_Kept]:
        if isinstance(old, Join | MultiJoin):
            yield from self._inputs(old)
        elif isinstance(old, Rank | Deduplicate | ChangelogNormalize | GroupAggregate | GlobalGroupAggregate):
            try:
                yield self._outputs(old)
            except Impossible:
                return

    def _inputs(self, old: Join | MultiJoin) -> Iterator[_Kept]:
        """The rows of each input of a join."""
        sources = self._comparison.old.plan.inputs(old)
        layout = old.layout([source.fields for source in sources])
        for source, state, declared in zip(sources, layout.states, old.states, strict=False):
            first = len(state.values) - len(source.fields)
            columns = tuple(Taken(state.name, first + i) for i in range(len(source.fields)))
            stored = Stored(old.id, layout.transformation, state.name, (), state.form, expires=_expires(declared.ttl))
            yield self._of(source, stored, columns)

    def _outputs(self, old: ExecNode) -> _Kept:
        """The rows that an operator has emitted and not taken back."""
        sources = self._comparison.old.plan.inputs(old)
        layout = old.layout([source.fields for source in sources])
        if layout is None:
            raise Impossible("its state is not known")
        state = layout.states[0]
        expires = any(_expires(declared.ttl) for declared in old.states)
        stored = Stored(old.id, layout.transformation, state.name, (), expires=expires)
        if isinstance(old, GroupAggregate | GlobalGroupAggregate):
            return self._of(old, stored, tuple(self._results(old, state)))
        first = len(state.values) - len(sources[0].fields)
        if isinstance(old, Rank):
            range_ = old.rank_range
            if not isinstance(range_, ConstantRankRange) or range_.start != 1 or old.output_row_number:
                raise Impossible("not all of the rows that the ranking keeps are its own")
            if state.name == flink_states.SORTED:
                raise Impossible("the ranking keeps rows behind its own")
        elif state.name != flink_states.LAST_ROWS or not state.values:
            raise Impossible("rows are not kept")
        if isinstance(old, ChangelogNormalize) and old.filter_condition is not None:
            if not is_computed(old.filter_condition):
                raise Impossible("the filter is not computed here")
            stored = replace(stored, filters=(_shifted(old.filter_condition, first),))
        return self._of(old, stored, tuple(Taken(state.name, first + i) for i in range(len(sources[0].fields))))

    def _of(self, node: ExecNode, stored: Stored, columns: Sequence[KeptValue | None]) -> _Kept:
        old = self._comparison.old
        meanings = tuple(map(self._unwidened, old.rows[node.id]))
        return _Kept(self._rows.old.of(node), stored, tuple(columns), meanings, tuple(node.fields))

    def _results(self, old: GroupAggregate | GlobalGroupAggregate, state: KeptState) -> Iterator[KeptValue | None]:
        """The keys and the results of an aggregation."""
        yield from (Taken("", place) for place in range(len(old.grouping)))
        accumulators = accumulators_of(old, self._comparison.old)
        for call in old.agg_calls:
            parts = {}
            for each in accumulators:
                origin = state.values[each.place].origin
                if isinstance(origin, Part) and origin.call == call:
                    parts[origin.number] = each
            yield _result(state.name, parts)


def _result(state: str, parts: Mapping[int, Accumulator]) -> KeptValue | None:
    """The result of an aggregate call, of the values of its accumulator; ``None`` where it does not follow."""
    first = parts.get(0)
    if first is None or first.part not in ("count", "count1", "sum", "min", "max") or first.is_average:
        return None
    value = Taken(state, first.place)
    if first.has_view:
        return FirstField(value)
    if first.part == "sum" and 1 in parts:
        return NullIfZero(value, Taken(state, parts[1].place))
    return value


def _joined(
    rows: tuple[Relation, Relation],
    widths: tuple[int, int],
    keys: tuple[tuple[int, ...], tuple[int, ...]],
    kind: JoinType,
    never_null: tuple[int, ...],
    condition: RexNode | None,
) -> Relation:
    if condition is not None and not is_computed(condition):
        raise Impossible("the condition of a join below is not computed from kept rows")
    left, right = rows
    if isinstance(left, NoRows) and (isinstance(right, NoRows) or kind not in (JoinType.RIGHT, JoinType.FULL)):
        return NoRows()
    return Joined(left, right, widths, keys, kind, never_null, condition)


def _parted(condition: RexNode | None, width: int) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], RexNode | None]:
    """The columns that a condition sets equal, of the rows before an input and of the input, and what else it says.

    ``width`` is the number of columns before the input.
    """
    keys: list[tuple[int, int]] = []
    others: list[RexNode] = []
    for each in () if condition is None else conjuncts(condition):
        match each:
            case Call(EQ.internal_name, (InputRef(one), InputRef(other))) if (one < width) is not (other < width):
                keys.append((min(one, other), max(one, other) - width))
            case _:
                others.append(each)
    left, right = zip(*keys, strict=True) if keys else ((), ())
    rest = others[0] if len(others) == 1 else Call(AND.internal_name, tuple(others), BOOLEAN, AND.syntax)
    return (tuple(left), tuple(right)), rest if others else None


def _key_columns(spec: JoinSpec) -> Iterator[tuple[int, int, bool]]:
    """The columns of a join key on both sides, and whether NULL matches nothing."""
    return zip(spec.left_keys, spec.right_keys, spec.filter_nulls, strict=False)


def _references(condition: RexNode | None) -> set[int]:
    return set() if condition is None else input_refs(condition)


def _below(columns: Collection[int], width: int) -> set[int]:
    return {column for column in columns if column < width}


def _behind(columns: Collection[int], width: int) -> set[int]:
    return {column - width for column in columns if column >= width}


def _shifted(rex: RexNode, by: int) -> RexNode:
    return transform(rex, lambda each: replace(each, index=each.index + by) if isinstance(each, InputRef) else each)


def _expires(ttl: object) -> bool:
    return not str(ttl).startswith("0 ")
