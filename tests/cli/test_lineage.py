"""``flinkplan lineage`` and events of OpenLineage."""

from __future__ import annotations

import json
import typing
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import attr
import pytest

from flinkplan.cli.openlineage.datasets import dataset_name
from flinkplan.plan.specs import ContextResolvedTable, ResolvedSchema, ResolvedTable
from flinkplan.schemas.loader import LINEAGE, validator
from tests.cli.support import ROOT, flinkplan

DELAYS = str(ROOT / "sample_plans/delays-by-carrier/pipeline.sql")
PLAN = str(ROOT / "sample_plans/delays-by-carrier/plan.json")


@pytest.mark.parametrize("plan", [DELAYS, PLAN])
def test_text(plan: str) -> None:
    lines = flinkplan("lineage", plan).out.split("\n")
    assert lines[0] == "delays_by_carrier"
    assert "  average_delay  flights.arr_delay  CAST, AVG" in lines
    assert "  (all rows)     flights.carrier    join" in lines
    assert lines[-2].startswith("not used of flights: sched_dep, ")


def test_a_column() -> None:
    assert flinkplan("lineage", DELAYS, "--column", "delays_by_carrier.airline").out.split("\n")[2:] == [
        "  airline  airlines.name",
        "",
    ]
    assert "  (all rows)  flights.carrier  join" in flinkplan("lineage", DELAYS, "--column", "flights.carrier").out
    outcome = flinkplan("lineage", DELAYS, "--column", "flights.carier")
    assert (outcome.code, outcome.out) == (3, "")
    assert "did you mean 'flights.carrier'" in outcome.err


def test_json_is_as_its_schema_says() -> None:
    document = json.loads(flinkplan("lineage", PLAN, "--format", "json").out)
    assert list(validator(LINEAGE).iter_errors(document)) == []
    [sink] = document["sinks"]
    assert sink["columns"][0]["from"][0]["column"] == "name"
    used = {c["name"]: c["used"] for s in document["sources"] if s["table"] == "flights" for c in s["columns"]}
    assert (used["arr_delay"], used["distance"]) == (True, False)


def test_the_page_has_the_lineage(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    flinkplan("lineage", DELAYS, "--format", "html", "-o", str(file))
    assert "Lineage of delays_by_carrier" in file.read_text()


# ---------------------------------------------------------------- OpenLineage


def faults(value: Any, cls: Any, where: str = "") -> Iterator[str]:
    """What in JSON is not as one of the client's classes says, which are made of OpenLineage's schemas."""
    if not isinstance(value, dict):
        yield f"{where}: not an object"
        return
    fields = {field.name.lstrip("_"): field for field in attr.fields(cls)}
    given = {key.lstrip("_"): each for key, each in value.items()}
    yield from (f"{where}: unknown {key}" for key in given.keys() - fields.keys())
    required = {name for name, field in fields.items() if field.default is attr.NOTHING}
    yield from (f"{where}: no {name}" for name in required - given.keys())
    module = vars(__import__(cls.__module__, fromlist=["x"]))
    for name, each in given.items():
        if name in fields and each is not None:
            hint = eval(fields[name].type, module) if isinstance(fields[name].type, str) else fields[name].type
            yield from _faults_of(each, hint, f"{where}.{name}")


def _faults_of(value: Any, hint: Any, where: str) -> Iterator[str]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    classes = [each for each in arguments or (hint,) if isinstance(each, type) and attr.has(each)]
    if origin in (list, dict) or any(typing.get_origin(each) in (list, dict) for each in arguments):
        inner = next(each for each in (hint, *arguments) if typing.get_origin(each) in (list, dict))
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            target = typing.get_args(inner)[-1]
            if isinstance(target, type) and attr.has(target) and "Facet" not in target.__name__:
                yield from faults(item, target, f"{where}[{key}]")
    elif classes:
        yield from faults(value, classes[0], where)
    elif hint in (str, int, bool) and not isinstance(value, hint):
        yield f"{where}: {value!r} is not {hint}"


def check_event(event: dict[str, Any]) -> None:
    """Fail where an event or a facet of it is not as OpenLineage's client has it."""
    from openlineage.client import event_v2, facet_v2

    facets = {
        "columnLineage": facet_v2.column_lineage_dataset.ColumnLineageDatasetFacet,
        "errorMessage": facet_v2.error_message_run.ErrorMessageRunFacet,
        "jobType": facet_v2.job_type_job.JobTypeJobFacet,
        "processing_engine": facet_v2.processing_engine_run.ProcessingEngineRunFacet,
        "schema": facet_v2.schema_dataset.SchemaDatasetFacet,
        "symlinks": facet_v2.symlinks_dataset.SymlinksDatasetFacet,
    }
    found = list(faults(event, event_v2.RunEvent if "run" in event else event_v2.JobEvent))
    for holder in (event["job"], event.get("run", {}), *event["inputs"], *event["outputs"]):
        for name, facet in holder.get("facets", {}).items():
            found += faults(facet, facets[name], name)
    assert found == []


def test_the_event_of_a_plan() -> None:
    event = json.loads(
        flinkplan("lineage", DELAYS, "--format", "openlineage", "--var", "DATA=/srv", "--var", "OUT=s3a://lake/out").out
    )
    check_event(event)
    assert (event["job"]["namespace"], event["job"]["name"]) == ("default", "pipeline")
    assert [(each["namespace"], each["name"]) for each in event["inputs"]] == [
        ("file", "/srv/flights.json"),
        ("file", "/srv/airlines.csv"),
    ]
    [output] = event["outputs"]
    assert (output["namespace"], output["name"]) == ("s3://lake", "out/delays-by-carrier")
    fields = output["facets"]["columnLineage"]["fields"]
    assert fields["average_delay"]["inputFields"] == [
        {
            "namespace": "file",
            "name": "/srv/flights.json",
            "field": "arr_delay",
            "transformations": [
                {"type": "DIRECT", "subtype": "AGGREGATION", "description": "CAST, AVG", "masking": False}
            ],
        }
    ]
    rows = output["facets"]["columnLineage"]["dataset"]
    assert {(each["field"], each["transformations"][0]["subtype"]) for each in rows} == {
        ("carrier", "JOIN"),
        ("name", "GROUP_BY"),
    }


def test_what_would_be_an_error_in_an_event_is_seen() -> None:
    event = json.loads(flinkplan("lineage", DELAYS, "--format", "openlineage").out)
    event["outputs"][0]["facets"]["columnLineage"]["fields"]["airline"] = {"inputs": []}
    with pytest.raises(AssertionError, match="unknown inputs"):
        check_event(event)


def test_compile_writes_events_to_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "events.json"
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "file")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__LOG_FILE_PATH", str(file))
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__APPEND", "true")
    monkeypatch.setenv("OPENLINEAGE_NAMESPACE", "prod")
    for _ in range(2):
        outcome = flinkplan("compile", DELAYS, "-o", str(tmp_path / "plan.json"), "--force", "--openlineage")
        assert (outcome.code, outcome.err) == (0, "")
    events = [json.loads(line) for line in file.read_text().splitlines()]
    assert [event["job"]["namespace"] for event in events] == ["prod", "prod"]
    check_event(events[0])


class Received(BaseHTTPRequestHandler):
    """Keeps the events that are posted."""

    events: typing.ClassVar[list[Any]] = []

    def do_POST(self) -> None:
        self.events.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
        self.send_response(201)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""


def test_compile_posts_an_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Received.events.clear()
    with HTTPServer(("127.0.0.1", 0), Received) as server:
        thread = Thread(target=server.handle_request)
        thread.start()
        monkeypatch.setenv("OPENLINEAGE_URL", f"http://127.0.0.1:{server.server_port}")
        outcome = flinkplan("compile", DELAYS, "-o", str(tmp_path / "plan.json"), "--openlineage")
        thread.join(20)
    assert outcome.err == ""
    [(path, event)] = Received.events
    assert path == "/api/v1/lineage"
    check_event(event)


def test_an_event_that_cannot_be_sent_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "file")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__LOG_FILE_PATH", str(tmp_path / "missing" / "events.json"))
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__APPEND", "true")
    outcome = flinkplan("compile", DELAYS, "-o", str(tmp_path / "plan.json"), "--openlineage")
    assert outcome.code == 0
    assert "warning: the event of OpenLineage was not sent" in outcome.err
    assert (tmp_path / "plan.json").exists()


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (
            {"connector": "kafka", "topic": "orders", "properties.bootstrap.servers": "a:9092,b:9092"},
            ("kafka://a:9092", "orders"),
        ),
        (
            {"connector": "upsert-kafka", "topic": "${T}", "properties.bootstrap.servers": "a:9092"},
            ("kafka://a:9092", "orders"),
        ),
        ({"connector": "filesystem", "path": "file:///srv/x"}, ("file", "/srv/x")),
        ({"connector": "filesystem", "path": "s3://lake/a/b"}, ("s3://lake", "a/b")),
        ({"connector": "filesystem", "path": "hdfs://n:8020/a/b"}, ("hdfs://n:8020", "a/b")),
        (
            {"connector": "jdbc", "url": "jdbc:postgresql://h/shop?ssl=true", "table-name": "o"},
            ("postgres://h:5432", "shop.public.o"),
        ),
        (
            {"connector": "jdbc", "url": "jdbc:mysql://u:secret@h:3307/shop", "table-name": "o"},
            ("mysql://h:3307", "shop.o"),
        ),
        ({"connector": "jdbc", "url": "jdbc:derby:/srv/shop;create=true", "table-name": "o"}, ("derby:/srv/shop", "o")),
        (
            {"connector": "mysql-cdc", "hostname": "h", "database-name": "shop", "table-name": "o"},
            ("mysql://h:3306", "shop.o"),
        ),
        ({"connector": "datagen"}, ("jobs", "c.d.orders")),
        ({}, ("jobs", "c.d.orders")),
    ],
)
def test_datasets_have_the_names_of_openlineage(options: dict[str, str], name: tuple[str, str]) -> None:
    table = ContextResolvedTable("`c`.`d`.`orders`", ResolvedTable(ResolvedSchema(()), options=options))
    assert dataset_name(table, {"T": "orders"}, "jobs") == name
