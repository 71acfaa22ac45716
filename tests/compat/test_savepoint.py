"""What nodes keep in a savepoint of Flink, and what becomes of it, without Flink."""

from __future__ import annotations

import re

import pytest

from flinkplan.compat.comparing import compare
from flinkplan.compat.savepoint import Holder, restore
from flinkplan.compat.verdicts import Verdict
from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import ExecNode, OpaqueNode, node_classes
from flinkplan.plan.savepoint.sink_operators import stateful_sink_operators
from flinkplan.plan.uids import Uids
from flinkplan.planner import compile_script
from tests.compat.identities import with_old_ids
from tests.compat.pipelines import INTERVAL, JOIN, JOIN_COLUMNS, OVER, OVER_COLUMNS, SUMS, SUMS_COLUMNS, TOP, script
from tests.compat.truths import ON_FLINK

PLAN = compile_script(script(SUMS, SUMS_COLUMNS))


def keeper(plan: Plan, name: str) -> ExecNode:
    """The node that makes the operator ``name``."""
    return next(node for node in plan.nodes if name in node.stateful_transformations)


def layout(query: str, columns: str, name: str) -> list[tuple[str, list[str]]]:
    """The states of an operator with the types of their values; the key comes first."""
    plan = compile_script(script(query, columns))
    node = keeper(plan, name)
    kept = node.layout([i.fields for i in plan.inputs(node)])
    assert kept is not None
    states = [("key", kept.key), *((state.name, state.values) for state in kept.states)]
    return [(state, [value.type for value in values]) for state, values in states]


@pytest.mark.parametrize("cls", node_classes(), ids=lambda cls: cls.metadata.name)
def test_operators_have_names_that_uids_may_end_in(cls: type[ExecNode]) -> None:
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in cls.metadata.transformations)


def test_accumulators_are_kept_by_position() -> None:
    assert layout(SUMS, SUMS_COLUMNS, "group-aggregate") == [
        ("key", ["VARCHAR(2147483647)"]),
        ("accState", ["INT", "DECIMAL(10, 2)"]),
    ]


def test_rows_over_rows_are_counted() -> None:
    states = dict(layout(OVER, OVER_COLUMNS, "over-aggregate"))
    assert states["accState"] == ["BIGINT", "INT", "BIGINT"]
    assert states["inputState"][-1] == "TIMESTAMP(3)"


def test_a_join_keeps_the_rows_of_both_sides() -> None:
    states = dict(layout(JOIN, JOIN_COLUMNS, "join"))
    assert states["key"] == ["BIGINT", "BIGINT"]
    assert states["left-records"] == ["BIGINT", "DECIMAL(10, 2)"]


def test_a_rank_keeps_rows_by_its_order() -> None:
    states = dict(layout(TOP, "shop STRING, product STRING, price DECIMAL(10, 2)", "rank"))
    assert states["data-state-with-append"][0] == "DECIMAL(10, 2)"


@pytest.mark.parametrize(
    ("old", "new", "name", "verdict"),
    [
        (SUMS, SUMS.replace("MAX(", "MIN("), "group-aggregate", Verdict.CORRUPTING),
        (SUMS, SUMS.replace("MAX(price)", "MAX(amount)"), "group-aggregate", Verdict.INCOMPATIBLE),
        (SUMS, SUMS.replace("SUM(amount)", "SUM(amount) FILTER (WHERE price > 1)"), "group-aggregate", None),
        (SUMS, SUMS.replace("GROUP BY", "WHERE price > 1 GROUP BY"), "group-aggregate", None),
        (JOIN, JOIN.replace("JOIN", "LEFT JOIN"), "join", Verdict.INCOMPATIBLE),
        (JOIN, JOIN.replace("o.id = s", "o.amount = s"), "join", Verdict.INCOMPATIBLE),
        (INTERVAL, INTERVAL.replace("'4'", "'6'"), "interval-join", None),
    ],
)
def test_what_becomes_of_state(old: str, new: str, name: str, verdict: Verdict | None) -> None:
    columns = {SUMS: SUMS_COLUMNS, JOIN: JOIN_COLUMNS, INTERVAL: "id BIGINT, cost DECIMAL(10, 2)"}[old]
    before = compile_script(script(old, columns))
    after = compile_script(
        script(new, columns.replace("top DECIMAL(10, 2)", "top INT") if "MAX(am" in new else columns)
    )
    c = compare(before, with_old_ids(before, after))
    holders = Holder(keeper(before, name), c.old), Holder(keeper(c.new.plan, name), c.new)
    assert restore(*holders).verdict is (verdict or Verdict.COMPATIBLE)


def test_a_node_may_fix_how_its_operators_are_called() -> None:
    node = keeper(PLAN, "group-aggregate")
    assert Uids().of(node, "group-aggregate") == f"{node.id}_group-aggregate"
    options = {"table.exec.uid.format": "<type>_<version>-<id>/<transformation>"}
    assert Uids(options).of(node, "x") == f"stream-exec-group-aggregate_1-{node.id}/x"
    assert Uids().are_given(PLAN)
    assert not Uids({"table.exec.uid.generation": "DISABLED"}).are_given(PLAN)


@pytest.mark.parametrize(
    ("connector", "options", "partitioned", "operators"),
    [
        ("print", {}, False, ()),
        ("blackhole", {}, False, ()),
        ("filesystem", {}, False, ("streaming-writer",)),
        (
            "filesystem",
            {"auto-compaction": "true"},
            False,
            ("streaming-writer", "compact-coordinator", "compact-operator"),
        ),
        ("filesystem", {}, True, ("streaming-writer", "partition-committer")),
        ("kafka", {}, False, None),
        (None, {}, False, None),
    ],
)
def test_what_sinks_keep(
    connector: str | None, options: dict[str, str], partitioned: bool, operators: tuple[str, ...] | None
) -> None:
    assert stateful_sink_operators(connector, options, partitioned) == operators


def test_every_operator_with_a_state_of_its_own_is_laid_out() -> None:
    """Of the plans that Flink was asked about, each node with state says what it keeps."""
    kinds = {type(node): node for truth in ON_FLINK for plan in truth.plans for node in plan.nodes}
    assert [
        cls.__name__
        for cls, node in kinds.items()
        if cls.metadata.states
        and cls.layout is ExecNode.layout
        and not issubclass(cls, OpaqueNode)
        and node.is_stateful
    ] == []
