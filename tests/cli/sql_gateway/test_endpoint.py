"""The REST protocol: paths, sessions, operations, results by token, and who is let in."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from flinkplan.cli.sql_gateway.endpoint import check_reach
from flinkplan.cli.sql_gateway.server import serving
from flinkplan.cli.sql_gateway.service import GatewayService, Limits
from flinkplan.plan.errors import FlinkplanError
from tests.cli.sql_gateway.client import Client, StatementError

ORDERS = "CREATE TABLE orders (id INT NOT NULL, name STRING) WITH ('connector' = 'datagen')"


@pytest.mark.parametrize("version", ["v1", "v2", "v3", "v4"])
def test_every_path_of_the_contract_answers_with_its_fields(url: str, version: str) -> None:
    client = Client(url, version).open()
    session = f"/sessions/{client.session}"
    operation = client.submit("SHOW TABLES")
    client.result(operation)
    answers: list[tuple[str, str, Any, set[str]]] = [
        ("GET", "/info", None, {"productName", "version"}),
        ("GET", "/api_versions", None, {"versions"}),
        ("POST", "/sessions", {"sessionName": "a", "properties": {}}, {"sessionHandle"}),
        ("GET", session, None, {"properties"}),
        ("POST", f"{session}/heartbeat", {}, set()),
        ("POST", f"{session}/configure-session", {"statement": "SET 'a.b' = 'c'"}, set()),
        ("GET", f"{session}/complete-statement", {"statement": "SELE", "position": 4}, {"candidates"}),
        ("POST", f"{session}/statements", {"statement": "SHOW TABLES"}, {"operationHandle"}),
        ("GET", f"{operation}/status", None, {"status"}),
        ("POST", f"{operation}/cancel", None, {"status"}),
        ("DELETE", f"{operation}/close", None, {"status"}),
        ("DELETE", session, None, {"status"}),
    ]
    for method, path, body, fields in answers:
        assert set(client.call(method, path, body)) == fields, path


def test_what_is_left_out_is_refused_by_name(client: Client) -> None:
    for path, name in (
        ("/materialized-tables/t/refresh", "refreshMaterializedTable"),
        ("/scripts", "deployScript"),
    ):
        with pytest.raises(StatementError, match=name) as error:
            client.call("POST", f"/sessions/{client.session}{path}", {})
        assert error.value.status == 501


def test_results_have_typed_columns_and_are_fetched_by_token(client: Client) -> None:
    client.execute(ORDERS)
    operation = client.submit("DESCRIBE orders")
    client.result(operation)
    # the part before can be fetched once more, no other
    assert client.call("GET", f"{operation}/result/0?rowFormat=json")["resultType"] == "PAYLOAD"
    for row_format, is_null in (("JSON", False), ("PLAIN_TEXT", "FALSE")):
        result = client.execute("DESCRIBE orders", row_format)
        assert result["rows"][0] == ("INSERT", ["id", "INT", is_null, None, None, None])
        assert [c["logicalType"]["type"] for c in result["results"]["columns"]][1:3] == ["VARCHAR", "BOOLEAN"]
    with pytest.raises(StatementError, match="Expecting token to be 0 or 1, but found 7"):
        client.call("GET", f"{operation}/result/7")


def test_statements_without_rows_answer_ok(client: Client) -> None:
    result = client.execute("CREATE DATABASE d", "JSON")
    assert (result["resultKind"], result["isQueryResult"], result["rows"]) == ("SUCCESS", False, [("INSERT", ["OK"])])


def test_the_next_part_is_named_as_the_version_does(url: str) -> None:
    for version, end in (("v1", "/result/1"), ("v2", "/result/1?rowFormat=JSON")):
        client = Client(url, version).open()
        operation = client.submit("SHOW CATALOGS")
        result = client.result(operation, "JSON")
        assert result["nextResultUri"] == f"/{version}{operation}{end}"


def test_errors_name_the_exception_of_flink(client: Client) -> None:
    with pytest.raises(StatementError) as error:
        client.execute("SELECT FROM")
    assert (error.value.status, error.value.java_class) == (500, "org.apache.flink.sql.parser.impl.ParseException")
    assert "Failed to fetchResults." in str(error.value)
    with pytest.raises(StatementError, match=r"Unsupported SQL statement! .* a single SQL statement"):
        client.execute("SHOW TABLES; SHOW VIEWS")
    assert client.call("GET", f"{client.submit('SELECT FROM')}/status")["status"] in ("RUNNING", "ERROR")


def test_options_of_a_statement_hold_for_it_alone(client: Client) -> None:
    rows = client.execute("SET", executionConfig={"pipeline.name": "once"})["rows"]
    assert rows == [("INSERT", ["pipeline.name", "once"])]
    assert client.rows("SET") == []


def test_configuring_takes_no_queries(client: Client) -> None:
    path = f"/sessions/{client.session}/configure-session"
    client.call("POST", path, {"statement": "CREATE DATABASE d"})
    assert ["d"] in client.rows("SHOW DATABASES")
    with pytest.raises(StatementError, match="Unsupported statement for configuring session"):
        client.call("POST", path, {"statement": "SELECT 1"})


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/sessions/abc", None),
        ("POST", "/sessions", ["a"]),
        ("POST", "/sessions", {"properties": {"a": 1}}),
        ("POST", "/sessions/{session}/statements", {}),
        ("POST", "/sessions/{session}/statements", {"statement": "SHOW TABLES", "executionTimeout": "1 s"}),
        ("GET", "/sessions/{session}/operations/{other}/result/x", None),
    ],
)
def test_requests_that_do_not_follow_the_contract(client: Client, method: str, path: str, body: Any) -> None:
    with pytest.raises(StatementError) as error:
        client.call(method, path.format(session=client.session, other=uuid4()), body)
    assert error.value.status == 400


def test_handles_of_nothing(client: Client) -> None:
    with pytest.raises(StatementError, match="does not exist"):
        client.call("GET", f"/sessions/{uuid4()}")
    with pytest.raises(StatementError, match="Can not find the submitted operation"):
        client.call("GET", f"/sessions/{client.session}/operations/{uuid4()}/status")


def test_foreign_names_and_pages_are_refused(client: Client) -> None:
    for headers in ({"Host": "evil.example:80"}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
        with pytest.raises(StatementError) as error:
            client.call("GET", "/info", headers=headers)
        assert error.value.status == 403
    assert client.call("GET", "/info", headers={"Origin": client.url})["productName"] == "Apache Flink"


def test_a_token_lets_in() -> None:
    with serving(GatewayService({}, Limits()), "127.0.0.1", 0, "secret") as url:
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            with pytest.raises(StatementError) as error:
                Client(url, headers=headers).open()
            assert error.value.status == 401
        Client(url, headers={"Authorization": "Bearer secret"}).open()


def test_other_machines_need_a_token() -> None:
    with pytest.raises(FlinkplanError, match="whoever reaches"):
        check_reach("0.0.0.0", None)
    check_reach("0.0.0.0", "secret")
    check_reach("::1", None)


def test_a_port_that_is_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with (
            pytest.raises(FlinkplanError, match=f"the port {port}"),
            serving(GatewayService({}, Limits()), "127.0.0.1", port),
        ):
            pass


def test_limits_of_sessions_and_operations() -> None:
    with serving(GatewayService({}, Limits(sessions=1, operations=2)), "127.0.0.1", 0) as url:
        client = Client(url).open()
        with pytest.raises(StatementError, match="exceeds the max count: 1"):
            Client(url).open()
        operations = [client.submit("SHOW TABLES") for _ in range(2)]
        with pytest.raises(StatementError, match="2 operations, which is the limit"):
            client.submit("SHOW TABLES")
        client.call("DELETE", f"{operations[0]}/close")
        client.execute("SHOW TABLES")


def test_sessions_that_nobody_uses_are_closed() -> None:
    service = GatewayService({}, Limits(idle=0.2))
    service.engine.start = lambda: None  # type: ignore[method-assign]
    with serving(service, "127.0.0.1", 0) as url:
        service.start()
        client = Client(url).open()
        assert _within(5, lambda: not service.has_sessions)
        with pytest.raises(StatementError, match="does not exist"):
            client.execute("SHOW TABLES")


def test_statement_sets_that_are_sent_statement_by_statement(client: Client) -> None:
    client.execute("CREATE TABLE t (a INT) WITH ('connector' = 'blackhole')")
    with pytest.raises(StatementError, match="No Statement Set to submit"):
        client.execute("END")
    client.execute("BEGIN STATEMENT SET;")
    for statement in ("BEGIN STATEMENT SET", "SHOW TABLES", "SELECT 1"):
        with pytest.raises(StatementError, match="Only 'INSERT/CREATE TABLE AS' statement is allowed"):
            client.execute(statement)
    with pytest.raises(StatementError):
        client.execute("INSERT INTO missing SELECT 1")
    client.execute("END;")
    assert client.rows("SHOW TABLES") == [["t"]]


def _within(seconds: float, is_true: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not is_true() and time.monotonic() < end:
        time.sleep(0.02)
    return is_true()
