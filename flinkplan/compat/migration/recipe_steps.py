"""The steps by which entries of a state are made of those of others, and the values and rows that they read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ...plan.record import Record
from ...plan.rex import RexNode
from ...plan.specs import JoinType
from ...plan.types import LogicalType
from .slices import Slices


class Taken(Record):
    """The value at ``place`` of an old state's layout, or of its key where ``state`` is empty."""

    state: str
    place: int


class Initial(Record):
    """The value with which an accumulator starts, for all entries: a number, or NULL."""

    value: int | None


class ZeroIfNull(Record):
    """A value, 0 where it is NULL."""

    value: Taken


class NullIfZero(Record):
    """A value, NULL where ``count`` is 0."""

    value: Taken
    count: Taken


class ZeroIfKeyIsNull(Record):
    """A number, 0 where a column of the key is NULL."""

    value: Taken
    key: Taken


class OfView(Record):
    """An aggregate of the values that a view keeps of each key, each of them once.

    ``function`` is as in :class:`Accumulated`.  With ``within`` it is the first field of this old value, whose other
    fields stay.
    """

    state: str
    function: str
    within: Taken | None = None


class OfSibling(Record):
    """The value at ``place`` of a state of another old operator, the transformation ``operator`` of a ``node``.

    ``key`` and ``own_key`` are the places of the same columns in the keys of the two operators.
    """

    node: int
    operator: str
    state: str
    place: int
    key: tuple[int, ...]
    own_key: tuple[int, ...]


ValueSource: TypeAlias = OfSibling | OfView | Taken | Initial | ZeroIfNull | NullIfZero | ZeroIfKeyIsNull


class Copy(Record):
    """All entries of an old state, as they are, with keys in another order (``key`` gives old positions)."""

    state: str
    key: tuple[int, ...] | None = None


class Project(Record):
    """An entry for each entry of an old state; ``values`` are in the order of the new state's layout.

    ``number`` takes the place of what the old entry has beside its values.
    """

    state: str
    key: tuple[int, ...]
    values: tuple[ValueSource, ...]
    number: int | None = None


class Merge(Record):
    """Accumulators of old keys that become one key; ``functions`` say how each value is merged: sum, min or max."""

    state: str
    key: tuple[int, ...]
    values: tuple[ValueSource, ...]
    functions: tuple[str, ...]


class MergeSlices(Record):
    """Accumulators of slices that become slices of other windows; ``functions`` are as in :class:`Merge`.

    ``is_timers``: not the accumulators, but the timers of the windows that they are for.
    """

    state: str
    key: tuple[int, ...]
    values: tuple[ValueSource, ...]
    functions: tuple[str, ...]
    old: Slices
    new: Slices
    is_timers: bool = False

    @property
    def is_uncertain(self) -> bool:
        """Whether slices of windows that have not fired may be lacking, which the watermark says."""
        return not self.old.contains(self.new)


class JoinRows(Record):
    """The rows of one input of a join.

    ``values`` are the places of the new row's columns in the old row, ``key`` and ``unique`` those of the join key and
    of the key within the map in the new row, ``join_key`` those of what stands before it there in a join of several
    inputs.  ``other`` is the recipe of the other side, with whose rows each row is joined where ``counts_matches``;
    ``keeps_matches``: the old numbers of matches stay right.  ``never_null`` are the positions in the key where NULL
    matches nothing, and ``condition`` what the rows of both sides must meet besides; ``is_right``: these are the rows
    of the right side.  ``filters`` are conditions over the values of the old state that rows must meet to be kept.

    With ``rows`` the old rows are these instead of those of ``state``.
    """

    state: str
    values: tuple[int, ...]
    key: tuple[int, ...]
    unique: tuple[int, ...] = ()
    form: str = ""
    old_form: str = ""
    never_null: tuple[int, ...] = ()
    counts_matches: bool = False
    keeps_matches: bool = False
    other: JoinRows | None = None
    condition: RexNode | None = None
    is_right: bool = False
    filters: tuple[RexNode, ...] = ()
    join_key: tuple[int, ...] = ()
    rows: Relation | None = None


class TimedSide(Record):
    """The rows of an input of an interval join: ``key`` are the columns of the join key, ``time`` is that of the time.

    Rows wait for others until the watermark is ``waits`` behind their time; that of the input follows the latest row at
    ``delay``, if that is known (all in milliseconds).
    """

    rows: Relation
    key: tuple[int, ...]
    time: int
    waits: int
    delay: int | None


class IntervalRows(Record):
    """A state of an interval join over rows that are kept, without those that are past.

    ``part`` says which state it is: ``rows`` of the input ``side``, when the first of them is ``due``, or the
    ``timers`` for that of both inputs.
    """

    part: str
    sides: tuple[TimedSide, TimedSide]
    side: int = 0

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The rows from which the state is computed."""
        return tuple(side.rows for side in self.sides)


class Order(Record):
    """A sort key's column, by its place in the row: its direction, and whether NULL comes last."""

    column: int
    is_ascending: bool
    null_is_last: bool


class FirstRows(Record):
    """The first rows of each partition, of rows that are kept in an order.

    ``values`` are the places of the new row's columns in the old state's layout, which begins with ``sort_columns``
    columns of a sort key; ``order`` refers to the new row.  ``most`` is how many rows are kept.  Where ``needs_all``,
    no partition may have ``had`` rows, because then rows behind these have been dropped.  ``is_single`` and
    ``is_from_single`` say whether the new and the old state have one row for each key.  ``is_unique``: the first row
    must be the only one with its sort key.  With a ``unique_key``, columns of the new row, rows are kept by this key
    instead of a sort key, each with its place among rows of the same sort key.  ``may_tie``: rows of different old sort
    keys may have the same new one, and it is not known which came first.
    """

    state: str
    key: tuple[int, ...]
    values: tuple[int, ...]
    order: tuple[Order, ...]
    sort_columns: int
    most: int
    had: int
    needs_all: bool
    is_single: bool = False
    is_from_single: bool = False
    is_unique: bool = False
    unique_key: tuple[int, ...] = ()
    may_tie: bool = False


class SortedKeys(Record):
    """A sorted map of each partition in another order: ``order`` has the old places of the sort key's columns."""

    state: str
    key: tuple[int, ...]
    order: tuple[Order, ...]


class Frame(Record):
    """A state of an OVER aggregation over the last ``most`` rows of each key, of which ``had`` are kept.

    ``part`` says which state it is: ``rows``, ``accumulators`` or ``count``.  ``values`` are the places of the new
    row's columns in the old row.  ``functions`` say what the values of accumulators are over the rows' columns
    ``arguments``, -1 for all columns: ``count``, ``sum``, or ``sum or zero``.
    """

    part: str
    key: tuple[int, ...]
    values: tuple[int, ...]
    most: int
    had: int
    functions: tuple[str, ...] = ()
    arguments: tuple[int, ...] = ()


class FirstField(Record):
    """The first field of an accumulator that is an object."""

    value: Taken


class Widened(Record):
    """A value in a type that holds all values of its own."""

    value: KeptValue
    type: LogicalType


KeptValue: TypeAlias = Taken | NullIfZero | FirstField | Widened


class Stored(Record):
    """The rows in a state of an old operator, the transformation ``operator`` of ``node``.

    ``values`` say what the columns are, ``None`` for one that nobody reads; ``form`` is that of the state.  ``filters``
    are conditions over the values of the state that rows must meet.  ``expires``: the state has a TTL.
    """

    node: int
    operator: str
    state: str
    values: tuple[KeptValue | None, ...]
    form: str = ""
    filters: tuple[RexNode, ...] = ()
    expires: bool = False


class NoRows(Record):
    """The rows of a table that nobody has read yet."""


class Computed(Record):
    """Columns that are computed from those of rows that meet a condition.

    ``projection`` has ``None`` for each column that nobody reads.
    """

    rows: Relation
    projection: tuple[RexNode | None, ...]
    condition: RexNode | None


class Joined(Record):
    """The rows of a join of two inputs, which have so many columns: ``widths``.

    ``keys`` are the columns of the join key of both sides, ``never_null`` the positions in it where NULL matches
    nothing.  ``condition`` is what rows must meet besides, over the columns of both sides.
    """

    left: Relation
    right: Relation
    widths: tuple[int, int]
    keys: tuple[tuple[int, ...], tuple[int, ...]]
    join_type: JoinType
    never_null: tuple[int, ...] = ()
    condition: RexNode | None = None


Relation: TypeAlias = Stored | NoRows | Computed | Joined
"""Rows of the new plan that follow from what old operators keep."""


def stored_in(rows: Relation) -> Iterator[Stored]:
    """The states that rows follow from."""
    match rows:
        case Stored():
            yield rows
        case Computed():
            yield from stored_in(rows.rows)
        case Joined():
            yield from stored_in(rows.left)
            yield from stored_in(rows.right)


class Accumulated(Record):
    """A value of an accumulator over a column (-1: over rows), of rows for which the column ``condition`` is true.

    ``function``: ``count``, ``sum``, ``sum or zero``, ``min`` or ``max``.  ``has_view``: beside the extreme stands how
    many different values there are, which are in a view.
    """

    function: str
    argument: int
    condition: int = -1
    has_view: bool = False


class Accumulate(Record):
    """Accumulators over rows that are kept."""

    rows: Relation
    grouping: tuple[int, ...]
    values: tuple[Accumulated, ...]


class CountedValues(Record):
    """How often each group has each value of a column but NULL, for the view of a call; ``counted`` is a ``count``."""

    rows: Relation
    grouping: tuple[int, ...]
    counted: Accumulated


RowStep: TypeAlias = JoinRows | IntervalRows | Accumulate | CountedValues
"""A step that computes a state from rows, by whatever key they are kept."""
Step: TypeAlias = Copy | Project | Merge | MergeSlices | FirstRows | SortedKeys | Frame | RowStep


def relations(step: Step) -> tuple[Relation, ...]:
    """The rows of the new plan from which a state is computed."""
    match step:
        case JoinRows() | Accumulate() | CountedValues():
            return () if step.rows is None else (step.rows,)
        case IntervalRows():
            return step.relations
    return ()
