"""What the tests of specs share."""

from __future__ import annotations

from flinkplan.plan.document import dumps
from flinkplan.plan.errors import ErrorGroup, FlinkplanError, Location
from flinkplan.planner import compile_script

TABLES = """\
version: 1
tables:
  t:
    columns: {a: INT, s: STRING}
    with: {connector: datagen}
  o:
    columns: {a: INT}
    with: {connector: print}
"""
INSERTS = """\
inserts:
  - into: o
    query: SELECT a FROM t
"""
SPEC = TABLES + INSERTS


def plan(text: str, file: str) -> str:
    """The plan of a pipeline, as text."""
    return dumps(compile_script(text, file=file))


def errors(text: str) -> list[FlinkplanError]:
    """What is wrong with a spec."""
    try:
        compile_script(text, file="pipeline.yaml")
    except FlinkplanError as error:
        return list(error.errors) if isinstance(error, ErrorGroup) else [error]
    return []


def place(error: FlinkplanError) -> str:
    """The line and column of an error, which names the file."""
    assert isinstance(error.where, Location)
    assert error.where.file == "pipeline.yaml"
    return f"{error.where.line}:{error.where.column}"
