"""The operators of sinks with state in savepoints of Flink: incomplete files and transactions."""

from __future__ import annotations

from collections.abc import Mapping

_SINKS_WITHOUT_STATE = frozenset(("print", "blackhole"))


def stateful_sink_operators(
    connector: str | None, options: Mapping[str, str], is_partitioned: bool
) -> tuple[str, ...] | None:
    """The operators of a sink that have state, by the last part of their UIDs; ``None`` if not known.

    Source: ``StreamingSink``, ``PrintTableSinkFactory``, ``BlackHoleTableSinkFactory``.
    """
    if connector in _SINKS_WITHOUT_STATE:
        return ()
    if connector != "filesystem":
        return None
    compacting = options.get("auto-compaction", "false").lower() == "true"
    compactors = ("compact-coordinator", "compact-operator") if compacting else ()
    committer = ("partition-committer",) if is_partitioned else ()
    return ("streaming-writer", *compactors, *committer)
