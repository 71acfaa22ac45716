"""What a plan holds of its tables, and what it takes from the catalog."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import Sink, TableSourceScan
from flinkplan.plan.specs import ResolvedTable
from flinkplan.planner import compile_script
from flinkplan.planner.catalog.catalog import CatalogError
from flinkplan.planner.catalog.restoring import check_replaces
from flinkplan.planner.script import definitions
from flinkplan.planner.session import Session
from flinkplan.planner.sql import parse_script

SINK = "CREATE TABLE snk (a INT) WITH ('connector'='print');"
SOURCE = "CREATE {}TABLE src (a INT, b INT) COMMENT 'all' WITH ('connector'='filesystem','path'='{}','format'='json');"
OTHER = "CREATE TABLE other (a INT) WITH ('connector'='print');"
INSERT = "INSERT INTO snk SELECT a FROM src /*+ OPTIONS('json.ignore-parse-errors'='true') */;"


def compiled(kind: str = "", options: Mapping[str, str] | None = None, complete: bool = False) -> Plan:
    return compile_script(SINK + SOURCE.format(kind, "here") + INSERT, options=options, complete=complete)


def session(kind: str = "", source: str = SOURCE, options: Mapping[str, str] | None = None) -> Session:
    return definitions(parse_script(source.format(kind, "there")), options or {})


def source_of(plan: Plan) -> ResolvedTable | None:
    (scan,) = (node for node in plan.nodes if isinstance(node, TableSourceScan))
    return scan.scan_table_source.table.resolved_table


def path_of(plan: Plan) -> str | None:
    table = source_of(plan)
    return (table.options or {}).get("path") if table else None


def test_a_temporary_table_is_a_name() -> None:
    plan = compiled("TEMPORARY ")
    assert source_of(plan) is None
    (sink,) = (node for node in plan.nodes if isinstance(node, Sink))
    assert sink.dynamic_table_sink.table.resolved_table is not None


def test_a_plan_to_be_run_at_once_holds_all_with_the_options_of_hints() -> None:
    table = source_of(compiled("TEMPORARY ", complete=True))
    assert table is not None
    assert table.options is not None
    assert table.options["json.ignore-parse-errors"] == "true"


def test_catalog_objects_says_what_is_held() -> None:
    table = source_of(compiled(options={"table.plan.compile.catalog-objects": "SCHEMA"}))
    assert table is not None
    assert (table.options, table.comment, len(table.schema.columns)) == (None, None, 2)
    assert source_of(compiled(options={"table.plan.compile.catalog-objects": "identifier"})) is None


@pytest.mark.parametrize("kind", ["TEMPORARY ", ""])
def test_what_is_missing_comes_from_the_catalog(kind: str) -> None:
    for objects in ("SCHEMA", "IDENTIFIER"):
        plan = compiled(options={"table.plan.compile.catalog-objects": objects})
        assert path_of(session(kind).restore(plan)) == "there"


def test_what_the_plan_holds_stays_unless_the_catalog_is_forced() -> None:
    assert path_of(session().restore(compiled())) == "here"
    forced = session(options={"table.plan.restore.catalog-objects": "IDENTIFIER"})
    assert path_of(forced.restore(compiled())) == "there"


def test_an_enforced_plan_has_to_hold_what_is_not_temporary() -> None:
    enforced = {"table.plan.restore.catalog-objects": "ALL_ENFORCED"}
    plan = compiled("TEMPORARY ")
    assert path_of(session("TEMPORARY ", options=enforced).restore(plan)) == "there"
    with pytest.raises(CatalogError, match="does not hold the definition"):
        session(options=enforced).restore(plan)


def test_another_schema_is_refused() -> None:
    with pytest.raises(CatalogError, match="other columns or another key"):
        session(source=SOURCE.replace("b INT", "b BIGINT")).restore(compiled())


def test_a_table_unknown_to_both_stays_a_name() -> None:
    other = session(source=SOURCE.replace("src", "other"))
    assert source_of(other.restore(compiled("TEMPORARY "))) is None


SINK_THERE = "CREATE TABLE snk (a INT) WITH ('connector'='blackhole');"


@pytest.mark.parametrize("script", ["", SOURCE, SOURCE + SINK_THERE, SINK_THERE, SOURCE + SINK_THERE + OTHER])
def test_tables_may_replace_some_of_the_plan_s_or_all(script: str) -> None:
    check_replaces(compiled(), session(source=script).catalog, "fixtures.sql")


def test_a_table_that_replaces_nothing_is_refused_by_name() -> None:
    with pytest.raises(CatalogError, match=r"the plan has no table .*`srcs`, so that it replaces nothing") as raised:
        check_replaces(compiled(), session(source=SOURCE.replace("src", "srcs")).catalog, "fixtures.sql")
    assert raised.value.where == "fixtures.sql"
    assert "its own definition of `default_catalog`.`default_database`.`snk`, " in (raised.value.hint or "")
