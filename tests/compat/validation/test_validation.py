from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flinkplan import advice
from flinkplan.compat.validation import PIPELINE, RULES, validate_text
from flinkplan.plan.findings import Finding, Severity
from tests.parity.corpus import HERE, Case, cases

TEXT = (HERE / "cases/join-two-cdc-tables-with-primary-keys/plan.json").read_text("utf-8")
JOIN = next(i for i, node in enumerate(json.loads(TEXT)["nodes"]) if node["type"] == "stream-exec-join_1")
SINK = len(json.loads(TEXT)["nodes"]) - 1

Edit = Callable[[Any], object]


def edited(edit: Edit) -> str:
    """The text of the sample plan after an edit of its JSON."""
    plan = json.loads(TEXT)
    edit(plan)
    return json.dumps(plan, indent=2)


def findings(edit: Edit) -> list[Finding]:
    return validate_text(edited(edit), "plan.json")


def join(plan: Any) -> Any:
    return plan["nodes"][JOIN]


def ttl(value: Any) -> Edit:
    return lambda plan: join(plan)["state"][0].update(ttl=value)


OF_ENGINES = {"flink-start", "option-unlisted", "table-option"} | {
    f"spark-{what}" for what in ("node", "table", "files", "variable", "definition", "database")
}
"""Rules of ``--for``, whose findings are those of the executor."""


def test_a_finding_of_every_rule_is_tested() -> None:
    tested = {case.values[0] for case in [*EDITS, *WITHOUT_JSON]}
    assert tested | advice.RULES.keys() | OF_ENGINES | {PIPELINE} == RULES.keys()


def as_of_processing_time(plan: Any) -> None:
    node = join(plan)
    for name in ("state", "leftUpsertKeys", "rightUpsertKeys"):
        node.pop(name, None)
    times = {"leftTimeAttributeIndex": 0, "rightTimeAttributeIndex": -1}
    node.update(type="stream-exec-temporal-join_1", isTemporalFunctionJoin=False, **times)


def waiting_for_a_snapshot(plan: Any) -> None:
    as_of_processing_time(plan)
    join(plan)["flinkplan"] = {"snapshotTtl": "1 h"}


def python_window(plan: Any) -> None:
    node = join(plan)
    second = [edge for edge in plan["edges"] if edge["target"] == node["id"]][1]
    plan["edges"].remove(second)
    function = {"type": "ProcessWindowFunction", "pythonClass": "my_windows:Count", "arguments": {}}
    node.update(
        type="stream-exec-window-operator_1", keys=[], timeAttributeIndex=-1, assigner={"type": "GlobalWindows"},
        trigger={"type": "CountTrigger", "maxCount": 2}, evictor=None, allowedLateness="PT0S", function=function,
        properties=[], elementNames=["left", "right"],
    )  # fmt: skip


@pytest.mark.parametrize("case", [case for case in cases() if case.compiles], ids=lambda case: case.name)
def test_nothing_is_wrong_with_what_flink_compiles(case: Case) -> None:
    reported = validate_text(case.plan_file.read_text("utf-8"))
    assert [f"{f.rule} {f.message}" for f in reported if f.rule not in advice.RULES] == []


@pytest.mark.parametrize(
    ("case", "rules"),
    [
        ("window-tumble-start-only-key", ["window-half"]),
        ("ttl-hint-many-units-in-cascaded-joins", ["ttl-downstream"]),
        ("join-two-cdc-tables-with-primary-keys", []),
    ],
)
def test_what_is_perhaps_not_as_meant(case: str, rules: list[str]) -> None:
    reported = validate_text((HERE / "cases" / case / "plan.json").read_text("utf-8"))
    assert [(f.rule, f.severity) for f in reported] == [(rule, Severity.WARNING) for rule in rules]
    assert all(f.node and f.pointer and f.hint for f in reported)


def test_a_ttl_without_a_unit() -> None:
    (finding,) = findings(ttl("3600"))
    assert (finding.rule, finding.pointer) == ("ttl-without-unit", f"/nodes/{JOIN}/state/0/ttl")
    assert "3.6 s" in finding.message


def test_a_variable_that_does_not_end() -> None:
    def edit(plan: Any) -> None:
        plan["nodes"][SINK]["dynamicTableSink"]["table"]["resolvedTable"]["options"]["path"] = "${OUT"

    (finding,) = findings(edit)
    assert finding.rule == "variable-unclosed"
    assert finding.pointer == f"/nodes/{SINK}/dynamicTableSink/table/resolvedTable/options/path"


def test_a_node_that_was_cut_out_is_missed() -> None:
    text = (HERE / "cases/ttl-one-hour-join-aggregate-dedup-topn-pipeline/plan.json").read_text("utf-8")
    plan = json.loads(text)
    (cut,) = (n["id"] for n in plan["nodes"] if n["description"] == "Calc(select=[city, cname, amount])")
    above, below = (next(e for e in plan["edges"] if e[end] == cut) for end in ("target", "source"))
    plan["nodes"] = [n for n in plan["nodes"] if n["id"] != cut]
    plan["edges"] = [{**e, "target": below["target"]} if e is above else e for e in plan["edges"] if e is not below]
    (finding,) = validate_text(json.dumps(plan))
    assert finding.rule == "column-type"
    assert finding.message == (
        "passes on the columns (city VARCHAR, cname VARCHAR, amount INT), but its input has "
        "(cid INT, amount INT, cid0 INT, cname VARCHAR, city VARCHAR)"
    )


@pytest.mark.parametrize(
    "value", ["1 h", "3600000 ms", "3600000ms", "3600000", "2 days", "10 min", "P1D", 3600000, 0, "0 ms", "9000 ms"]
)
def test_takes_every_ttl_that_flink_takes(value: object) -> None:
    assert [f for f in findings(ttl(value)) if f.rule != "ttl-without-unit"] == []


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("1.5 h", "'90 min' instead of '1.5 h'"),
        ("1h 30min", "'90 min' instead of '1h 30min'"),
        ("1 weeks", "use d, h, min"),
        ("-1 h", "write 0 ms for a state that never expires"),
        (-1, "write 0 ms for a state that never expires"),
        ("", "write 0 ms for a state that never expires"),
        ("99999999999999999999 d", "write 0 ms for a state that never expires"),
        ("one hour", "write a whole number and a unit"),
        (None, "write a whole number and a unit"),
        (1.5, "write a whole number and a unit"),
        (["1 h"], "write a whole number and a unit"),
    ],
)
def test_says_what_to_write_instead_of_a_bad_ttl(value: object, hint: str) -> None:
    (finding,) = findings(ttl(value))
    assert (finding.rule, finding.node, finding.node_type) == ("state-ttl", 5, "stream-exec-join_1")
    assert finding.pointer == f"/nodes/{JOIN}/state/0/ttl"
    assert hint in (finding.hint or "")
    assert finding.location and finding.location.line
    assert edited(ttl(value)).splitlines()[finding.location.line - 1].strip().startswith('"ttl"')


EDITS = [
    pytest.param("plan-keys", lambda p: p.update(more=1), "/more", "'flinkplan'", id="fourth-key"),
    pytest.param("plan-keys", lambda p: p.pop("edges"), "", "flinkVersion, nodes, edges", id="no-edges"),
    pytest.param("plan-keys", lambda p: p.pop("flinkVersion"), "", "flinkVersion", id="no-version"),
    pytest.param("plan-version", lambda p: p.update(flinkVersion="2.4"), "/flinkVersion", "1.15 to 2.3", id="newer"),
    pytest.param(
        "schema",
        lambda p: join(p)["joinSpec"].update(joinType="INER"),
        f"/nodes/{JOIN}/joinSpec/joinType",
        "did you mean 'INNER'?",
        id="misspelt-word",
    ),
    pytest.param(
        "own-node",
        lambda p: join(p).update(type="stream-exec-late-rows_1"),
        f"/nodes/{JOIN}/type",
        None,
        id="node-of-flinkplan",
    ),
    pytest.param("schema", lambda p: join(p).pop("outputType"), f"/nodes/{JOIN}", None, id="missing-field"),
    pytest.param("schema", lambda p: p["edges"][0].update(source="1"), "/edges/0/source", None, id="text-for-number"),
    pytest.param(
        "node-type",
        lambda p: join(p).update(type="stream-exec-joint_1"),
        f"/nodes/{JOIN}/type",
        "did you mean 'stream-exec-join'?",
        id="unknown-node",
    ),
    pytest.param(
        "node-version",
        lambda p: join(p).update(type="stream-exec-join_7"),
        f"/nodes/{JOIN}/type",
        "there is stream-exec-join_1",
        id="unknown-version",
    ),
    pytest.param(
        "node-field",
        lambda p: join(p).update(joinSpecs=1),
        f"/nodes/{JOIN}/joinSpecs",
        "did you mean 'joinSpec'?",
        id="misspelt-field",
    ),
    pytest.param(
        "node-option",
        lambda p: join(p).update(configuration={"table.exec.state.ttl": "1 h"}),
        f"/nodes/{JOIN}/configuration/table.exec.state.ttl",
        None,
        id="unread-option",
    ),
    pytest.param("node-id", lambda p: p["nodes"][1].update(id=1), "/nodes/1/id", "change the edges too", id="id-twice"),
    pytest.param("edge-end", lambda p: p["edges"][0].update(source=99), "/edges/0/source", "the ids are", id="nowhere"),
    pytest.param("input-count", lambda p: p["edges"].clear(), f"/nodes/{JOIN}", "edge", id="no-edge"),
    pytest.param(
        "runtime-mode",
        lambda p: p["nodes"][1].update(type="batch-exec-exchange_1"),
        "/nodes/1/type",
        "one mode",
        id="both-modes",
    ),
    pytest.param(
        "cycle", lambda p: p["edges"].append({**p["edges"][0], "source": 6, "target": 5}), None, "remove", id="circle"
    ),
    pytest.param(
        "never-runs",
        as_of_processing_time,
        f"/nodes/{JOIN}/rightTimeAttributeIndex",
        "as of an event time",
        id="never-runs",
    ),
    pytest.param(
        "not-in-flink",
        waiting_for_a_snapshot,
        f"/nodes/{JOIN}/rightTimeAttributeIndex",
        None,
        id="not-in-flink",
    ),
    pytest.param(
        "element-names", python_window, f"/nodes/{JOIN}/elementNames", "compile the pipeline again", id="element-names"
    ),
    pytest.param("dead-end", lambda p: p["edges"].pop(), None, '"source"', id="dead-end"),
    pytest.param("dead-end", lambda p: p["nodes"].clear(), "/nodes", "at least", id="no-nodes"),
    pytest.param("node-order", lambda p: p["nodes"].reverse(), None, "from the sources", id="reversed"),
    pytest.param(
        "state-count",
        lambda p: join(p)["state"].pop(),
        f"/nodes/{JOIN}/state",
        "write 2 state entries: 0 leftState, 1 rightState",
        id="an-entry-short",
    ),
    pytest.param(
        "state-index",
        lambda p: join(p)["state"][1].update(index=0),
        f"/nodes/{JOIN}/state/1/index",
        "1 rightState",
        id="index-twice",
    ),
    pytest.param(
        "state-index",
        lambda p: join(p)["state"][1].update(index=2),
        f"/nodes/{JOIN}/state/1/index",
        "1 rightState",
        id="index-gap",
    ),
    pytest.param(
        "state-name",
        lambda p: join(p)["state"][0].update(name="rightState"),
        f"/nodes/{JOIN}/state/0/name",
        "Flink goes by the index: this TTL is that of 'leftState'",
        id="swapped-name",
    ),
    pytest.param(
        "state-field",
        lambda p: join(p)["state"][0].update(tll="3 s"),
        f"/nodes/{JOIN}/state/0/tll",
        "did you mean 'ttl'?",
        id="state-field",
    ),
    pytest.param("state-ttl", ttl("1.5 h"), f"/nodes/{JOIN}/state/0/ttl", "90 min", id="bad-ttl"),
    pytest.param("state-ttl-long", ttl("1000000 d"), f"/nodes/{JOIN}/state/0/ttl", "0 ms", id="2700-years"),
    pytest.param(
        "state-unexpected",
        lambda p: p["nodes"][0].update(state=[{"index": 0, "ttl": "1 h", "name": "x"}]),
        "/nodes/0/state",
        "remove",
        id="state-of-a-scan",
    ),
    pytest.param(
        "type",
        lambda p: join(p).update(outputType="ROW<`a` INTT>"),
        f"/nodes/{JOIN}/outputType",
        None,
        id="unknown-type",
    ),
    pytest.param("column-index", lambda p: calc_column(p).update(inputIndex=77), None, "0 to", id="column-77"),
    pytest.param(
        "column-type",
        lambda p: calc_column(p).update(type="DATE"),
        None,
        "edges come from",
        id="column-of-another-type",
    ),
    pytest.param(
        "output-columns", lambda p: p["nodes"][JOIN + 1]["projection"].pop(), None, None, id="a-projection-short"
    ),
    pytest.param(
        "column-index",
        lambda p: join(p)["joinSpec"].update(leftKeys=[9]),
        f"/nodes/{JOIN}/joinSpec/leftKeys/0",
        "columns count from 0 to",
        id="key-9",
    ),
    pytest.param(
        "column-index",
        lambda p: join(p).update(leftUpsertKeys=[[0], [-1]]),
        f"/nodes/{JOIN}/leftUpsertKeys/1/0",
        "columns count from 0 to",
        id="key-below-0",
    ),
    pytest.param(
        "table-columns", lambda p: schema(p, 0, "scanTableSource").pop(), None, "the table's schema", id="short-source"
    ),
    pytest.param(
        "table-columns",
        lambda p: schema(p, -1, "dynamicTableSink").pop(),
        f"/nodes/{SINK}/dynamicTableSink",
        "the table's schema",
        id="short-sink",
    ),
    pytest.param(
        "table-columns",
        lambda p: schema(p, 0, "scanTableSource")[1].update(schema(p, 0, "scanTableSource")[0]),
        "/nodes/0/scanTableSource/table/resolvedTable/schema/columns/1/name",
        None,
        id="column-twice",
    ),
    pytest.param(
        "schema",
        lambda p: p["nodes"][SINK].update(inputChangelogMode=["UPDATE"]),
        f"/nodes/{SINK}/inputChangelogMode/0",
        "did you mean 'UPDATE_AFTER'?",
        id="row-kind",
    ),
    pytest.param(
        "operand-count",
        lambda p: calc_call(p, "$UPPER$1", 2),
        f"/nodes/{JOIN + 1}/projection/0/operands",
        "write UPPER(",
        id="operands",
    ),
    pytest.param(
        "operand-count",
        lambda p: calc_call(p, "$UPPER$1", 0),
        f"/nodes/{JOIN + 1}/projection/0",
        "write UPPER(",
        id="no-operands",
    ),
    pytest.param("function", lambda p: calc_call(p), None, "did you mean '$UPPER$1'?", id="misspelt-function"),
    pytest.param(
        "lost-function", lambda p: calc_call(p, "$$WELFORD_M2$1$1"), None, "STDDEV and VAR", id="function-not-read"
    ),
]
WITHOUT_JSON = [
    pytest.param("json", TEXT[:200], id="cut-off"),
    pytest.param("json", '{"nodes" : [], "nodes" : []}', id="key-twice"),
    pytest.param("json", "", id="empty"),
    pytest.param("json", "[" * 100_000, id="deep"),
]


def schema(plan: Any, node: int, table: str) -> Any:
    """The columns of a table."""
    return plan["nodes"][node][table]["table"]["resolvedTable"]["schema"]["columns"]


def calc_column(plan: Any) -> Any:
    return next(e for e in plan["nodes"][JOIN + 1]["projection"] if e["kind"] == "INPUT_REF")


def calc_call(plan: Any, name: str = "$UPER$1", operands: int = 1) -> None:
    projection = plan["nodes"][JOIN + 1]["projection"]
    given = {"operands": [projection[0]] * operands} if operands else {}
    projection[0] = {"kind": "CALL", "internalName": name, **given, "type": "STRING"}


@pytest.mark.parametrize(("rule", "edit", "pointer", "hint"), EDITS)
def test_finds(rule: str, edit: Edit, pointer: str | None, hint: str | None) -> None:
    matches = [f for f in findings(edit) if f.rule == rule]
    assert matches
    assert pointer is None or pointer in [f.pointer for f in matches]
    assert hint is None or any(hint in (f.hint or "") for f in matches)
    assert all(f.severity is RULES[rule].severity and f.location and f.location.line for f in matches)


@pytest.mark.parametrize(
    ("rule", "edit", "field", "message"),
    [
        ("output-columns", lambda n: n["aggCalls"].pop(), "outputType", "but the node has"),
        ("operand-count", lambda n: n["aggCalls"][1]["argList"].clear(), "aggCalls/1/argList", "has 0 operands"),
        ("column-type", lambda n: n["aggCalls"][1].update(filterArg=1), "aggCalls/1/filterArg", "is DECIMAL"),
    ],
)
def test_finds_in_an_aggregation(rule: str, edit: Edit, field: str, message: str) -> None:
    plan = json.loads((HERE / "cases/agg-canal-min-max-retract/plan.json").read_text("utf-8"))
    index, node = next((i, n) for i, n in enumerate(plan["nodes"]) if "aggCalls" in n)
    edit(node)
    (finding,) = validate_text(json.dumps(plan))
    assert (finding.rule, finding.pointer) == (rule, f"/nodes/{index}/{field}")
    assert message in finding.message


@pytest.mark.parametrize(("rule", "text"), WITHOUT_JSON)
def test_what_is_not_json_is_one_finding(rule: str, text: str) -> None:
    (finding,) = validate_text(text, "plan.json")
    assert (finding.rule, finding.severity) == (rule, Severity.ERROR)


@pytest.mark.parametrize("text", ["[]", "3", "null", '"plan"'])
def test_what_is_no_object_is_one_finding(text: str) -> None:
    (finding,) = validate_text(text)
    assert finding.rule == "plan-keys"


def test_finds_everything_at_once() -> None:
    def spoil(plan: Any) -> None:
        ttl("1.5 h")(plan)
        join(plan)["joinSpec"]["joinType"] = "INER"
        plan["edges"].pop()
        plan["flinkVersion"] = "9"

    assert {f.rule for f in findings(spoil)} >= {"state-ttl", "schema", "dead-end", "plan-version"}


JUNK = st.sampled_from([None, True, -1, 7, 1.5, "", "x", "1 h", [], {}, [None], {"type": "x"}, [[1]], {"kind": "CALL"}])


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, 10_000), JUNK), min_size=1, max_size=4))
def test_no_mutation_of_a_plan_is_too_much(mutations: list[tuple[int, Any]]) -> None:
    plan = json.loads(TEXT)
    for which, junk in mutations:
        places = [(container, key) for container, key in slots(plan)]
        if places:
            container, key = places[which % len(places)]
            container[key] = deepcopy(junk)
    validate_text(json.dumps(plan))


def slots(value: Any) -> list[tuple[Any, Any]]:
    """Every place of a JSON value that holds another value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [slot for key, inner in list(items) for slot in ((value, key), *slots(inner))]
