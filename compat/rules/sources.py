"""Rules on which sources a query has: on Spark a checkpoint knows them by their number and order."""

from __future__ import annotations

from collections.abc import Iterator

from ...plan.nodes import Sink, TableSourceScan, WatermarkAssigner
from ..comparing import Comparison
from ..edits import Insert, Remove
from ..queries import Queries, nodes_of, sources_of
from ..verdicts import Effect, Verdict
from .model import Judgement, plan_judge, rule

ADDED = rule(
    "source-added",
    "a source was added to a query that has state",
    "Flink starts the new source at its beginning beside the others. Spark counts a query's sources and refuses to "
    "go on with another number of them.",
    flink=Verdict.PARTIAL,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`UNION ALL SELECT … FROM archive` was added.",
    mend="On Spark start with a new checkpoint.",
)
REMOVED = rule(
    "source-removed",
    "a source was removed from a query",
    "Flink must be told to leave the source's positions behind. Spark counts a query's sources and refuses to go on "
    "with another number of them.",
    flink=Verdict.PARTIAL,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="One branch of a UNION ALL was dropped.",
    mend="In Flink start with --allowNonRestoredState; on Spark start with a new checkpoint.",
)
REORDERED = rule(
    "sources-reordered",
    "a query reads its sources in another order",
    "In Flink the order does not matter. Spark writes down each source's position under the source's number, and would "
    "take one's position for another's.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.NO,
    example="`a UNION ALL b` became `b UNION ALL a`.",
    mend="Put the sources back in their old order, or on Spark start with a new checkpoint.",
)
EVENT_TIME = rule(
    "event-time-switched",
    "a query began or ceased to have watermarks",
    "In Flink an operator without state comes or goes. On Spark a query with watermarks has one more source, which "
    "ends its input.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`WATERMARK FOR ts AS ts` was added to the only table of a query.",
    mend="On Spark start with a new checkpoint.",
)


@plan_judge
def new_and_lost_sources(c: Comparison) -> Iterator[Judgement]:
    """Scans that are only in one of the plans and serve a query that is in both."""
    queries = Queries(c)
    for edit in c.edits:
        if isinstance(edit, Insert) and isinstance(edit.new, TableSourceScan) and edit.new.id not in queries.added:
            yield Judgement(ADDED, f"reads {edit.new.scan_table_source.table.identifier}", new=edit.new)
        if isinstance(edit, Remove) and isinstance(edit.old, TableSourceScan) and edit.old.id not in queries.removed:
            yield Judgement(REMOVED, f"read {edit.old.scan_table_source.table.identifier}", old=edit.old)


@plan_judge
def order_of_sources(c: Comparison) -> Iterator[Judgement]:
    """The sources of each query that is in both plans, as Spark counts them."""
    became = c.became()
    kept = {new.id for new in became.values()}
    for edit in c.pairs():
        if not (isinstance(edit.old, Sink) and isinstance(edit.new, Sink)):
            continue
        before = [became[node.id].id for node in sources_of(c.old.plan, edit.old) if node.id in became]
        after = [node.id for node in sources_of(c.new.plan, edit.new) if node.id in kept]
        if before != after and sorted(before) == sorted(after):
            names = (_tables(c, ids) for ids in (before, after))
            yield Judgement(REORDERED, " → ".join(f"({n})" for n in names), edit.old, edit.new)
        is_timed, was_timed = (
            any(isinstance(node, WatermarkAssigner) for node in nodes_of(plan, sink))
            for plan, sink in ((c.new.plan, edit.new), (c.old.plan, edit.old))
        )
        if is_timed != was_timed:
            yield Judgement(
                EVENT_TIME, f"has {'watermarks now' if is_timed else 'no watermarks now'}", edit.old, edit.new
            )


def _tables(c: Comparison, ids: list[int]) -> str:
    scans = (c.new.plan.by_id[id] for id in ids)
    tables = (s.scan_table_source.table.identifier for s in scans if isinstance(s, TableSourceScan))
    return ", ".join(name.rpartition(".")[2].strip("`") for name in tables)
