"""Functions of a plan from elsewhere: found in files that the user names, by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from flinkplan.executor.prepare.choose.python_functions import with_plain_times
from flinkplan.executor.prepare.python_classes import PythonCode, check_allowed
from flinkplan.plan.document import Plan, dumps, load, loads
from flinkplan.plan.errors import FlinkplanError, PlanError
from flinkplan.plan.functions.cast import CAST
from flinkplan.plan.record import Json, replace
from flinkplan.plan.rex import Call, InputRef
from flinkplan.plan.types import INT, STRING, TimeKind, timestamp
from flinkplan.plan.user_functions import unbound_functions
from flinkplan.planner import compile_script
from flinkplan.table.function_loader import FunctionLoader
from flinkplan.table.plan_functions import bind_to_files
from flinkplan.udf.as_pyflink import install, uninstall

DECLARED = """
from pyflink.table import DataTypes
from pyflink.table.udf import udf, udaf, AggregateFunction

@udf(result_type=DataTypes.INT())
def doubled(n):
    return 2 * n

class Total(AggregateFunction):
    def create_accumulator(self): return [0]
    def accumulate(self, accumulator, n): accumulator[0] += n
    def get_value(self, accumulator): return accumulator[0]

total = udaf(Total(), result_type=DataTypes.INT(), accumulator_type=DataTypes.ARRAY(DataTypes.INT()))
"""

SCRIPT = """
CREATE TABLE t (n INT) WITH ('connector' = 'datagen');
CREATE TABLE o (n INT) WITH ('connector' = 'print');
CREATE TEMPORARY SYSTEM FUNCTION Doubled AS 'declared.doubled' LANGUAGE PYTHON;
CREATE TEMPORARY FUNCTION total AS 'declared.total' LANGUAGE PYTHON;
INSERT INTO o SELECT Doubled(total(n)) FROM t;
"""


@pytest.fixture(autouse=True)
def pyflink(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    install(replace=True)
    yield
    uninstall()


def forget(*modules: str) -> None:
    import sys

    for module in modules:
        sys.modules.pop(module, None)


@pytest.fixture
def loaded(tmp_path: Path) -> Iterator[Plan]:
    """A plan as it is read from a file: with the names of its functions alone."""
    (tmp_path / "declared.py").write_text(DECLARED, "utf-8")
    plan = compile_script(SCRIPT, load=FunctionLoader(lambda: [str(tmp_path / "declared.py")]))
    forget("declared")
    yield loads(dumps(plan))
    forget("declared", "other")


def unbound(plan: Plan) -> list[str]:
    return [function.short for node in plan.nodes for function in unbound_functions(node)]


def test_names_of_the_table_api_hide_functions_of_a_catalog(tmp_path: Path) -> None:
    (tmp_path / "declared.py").write_text(DECLARED, "utf-8")
    load = FunctionLoader(lambda: [str(tmp_path / "declared.py")])
    script = SCRIPT.replace("Doubled", "divide")
    assert compile_script(script, load=load).nodes
    with pytest.raises(FlinkplanError, match="there is no function divide") as caught:
        compile_script(script.replace("SYSTEM ", ""), load=load)
    assert "which hides those of a catalog" in str(caught.value.hint)
    forget("declared")


def test_names_stay_names_without_files(loaded: Plan) -> None:
    assert unbound(bind_to_files(loaded, [])) == ["total", "Doubled"]
    with pytest.raises(FlinkplanError, match="nobody has said where it is") as caught:
        check_allowed(loaded, PythonCode())
    assert "--py-files" in str(caught.value.errors[0].hint)


def test_functions_are_looked_up_by_their_names(loaded: Plan, tmp_path: Path) -> None:
    bound = bind_to_files(loaded, [str(tmp_path)])
    assert unbound(bound) == []
    check_allowed(bound, PythonCode())
    assert dumps(bound) == dumps(loaded)


def test_a_file_that_does_not_mention_a_name_is_not_imported(loaded: Plan, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("raise SystemExit('imported')", "utf-8")
    assert unbound(bind_to_files(loaded, [str(tmp_path)])) == []


def test_a_function_may_have_another_name_in_its_module(loaded: Plan, tmp_path: Path) -> None:
    (tmp_path / "declared.py").write_text(DECLARED.replace("def doubled", "def twice"), "utf-8")
    files = [str(tmp_path / "declared.py")]
    assert unbound(bind_to_files(loaded, files)) == ["Doubled"]
    assert unbound(bind_to_files(loaded, files, named={"doubled": "declared.twice"})) == []


def test_a_name_of_two_functions_is_ambiguous(loaded: Plan, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(DECLARED, "utf-8")
    with pytest.raises(PlanError, match=r"several Python functions have the name total: declared\.total, other\.total"):
        bind_to_files(loaded, [str(tmp_path)])


def test_operators_of_patterns_are_no_functions_of_users() -> None:
    plan = load(Path(__file__).parents[1] / "parity" / "own" / "pattern-of-rows" / "plan.json")
    assert [function for node in plan.nodes for function in unbound_functions(node)] == []


def test_functions_take_event_time_as_plain_timestamps() -> None:
    plain, rowtime = timestamp(3), replace(timestamp(3), kind=TimeKind.ROWTIME)
    call = Call("", (CAST.typed(plain, InputRef(1, rowtime)), InputRef(0, STRING)), INT, reference=Json(systemName="f"))
    assert with_plain_times(call) == replace(call, operands=(InputRef(1, plain), InputRef(0, STRING)))
    other = CAST.typed(STRING, InputRef(1, rowtime))
    assert with_plain_times(other) == other
