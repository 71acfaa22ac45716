"""Process table functions in Python: what their classes declare, how they are named in plans, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import pytest

from flinkplan.compat.comparing import compare
from flinkplan.compat.diff import judge
from flinkplan.compat.successor import succeed
from flinkplan.compat.validation import validate_text
from flinkplan.plan.document import Plan, dumps, loads
from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.nodes import Sink
from flinkplan.plan.ttl import parse_edit, set_ttls, states
from flinkplan.table import ChangelogMode, DataTypes, EnvironmentSettings, ListView, Row, TableEnvironment
from flinkplan.table.expressions import col, lit
from flinkplan.table.function_loader import FunctionLoader
from flinkplan.table.plan_functions import bind_to_files
from flinkplan.table.udf import (
    ArgumentHint,
    ArgumentTrait,
    ChangelogContext,
    Context,
    OnTimerContext,
    ProcessTableFunction,
    StateHint,
    declared_function,
    udptf,
)

ROW, SET = ArgumentTrait.ROW_SEMANTIC_TABLE, ArgumentTrait.SET_SEMANTIC_TABLE


def declared(state: Any = "ROW<n BIGINT>", ttl: str | None = "1 d", name: str | None = None) -> Any:
    """A class with these states."""

    @udptf(result_type="STRING")
    class Visits(ProcessTableFunction):
        def eval(
            self,
            ctx: Context,
            seen: Annotated[Row, StateHint(state, ttl=ttl, name=name)],
            all: Annotated[ListView[Any], StateHint(DataTypes.LIST_VIEW(DataTypes.INT()))],
            r: Annotated[Row, ArgumentHint(SET)],
            most: Annotated[int, ArgumentHint(type=DataTypes.INT())] = 3,
        ) -> None:
            """Nothing."""

        def on_timer(self, seen: Row, all: ListView[Any]) -> None:
            """Nothing."""

    # hints that stand in a function do not see its variables
    Visits.eval.__annotations__["seen"] = Annotated[Row, StateHint(state, ttl=ttl, name=name)]
    return Visits


def plan(function: Any, query: str = "TABLE t PARTITION BY k", ttl: str = "2 h") -> Plan:
    """The plan of a call."""
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    environment.get_config().set("table.exec.state.ttl", ttl)
    environment.create_temporary_function("visits", function)
    environment.execute_sql("CREATE TABLE t (k INT, v INT) WITH ('connector' = 'datagen')")
    environment.execute_sql("CREATE TABLE o (k INT, s STRING) WITH ('connector' = 'print')")
    return environment.compile_plan_sql(f"INSERT INTO o SELECT * FROM visits({query})").plan


def test_a_plan_has_the_states_with_their_ttls() -> None:
    text = dumps(plan(declared()))
    (node,) = (node for node in json.loads(text)["nodes"] if "process" in node["type"])
    assert node["state"] == [
        {"index": 0, "ttl": "1 d", "name": "seen"},
        {"index": 1, "ttl": "2 h", "name": "all"},
    ]
    assert [(s.address, s.ttl) for s in states(loads(text))] == [
        ("process-table-function.seen", "1 d"),
        ("process-table-function.all", "2 h"),
    ]
    edited, _ = set_ttls(text, [parse_edit("seen=3 h")])
    assert [s.ttl for s in states(loads(edited))] == ["3 h", "2 h"]
    assert validate_text(text, "plan.json") == []
    broken = text.replace('"2 h"', '"2 fortnights"').replace('"name" : "all"', '"name" : "seen"')
    assert [finding.rule for finding in validate_text(broken, "plan.json")] == ["state-ttl"]


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (declared(), []),
        (declared(ttl="3 d"), ["ttl-changed"]),
        (declared(ttl="0 ms"), ["ttl-disabled"]),
        (declared(name="met"), ["process-table-states-changed"]),
        (declared("ROW<n INT>"), ["process-table-state-type-changed"]),
    ],
)
def test_states_are_compared_by_their_names(new: Any, expected: list[str]) -> None:
    judgements = judge(compare(plan(declared()), plan(new)))
    assert [judgement.rule.id for judgement in judgements] == expected


def test_plans_from_elsewhere_find_classes_by_name(tmp_path: Path) -> None:
    file = tmp_path / "acme.py"
    file.write_text(
        "from typing import Annotated\nfrom pyflink.common import Row\nfrom pyflink.table.udf import *\n"
        "@udptf(result_type='STRING')\nclass Visits(ProcessTableFunction):\n"
        "    def eval(self, r: Annotated[Row, ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE)], most: "
        "Annotated[int, ArgumentHint(type='INT')] = 3):\n        yield 'a'\n"
    )
    text = dumps(plan(declared()))
    bound = bind_to_files(loads(text), [str(file)])
    (node,) = (node for node in bound.nodes if "process" in node.type)
    assert node.call.reference.function.declaration.process is not None  # type: ignore[attr-defined]
    named = bind_to_files(loads(text), [str(file)], named={"visits": "acme.Visits"})
    assert dumps(named) == text
    assert FunctionLoader(lambda: [str(file)]).python("acme.Visits").process is not None


@udptf(result_type=DataTypes.INT())
class Doubled(ProcessTableFunction):
    def eval(self, r: Annotated[Row, ArgumentHint(ROW)], by: Annotated[int, ArgumentHint(type="INT")]) -> list[int]:
        return [r.v * by]


def test_the_table_api_calls_functions_without_a_name() -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    numbers = environment.from_elements([(1, 2), (1, 3)], ["k", "v"])
    doubled = numbers.process(Doubled, 2)
    assert "invocation=[Doubled(TABLE(#0), 2, DEFAULT(), DEFAULT())], uid=[null]" in doubled.explain()
    counted = numbers.partition_by(col("k")).process(declared(), lit(2).as_argument("most"))
    assert "visits" in counted.explain().lower()
    again = environment.from_call(declared(), numbers.partition_by(col("k")).as_argument("r"))
    assert [str(c) for c in again.rel.names] == ["k", "EXPR$0"]
    environment.create_temporary_view("d", doubled)
    environment.execute_sql("CREATE TABLE o (v INT) WITH ('connector' = 'print')")
    with pytest.raises(FlinkplanError, match="a plan cannot call a function that is not registered"):
        environment.compile_plan_sql("INSERT INTO o SELECT * FROM d").as_json_string()


class NoHint(ProcessTableFunction):
    def eval(self, r: Row) -> None:
        """Nothing."""


class LateState(ProcessTableFunction):
    def eval(self, r: Annotated[Row, ArgumentHint(SET)], s: Annotated[Row, StateHint("ROW<n INT>")]) -> None:
        """Nothing."""


class RowsWithState(ProcessTableFunction):
    def eval(self, s: Annotated[Row, StateHint("ROW<n INT>")], r: Annotated[Row, ArgumentHint(ROW)]) -> None:
        """Nothing."""


class Needless(ProcessTableFunction):
    def eval(self, r: Annotated[Row, ArgumentHint(ROW, ArgumentTrait.OPTIONAL_PARTITION_BY)]) -> None:
        """Nothing."""


class Untyped(ProcessTableFunction):
    def eval(self, n: Annotated[int, ArgumentHint()]) -> None:
        """Nothing."""


class Reserved(ProcessTableFunction):
    def eval(self, r: Annotated[Row, ArgumentHint(SET)], uid: Annotated[str, ArgumentHint(type="STRING")]) -> None:
        """Nothing."""


class Lopsided(ProcessTableFunction):
    def eval(self, r: Annotated[Row, ArgumentHint(SET)]) -> None:
        """Nothing."""

    def on_timer(self, ctx: OnTimerContext, s: Row) -> None:
        """Nothing."""


class Lasting(ProcessTableFunction):
    def eval(
        self, s: Annotated[Row, StateHint("ROW<n INT>", ttl="soon")], r: Annotated[Row, ArgumentHint(SET)]
    ) -> None:
        """Nothing."""


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (NoHint, "the parameter r of NoHint.eval says neither what state it is"),
        (LateState, "the state s of LateState.eval stands behind an argument"),
        (RowsWithState, "states need a table with the trait SET_SEMANTIC_TABLE"),
        (Needless, "the trait OPTIONAL_PARTITION_BY of the argument r needs SET_SEMANTIC_TABLE"),
        (Untyped, "the argument n has no type"),
        (Reserved, "the name uid of an argument is taken"),
        (Lopsided, "Lopsided.on_timer takes 2 parameters"),
        (Lasting, "the TTL of the state s"),
    ],
)
def test_classes_that_flink_would_refuse_are_refused(function: Any, words: str) -> None:
    declaration = declared_function(udptf(function, result_type="STRING"))
    assert declaration is not None
    with pytest.raises((TypeError, ValueError), match=words):
        _ = declaration.declaration


def test_what_is_no_class_of_such_functions_is_refused() -> None:
    with pytest.raises(TypeError, match="should extend ProcessTableFunction"):
        udptf(Row, result_type="STRING")
    with pytest.raises(TypeError, match="Other does not say what it emits"):
        _ = declared_function(type("Other", (NoHint,), {"_result_type": None})).declaration  # type: ignore[union-attr]


def test_edited_ttls_are_carried_to_a_new_plan_by_the_names_of_states() -> None:
    edited = loads(set_ttls(dumps(plan(declared())), [parse_edit("seen=3 h"), parse_edit("all=4 h")])[0])
    carried = succeed(edited, plan(declared(name="met"))).plan
    (node,) = (node for node in carried.nodes if "process" in node.type)
    assert [(state.name, state.ttl) for state in node.states] == [("met", "1 d"), ("all", "4 h")]


def counted(updates: ChangelogMode) -> Any:
    """A class that emits updates of such kinds."""

    @udptf(result_type="ROW<n BIGINT>")
    class Counted(ProcessTableFunction):
        def eval(self, n: Annotated[Row, StateHint("ROW<n BIGINT>")], r: Annotated[Row, ArgumentHint(SET)]) -> None:
            """Nothing."""

        def get_changelog_mode(self, changelog_context: ChangelogContext) -> ChangelogMode:
            return updates

    return Counted


@pytest.mark.parametrize(
    ("updates", "key", "refused"),
    [
        (ChangelogMode.upsert(key_only_deletes=False), "k", None),
        (ChangelogMode.upsert(key_only_deletes=False), "n", "the key of the table 'o'"),
        (ChangelogMode.upsert(key_only_deletes=False), None, None),
        (ChangelogMode.all(), "k", None),
    ],
)
def test_updates_by_key_are_those_of_the_partition(
    updates: ChangelogMode, key: str | None, refused: str | None
) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    environment.create_temporary_function("counted", counted(updates))
    environment.execute_sql("CREATE TABLE t (k INT, v INT) WITH ('connector' = 'datagen')")
    primary = f", PRIMARY KEY ({key}) NOT ENFORCED" if key else ""
    environment.execute_sql(f"CREATE TABLE o (k INT, n BIGINT{primary}) WITH ('connector' = 'blackhole')")
    statement = "INSERT INTO o SELECT * FROM counted(TABLE t PARTITION BY k)"
    if refused is not None:
        with pytest.raises(FlinkplanError, match=refused):
            environment.compile_plan_sql(statement)
        return
    sink = environment.compile_plan_sql(statement).plan.nodes[-1]
    assert isinstance(sink, Sink)
    assert {kind.value for kind in sink.input_changelog_mode or ()} == {kind.name for kind in updates.kinds}
    assert not sink.require_upsert_materialize
