"""Rows, as PyFlink 2.3 has them, and what becomes of results that nobody reads any more."""

from __future__ import annotations

import gc
import pickle
import sys
from collections.abc import Iterator
from threading import Event
from typing import Any, cast

import pytest

from flinkplan import FlinkplanError, Row, RowKind
from flinkplan.executor.jobs.collecting import Collector
from flinkplan.executor.jobs.job import Job
from flinkplan.plan.document import Plan
from flinkplan.table.query_result import JobRows, QueryResult
from flinkplan.windowing.rows import row_maker

PLAIN = Row(1, "a")
NAMED = Row(b=1, a="x")


def test_values_by_place_and_by_name() -> None:
    assert (list(PLAIN), PLAIN[0], len(PLAIN), PLAIN[:1]) == ([1, "a"], 1, 2, [1])
    assert (NAMED.b, NAMED["b"], NAMED[0], NAMED._fields) == (1, 1, 1, ["b", "a"])
    assert NAMED.as_dict() == {"b": 1, "a": "x"}
    assert Row(r=Row(a=1), s=[Row(a=2)], t={"k": Row(a=3)}).as_dict(True) == {
        "r": {"a": 1},
        "s": [{"a": 2}],
        "t": {"k": {"a": 3}},
    }
    assert "b" in NAMED
    assert 1 not in NAMED
    assert 1 in PLAIN


def test_names_make_rows() -> None:
    person = Row("name", "age")
    assert repr(person("ann", 3)) == "Row(name='ann', age=3)"
    assert repr(person("ann")) == "Row(name='ann')"
    with pytest.raises(ValueError, match="2 names and 3 values"):
        person("ann", 3, True)
    row = Row(1, 2)
    row.set_field_names(["x", "y"])
    assert row.as_dict() == {"x": 1, "y": 2}
    with pytest.raises(ValueError, match="2 values"):
        row.set_field_names(["x"])


def test_rows_of_a_maker_are_as_others() -> None:
    make = row_maker(("a", "as_dict", "_b", "a"))
    row: Any = make((1, 2, 3, 4))
    assert (row.a, row["a"], row["_b"], row["as_dict"]) == (1, 1, 3, 2)
    assert callable(row.as_dict)
    with pytest.raises(AttributeError):
        row._b  # noqa: B018
    copied = pickle.loads(pickle.dumps(row))
    assert (type(copied), copied) == (Row, row)
    assert make((1, 2, 3, 4)) == row != make((1, 2, 3, 5))
    row.set_field_names(["x", "y", "z", "w"])
    assert row.x == 1
    with pytest.raises(AttributeError, match="no column 'a'"):
        row.a  # noqa: B018


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda: Row(1, a=2), ValueError),
        (lambda: PLAIN.as_dict(), TypeError),
        (lambda: PLAIN._fields, AttributeError),
        (lambda: NAMED.c, AttributeError),
        (lambda: PLAIN[2], IndexError),
    ],
)
def test_what_a_row_has_not(wrong: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        wrong()


def test_equal_rows_have_the_same_values_and_kind() -> None:
    deleted = Row.of_kind(RowKind.DELETE, 1, "a")
    assert Row(1, "a") == PLAIN == (1, "a")
    assert Row(a="x", b=1) == NAMED == Row(b=1, a="x") == (1, "x")
    assert Row(1, "x") != NAMED and Row(b=1, c="x") != NAMED
    assert hash(Row(1, "a")) == hash(PLAIN)
    assert deleted != PLAIN
    assert deleted.get_row_kind() is RowKind.DELETE
    deleted.set_row_kind(RowKind.INSERT)
    assert deleted == PLAIN


def test_texts_and_pickles() -> None:
    assert [repr(row) for row in (PLAIN, NAMED, Row(), Row(1))] == [
        "<Row(1, 'a')>",
        "Row(b=1, a='x')",
        "<Row()>",
        "<Row(1)>",
    ]
    again = pickle.loads(pickle.dumps(Row.of_kind(RowKind.DELETE, n=1)))
    assert (again.n, again.get_row_kind()) == (1, RowKind.DELETE)


class _Job:
    """A job that runs until it is stopped."""

    def __init__(self) -> None:
        self.stopped = Event()
        self.stops = 0

    def wait(self, timeout: float | None = None) -> bool:
        return self.stopped.is_set()

    def stop(self) -> None:
        self.stops += 1
        self.stopped.set()


@pytest.fixture
def job() -> _Job:
    return _Job()


def rows_of(job: _Job) -> JobRows:
    collector = Collector(as_text=True)
    collector._put((0, ("1",)))
    return JobRows(cast(Job, job), collector)


def test_a_job_is_stopped_when_its_rows_are_let_go(job: _Job) -> None:
    rows = rows_of(job)
    assert next(rows) == ("1",)
    assert not job.stopped.is_set()
    del rows
    assert job.stopped.wait(10)


def test_a_loop_that_is_left_stops_the_job(job: _Job) -> None:
    for row in rows_of(job):
        assert row == ("1",)
        break
    assert job.stopped.wait(10)


def test_a_job_that_was_closed_is_stopped_once(job: _Job) -> None:
    with rows_of(job):
        pass
    gc.collect()
    other = _Job()
    rows_of(other)
    assert other.stopped.wait(10)  # behind which the first one would have been stopped again
    assert job.stops == 1


def test_pandas_is_asked_for(monkeypatch: pytest.MonkeyPatch, plan_of_a_query: Plan) -> None:
    monkeypatch.setitem(cast(dict[str, Any], sys.modules), "pandas", None)
    with pytest.raises(FlinkplanError, match="pandas") as raised:
        QueryResult(plan_of_a_query, lambda collector: cast(Job, _Job())).to_pandas()
    assert raised.value.hint == "pip install 'flinkplan[python]'"


@pytest.fixture
def plan_of_a_query() -> Iterator[Plan]:
    from flinkplan.planner.session import Session
    from flinkplan.planner.sql import parse_script
    from flinkplan.planner.sql.ast import QueryStatement

    (statement,) = parse_script("SELECT 1 AS n;", None).statements
    assert isinstance(statement, QueryStatement)
    yield Session().compile_query(statement.query)
