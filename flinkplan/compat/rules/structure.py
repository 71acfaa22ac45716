"""Rules on nodes that come, go or change places, and on what is merely written differently."""

from __future__ import annotations

from collections.abc import Iterator

from ...plan.nodes import Exchange, ExecNode, OpaqueNode, Sink, TableSourceScan
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
    "A node's type ends in a version that Flink counts up when the node's JSON or operator changes. Of a node "
    "without state, only what its fields say matters.",
    flink=Verdict.COSMETIC,
    spark=Verdict.COSMETIC,
    results=Effect.NO,
    example="`stream-exec-sink_1` became `stream-exec-sink_2` with Flink 2.3.",
    fix="Nothing to do.",
)
STATEFUL_VERSION = rule(
    "stateful-node-version-changed",
    "a node with state has another version",
    "Flink counts up the version of a node also when its operator keeps state in another form, and promises to "
    "restore only states of the release the version came with, or later ones. `flinkplan execute` keeps state of "
    "all versions in one form.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.COMPATIBLE,
    results=Effect.NO,
    example="A sink that materializes upserts became `stream-exec-sink_2`, which restores states of Flink 2.3.",
    fix="Keep the old version: newer releases of Flink go on reading it.",
)
FLINK_VERSION = rule(
    "flink-version-changed",
    "the plan is of another Flink release",
    "Plans of Flink 1.15 and later are read by all later releases; what matters stands in the nodes.",
    flink=Verdict.COSMETIC,
    spark=Verdict.COSMETIC,
    results=Effect.NO,
    example='`"flinkVersion" : "1.20"` became `"2.3"`.',
    fix="Nothing to do.",
)
FLINK_UNKNOWN = rule(
    "flink-version-unknown",
    "the plan is of a Flink release that is not known",
    "What a release to come changes cannot be judged, and no Flink loads the plan of a release later than itself.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.COSMETIC,
    results=Effect.UNKNOWN,
    example='`"flinkVersion" : "2.3.1"`, where releases have no patch level.',
    fix="Write a release without patch level: `flinkplan validate` says which are known.",
)
DESCRIPTION = rule(
    "description-changed",
    "descriptions or names of columns differ",
    "Descriptions and the names of columns between operators are for people; columns are found by position.",
    flink=Verdict.COSMETIC,
    spark=Verdict.COSMETIC,
    results=Effect.NO,
    example="`SUM(amount) AS total` became `SUM(amount) AS sum`.",
    fix="Nothing to do.",
)
IGNORED = rule(
    "ignored-field-changed",
    "a field changed that nobody reads",
    "Flink and flinkplan ignore fields of a node that they do not know.",
    flink=Verdict.COSMETIC,
    spark=Verdict.COSMETIC,
    results=Effect.NO,
    example='A `"flinkplan"` note was added to a node.',
    fix="Nothing to do.",
)
STATELESS_ADDED = rule(
    "stateless-node-added",
    "an operator without state was added",
    "It has nothing to restore, and the other operators restore theirs. Rows that are already in state do not pass it.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`WHERE amount > 10` was added: a new Calc.",
    fix="Nothing to do. For results as if it had always been there, start without state.",
)
STATELESS_REMOVED = rule(
    "stateless-node-removed",
    "an operator without state was removed",
    "It had nothing in state. Rows that it kept away from state stay missing there.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="`WHERE amount > 10` was dropped.",
    fix="Nothing to do. For results as if it had never been there, start without state.",
)
REDISTRIBUTED = rule(
    "exchange-changed",
    "rows are spread differently",
    "Where rows are sent says nothing about what becomes of them; state is found by key wherever it lies.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.NO,
    example="An exchange spreads rows by one more column.",
    fix="Nothing to do.",
)
STATEFUL_ADDED = rule(
    "stateful-node-added",
    "an operator with state was added",
    "In Flink it starts empty beside the others, which restore theirs. Spark finds state by the operator's "
    "place in the query and refuses a query that has another number of them.",
    flink=Verdict.PARTIAL,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="A deduplication was put before the join.",
    fix="Put the new operator into a query of its own with its own sink, or start without state.",
)
STATEFUL_REMOVED = rule(
    "stateful-node-removed",
    "an operator with state was removed",
    "Flink refuses a savepoint that holds state which no operator takes, unless told to leave it. Spark finds state by "
    "the operator's place in the query and refuses a query that has another number of them.",
    flink=Verdict.INCOMPATIBLE,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="A deduplication before the join was dropped.",
    fix="In Flink start with --allowNonRestoredState; on Spark start with a new checkpoint.",
)
REPLACED = rule(
    "operator-replaced",
    "an operator with state gave way to one of another type",
    "States of different operators have different forms; the new one could at best start empty where the old results "
    "are already out.",
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
    "Each side's state would be read as the other's.",
    flink=Verdict.CORRUPTING,
    spark=Verdict.INCOMPATIBLE,
    results=Effect.YES,
    example="`a JOIN b` became `b JOIN a`.",
    fix="Put the inputs back in their old order, or start without state.",
    by_layout=True,
)
OPAQUE = rule(
    "opaque-node-changed",
    "an operator changed of whose state flinkplan knows nothing",
    "flinkplan does not know what a change of this type of node does to its state.",
    flink=Verdict.UNKNOWN,
    spark=Verdict.UNKNOWN,
    results=Effect.UNKNOWN,
    example="A Python aggregate gave way to another one.",
    fix="Judge it by hand, then allow it: `--allow opaque-node-changed@NODE`.",
)
QUERY_ADDED = rule(
    "query-added",
    "a sink was added, with operators of its own",
    "Whatever is read for it is read from now on in Flink, and from the beginning in its own new checkpoint on Spark. "
    "No other state is touched.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="A second INSERT was added to the statement set.",
    fix="Nothing to do.",
)
STATEFUL_QUERY_ADDED = rule(
    "stateful-query-added",
    "a sink was added, with operators of its own that keep state",
    "In Flink the new state starts empty where its sources go on. On Spark the query has a new checkpoint of its own, "
    "and reads everything from the beginning. No other state is touched.",
    flink=Verdict.PARTIAL,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="An INSERT with a GROUP BY was added to the statement set.",
    fix="Nothing to do on Spark, nor in Flink if starting empty is right there.",
)
QUERY_REMOVED = rule(
    "query-removed",
    "a sink was removed, with the operators that served it alone",
    "They have nothing in a savepoint, and on Spark the query's own checkpoint is left alone.",
    flink=Verdict.COMPATIBLE,
    spark=Verdict.COMPATIBLE,
    results=Effect.YES,
    example="One INSERT of the statement set was dropped, which read what others read, too.",
    fix="Nothing to do.",
)


STATEFUL_QUERY_REMOVED = rule(
    "stateful-query-removed",
    "a sink was removed, with operators that served it alone and have something in a savepoint",
    "Flink refuses a savepoint that holds state which no operator takes, unless told to leave it. On Spark the query's "
    "own checkpoint is left alone.",
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
    """Nodes that are only in one of the plans."""
    queries = Queries(c)
    for edit in c.edits:
        if isinstance(edit, Insert):
            yield from _added(edit.new, queries)
        elif isinstance(edit, Remove):
            yield from _removed(edit.old, queries)


def _added(node: ExecNode, queries: Queries) -> Iterator[Judgement]:
    fresh = node.id in queries.added
    if isinstance(node, Sink) and fresh:
        table = node.dynamic_table_sink.table.identifier
        yield Judgement(QUERY_ADDED, f"the sink {table} is new", new=node)
    elif fresh:
        if node.is_stateful:
            yield Judgement(STATEFUL_QUERY_ADDED, "is new and starts empty", new=node)
    elif isinstance(node, OpaqueNode):
        yield Judgement(OPAQUE, "was added", new=node)
    elif not isinstance(node, TableSourceScan | Sink):
        yield _came_or_went(node, True)


def _removed(node: ExecNode, queries: Queries) -> Iterator[Judgement]:
    gone = node.id in queries.removed
    if isinstance(node, Sink) and gone:
        table = node.dynamic_table_sink.table.identifier
        yield Judgement(
            STATEFUL_QUERY_REMOVED if node.keepers else QUERY_REMOVED, f"the sink {table} is gone", old=node
        )
    elif gone:
        if node.keepers:
            yield Judgement(STATEFUL_QUERY_REMOVED, f"{', '.join(node.keepers)} is left behind", old=node)
    elif isinstance(node, OpaqueNode):
        yield Judgement(OPAQUE, "was removed", old=node)
    elif not isinstance(node, TableSourceScan | Sink):
        yield _came_or_went(node, False)


def _came_or_went(node: ExecNode, came: bool) -> Judgement:
    if isinstance(node, Exchange):
        rule, what = REDISTRIBUTED, "was added" if came else "was removed"
    elif node.is_stateful:
        rule, what = (STATEFUL_ADDED, "was added") if came else (STATEFUL_REMOVED, "was removed")
    else:
        rule, what = (STATELESS_ADDED, "was added") if came else (STATELESS_REMOVED, "was removed")
    return Judgement(rule, what, None if came else node, node if came else None)


@pair_judge
def writing(c: Comparison, edit: Became) -> Iterator[Judgement]:
    """What is written differently but means the same."""
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
    """Nodes that gave way to others, or whose inputs changed places."""
    old, new = edit.old, edit.new
    if isinstance(edit, Replace) and not is_split(c, edit):
        yield Judgement(REPLACED, f"{old.type} → {new.type}", old, new, "/type")
    elif isinstance(edit, Move):
        rule = SWAPPED if new.is_stateful else REDISTRIBUTED
        yield Judgement(rule, "left became right", old, new)


@pair_judge
def opaque(c: Comparison, edit: Became) -> Iterator[Judgement]:
    """Changes of nodes that are not looked into."""
    if isinstance(edit, Update) and isinstance(edit.new, OpaqueNode):
        yield Judgement(OPAQUE, "changed", edit.old, edit.new, changes=edit.changes)
