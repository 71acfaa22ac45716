"""Rules on which sources a query has: on Spark a checkpoint knows them by their number and order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...plan.nodes import Sink, TableSourceScan
from ..comparing import Comparison
from ..edits import Insert, Remove
from ..queries import END, Queries, sources_feeding
from ..verdicts import Effect, Verdict
from .model import Became, Judgement, plan_judge, rule

ADDED = rule(
    "source-added",
    "a source was added to a query that has state",
    "Flink starts the new source at its beginning; the others continue. Spark numbers the sources of a query, and "
    "refuses another number of them.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`UNION ALL SELECT … FROM archive` was added.",
    fix="On Spark, start with a new checkpoint.",
)
REMOVED = rule(
    "source-removed",
    "a source was removed from a query",
    "Flink refuses a savepoint with positions that no source claims, unless started with --allowNonRestoredState. "
    "Spark numbers the sources of a query, and refuses another number of them.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="One branch of a UNION ALL was dropped.",
    fix="In Flink, start with --allowNonRestoredState; on Spark, start with a new checkpoint.",
)
REORDERED = rule(
    "sources-reordered",
    "the sources of a query have another order",
    "In Flink the order does not matter. Spark stores the position of each source under its number, so the position "
    "of one source would be used for another.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.NO,
    example="`a UNION ALL b` became `b UNION ALL a`.",
    fix="Restore the old order of the sources, or on Spark start with a new checkpoint.",
)
READ_AGAIN = rule(
    "source-read-again",
    "a query reads a source more or less often",
    "Flink reads a source once for all its readers. Spark reads it once for each path to the sink, numbers these as "
    "sources, and refuses another number of them.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`FROM a` became `FROM (SELECT * FROM a UNION ALL SELECT * FROM a WHERE b)`.",
    fix="On Spark start with a new checkpoint, or put the new branch into a query of its own with its own sink.",
)
EVENT_TIME = rule(
    "event-time-switched",
    "a query, or a table in it, gained or lost watermarks",
    "In Flink an operator without state is added or removed. On Spark each watermark adds a source that ends the "
    "input, and Spark refuses another number of sources.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`WATERMARK FOR ts AS ts` was added to the only table of a query.",
    fix="On Spark, start with a new checkpoint.",
)


@plan_judge
def new_and_lost_sources(c: Comparison) -> Iterator[Judgement]:
    """Scans that are in only one of the plans, and feed a query that is in both."""
    queries = Queries(c)
    for edit in c.edits:
        if isinstance(edit, Insert) and isinstance(edit.new, TableSourceScan) and edit.new.id not in queries.added:
            yield Judgement(ADDED, f"reads {edit.new.scan_table_source.table.identifier}", new=edit.new)
        if isinstance(edit, Remove) and isinstance(edit.old, TableSourceScan) and edit.old.id not in queries.removed:
            yield Judgement(REMOVED, f"read {edit.old.scan_table_source.table.identifier}", old=edit.old)


@plan_judge
def order_of_sources(c: Comparison) -> Iterator[Judgement]:
    """The sources of each query that is in both plans, as Spark numbers them."""
    became = {END: END, **{id: new.id for id, new in c.became().items()}}
    old_sources, new_sources = sources_feeding(c.old.plan), sources_feeding(c.new.plan)
    for edit in c.pairs():
        if isinstance(edit.old, Sink) and isinstance(edit.new, Sink):
            old = [became.get(id) for id in old_sources[edit.old.id]]
            yield from _order(c, edit, old, new_sources[edit.new.id])


def _order(c: Comparison, edit: Became, old: Sequence[int | None], new: Sequence[int]) -> Iterator[Judgement]:
    """How the sources ``new`` differ from ``old``, by ids of the new plan; added and removed ones have other rules."""
    scans = [[id for id in ids if id and id in others] for ids, others in ((old, new), (new, old))]
    old_tables, new_tables = (", ".join(_table(c, id) for id in ids) for ids in scans)
    if sorted(scans[0]) != sorted(scans[1]):
        yield Judgement(READ_AGAIN, f"reads ({old_tables}), now ({new_tables})", edit.old, edit.new)
    elif scans[0] != scans[1]:
        yield Judgement(REORDERED, f"({old_tables}) → ({new_tables})", edit.old, edit.new)
    elif list(old) != list(new) and {*old, END} == {*new, END}:
        yield Judgement(EVENT_TIME, f"{old.count(END)} watermarks → {new.count(END)}", edit.old, edit.new)


def _table(c: Comparison, id: int) -> str:
    scan = c.new.plan.by_id[id]
    assert isinstance(scan, TableSourceScan)
    return scan.scan_table_source.table.identifier.rpartition(".")[2].strip("`")
