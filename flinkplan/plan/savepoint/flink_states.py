"""The names of the states of Flink's operators: layouts declare them by node, and both ways of moving state find them.

Sources: the state descriptors of the operators in Flink's ``flink-table-runtime`` and ``flink-cep``.
"""

from __future__ import annotations

# GROUP BY, and accumulators of OVER in event time
ACCUMULATORS = "accState"

# windows
WINDOW_ACCUMULATORS = "window-aggs"
WINDOW_RESULTS = "previous-aggs"
"""The last result of each window that may emit again."""
WINDOW_HAS_FIRED = "eventTime-afterEOW"
"""Whether each window that may emit again has fired; there is no such state before one has rows."""
WINDOW_PERIODIC = "processingTime-every-"
"""What the name of the state begins with that says when windows fire next by the clock; the interval (ms) is behind."""
SESSIONS = "session-window-mapping"
"""The namespace of each session's accumulators, which is the first of the windows that have merged."""
WINDOW_RANK = "window_rank"
WINDOW_DEDUPLICATE = "window_deduplicate"
WINDOW_TIMERS = "_timer_state/event_window-timers"
WINDOW_CLOCK_TIMERS = "_timer_state/processing_window-timers"
TIMERS = "_timer_state/event_user-timers"
CLOCK_TIMERS = "_timer_state/processing_user-timers"
SESSION_ROWS = "session-window-tvf-acc"
SESSION_COUNTS = "session-window-tvf-counter"

# OVER
OVER_ROWS = "inputState"
OVER_LAST = "lastTriggeringTsState"
OVER_COUNT = "processedCountState"
OVER_EXPIRY = "cleanupTsState"
OVER_EARLIEST = "smallestTSState"
OVER_CLEANUPS = (
    "RowTimeUnboundedOverCleanupTime",
    "RowTimeBoundedRowsOverCleanupTime",
    "ProcTimeUnboundedOverCleanupTime",
    "ProcTimeBoundedRowsOverCleanupTime",
)
"""The states with the time of the clock at which an idle key is forgotten."""
OVER_NEXT_ID = "idState"
OVER_ORDER = "sortedListState"
OVER_ROWS_BY_ID = "valueMapState"
OVER_ACCUMULATORS_BY_ROW = "accMapState"

# joins
JOINED = ("left-records", "right-records")
"""The rows of both sides, also of joins of windows."""
INTERVAL_ROWS = ("IntervalJoinLeftCache", "IntervalJoinRightCache")
INTERVAL_TIMERS = ("IntervalJoinLeftTimerState", "IntervalJoinRightTimerState")
TEMPORAL_ROWS = ("left", "right")
TEMPORAL_NEXT = "next-index"
TEMPORAL_TIMER = "timer"
TEMPORAL_CLEANUP = "cleanup-timestamp"
"""When an idle key is forgotten."""

# rows by key
LAST_ROWS = "deduplicate-state"
WAITING_ROW = "waiting-to-emit-on-timer"
HAS_EMITTED = "already-emitted-state-boolean"
MATERIALIZED = "values"

# Top-N
TOP_1 = "Top1-Rank-State"
APPENDED = "data-state-with-append"
UPDATED = "data-state-with-update"
SORTED = "data-state"
SORTED_COUNTS = "sorted-map"
RANK_END = "rankEnd"

# sort
SORTED_BY_TIME = "dataState"

# MATCH_RECOGNIZE
PATTERN_QUEUE = "eventQueuesStateName"
PATTERN_MATCHES = "nfaStateName"
PATTERN_EVENTS = "sharedBuffer-events"
PATTERN_EVENT_COUNTS = "sharedBuffer-events-count"
PATTERN_ENTRIES = "sharedBuffer-entries-with-lockable-edges"


def multi_join_input(index: int) -> str:
    """The rows of an input of a join of several."""
    return f"multi-join-input-{index}"


def distinct_view(number: int) -> str:
    """The values that DISTINCT calls over the same columns have seen."""
    return f"distinctAcc_{number}"


def distinct_null(number: int) -> str:
    """How often they have seen NULL, where they are over a single column."""
    return f"{distinct_view(number)}_null_state"
