"""The Table API as a PyFlink user expects it; jobs are replaced, so nothing starts Spark."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

import flinkplan
from flinkplan import (
    BindError,
    CatalogError,
    CompiledPlan,
    EnvironmentSettings,
    FlinkplanWarning,
    PlanReference,
    TableEnvironment,
)
from flinkplan.plan.document import Plan, load
from flinkplan.plan.errors import FlinkplanError, PlanError, UnsupportedError
from flinkplan.table import QueryResult, ResultKind
from tests.parity.corpus import HERE

PLAN_FILE = HERE / "cases/join-two-cdc-tables-with-primary-keys/plan.json"
TABLES = (
    "CREATE TABLE orders (id INT NOT NULL, amount DECIMAL(10, 2), ts TIMESTAMP(3), twice AS amount * 2, "
    "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) "
    "WITH ('connector' = 'datagen', 'number-of-rows' = '3')",
    "CREATE TABLE sink (id INT, amount DECIMAL(10, 2)) WITH ('connector' = 'print')",
    "CREATE TEMPORARY VIEW big AS SELECT id, amount FROM orders WHERE amount > 10",
)
INSERT = "INSERT INTO sink SELECT id, amount FROM big"


class FinishedJob:
    """A job that has run."""

    def __init__(self, plan: Plan, options: Mapping[str, str]) -> None:
        self.plan = plan
        self.options = dict(options)
        self.stopped = False

    def wait(self, timeout: float | None = None) -> bool:
        return timeout is None or timeout > 1

    def stop(self) -> None:
        self.stopped = True


@pytest.fixture
def jobs() -> list[FinishedJob]:
    """The jobs that were started."""
    return []


@pytest.fixture
def env(jobs: list[FinishedJob]) -> TableEnvironment:
    """An environment with two tables and a view."""

    def start(plan: Plan, options: Mapping[str, str], *, collector: Any = None) -> Any:
        jobs.append(FinishedJob(plan, options))
        return jobs[-1]

    environment = TableEnvironment(EnvironmentSettings.in_streaming_mode(), start)
    for statement in TABLES:
        assert environment.execute_sql(statement).get_result_kind() is ResultKind.SUCCESS
    return environment


def test_the_package_offers_the_api() -> None:
    assert all(getattr(flinkplan, name) is not None for name in flinkplan.__all__)
    with pytest.raises(AttributeError):
        _ = cast(Any, flinkplan).TableEnviroment


def test_names_and_parameters_are_those_of_pyflink() -> None:
    parameters: dict[Callable[..., Any], list[str]] = {
        TableEnvironment.create: ["environment_settings"],
        TableEnvironment.execute_sql: ["self", "stmt"],
        TableEnvironment.compile_plan_sql: ["self", "stmt"],
        TableEnvironment.load_plan: ["self", "plan_reference"],
        TableEnvironment.execute_plan: ["self", "plan_reference"],
        TableEnvironment.explain_sql: ["self", "stmt", "extra_details"],
        CompiledPlan.write_to_file: ["self", "file", "ignore_if_exists"],
        CompiledPlan.explain: ["self", "extra_details"],
        PlanReference.from_file: ["path"],
        PlanReference.from_json_string: ["json_string"],
    }
    assert {method: list(inspect.signature(method).parameters) for method in parameters} == parameters


def test_a_definition_that_fails_leaves_its_name_usable(env: TableEnvironment) -> None:
    with pytest.raises(CatalogError, match="exists already"):
        env.execute_sql("CREATE TABLE sink (id INT) WITH ('connector' = 'print')")
    with pytest.raises(BindError):
        env.execute_sql("CREATE TABLE late (id INT, PRIMARY KEY (idd) NOT ENFORCED) WITH ('connector' = 'print')")
    assert "late" not in env.list_tables()
    env.execute_sql("CREATE TABLE late (id INT) WITH ('connector' = 'print')")
    assert env.compile_plan_sql(INSERT) and env.compile_plan_sql("INSERT INTO late SELECT id FROM orders")


def test_config_and_set_are_one(env: TableEnvironment) -> None:
    config = env.get_config().set("table.exec.state.ttl", "1 h")
    with pytest.warns(FlinkplanWarning, match="there is no option 'a.b'") as told:
        env.execute_sql("SET 'a.b' = 'c'")
    assert [cast(FlinkplanWarning, warning.message).finding.rule for warning in told] == ["setting-unknown"]
    assert config.get("a.b", "") == "c"
    assert list(env.execute_sql("SET").collect()) == [("a.b", "c"), ("table.exec.state.ttl", "1 h")]
    env.execute_sql("RESET")
    assert config.to_map() == {}
    with pytest.raises(FlinkplanError, match=r"'soon' is no value of table.exec.state.ttl"):
        config.set("table.exec.state.ttl", "soon")
    with pytest.raises(FlinkplanError, match=r"is no value of table.local-time-zone"):
        config.set_local_timezone("Mars/Olympus")
    with pytest.raises(FlinkplanError, match=r"is no value of table.exec.mini-batch.enabled"):
        TableEnvironment.create(EnvironmentSettings({"table.exec.mini-batch.enabled": "perhaps"}))
    assert config.to_map() == {}
    config.set_local_timezone("Europe/Berlin")
    assert env.get_config().get_local_timezone() == "Europe/Berlin"


def test_show_and_describe(env: TableEnvironment) -> None:
    assert env.list_tables() == ["big", "orders", "sink"]
    with env.execute_sql("SHOW VIEWS").collect() as views:
        assert list(views) == [("big",)]
    assert list(env.execute_sql("SHOW TABLES LIKE 's%'").collect()) == [("sink",)]
    assert str(env.execute_sql("DESCRIBE orders")).splitlines() == [
        "+--------+------------------------+-------+---------+-----------------+----------------------------+",
        "| name   | type                   | null  | key     | extras          | watermark                  |",
        "+--------+------------------------+-------+---------+-----------------+----------------------------+",
        "| id     | INT                    | FALSE | PRI(id) |                 |                            |",
        "| amount | DECIMAL(10, 2)         | TRUE  |         |                 |                            |",
        "| ts     | TIMESTAMP(3) *ROWTIME* | TRUE  |         |                 | `ts` - INTERVAL '5' SECOND |",
        "| twice  | DECIMAL(21, 2)         | TRUE  |         | AS `amount` * 2 |                            |",
        "+--------+------------------------+-------+---------+-----------------+----------------------------+",
    ]


def test_compile_write_and_load(env: TableEnvironment, tmp_path: Path) -> None:
    plan = env.compile_plan_sql(INSERT)
    file = tmp_path / "plan.json"
    plan.write_to_file(file)
    assert file.read_text("utf-8") == plan.as_json_string()
    assert env.load_plan(PlanReference.from_file(file)).plan == plan.plan
    assert env.load_plan(PlanReference.from_json_string(plan.as_json_string())).plan == plan.plan
    plan.write_to_file(file, ignore_if_exists=True)
    with pytest.raises(PlanError, match="exists already"):
        plan.write_to_file(file)


def test_execute_and_wait(env: TableEnvironment, jobs: list[FinishedJob]) -> None:
    result = env.load_plan(PlanReference.from_file(PLAN_FILE)).execute()
    result.wait()
    assert [job.plan for job in jobs] == [load(PLAN_FILE)]
    with pytest.raises(TimeoutError):
        result.wait(1)
    client = result.get_job_client()
    assert client is not None
    client.cancel()
    assert jobs[0].stopped


def test_an_insert_starts_a_job(env: TableEnvironment, jobs: list[FinishedJob]) -> None:
    env.execute_sql(INSERT).wait()
    assert [job.plan for job in jobs] == [env.compile_plan_sql(INSERT).plan]


def test_create_table_as_makes_the_table_and_starts_a_job(env: TableEnvironment, jobs: list[FinishedJob]) -> None:
    env.execute_sql("CREATE TABLE made WITH ('connector' = 'print') AS SELECT id FROM orders").wait()
    assert len(jobs) == 1 and "made" in env.list_tables()
    assert env.compile_plan_sql("INSERT INTO made SELECT id FROM orders").plan.nodes == jobs[0].plan.nodes


def test_a_job_takes_up_the_options_of_the_moment_it_starts(env: TableEnvironment, jobs: list[FinishedJob]) -> None:
    plan = env.compile_plan_sql(INSERT)
    env.get_config().set_local_timezone("Asia/Tokyo")
    plan.execute()
    assert jobs[0].options["table.local-time-zone"] == "Asia/Tokyo"


def test_a_statement_set_is_one_plan(env: TableEnvironment, jobs: list[FinishedJob]) -> None:
    env.execute_sql("CREATE TABLE other (id INT, amount DECIMAL(10, 2)) WITH ('connector' = 'print')")
    other = INSERT.replace("sink", "other", 1)
    statements = env.create_statement_set().add_insert_sql(INSERT).add_insert_sql(f"{other};")
    assert statements.explain().count("\nSink(") == 4
    statements.execute().wait()
    assert [len(job.plan.sinks) for job in jobs] == [2]


def test_compile_plan_and_execute_plan(env: TableEnvironment, jobs: list[FinishedJob], tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    env.execute_sql(f"EXECUTE PLAN IF EXISTS '{file}'")
    env.execute_sql(f"COMPILE PLAN '{file.as_uri()}' FOR {INSERT}")
    written = file.read_text("utf-8")
    assert (written, jobs) == (env.compile_plan_sql(INSERT).as_json_string(), [])
    with pytest.raises(PlanError, match="exists already"):
        env.execute_sql(f"COMPILE PLAN '{file}' FOR {INSERT}")
    env.execute_sql(f"COMPILE PLAN '{file}' IF NOT EXISTS FOR INSERT INTO sink SELECT id, amount FROM orders")
    assert file.read_text("utf-8") == written
    env.execute_sql("SET 'table.plan.force-recompile' = 'true'")
    env.execute_sql(f"COMPILE PLAN '{file}' FOR INSERT INTO sink SELECT id, amount FROM orders")
    assert file.read_text("utf-8") != written
    env.execute_sql(f"EXECUTE PLAN '{file}'").wait()
    assert len(jobs) == 1


def test_plans_live_where_fsspec_reaches(env: TableEnvironment) -> None:
    env.execute_sql(f"COMPILE PLAN 'memory://plans/plan.json' FOR {INSERT}")
    assert env.load_plan(PlanReference.from_file("memory://plans/plan.json")).plan == env.compile_plan_sql(INSERT).plan
    with pytest.raises(PlanError, match="no such file"):
        PlanReference.from_file("memory://plans/other.json")
    with pytest.raises(PlanError):
        PlanReference.from_file("nowhere://plans/other.json")


@pytest.mark.parametrize("statement", [f"EXPLAIN {INSERT}", f"EXPLAIN PLAN FOR {INSERT}"])
def test_explain(env: TableEnvironment, statement: str) -> None:
    assert str(env.execute_sql(statement)) == env.explain_sql(INSERT)


@pytest.mark.parametrize(
    ("statement", "error", "words"),
    [
        ("DESCRIBE ordres", PlanError, "did you mean 'orders'?"),
        ("SHOW TABLES; SHOW VIEWS", PlanError, "one by one"),
        ("", PlanError, "found 0"),
        ("SHOW PARTITIONS", FlinkplanError, "SHOW"),
        ("EXECUTE PLAN '/no/plan.json'", PlanError, "no such file"),
    ],
)
def test_errors(env: TableEnvironment, statement: str, error: type[FlinkplanError], words: str) -> None:
    with pytest.raises(error) as caught:
        env.execute_sql(statement)
    assert words in str(caught.value)


def test_only_inserts_compile(env: TableEnvironment) -> None:
    with pytest.raises(PlanError, match="only INSERT"):
        env.compile_plan_sql("SHOW TABLES")


def test_batch_mode_is_refused() -> None:
    with pytest.raises(UnsupportedError):
        EnvironmentSettings.in_batch_mode()


class Rows:
    """A job whose rows are there at once."""

    def __init__(self, collector: Any, rows: Sequence[tuple[int, tuple[Any, ...]]]) -> None:
        for row in rows:
            collector._put(row)
        self.stopped = False

    def wait(self, timeout: float | None = None) -> bool:
        return True

    def stop(self) -> None:
        self.stopped = True


@pytest.fixture
def selects() -> TableEnvironment:
    """An environment in which every query has the same changes."""
    rows = [(0, ("a", 1)), (0, ("b", 2)), (1, ("a", 1)), (2, ("a", 4))]

    def start(plan: Plan, options: Mapping[str, str], *, collector: Any = None) -> Any:
        return Rows(collector, rows)

    environment = TableEnvironment(EnvironmentSettings.in_streaming_mode(), start)
    environment.execute_sql("CREATE VIEW v (k, s) AS SELECT 'a', 1")
    return environment


def test_rows_of_a_query(selects: TableEnvironment) -> None:
    result = selects.execute_sql("SELECT k, s FROM v")
    assert isinstance(result, QueryResult)
    rows = list(result.collect())
    assert rows == [("a", 1), ("b", 2), ("a", 1), ("a", 4)]
    assert [str(row.get_row_kind()) for row in rows] == ["+I", "+I", "-U", "+U"]
    assert [list(row) for row in result.collect().left()] == [["b", 2], ["a", 4]]


def test_leaving_the_rows_stops_the_job(selects: TableEnvironment) -> None:
    result = selects.execute_sql("SELECT k, s FROM v")
    assert isinstance(result, QueryResult)
    with result.collect() as rows:
        next(rows)
    assert cast(Rows, result._job).stopped


def test_a_query_as_a_table(selects: TableEnvironment, capsys: pytest.CaptureFixture[str]) -> None:
    table = selects.sql_query("SELECT k, s FROM v")
    table.print_schema()
    assert capsys.readouterr().out == "(\n  `k` CHAR(1) NOT NULL,\n  `s` INT NOT NULL\n)\n"
    selects.create_temporary_view("w", table.limit(3))
    assert "fetch=[3]" in selects.from_path("w").explain()


def test_a_query_that_means_nothing(selects: TableEnvironment) -> None:
    with pytest.raises(BindError, match="there is no column"):
        selects.sql_query("SELECT nothing FROM v")
    with pytest.raises(PlanError, match="not a query"):
        selects.sql_query("SHOW TABLES")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a AS b FROM (VALUES (1), (2)) AS t (a)",
        "SELECT a AS b FROM (SELECT x AS a FROM (VALUES (1), (2)) AS t (x))",
        "SELECT CAST(a AS BIGINT) AS b FROM (VALUES (CAST('1' AS BIGINT)), (CAST('2' AS BIGINT))) AS t (a)",
        "WITH c AS (SELECT id AS x FROM orders) SELECT x AS b FROM c",
    ],
)
def test_the_columns_of_a_query_are_called_as_it_says(env: TableEnvironment, query: str) -> None:
    result = env.execute_sql(query)
    assert isinstance(result, QueryResult)
    assert [name for name, _ in result.columns] == ["b"]


@pytest.mark.parametrize("path", ["/dev/null", "/dev/fd/2"])
def test_a_plan_is_written_into_what_is_no_file(env: TableEnvironment, path: str) -> None:
    insert = "INSERT INTO sink SELECT 1, 1.5"
    env.execute_sql(f"COMPILE PLAN '{path}' FOR {insert}")
    env.compile_plan_sql(insert).write_to_file(path)
