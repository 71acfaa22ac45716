"""Joins that look up both sides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from ..codec import Place, read_object
from ..errors import PlanError
from ..record import replace
from ..references import Input
from ..rex import InputRef, RexNode, transform
from ..savepoint.layout import Inputs, KeptState, Layout, columns
from ..specs import AsyncLookup, DeltaJoinLookup, DeltaJoinSpec, JoinType
from ..types import row
from ..yields import Yield, input_columns
from .base import ColumnOrder, ExecNode, exec_node
from .joins import LookupJoin
from .mixins import SameChanges, WholeRows

_IN_FLIGHT = "_delta_join_operator_async_wait_state_"


@exec_node(
    "delta-join",
    order=ColumnOrder.FIXED,
    versions={1: "2.1", 2: "2.3"},
    inputs=2,
    consumed_options=("table.exec.async-lookup.buffer-capacity", "table.exec.async-lookup.timeout"),
    identity=("left_join_keys", "right_join_keys"),
    results=(
        "join_type",
        "left_upsert_key",
        "right_upsert_key",
        "lookup_right_table_join_spec",
        "lookup_left_table_join_spec",
        "condition",
        "left_all_binary_input_ordinals",
        "right_all_binary_input_ordinals",
        "left2_right_lookup_chain",
        "right2_left_lookup_chain",
        "all_binary_input_tables",
        "delta_join_tree",
        "async_options",
    ),
)
class DeltaJoin(SameChanges, WholeRows, ExecNode, kw_only=True):
    """Joins the rows of each side with those that the other side's table has when they come; it keeps no rows.

    Which table is looked up for which side, and how, is kept as JSON, since it says again what the inputs say;
    :meth:`lookups` reads it.  Before version 2 that stands in the two ``…_table_join_spec``, later in the two chains.
    Source: FLIP-486, ``StreamExecDeltaJoin``.
    """

    join_type: JoinType
    left_join_keys: Annotated[tuple[int, ...], Input.LEFT]
    left_upsert_key: Annotated[tuple[int, ...] | None, Input.LEFT] = None
    right_join_keys: Annotated[tuple[int, ...], Input.RIGHT]
    right_upsert_key: Annotated[tuple[int, ...] | None, Input.RIGHT] = None
    lookup_right_table_join_spec: Mapping[str, Any] | None
    lookup_left_table_join_spec: Mapping[str, Any] | None
    condition: Annotated[RexNode | None, Input.ALL] = None
    left_all_binary_input_ordinals: Annotated[tuple[int, ...] | None, Input.NONE] = None
    right_all_binary_input_ordinals: Annotated[tuple[int, ...] | None, Input.NONE] = None
    left2_right_lookup_chain: Mapping[str, Any] | None = None
    right2_left_lookup_chain: Mapping[str, Any] | None = None
    all_binary_input_tables: tuple[Any, ...] | None = None
    delta_join_tree: Mapping[str, Any] | None = None
    async_options: Annotated[AsyncLookup | None, Place.LAST] = None

    def key_columns(self) -> tuple[tuple[int, ...], ...]:
        return (self.left_join_keys, self.right_join_keys)

    def yields(self, inputs: Inputs) -> Iterable[Yield]:
        return input_columns(inputs)

    @property
    def is_stateful(self) -> bool:
        """Always true: rows whose lookups are under way are in a savepoint."""
        return True

    def layout(self, inputs: Inputs) -> Layout:
        keys = (*columns(inputs, 0, self.left_join_keys), *columns(inputs, 1, self.right_join_keys))
        rows = (*columns(inputs, 0), *columns(inputs, 1))
        return Layout("delta-join", keys, (KeptState(_IN_FLIGHT, rows, "rows whose lookups are under way"),))

    @property
    def lookup_json(self) -> Mapping[str, Any]:
        """The fields with tables that are looked up, as JSON."""
        names = ("lookup_right_table_join_spec", "lookup_left_table_join_spec")
        chains = ("left2_right_lookup_chain", "right2_left_lookup_chain", "all_binary_input_tables")
        return {name: getattr(self, name) for name in (*names, *chains)}

    def lookups(self, width: int) -> tuple[LookupJoin, LookupJoin]:
        """The lookups of the left input's rows, of so many columns, in the right table, and the other way round.

        The columns of the latter are those of the right side, then those of the left one.  Raises :class:`PlanError`
        where the JSON does not say how, or says that tables are looked up one after another.
        """
        to_right = self._spec(self.left2_right_lookup_chain, self.lookup_right_table_join_spec)
        to_left = self._spec(self.right2_left_lookup_chain, self.lookup_left_table_join_spec)
        fields = self.output_type.fields
        total, swapped = len(fields), (*fields[width:], *fields[:width])

        def moved(rex: RexNode) -> RexNode:
            return replace(rex, index=(rex.index - width) % total) if isinstance(rex, InputRef) else rex

        condition = to_left.remaining_condition
        return (
            self._lookup(to_right, to_right.remaining_condition, self.fields),
            self._lookup(to_left, None if condition is None else transform(condition, moved), swapped),
        )

    def _spec(self, chain: Mapping[str, Any] | None, alone: Mapping[str, Any] | None) -> DeltaJoinSpec:
        if chain is not None:
            nodes = chain.get("nodes")
            if not isinstance(nodes, list) or len(nodes) != 1:
                raise PlanError("a delta join that looks several tables up one after another is not read")
            lookup: DeltaJoinLookup = read_object(DeltaJoinLookup, nodes[0])
            return lookup.delta_join_spec
        if alone is None:
            raise PlanError("a delta join does not say which tables it looks up")
        spec: DeltaJoinSpec = read_object(DeltaJoinSpec, alone)
        return spec

    def _lookup(self, spec: DeltaJoinSpec, condition: RexNode | None, fields: Iterable[Any]) -> LookupJoin:
        return LookupJoin(
            id=self.id,
            version=1,
            configuration=self.configuration,
            output_type=row((field.name, field.type) for field in fields),
            description=self.description,
            join_type=self.join_type,
            join_condition=condition,
            temporal_table=spec.lookup_table,
            lookup_keys=spec.lookup_keys,
            projection_on_temporal_table=spec.projection_on_temporal_table,
            filter_on_temporal_table=spec.filter_on_temporal_table,
            lookup_key_contains_primary_key=False,
            async_options=self.async_options,
        )
