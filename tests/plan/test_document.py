import json
from pathlib import Path
from typing import Any

import pytest

from flinkplan.plan.document import dumps, load, loads, pretty, save
from flinkplan.plan.errors import PlanError, UnsupportedError
from flinkplan.plan.nodes import Calc, Join

VALUES: dict[str, Any] = {
    "id": 1,
    "type": "stream-exec-values_1",
    "tuples": [],
    "outputType": "ROW<`a` INT>",
    "description": "Values",
}
CALC: dict[str, Any] = {
    "id": 2,
    "type": "stream-exec-calc_1",
    "projection": [{"kind": "INPUT_REF", "inputIndex": 0, "type": "INT"}],
    "condition": None,
    "inputProperties": [
        {"requiredDistribution": {"type": "UNKNOWN"}, "damBehavior": "PIPELINED", "priority": 0},
    ],
    "outputType": "ROW<`a` INT>",
    "description": "Calc(select=[a])",
}
JOIN: dict[str, Any] = {
    "id": 3,
    "type": "stream-exec-join_1",
    "joinSpec": {
        "joinType": "INNER",
        "leftKeys": [0],
        "rightKeys": [0],
        "filterNulls": [True],
        "nonEquiCondition": None,
    },
    "state": [
        {"index": 0, "ttl": "3000 ms", "name": "leftState"},
        {"index": 1, "ttl": 9000, "name": "rightState", "note": "edited by hand"},
    ],
    "outputType": "ROW<`a` INT>",
    "description": "Join",
}
EDGES = ((1, 2), (2, 3), (2, 3))


def edge(source: int, target: int) -> dict[str, Any]:
    return {"source": source, "target": target, "shuffle": {"type": "FORWARD"}, "shuffleMode": "PIPELINED"}


def document(*nodes: dict[str, Any], edges: tuple[tuple[int, int], ...] = ()) -> dict[str, Any]:
    return {"flinkVersion": "2.3", "nodes": list(nodes), "edges": [edge(*e) for e in edges]}


def test_nodes_and_edges_are_read() -> None:
    plan = loads(json.dumps(document(VALUES, CALC, JOIN, edges=EDGES)))
    _, calc, join = plan.nodes
    assert isinstance(calc, Calc)
    assert isinstance(join, Join)
    assert plan.inputs(join) == (calc, calc)
    assert plan.outputs(calc) == (join, join)
    assert plan.sinks == (join,)
    assert [join.ttl_ms(0), join.ttl_ms(1)] == [3000, 9000]


def test_text_is_kept_byte_for_byte(tmp_path: Path) -> None:
    text = pretty(document(VALUES, CALC, JOIN, edges=EDGES))
    path = tmp_path / "plan.json"
    path.write_text(text)
    save(load(path), tmp_path / "copy.json")
    assert (tmp_path / "copy.json").read_text() == text


def test_numbers_keep_their_spelling() -> None:
    rows = [[{"kind": "LITERAL", "value": 0, "type": "DOUBLE NOT NULL"}]]
    text = pretty(document({**VALUES, "tuples": rows}, CALC, edges=((1, 2),)))
    for spelling in ("1.0E10", "1e-7", "2.0", "1.7976931348623157E308", "-0.0"):
        spelled = text.replace('"value" : 0,', f'"value" : {spelling},')
        assert dumps(loads(spelled)) == spelled


def test_keys_stay_in_their_order() -> None:
    calc = dict(reversed(CALC.items()))
    text = pretty(document(VALUES, calc, edges=((1, 2),)))
    assert dumps(loads(text)) == text


def test_what_flink_ignores_is_kept() -> None:
    calc = {**CALC, "flinkplan": {"name": "clean"}}
    plan = document(VALUES, calc, edges=((1, 2),))
    assert dumps(loads(json.dumps(plan))) == pretty(plan)


def test_layout_is_jacksons() -> None:
    assert pretty({"a": [], "b": {}, "c": [{"d": "é"}, 1], "e": None}) == (
        '{\n  "a" : [ ],\n  "b" : { },\n  "c" : [ {\n    "d" : "é"\n  }, 1 ],\n  "e" : null\n}'
    )


def broken(change: Any) -> str:
    plan = json.loads(json.dumps(document(VALUES, CALC, JOIN, edges=EDGES)))
    change(plan)
    return json.dumps(plan)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p.pop("edges"), "no 'edges'"),
        (lambda p: p.update(more=1), "unknown top-level key 'more'"),
        (lambda p: p.update(nodes={}), "'nodes' must be a list"),
        (lambda p: p["nodes"][1].pop("projection"), ":1:147: node 2: the field 'projection' is missing"),
        (lambda p: p["nodes"][1].update(type="calc"), "there is no exec node 'calc'"),
        (lambda p: p["nodes"][1].update(id="1"), "id: expected a whole number"),
        (lambda p: p["nodes"][2].update(id=1), "the id 1 is used twice"),
        (lambda p: p["nodes"][1]["projection"][0].pop("inputIndex"), "INPUT_REF expression lacks"),
        (lambda p: p["nodes"][2]["joinSpec"].update(joinType="OUTER"), "joinType"),
        (lambda p: p["edges"][0].update(source=7), "node 7, which does not exist"),
        (lambda p: p["edges"].pop(), "node 3: 'stream-exec-join' has 1 input, but needs 2"),
        (lambda p: p["edges"].append(edge(3, 2)), "node 2: the nodes 2, 3 form a cycle"),
        (lambda p: p["nodes"].reverse(), "node 2: is listed before its input, node 1"),
        (lambda p: p.update(nodes=[], edges=[]), ":1:25: the plan has no nodes"),
    ],
)
def test_errors_name_the_place(change: Any, words: str) -> None:
    with pytest.raises(PlanError) as e:
        loads(broken(change))
    assert words in str(e.value)


@pytest.mark.parametrize(
    ("node_type", "words"),
    [
        ("stream-exec-clac_1", "did you mean 'stream-exec-calc'?"),
        ("stream-exec-calc_9", "'stream-exec-calc' has no version 9\nhint: there is stream-exec-calc_1"),
    ],
)
def test_unknown_nodes_are_named(node_type: str, words: str) -> None:
    with pytest.raises(UnsupportedError) as e:
        loads(broken(lambda p: p["nodes"][1].update(type=node_type)))
    assert words in str(e.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "not a list"),
        ('{"a": 1,}', "f.json:1:"),
        ('{"nodes": [], "nodes": []}', "'nodes' stands twice"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_malformed_text(text: str, words: str) -> None:
    with pytest.raises(PlanError) as e:
        loads(text, "f.json")
    assert words in str(e.value)


def test_unreadable_files(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes(b'{"\xe9": 1}')
    for path, words in (
        (tmp_path / "none.json", "no such file"),
        (tmp_path / "latin.json", "not UTF-8"),
        (tmp_path, "a directory"),
    ):
        with pytest.raises(PlanError, match=words):
            load(path)


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    with pytest.raises(PlanError):
        save(loads(json.dumps(document(CALC))), tmp_path / "dir")
    assert [p.name for p in tmp_path.iterdir()] == ["dir"]
