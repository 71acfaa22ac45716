"""Plans that programs write: what is asked of a whole plan is asked once, not for each of its sinks."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from flinkplan.compat.diff import Source, diff_texts
from flinkplan.compat.queries import sources_feeding
from flinkplan.compat.rules import sources
from flinkplan.plan.document import Plan, dumps
from flinkplan.planner import compile_script


def pipeline(sinks: int, condition: str) -> str:
    """The text of a plan that writes one table into many."""
    source = "CREATE TABLE t (a INT, b INT) WITH ('connector' = 'datagen');"
    tables = [f"CREATE TABLE o{i} (a INT, n BIGINT) WITH ('connector' = 'blackhole');" for i in range(sinks)]
    inserts = [f"INSERT INTO o{i} SELECT a, COUNT(*) FROM t WHERE b > {i}{condition} GROUP BY a;" for i in range(sinks)]
    return dumps(compile_script(f"{source} {' '.join(tables)} BEGIN STATEMENT SET; {' '.join(inserts)} END;"))


def test_sources_are_counted_once_for_all_sinks(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Plan] = []

    def feeding(plan: Plan) -> Mapping[int, tuple[int, ...]]:
        asked.append(plan)
        return sources_feeding(plan)

    monkeypatch.setattr(sources, "sources_feeding", feeding)
    old, new = (Source(name, pipeline(20, more)) for name, more in (("old", ""), ("new", " AND a > 1")))
    diff_texts(old, new)
    assert len(asked) == 2
