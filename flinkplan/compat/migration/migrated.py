"""The state of a job of Flink for a new plan, made from that of the old plan by recipes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...plan.document import Plan, dumps
from ...plan.names import node_names
from ...plan.nodes import ExecNode
from ...plan.record import Record, replace
from ...plan.savepoint.layout import KeptState, Layout
from ...plan.uids import Uids
from ...state.form import VALUE, JobState, Kind, Manifest, OperatorState, StateError, StateTable
from ...state.form_arrow import arrow, table_schema
from .entries import NotDerivableError, Source, Target
from .flat import fit, is_keyed_data, now
from .recipe import Allowed, Migration, Recipe, RecipeKind
from .recipe_steps import Copy, RowStep, Step
from .steps import applied

if TYPE_CHECKING:
    from pyarrow import RecordBatch

_OF_TABLES = ("source", "sink")
_WATERMARK = "watermark"
"""The name of the operator state in which Flink keeps a watermark."""
_NO_WATERMARK = -(2**62)
_DEFAULT_UID = re.compile(r"(\d+)_(.+)")
_NO_UIDS = Uids()


class _Made(Record):
    """How a table of the new state is made: copied from a table of the old state or of ``history``, or by a step."""

    table: StateTable
    copied: StateTable | None = None
    key: tuple[int, ...] | None = None
    step: Step | None = None
    recipe: Recipe | None = None
    is_history: bool = False


class MigratedState(JobState):
    """The state for ``new``, made from ``state``, which is that of ``old``.

    ``templates`` are the operators of an empty savepoint of the new plan, which say how Flink writes each state.
    ``history`` is the state of the new plan over what the sources have read, for recipes from history; without it
    these states are left out.
    Recipes that are impossible, or need what starts empty, must have been accepted.
    Raises :class:`StateError` for a state that is not as the plans say.
    """

    def __init__(
        self,
        state: JobState,
        plans: tuple[Plan, Plan],
        migration: Migration,
        templates: Sequence[OperatorState],
        uids: Uids = _NO_UIDS,
        history: JobState | None = None,
    ) -> None:
        self._state = state
        self._history = history
        self._old, self._new = plans
        self._uids = uids
        self._templates = {operator.uid: operator for operator in templates}
        self._made: dict[int, _Made] = {}
        operators = [each for recipe in migration.recipes for each in self._operators(recipe)]
        old = state.manifest
        moved = {o.uid: n for recipe in migration.recipes for o, n in self._copied_operators(recipe)}
        positions = tuple(
            replace(position, uid=moved[position.uid], node=None) for position in old.positions if position.uid in moved
        )
        self._manifest = replace(old, operators=tuple(operators), positions=positions, has_plan=True, remarks=())

    @property
    def manifest(self) -> Manifest:
        """What the new state consists of."""
        return self._manifest

    @property
    def plan_text(self) -> str:
        return dumps(self._new)

    def batches(self, table: StateTable) -> Iterator[RecordBatch]:
        made = self._made[table.table]
        if made.copied is not None:
            state = self._history if made.is_history else self._state
            assert state is not None
            for batch in state.batches(made.copied):
                yield _with_key(batch, made.table, made.key)
        elif made.step is not None and made.recipe is not None:
            try:
                yield from applied(made.step, self._source(made.recipe), self._target(made))
            except NotDerivableError as e:
                option = f"let it start empty with {made.recipe.start_empty.option}"
                where = f"{made.recipe.name} (node {made.recipe.node})"
                hint = f"{e.hint}, or {option}" if e.hint else option
                raise NotDerivableError(e.message, where=where, hint=hint) from None

    def insufficient(self, allowed: Allowed) -> frozenset[int]:
        """The new nodes whose entries do not suffice, of those whose states may come from elsewhere or start empty."""
        nodes: set[int] = set()
        for made in self._made.values():
            if made.recipe is not None and made.recipe.is_replaceable(allowed):
                try:
                    for _ in self.batches(made.table):
                        pass
                except NotDerivableError:
                    nodes.add(made.recipe.node)
        return frozenset(nodes)

    def _source(self, recipe: Recipe) -> Source:
        assert recipe.old is not None
        return self._source_of(recipe.old, recipe.old_operator)

    def _source_of(self, node: int, transformation: str) -> Source:
        """The states of an old operator."""
        uid = self._uids.of(self._old.by_id[node], transformation)
        operator = next((o for o in self._state.manifest.operators if o.uid == uid), None)
        if operator is None:
            where = f"{node_names(self._old)[node]} (node {node})"
            raise StateError("the state that this operator of the old plan keeps is not there", where=where)
        layout = self._layout(self._old, node)
        tables = {table.name: table for table in operator.states if is_keyed_data(table)}
        layouts = {state.name: state for state in layout.states}
        parallelism = max((each.parallelism or 1 for each in self._state.manifest.operators), default=1)
        watermark = partial(self._watermark, operator)
        return Source(tables, layouts, self._state.batches, self._source_of, watermark, parallelism)

    def _watermark(self, operator: OperatorState) -> int | None:
        """The watermark that an operator has kept (epoch milliseconds), the lowest of its subtasks; ``None``: none."""
        tables = (table for table in operator.states if table.name == _WATERMARK and not table.kind.is_keyed)
        marks = [
            row["value"][VALUE] for table in tables for batch in self._state.batches(table) for row in batch.to_pylist()
        ]
        lowest = min(marks, default=None)
        return None if lowest is None or lowest <= _NO_WATERMARK else lowest

    def _target(self, made: _Made) -> Target:
        assert made.recipe is not None
        layout = self._layout(self._new, made.recipe.node)
        state = next((s for s in layout.states if s.name == made.table.name), KeptState(made.table.name))
        return Target(made.table, state)

    @staticmethod
    def _layout(plan: Plan, node: int | None) -> Layout:
        assert node is not None
        holder = plan.by_id[node]
        layout = holder.layout([source.fields for source in plan.inputs(holder)])
        assert layout is not None
        return layout

    def _operators(self, recipe: Recipe) -> Iterator[OperatorState]:
        """The operators of a new node."""
        if recipe.kind is RecipeKind.HISTORY and self._history is not None:
            yield from self._from_history(recipe, self._history)
        if recipe.old is None or recipe.kind in (RecipeKind.EMPTY, RecipeKind.IMPOSSIBLE):
            return
        keyed_uid = None
        if recipe.operator:
            keyed_uid = self._uids.of(self._old.by_id[recipe.old], recipe.old_operator)
            old = self._old_operator(recipe)
            if old is not None:
                yield self._keyed(recipe, old)
        for old, uid in self._copied_operators(recipe):
            if old.uid != keyed_uid:
                states = tuple(self._copy(table) for table in old.states)
                yield replace(old, uid=uid, hash=None, node=recipe.node, name=recipe.name, states=states)

    def _from_history(self, recipe: Recipe, history: JobState) -> Iterator[OperatorState]:
        """The operator of a new node with what it keeps of what the sources have read."""
        uid = self._uids.of(self._new.by_id[recipe.node], recipe.operator)
        for operator in history.manifest.operators:
            if operator.uid == uid:
                states = tuple(self._numbered(table, _Made(table, table, is_history=True)) for table in operator.states)
                most = max((o.max_parallelism or 1 for o in self._state.manifest.operators), default=1)
                if operator.max_parallelism != 1 and most > 1:
                    operator = replace(operator, max_parallelism=most)
                yield replace(operator, hash=None, node=recipe.node, name=recipe.name, states=states)

    def _copied_operators(self, recipe: Recipe) -> Iterator[tuple[OperatorState, str]]:
        """The old operators of a node, and their new UIDs."""
        if recipe.old is None or recipe.kind in (RecipeKind.EMPTY, RecipeKind.IMPOSSIBLE):
            return
        old, new = self._old.by_id[recipe.old], self._new.by_id[recipe.node]
        for operator in self._state.manifest.operators:
            transformation = self._transformation(old, operator.uid or "")
            if transformation is not None:
                yield operator, self._uids.of(new, transformation)

    def _transformation(self, node: ExecNode, uid: str) -> str | None:
        """The transformation of a node's operator with this UID; ``None`` for one of another node."""
        for transformation in (*node.metadata.transformations, *_OF_TABLES):
            if self._uids.of(node, transformation) == uid:
                return transformation
        match = _DEFAULT_UID.fullmatch(uid)
        if match and int(match[1]) == node.id and self._uids.of(node, match[2]) == uid:
            return match[2]
        return None

    def _old_operator(self, recipe: Recipe) -> OperatorState | None:
        assert recipe.old is not None
        uid = self._uids.of(self._old.by_id[recipe.old], recipe.old_operator)
        return next((o for o in self._state.manifest.operators if o.uid == uid), None)

    def _keyed(self, recipe: Recipe, old: OperatorState) -> OperatorState:
        """The operator of a node with keyed states."""
        uid = self._uids.of(self._new.by_id[recipe.node], recipe.operator)
        template = self._templates.get(uid)
        wanted = {table.name: table for table in template.states} if template else {}
        if any(table.kind is Kind.HANDLE for table in old.states) and recipe.kind is not RecipeKind.SAME:
            raise StateError("the old state has a serializer that is not known", where=old.uid)
        if recipe.kind is RecipeKind.SAME:
            kept = (t for t in old.states if t.entries or t.name in wanted or not t.kind.is_keyed)
            states = [self._copy(table) for table in kept]
        else:
            states = list(self._states(recipe, old, wanted))
        keyed = replace(old, uid=uid, hash=None, node=recipe.node, name=recipe.name, states=tuple(states))
        if template is not None and (template.max_parallelism == 1) is not (old.max_parallelism == 1):
            # Flink runs an operator without a key in one subtask, for ever
            return replace(keyed, parallelism=template.parallelism, max_parallelism=template.max_parallelism)
        return keyed

    def _states(self, recipe: Recipe, old: OperatorState, wanted: Mapping[str, StateTable]) -> Iterator[StateTable]:
        steps = {state.name: state.step for state in recipe.states}
        tables = {table.name: table for table in old.states}
        keyed = (step for step in steps.values() if not isinstance(step, RowStep))
        key = next((step.key for step in keyed if step.key is not None), None)
        for table in old.states:
            if not table.kind.is_keyed:
                yield self._copy(table)
        for name, table in wanted.items():
            if not table.kind.is_keyed:
                continue
            step = steps.get(name)
            if isinstance(step, Copy) or (step is None and name in tables):
                source = tables.get(step.state if isinstance(step, Copy) else name)
                if source is not None and (step is not None or self._is_order(recipe, key)):
                    own_key = step.key if isinstance(step, Copy) else key
                    yield self._numbered(table, _Made(table, source, own_key))
            elif step is not None:
                yield self._numbered(table, _Made(table, step=step, recipe=recipe))
        for name, step in steps.items():  # states that Flink registers only when it uses them
            source = tables.get(step.state) if isinstance(step, Copy) and name not in wanted else None
            if source is not None and source.entries and isinstance(step, Copy):
                yield self._numbered(source, _Made(replace(source, name=name), source, step.key))

    def _is_order(self, recipe: Recipe, key: tuple[int, ...] | None) -> bool:
        """Whether the new key has the columns of the old one, so that timers and further states can be copied."""
        old_key = self._layout(self._old, recipe.old).key
        return key is not None and sorted(key) == list(range(len(old_key)))

    def _copy(self, table: StateTable) -> StateTable:
        return self._numbered(table, _Made(table, table))

    def _numbered(self, table: StateTable, made: _Made) -> StateTable:
        number = len(self._made)
        numbered = replace(made.table, table=number, entries=made.copied.entries if made.copied else None)
        self._made[number] = replace(made, table=numbered)
        return numbered


def _with_key(batch: RecordBatch, table: StateTable, key: tuple[int, ...] | None) -> RecordBatch:
    """A batch in the columns of another table, with the columns of its key in another order."""
    pa = arrow()
    schema = table_schema(table)
    if key is None and batch.schema.equals(schema):
        return batch
    arrays = []
    for wanted in schema:
        index = batch.schema.get_field_index(wanted.name)
        if index < 0:
            if wanted.name != "accessed":
                raise StateError(f"the state {table.name} needs {wanted.name}, which the old state has not")
            arrays.append(now(batch.num_rows))
            continue
        array = batch.column(index)
        if wanted.name == "key" and key:
            columns = [fit(array.field(i), f.type) for i, f in zip(key, wanted.type, strict=True)]
            array = pa.StructArray.from_arrays(columns, fields=list(wanted.type))
        arrays.append(fit(array, wanted.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
