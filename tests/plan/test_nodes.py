import typing
from collections import Counter
from collections.abc import Iterator
from json import dumps
from typing import Any

import pytest

from flinkplan.plan.codec import PlanRecord, field_codecs, unknown_keeper
from flinkplan.plan.nodes import ExecNode, OpaqueNode, node_classes, node_from_json, node_to_json
from flinkplan.plan.nodes.base import ColumnOrder, exec_node
from flinkplan.plan.record import Record
from flinkplan.plan.references import Mark
from flinkplan.plan.rex import RexNode

SHARED = set(ExecNode.__struct_fields__)


@pytest.mark.parametrize("cls", [c for c in node_classes() if not issubclass(c, OpaqueNode)], ids=lambda c: c.__name__)
def test_every_field_says_what_its_change_does(cls: type[ExecNode]) -> None:
    meta = cls.metadata
    declared = [*meta.identity, *meta.results, *meta.judged]
    own = {codec.name for codec in field_codecs(cls)} - SHARED
    assert sorted(declared) == sorted(own)


@pytest.mark.parametrize("cls", list(node_classes()), ids=lambda c: c.__name__)
def test_stateful_nodes_declare_a_state_field(cls: type[ExecNode]) -> None:
    names = set(cls.__struct_fields__)
    if cls.metadata.states:
        assert "state" in names
    assert unknown_keeper(cls) == "unknown"


def records(hint: Any) -> Iterator[type[Record]]:
    """The records of the plan that a field's type names."""
    if isinstance(hint, type) and issubclass(hint, PlanRecord):
        yield hint
    for part in typing.get_args(hint):
        yield from records(part)


def parts() -> Iterator[type[Record]]:
    """The node classes that are looked into and all records that their fields hold."""
    pending: list[type[Record]] = [c for c in node_classes() if not issubclass(c, OpaqueNode)]
    seen: set[type[Record]] = set()
    while pending:
        if (cls := pending.pop()) not in seen:
            seen.add(cls)
            yield cls
            pending += cls.__dict__.get("__tag__", {}).values()
            pending += (part for hint in typing.get_type_hints(cls).values() for part in records(hint))


def refers(hint: Any) -> bool:
    """Whether a type holds numbers or expressions."""
    return hint is int or hint == RexNode or any(map(refers, typing.get_args(hint)))


@pytest.mark.parametrize("cls", sorted(parts(), key=str), ids=lambda c: c.__name__)
def test_every_number_and_expression_declares_what_it_refers_to(cls: type[Record]) -> None:
    hints = typing.get_type_hints(cls)
    referring = {codec.name: codec for codec in field_codecs(cls) if refers(hints[codec.name])}
    missing = {name for name, codec in referring.items() if codec.input is None and Mark.DERIVED not in codec.marks}
    assert missing - {"id", "version"} == set()


def test_a_node_class_without_a_required_method_is_refused() -> None:
    class Mute(ExecNode, kw_only=True):
        pass

    with pytest.raises(TypeError, match=r"Mute does not override key_columns, yields, row_kinds$"):
        exec_node("mute", order=ColumnOrder.FIXED, versions={1: "2.3"})(Mute)
    with pytest.raises(TypeError, match=r"row_kinds, layout, keeps_rows$"):
        exec_node("mute", order=ColumnOrder.FIXED, versions={1: "2.3"}, timed=True)(Mute)


def test_the_registry_holds_flinks_nodes() -> None:
    names = [c.metadata.name for c in node_classes() if not c.metadata.is_own]
    assert len(names) == len(set(names))
    assert Counter(name.split("-exec-")[0] for name in names) == {"stream": 49, "batch": 21}


INPUT = {"requiredDistribution": {"type": "UNKNOWN"}, "damBehavior": "PIPELINED", "priority": 0}
TABLE = {"identifier": "`c`.`d`.`t`"}
REF = {"kind": "INPUT_REF", "inputIndex": 0, "type": "INT"}
PROCTIME = {
    "kind": "CALL",
    "internalName": "$PROCTIME$1",
    "operands": [],
    "type": "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
}


def node(name: str, own: dict[str, Any], last: dict[str, Any] | None = None) -> dict[str, Any]:
    """A node's JSON: its own fields before what all nodes have, or after it."""
    shared = {"inputProperties": [INPUT], "outputType": "ROW<`a` INT>", "description": "Text"}
    return {"id": 1, "type": f"stream-exec-{name}", **own, **shared, **(last or {})}


def source(*abilities: dict[str, Any]) -> dict[str, Any]:
    """A scan as releases before 2.1 write it."""
    spec = {"table": TABLE, "abilities": list(abilities)}
    end = {"outputType": "ROW<`a` INT>", "description": "Text", "inputProperties": []}
    return {"id": 1, "type": "stream-exec-table-source-scan_1", "scanTableSource": spec, **end}


def sink(ability: dict[str, Any]) -> dict[str, Any]:
    spec = {"table": TABLE, "abilities": [ability]}
    return node("sink_2", {"dynamicTableSink": spec, "inputChangelogMode": ["INSERT"]})


LOOKUP = {
    "joinType": "INNER",
    "joinCondition": None,
    "temporalTable": {"lookupTableSource": {"table": TABLE}, "outputType": "ROW<`b` INT> NOT NULL"},
    "lookupKeys": {"0": {"type": "FieldRef", "index": 0}},
    "projectionOnTemporalTable": None,
    "filterOnTemporalTable": None,
    "lookupKeyContainsPrimaryKey": False,
    "asyncOptions": {"capacity ": 100, "timeout": 180000, "output-mode": "ORDERED"},
    "inputChangelogMode": ["INSERT"],
}
DELTA_JOIN: dict[str, Any] = {
    "joinType": "INNER",
    "leftJoinKeys": [0],
    "rightJoinKeys": [0],
    "rightUpsertKey": [0],
    "lookupRightTableJoinSpec": None,
    "lookupLeftTableJoinSpec": None,
    "left2RightLookupChain": {"nodes": []},
}
LEFT_OUT = {"kind": "CALL", "syntax": "SPECIAL", "internalName": "$DEFAULT$1", "operands": [], "type": "DESCRIPTOR"}
TABLE_ARGUMENT = {"kind": "TABLE_ARG_CALL", "inputIndex": 0, "partitionKeys": [0]}
ORDERED = {"orderKeys": [0], "orderDirections": ["ASC_NULLS_LAST"]}


def process_call(order: dict[str, Any]) -> dict[str, Any]:
    """A call of a process table function."""
    table = {**TABLE_ARGUMENT, **order, "type": "ROW<`a` INT> NOT NULL"}
    return {"kind": "CALL", "systemName": "f", "operands": [table, LEFT_OUT], "type": "ROW<`a` INT> NOT NULL"}


def process_node(order: dict[str, Any]) -> dict[str, Any]:
    """A node of one, with or without an order of its table."""
    modes = {"inputChangelogModes": [["INSERT"]], "outputChangelogMode": ["INSERT", "~DELETE"]}
    return node("process-table-function_1", {}, {"uid": "f", "functionCall": process_call(order), **modes})


RARE = {
    "calls that list no operands": node("calc_1", {"projection": [PROCTIME], "condition": None}),
    "functions of one's own": node(
        "python-calc_1", {"projection": [{"kind": "CALL", "catalogName": "`c`.`d`.`f`", "type": "INT"}]}
    ),
    "lookups before 2.0": node("lookup-join_1", LOOKUP),
    "lookups since 2.0": node("lookup-join_1", LOOKUP, {"preferCustomShuffle": False}),
    "process table functions": process_node(ORDERED),
    "process table functions before 2.3": process_node({}),
    "delta joins": node("delta-join_2", DELTA_JOIN, {"asyncOptions": LOOKUP["asyncOptions"]}),
    "models": node("ml-predict-table-function_1", {"mlPredictSpec": {}, "modelSpec": {"model": {}}}),
    "searches": node("vector-search-table-function_1", {"tableSourceSpec": {}, "vectorSearchSpec": {"topK": 2}}),
    "sources with watermarks of their own": source(
        {"type": "SourceWatermark", "sourceWatermarkEnabled": True, "producedType": "ROW<`a` INT> NOT NULL"}
    ),
    "sources that make watermarks": source(
        {
            "type": "WatermarkPushDown",
            "watermarkExpr": REF,
            "rowtimeExpr": REF,
            "idleTimeoutMillis": -1,
            "producedType": "ROW<`a` INT> NOT NULL",
        }
    ),
    "sinks with buckets": sink({"type": "Bucketing"}),
    "sinks that take deletions by key": node(
        "sink_2", {"dynamicTableSink": {"table": TABLE}, "inputChangelogMode": ["INSERT", "UPDATE_AFTER", "~DELETE"]}
    ),
    "sinks of some columns": sink({"type": "TargetColumnWriting", "targetColumns": [[0]]}),
}


@pytest.mark.parametrize("json", RARE.values(), ids=RARE)
def test_what_pipelines_seldom_have_is_kept_as_it_was_written(json: dict[str, Any]) -> None:
    assert dumps(node_to_json(node_from_json(json))) == dumps(json)
