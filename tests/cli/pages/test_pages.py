"""Pages as files: what is in them, and what is not."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from flinkplan.cli.pages.highlighting import highlighted, pieces
from flinkplan.cli.pages.model import Graph, Node, Section
from flinkplan.cli.pages.page import page
from tests.cli.support import ROOT, flinkplan

SAMPLE = ROOT / "sample_plans/order-shipping"
HOSTILE = "</script><script>alert(1)</script><!--"


def data(html: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="graph">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    graph: dict[str, Any] = json.loads(found[1])
    return graph


def hostile() -> str:
    node = Node("1", "1", HOSTILE, HOSTILE, sections=(Section("Description", HOSTILE),), places=((0, 3),))
    return page(Graph(HOSTILE, HOSTILE, (node,), (), sql=HOSTILE))


def test_texts_of_a_plan_are_data_only() -> None:
    html = hostile()
    assert html.count("<script") == 4
    assert "<script>alert" not in html
    assert data(html)["nodes"][0]["name"] == HOSTILE
    title = re.search(r"<title>(.*?)</title>", html)
    assert title is not None
    assert unescape(title[1]) == HOSTILE


def test_the_policy_allows_what_is_on_the_page_and_nothing_else() -> None:
    html = hostile()
    policy = re.search(r'Content-Security-Policy" content="(.*?)"', html)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; ")
    own = [
        *re.findall(r"<script>(.*?)</script>", html, re.DOTALL),
        *re.findall(r"<style>(.*?)</style>", html, re.DOTALL),
    ]
    assert len(own) == 4
    for text in own:
        assert b64encode(sha256(text.encode()).digest()).decode() in policy[1]
    assert "unsafe" not in policy[1]


def test_a_pipeline_with_its_sql_beside(tmp_path: Path) -> None:
    out = tmp_path / "plan.html"
    assert flinkplan("explain", str(SAMPLE / "pipeline.sql"), "--format", "html", "-o", str(out)).code == 0
    graph = data(out.read_text())
    assert graph["sql"] == (SAMPLE / "pipeline.sql").read_text()
    join = next(node for node in graph["nodes"] if node["name"] == "Join")
    assert join["stateful"]
    assert "native" in join["badges"]  # all input ends, so that the job is a batch
    heads = [section["head"] for section in join["sections"]]
    assert heads == ["Description", "Operator", "State", "On Spark", "Columns"]
    assert {edge["text"] for edge in graph["edges"]} == {"I"}


def test_a_plan_by_itself_and_with_its_script() -> None:
    plan, script = str(SAMPLE / "plan.json"), str(SAMPLE / "pipeline.sql")
    assert data(flinkplan("explain", plan, "--format", "html").out)["sql"] is None
    assert data(flinkplan("explain", plan, "--format", "html", "--sql", script).out)["sql"].startswith("--")


def without_scripts(html: str) -> str:
    """The text of a page where no script runs."""
    return unescape(re.sub(r"<[^>]*>", "", re.sub(r"<(script|style)\b.*?</\1>", "", html, flags=re.DOTALL)))


def test_a_plan_can_be_read_where_no_script_runs() -> None:
    html = flinkplan("explain", str(SAMPLE / "pipeline.sql"), "--format", "html").out
    text = without_scripts(html)
    assert "a plan of Flink 2.3, 7 operators" in text
    assert "INSERT INTO OrdersShipInfo" in text
    assert text.index("Sink 7") < text.index("Join 5")
    assert "reads Exchange 2, Exchange 4" in text
    assert "Join(joinType=[InnerJoin]" in text
    assert "leftState" in text
    assert '<span class="keyword">INSERT</span>' in html


def test_a_difference_says_why_also_where_no_script_runs(tmp_path: Path) -> None:
    script, new = tmp_path / "new.sql", tmp_path / "new.json"
    text = (SAMPLE / "pipeline.sql").read_text()
    script.write_text(text.replace("b.line_order_id;", "b.line_order_id AND a.order_id < b.line_order_id;"))
    assert flinkplan("compile", str(script), "-o", str(new)).code == 0
    found = ("diff", str(SAMPLE / "plan.json"), str(new))
    graph = data(flinkplan(*found, "--format", "html", "--sql", str(script)).out)
    join = next(node for node in graph["nodes"] if node["name"] == "Join")
    assert join["reason"]
    assert join["places"]
    assert graph["sql"] == script.read_text()
    (judged,) = (row for row in graph["sections"][-1]["rows"] if row[0].startswith("Join"))
    assert judged[1:] == ["changed", join["verdict"], join["reason"]]
    assert join["reason"] in without_scripts(flinkplan(*found, "--format", "html").out)
    assert flinkplan(*found, "--sql", str(script)).code == 2


def test_sql_has_colours_by_its_tokens() -> None:
    sql = "SELECT `a b`, 'x''y', 1.5e3 -- of \U0001f600 t\nFROM t /* all\n */ WHERE x'ff' IS NULL"
    coloured = [(sql[start:end], kind) for start, end, kind in pieces(sql)]
    assert coloured == [
        ("SELECT", "keyword"),
        ("`a b`", "name"),
        ("'x''y'", "string"),
        ("1.5e3", "number"),
        ("-- of \U0001f600 t", "comment"),
        ("FROM", "keyword"),
        ("/* all\n */", "comment"),
        ("WHERE", "keyword"),
        ("x'ff'", "string"),
        ("IS", "keyword"),
        ("NULL", "keyword"),
    ]
    html = highlighted("SELECT '<b>' -- <i>", pieces("SELECT '<b>' -- <i>"))
    assert html == (
        '<span class="keyword">SELECT</span> <span class="string">&#x27;&lt;b&gt;&#x27;</span> '
        '<span class="comment">-- &lt;i&gt;</span>'
    )


def test_a_plan_that_is_not_executed_here_is_shown_all_the_same(tmp_path: Path) -> None:
    script = tmp_path / "pulsar.sql"
    script.write_text(
        "CREATE TABLE k (n INT) WITH ('connector' = 'pulsar', 'format' = 'json'); "
        "CREATE TABLE o (n INT) WITH ('connector' = 'print'); INSERT INTO o SELECT n FROM k;"
    )
    graph = data(flinkplan("explain", str(script), "--format", "html").out)
    assert "not executed here" in graph["subtitle"]
    assert [node["name"] for node in graph["nodes"]] == ["TableSourceScan", "Sink"]


def test_a_difference_marks_what_became_of_each_node(tmp_path: Path) -> None:
    old, new = SAMPLE / "plan.json", tmp_path / "new.json"
    script = tmp_path / "new.sql"
    script.write_text(
        (SAMPLE / "pipeline.sql").read_text().replace("b.line_order_id;", "b.line_order_id WHERE a.order_id > 5;")
    )
    assert flinkplan("compile", str(script), "-o", str(new)).code == 0
    outcome = flinkplan("diff", str(old), str(new), "--format", "html")
    graph = data(outcome.out)
    assert graph["verdict"] == "incompatible"
    marks = {(node["name"], node["mark"]) for node in graph["nodes"]}
    assert ("Calc", "added") in marks
    assert ("Join", None) in marks
    assert {edge["mark"] for edge in graph["edges"]} == {None, "added", "removed"}
    added = next(node for node in graph["nodes"] if node["mark"] == "added")
    assert added["sections"][0]["mark"] == "compatible"
    assert graph["sections"][-1]["rows"]


@pytest.mark.parametrize("command", ["explain", "diff"])
def test_an_output_that_cannot_be_written(tmp_path: Path, command: str) -> None:
    plan = str(SAMPLE / "plan.json")
    plans = [plan] if command == "explain" else [plan, plan]
    (tmp_path / "file").touch()
    outcome = flinkplan(command, *plans, "--format", "html", "-o", str(tmp_path / "file/page.html"))
    assert outcome.code == 3
    assert "file/page.html" in outcome.err
