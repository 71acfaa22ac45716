"""Lookup tables.  Source: Flink's ``LookupJoinUtil`` and ``TemporalTableSourceSpec``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from ..codec import PlanRecord, tagged_union, variant
from ..record import field
from ..references import Input, Number
from ..rex import Literal, RexNode
from ..types import LogicalType
from .joins import JoinType
from .tables import TableSourceSpec


@tagged_union("type")
class LookupKey(PlanRecord):
    """The value that a column of the table is compared with."""


@variant("FieldRef")
class FieldLookupKey(LookupKey):
    """A column of the input."""

    index: Annotated[int, Input.LEFT]


@variant("Constant")
class ConstantLookupKey(LookupKey):
    """A constant; ``source_type`` is the type of the table's column."""

    source_type: LogicalType
    literal: Annotated[Literal, Input.NONE]


class TemporalTable(PlanRecord):
    """The table that is looked up, and the row that it returns."""

    lookup_table_source: TableSourceSpec
    output_type: LogicalType


class DeltaJoinSpec(PlanRecord):
    """How a side of a delta join looks up the table of the other one.

    ``remaining_condition`` is over the columns of the left side and then those of the right one.
    """

    lookup_table: TemporalTable
    lookup_keys: Mapping[str, LookupKey]
    remaining_condition: Annotated[RexNode | None, Input.ALL] = None
    projection_on_temporal_table: Annotated[tuple[RexNode, ...] | None, Input.TABLE] = None
    filter_on_temporal_table: Annotated[RexNode | None, Input.TABLE] = None


class DeltaJoinLookup(PlanRecord):
    """One lookup in a chain of them: the numbers of the tables whose row looks up, and of that which is looked up."""

    input_table_binary_input_ordinals: Annotated[tuple[int, ...], Input.NONE]
    lookup_table_binary_input_ordinal: Annotated[int, Input.NONE]
    delta_join_spec: DeltaJoinSpec
    join_type: JoinType


class AsyncLookup(PlanRecord, kw_only=True):
    """How many lookups run in parallel, the timeout of each (ms), and whether rows keep their order."""

    capacity: Number = field(name="capacity ")
    timeout: Number
    is_key_ordered: bool = field(default=False, name="is-key-ordered")
    output_mode: str = field(name="output-mode")


class RetryLookup(PlanRecord):
    """How often, and after which delay (ms), the lookup of a key without a row is repeated."""

    retry_predicate: str = field(name="retry-predicate")
    retry_strategy: str = field(name="retry-strategy")
    fixed_delay: Number = field(name="fixed-delay")
    max_attempts: Number = field(name="max-attempts")

    @property
    def attempts(self) -> int:
        """The maximum number of attempts; other strategies do not retry.

        Source: ``RetryLookupOptions.toRetryStrategy``.
        """
        retries = self.retry_predicate.lower() == "lookup_miss" and self.retry_strategy == "FIXED_DELAY"
        return self.max_attempts if retries else 1
