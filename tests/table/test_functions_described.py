"""DESCRIBE FUNCTION of functions of users, as Flink 2.3 shows them."""

from __future__ import annotations

from flinkplan.plan.functions.java import JavaDeclaration, JavaSignature
from flinkplan.plan.functions.model import Kind
from flinkplan.plan.types import STRING
from flinkplan.planner.catalog.functions import Declaration, Registered
from flinkplan.planner.session import Session
from flinkplan.planner.sql import parse_script
from flinkplan.planner.sql.ast import Describe
from flinkplan.table.catalog_views import describe

SCRIPT = """
CREATE TEMPORARY FUNCTION up AS 'UpperUDF' USING JAR '/a/udf.jar';
CREATE TEMPORARY SYSTEM FUNCTION up AS 'UpperUDF' USING JAR '/a/udf.jar';
"""
LOADED = [
    ("kind", "SCALAR"),
    ("requirements", "[]"),
    ("is deterministic", "true"),
    ("supports constant folding", "true"),
]


def declared(function: Registered) -> Declaration:
    return JavaDeclaration(function.path, Kind.SCALAR, signatures=(JavaSignature((STRING,), STRING),))


def described(statement: str) -> list[tuple[str | None, ...]]:
    session = Session(load=declared)
    *definitions, shown = parse_script(f"{SCRIPT} {statement}").statements
    for definition in definitions:
        session.apply(definition)
    assert isinstance(shown, Describe)
    return describe(session.catalog, shown)[1]


def test_a_short_name_prefers_the_function_of_the_system() -> None:
    assert described("DESCRIBE FUNCTION EXTENDED up") == [
        ("is system function", "true"),
        ("is temporary", "true"),
        *LOADED,
        ("signature", "up(arg0 => STRING)"),
    ]


def test_a_function_of_a_catalog_names_its_class_and_jar() -> None:
    assert described("DESCRIBE FUNCTION EXTENDED default_database.up") == [
        ("is system function", "false"),
        ("is temporary", "true"),
        ("class name", "UpperUDF"),
        ("function language", "JAVA"),
        ("resource uris", "[ResourceUri{resourceType=JAR, uri='/a/udf.jar'}]"),
        *LOADED,
        ("signature", "default_catalog.default_database.up(arg0 => STRING)"),
    ]
