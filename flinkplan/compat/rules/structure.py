"""Rules on nodes that come, go or change places, and on what is merely written differently."""

from __future__ import annotations

from collections.abc import Iterator

from ...plan.nodes import BatchAggregate, Exchange, ExecNode, OpaqueNode, Sink, TableSourceScan
from ..comparing import Comparison
from ..edits import Insert, Move, Remove, Replace, Update
from ..queries import Queries
from ..validation.structure import RELEASES
from ..verdicts import Effect, Verdict
from .aggregates import is_split
from .model import Became, Judgement, pair_judge, plan_judge, rule

VERSION = rule(
    "node-version-changed",
    "a node has another version",
    "The type of a node ends with a version, which Flink increases when the node's JSON or operator changes. For a "
    "node without state, only its fields matter.",
    flink=Verdict.COSMETIC,
    spark=Verdict.COSMETIC,
    results=Effect.NO,
    example="`stream-exec-sink_1` became `stream-exec-sink_2` with Flink 2.3.",
    fix="Nothing to do.",
)
STATEFUL_VERSION = rule(
    "stateful-node-version-changed",
    "a node with state has another version",
    "Flink also increases the version of a node when the format of its state changes, and promises to restore only "
    "state of the release that introduced the version, or of later ones. `flinkplan execute` uses one format for "
    "all versions.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.COMPATIBLE,
    results=Effect.NO,
    example="A sink that materializes upserts became `stream-exec-sink_2`, which restores states of Flink 2.3.",
    fix="Keep the old version: newer releases of Flink still support it.",
)
FLINK_VERSION = rule(
    "flink-version-changed",
    "the plan is of another Flink release",
    "Later releases read all plans of Flink 1.15 and newer; only changes of the nodes matter.",
    flink=Verdict.COSMETIC,
    spark=Verdict.COSMETIC,
    results=Effect.NO,
    example='`"flinkVersion" : "1.20"` became `"2.3"`.',
    fix="Nothing to do.",
)
FLINK_UNKNOWN = rule(
    "flink-version-unknown",
    "the plan is of an unknown release of Flink",
    "The changes of a future release cannot be judged, and Flink does not read plans of later releases.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.COSMETIC,
    results=Effect.UNKNOWN,
    example='`"flinkVersion" : "2.3.1"`, where releases have no patch level.',
    fix="Write a release without a patch level: `flinkplan validate` lists the known ones.",
)
DESCRIPTION = rule(
    "description-changed",
    "descriptions or column names differ",
    "Descriptions and the names of columns between operators have no effect; columns are found by position.",
    flink=Verdict.COSMETIC,
    spark=Verdict.COSMETIC,
    results=Effect.NO,
    example="`SUM(amount) AS total` became `SUM(amount) AS sum`.",
    fix="Nothing to do.",
)
IGNORED = rule(
    "ignored-field-changed",
    "a field without effect changed",
    "Flink and flinkplan ignore unknown fields of a node.",
    flink=Verdict.COSMETIC,
    spark=Verdict.COSMETIC,
    results=Effect.NO,
    example='A `"flinkplan"` note was added to a node.',
    fix="Nothing to do.",
)
STATELESS_ADDED = rule(
    "stateless-node-added",
    "an operator without state was added",
    "The operator has no state, and the state of the others is restored. Rows that are already in state do not pass "
    "through it.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`WHERE amount > 10` was added: a new Calc.",
    fix="Nothing to do. To get results as if the operator had always been there, start without state.",
)
STATELESS_REMOVED = rule(
    "stateless-node-removed",
    "an operator without state was removed",
    "The operator had no state. Rows that it filtered out are still missing in the state of others.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`WHERE amount > 10` was dropped.",
    fix="Nothing to do. To get results as if the operator had never been there, start without state.",
)
REDISTRIBUTED = rule(
    "exchange-changed",
    "rows are distributed differently",
    "The distribution of rows does not change results, and state is found by its key.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.NO,
    example="An exchange spreads rows by one more column.",
    fix="Nothing to do.",
)
STATEFUL_ADDED = rule(
    "stateful-node-added",
    "an operator with state was added",
    "In Flink the new operator starts empty; the state of the others is restored. Spark finds state by the position "
    "of its operator in the query, and refuses another number of stateful operators.",
    flink=Verdict.PARTIAL,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="A deduplication was put before the join.",
    fix="Put the new operator into a query of its own with its own sink, or start without state.",
)
STATEFUL_REMOVED = rule(
    "stateful-node-removed",
    "an operator with state was removed",
    "Flink refuses a savepoint with state that no operator claims, unless started with --allowNonRestoredState. "
    "Spark finds state by the position of its operator in the query, and refuses another number of stateful "
    "operators.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="A deduplication before the join was dropped.",
    fix="In Flink, start with --allowNonRestoredState; on Spark, start with a new checkpoint.",
)
REPLACED = rule(
    "operator-replaced",
    "an operator with state was replaced by one of another type",
    "The states of different operators have different formats. At best the new operator would start empty, although "
    "old results were already written.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`WHERE row_num = 1` became `<= 3`: deduplicate became rank.",
    fix="Start without state, or undo the option or clause that changed the operator.",
    by_layout=True,
)
SWAPPED = rule(
    "inputs-swapped",
    "the inputs of an operator changed places",
    "The state of each input would be read as that of the other one.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`a JOIN b` became `b JOIN a`.",
    fix="Restore the old order of the inputs, or start without state.",
    by_layout=True,
)
OPAQUE = rule(
    "opaque-node-changed",
    "an operator changed whose state flinkplan does not know",
    "flinkplan does not know the effect of changes of this type of node on its state.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.UNKNOWN,
    results=Effect.UNKNOWN,
    example="A Python aggregate was replaced by another one.",
    fix="Check the change yourself, then allow it: `--allow opaque-node-changed@NODE`.",
)
QUERY_ADDED = rule(
    "query-added",
    "a sink was added, with operators of its own",
    "In Flink the new operators read from now on; on Spark the query has a new checkpoint and reads from the "
    "beginning. No other state is affected.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="A second INSERT was added to the statement set.",
    fix="Nothing to do.",
)
STATEFUL_QUERY_ADDED = rule(
    "stateful-query-added",
    "a sink was added, with stateful operators of its own",
    "In Flink the new state starts empty at the current position of its sources. On Spark the query has a new "
    "checkpoint and reads from the beginning. No other state is affected.",
    flink=Verdict.PARTIAL,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="An INSERT with a GROUP BY was added to the statement set.",
    fix="Nothing to do on Spark, nor in Flink if it is right to start empty.",
)
QUERY_REMOVED = rule(
    "query-removed",
    "a sink was removed, with the operators that fed only it",
    "The operators had no state in a savepoint, and on Spark the checkpoint of the query is not used any more.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="One INSERT of the statement set was dropped, which read what others read, too.",
    fix="Nothing to do.",
)


STATEFUL_QUERY_REMOVED = rule(
    "stateful-query-removed",
    "a sink was removed, with stateful operators that fed only it",
    "Flink refuses a savepoint with state that no operator claims, unless started with --allowNonRestoredState. On "
    "Spark the checkpoint of the query is not used any more.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="An INSERT with a GROUP BY was dropped from the statement set.",
    fix="In Flink start with --allowNonRestoredState.",
)


@plan_judge
def versions(c: Comparison) -> Iterator[Judgement]:
    """The Flink releases of the plans."""
    old, new = c.old.plan.flink_version, c.new.plan.flink_version
    if old != new:
        rule_ = FLINK_VERSION if new in RELEASES else FLINK_UNKNOWN
        yield Judgement(rule_, f"flinkVersion {old} → {new}", pointer="/flinkVersion")


@plan_judge
def comings_and_goings(c: Comparison) -> Iterator[Judgement]:
    """Nodes that are in only one of the plans."""
    queries = Queries(c)
    for edit in c.edits:
        if isinstance(edit, Insert):
            yield from _added(edit.new, queries)
        elif isinstance(edit, Remove):
            yield from _removed(edit.old, queries)


def _added(node: ExecNode, queries: Queries) -> Iterator[Judgement]:
    is_in_new_query = node.id in queries.added
    if isinstance(node, Sink) and is_in_new_query:
        table = node.dynamic_table_sink.table.identifier
        yield Judgement(QUERY_ADDED, f"the sink {table} is new", new=node)
    elif is_in_new_query:
        if node.is_stateful:
            yield Judgement(STATEFUL_QUERY_ADDED, "is new and starts empty", new=node)
    elif isinstance(node, OpaqueNode):
        yield Judgement(OPAQUE, "was added", new=node)
    elif not isinstance(node, TableSourceScan | Sink):
        yield _added_or_removed(node, is_added=True)


def _removed(node: ExecNode, queries: Queries) -> Iterator[Judgement]:
    is_in_removed_query = node.id in queries.removed
    if isinstance(node, Sink) and is_in_removed_query:
        table = node.dynamic_table_sink.table.identifier
        yield Judgement(
            STATEFUL_QUERY_REMOVED if node.stateful_transformations else QUERY_REMOVED,
            f"the sink {table} is gone",
            old=node,
        )
    elif is_in_removed_query:
        if node.stateful_transformations:
            yield Judgement(
                STATEFUL_QUERY_REMOVED, f"{', '.join(node.stateful_transformations)} is left behind", old=node
            )
    elif isinstance(node, OpaqueNode):
        yield Judgement(OPAQUE, "was removed", old=node)
    elif not isinstance(node, TableSourceScan | Sink):
        yield _added_or_removed(node, is_added=False)


def _added_or_removed(node: ExecNode, *, is_added: bool) -> Judgement:
    if isinstance(node, Exchange) or (isinstance(node, BatchAggregate) and not node.is_final):
        rule = REDISTRIBUTED
    elif node.is_stateful:
        rule = STATEFUL_ADDED if is_added else STATEFUL_REMOVED
    else:
        rule = STATELESS_ADDED if is_added else STATELESS_REMOVED
    message = "was added" if is_added else "was removed"
    return Judgement(rule, message, None if is_added else node, node if is_added else None)


@pair_judge
def writing(c: Comparison, edit: Became) -> Iterator[Judgement]:
    """Changes of the notation that do not change the meaning."""
    old, new = edit.old, edit.new
    if isinstance(edit, Replace):
        return
    if old.version != new.version:
        rule = STATEFUL_VERSION if old.is_stateful or new.is_stateful else VERSION
        yield Judgement(rule, f"{old.type} → {new.type}", old, new, "/type")
    names = tuple(f.name for f in old.fields), tuple(f.name for f in new.fields)
    if old.description != new.description and not isinstance(edit, Update):
        yield Judgement(DESCRIPTION, f"{old.description} → {new.description}", old, new, "/description")
    elif names[0] != names[1] and len(names[0]) == len(names[1]) and not isinstance(edit, Update):
        renamed = ", ".join(f"{o} → {n}" for o, n in zip(*names, strict=True) if o != n)
        yield Judgement(DESCRIPTION, f"columns {renamed}", old, new, "/outputType")
    if not isinstance(new, OpaqueNode) and old.unknown != new.unknown:
        changed = sorted(k for k in {**old.unknown, **new.unknown} if old.unknown.get(k) != new.unknown.get(k))
        yield Judgement(IGNORED, f"{', '.join(changed)} changed", old, new)


@pair_judge
def places(c: Comparison, edit: Became) -> Iterator[Judgement]:
    """Nodes that were replaced, or whose inputs changed places."""
    old, new = edit.old, edit.new
    if isinstance(edit, Replace) and not is_split(c, edit):
        yield Judgement(REPLACED, f"{old.type} → {new.type}", old, new, "/type")
    elif isinstance(edit, Move):
        rule = SWAPPED if new.is_stateful else REDISTRIBUTED
        yield Judgement(rule, "left became right", old, new)


@pair_judge
def opaque(c: Comparison, edit: Became) -> Iterator[Judgement]:
    """Changes of nodes that are not analysed."""
    if isinstance(edit, Update) and isinstance(edit.new, OpaqueNode):
        yield Judgement(OPAQUE, "changed", edit.old, edit.new, changes=edit.changes)
