"""What flows between operators: a DataFrame whose hidden columns carry Flink's changelog and watermark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...plan.record import Record, replace
from ...plan.specs import RowKind
from ...plan.types import LogicalType
from ..jvm.spark import F, fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame

KIND = "__kind"
"""TINYINT: 0 +I, 1 -U, 2 +U, 3 -D.  Present in every stream that is not insert-only."""

SEQUENCE = "__seq"
"""BIGINT: the place, in the order of a single-threaded Flink job, of the source row that caused this row.

Always present.  Rows with equal numbers stand in the order of :data:`ORDER`.  In a batch the rows that come once its
input has ended stand behind all others: :data:`BEHIND` is added to their numbers.
"""

ORDER = "__order"
"""BIGINT: the place of a row among those of its number, in which they were emitted, as ``Place.java`` has it.

Present in every changelog behind a kernel, and where rows have been copied; rows of a source have the place 0.  Of
equal places retractions come first.
"""

BEHIND = 2**61
FIRST_BEHIND = 2**59
"""The first number of rows that come once the input of a batch has ended.  Both are as in ``EndOfInput.java``."""

TIE, TIE_TYPE = "__tie", "array<bigint>"
"""What rows of equal numbers stand in order by: those of the other rows that a row is joined of, place by place.

Present in a batch from a join that Spark has done to the next operator that emits rows of its own.
"""

LATENESS = "__wm"
"""BIGINT: Flink's watermark (epoch ms) when the row arrived, as its source saw it; NULL: none yet.

Present from a watermark assigner to the first operator that emits rows of its own time, where nothing
can be late any more.
"""

PASSED = "__passed"
"""BIGINT: Flink's watermark (epoch ms) when an OVER window with a bounded frame, which takes late rows, emits a row.

Present from there to the next operator that emits rows of its own time.
"""

CAUSE = "__cause"
"""STRUCT<time BIGINT, row BIGINT>: what brought about a row that a window operator emits.

The time of a timer and -1, or Flink's watermark and the place of the row that came then: so rows stand in the order in
which Flink emits them.
"""

CLOCKED = "__clocked"
"""BOOLEAN: whether a row came when the watermark of its table was the clock.

Present from a table of several sources, where its watermark becomes that, to its watermark assigner.
"""

PART = "__source_part"
"""STRING: the partition of its source that a row is of, where each has a watermark of its own.

Present in a stream from the source to its watermark assigner.
"""

TICK = "__tick"
"""STRUCT<source INT, time BIGINT>: not NULL where a row is none, but the watermark (epoch ms) that a source announces.

Present in real-time mode, from a watermark assigner to the first operator that waits for watermarks.  The other columns
are those of the row that has moved the watermark.
"""

TIME = "__time"
"""BIGINT: the time (epoch ms) that a kernel keeps or fires a row by; TIMESTAMP where Spark's watermark goes by it."""

GAP = "__gap"
"""BIGINT: the gap (ms) of a session that a row brings along, on the way to a kernel."""

ROW = "__values"
"""STRUCT: a whole row, which kernels emit as it came."""

RIGHT, INPUT = "__right", "__input"
"""BOOLEAN, INT: which of the inputs of a join a row is from, on the way to its kernel."""

START, END = "__start", "__end"
"""BIGINT: where the window of a row starts and ends (ms)."""

FIRING, KEY_FIRING = "__firing", "__keyFiring"
"""BIGINT: how often a window has fired, and how often those of a key have, as the window operator emits it."""

LATE = "__late"
"""STRUCT: a row that came too late for the window operator, as it was; nothing else is there then."""

CAUSE_TIME, CAUSE_ROW = "__causeTime", "__causeRow"
"""BIGINT: what :data:`CAUSE` holds, as the window operator emits it."""

TARGET = "__target"
"""INT: which partition a watermark is sent to; 0 for rows, which go by their keys."""

HIDDEN = (KIND, TIE, ORDER, SEQUENCE, LATENESS, PASSED, CAUSE, CLOCKED, PART, TICK)

ROW_KINDS = dict(zip(RowKind, range(4), strict=True))
"""The numbers by which rows carry their kinds."""

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = ROW_KINDS.values()


def column_name(index: int) -> str:
    """The name of the column at ``index``; never the user's, so that no plan text reaches Spark SQL."""
    return f"c{index}"


class Stream(Record):
    """The rows of a node.

    ``frame`` has one column per field of ``type``, named by :func:`column_name`, then hidden ones.
    ``changelog``: rows of other kinds than +I may come, and the column ``KIND`` says which.
    ``event_time``: Spark's watermark follows Flink's in this stream.
    ``pulse`` is the source's time alone, from which a stream whose watermark was lost takes it anew.
    ``ticks`` are the watermarks that its source announces, in epoch milliseconds, a row each.
    ``late`` are the rows that came too late for a window operator, where anything reads them.
    """

    frame: DataFrame
    type: LogicalType
    changelog: bool = False
    event_time: bool = False
    pulse: DataFrame | None = None
    ticks: DataFrame | None = None
    late: DataFrame | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the node's fields, in order."""
        return tuple(self.column(i) for i in range(len(self.type.fields)))

    @property
    def hidden(self) -> tuple[str, ...]:
        """The names of the hidden columns that are present, in their fixed order."""
        present = set(fields.names(self.frame))
        return tuple(name for name in HIDDEN if name in present)

    def column(self, index: int) -> Column:
        """The column at ``index``."""
        return fields.field(self.frame, column_name(index))

    def select(self, columns: Sequence[Column], output_type: LogicalType) -> Stream:
        """A stream of ``columns``, renamed by position, and the hidden columns as they are."""
        named = [c.alias(column_name(i)) for i, c in enumerate(columns)]
        return replace(self, frame=fields.select(self.frame, [*named, *self.hidden]), type=output_type)

    @property
    def inserts(self) -> Stream:
        """The same of a changelog all of whose rows are insertions."""
        return replace(self, frame=self.frame.drop(KIND), changelog=False)

    def where(self, condition: Column) -> Stream:
        """The rows for which ``condition`` is true, and all watermarks."""
        passes = condition if TICK not in self.hidden else condition | self.frame[TICK].isNotNull()
        return replace(self, frame=self.frame.where(passes))


_COUNT_BITS, _PLACE_BITS = 6, 57
"""The same as in ``Place.java``."""


def place_of_part(whole: Column, index: int, count: int) -> Column:
    """The place (:data:`ORDER`) of one of ``count`` rows that a row of the place ``whole`` becomes: ``Place.part``."""
    width = (count - 1).bit_length()
    before = whole.bitwiseAND(F.lit((1 << _COUNT_BITS) - 1).cast("bigint"))
    taken = before + width
    shifted = F.call_function("shiftleft", F.lit(index).cast("bigint"), (_COUNT_BITS + _PLACE_BITS - taken).cast("int"))
    of_source = F.lit((index << _COUNT_BITS + _PLACE_BITS - width) + width)
    return F.when(taken > _PLACE_BITS, of_source).otherwise(whole - before + shifted + taken).cast("bigint")
