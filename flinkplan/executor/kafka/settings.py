"""What a table's options tell the client.

They are written for Flink's client, in Java; librdkafka's settings mostly have the same names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...plan.connectors.kafka_properties import PREFIX, PROPERTIES
from ...plan.durations import parse_duration
from ...plan.options import option_of
from ...plan.record import Record, field
from ..errors import TableError

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Producer

    from ..connectors.tables import Table

_LOGIN = re.compile(r"\s*[\w.$]+\s+required\s+(.*?);?\s*", re.DOTALL)
_ARGUMENT = re.compile(r"(\w+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)'|(\S+))")
_KERBEROS = "sasl.kerberos."
_BARE = re.compile(r"[\w./@:-]*")
"""What may stand in a command line, where librdkafka puts Kerberos' settings."""

READER: Mapping[str, str | bool | int] = {
    "isolation.level": "read_uncommitted",
    "allow.auto.create.topics": False,
    # what a task reads is there: it is never waited for, but for what the last task has still asked for behind its end
    "fetch.wait.max.ms": 10,
    # librdkafka rests for a second once it has read ahead far enough, which workers read in less
    "fetch.queue.backoff.ms": 10,
}
"""Defaults of Flink's client where librdkafka's differ, to read, and what suits tasks that read what is there."""

WRITER: Mapping[str, str | bool] = {"partitioner": "murmur2_random", "enable.idempotence": True}
"""The same to write: keys go to the partitions where Java's client puts them, and what is sent again after a broker
was away comes neither twice nor behind what was sent later."""

_ORDERED_REQUESTS = 5
"""How many requests may be on their way where idempotence keeps their order."""


class Reading(Record):
    """What is read of Kafka: the topics by name or pattern, where reading begins and ends, and what the client is told.

    ``start`` and ``end`` are modes of the options ``scan.startup.mode`` and ``scan.bounded.mode``, whose times are
    epoch milliseconds and whose offsets are by partition.  ``discovery_ms``: how often new partitions are looked for,
    0: never.
    """

    topics: tuple[str, ...]
    pattern: str | None
    client: Mapping[str, Any]
    start: str = "group-offsets"
    start_time: int = 0
    start_offsets: Mapping[int, int] = field(default_factory=dict)
    end: str = "unbounded"
    end_time: int = 0
    end_offsets: Mapping[int, int] = field(default_factory=dict)
    discovery_ms: int = 300_000
    reset: str | None = None
    """Where a group without offsets begins: ``earliest``, ``latest``, else nowhere."""
    group: str | None = None
    """The consumer group that is told how far the job is."""


def reading_of(table: Table) -> Reading:
    """What a table's options say of reading.  Raises :class:`TableError` for what the client has no word for."""
    from ...plan.connectors.kafka import parse_names, parse_offsets

    options = table.options
    client = client_settings(table)
    reset = client.pop("auto.offset.reset", None)
    group = client.get("group.id")
    upserts = options["connector"] == "upsert-kafka"
    return Reading(
        topics=tuple(parse_names(options.get("topic", ""))),
        pattern=options.get("topic-pattern"),
        client={**READER, "group.id": "flinkplan", **client},
        start="earliest-offset" if upserts else options.get("scan.startup.mode", "group-offsets"),
        start_time=int(options.get("scan.startup.timestamp-millis", 0)),
        start_offsets=parse_offsets(options["scan.startup.specific-offsets"])
        if "scan.startup.specific-offsets" in options
        else {},
        end=options.get("scan.bounded.mode", "unbounded"),
        end_time=int(options.get("scan.bounded.timestamp-millis", 0)),
        end_offsets=parse_offsets(options["scan.bounded.specific-offsets"])
        if "scan.bounded.specific-offsets" in options
        else {},
        discovery_ms=parse_duration(options.get("scan.topic-partition-discovery.interval", "5 min")),
        reset=None if reset is None else str(reset),
        group=None if group is None else str(group),
    )


def writer_settings(table: Table) -> dict[str, Any]:
    """The settings of a table's that is written; of those that go against idempotence Java's client does without it.

    Raises :class:`TableError` as :func:`client_settings`.
    """
    given = client_settings(table)
    requests = str(given.get("max.in.flight.requests.per.connection", _ORDERED_REQUESTS))
    is_against = (
        str(given.get("retries")) == "0"
        or str(given.get("acks", "all")) not in ("all", "-1")
        or (requests.isdigit() and int(requests) > _ORDERED_REQUESTS)
    )
    return {**WRITER, **({"enable.idempotence": False} if is_against else {}), **given}


def client_settings(table: Table) -> dict[str, Any]:
    """librdkafka's settings of a table's ``properties.*``: those that are declared and do something here.

    Raises :class:`TableError` for a login it cannot do, and for what would run something.
    """
    settings: dict[str, Any] = {}
    for key, value in table.options.items():
        option = option_of(key, PROPERTIES)
        if option is None or not option.executed:
            continue
        name = key.removeprefix(PREFIX)
        if option.refused is not None or (name.startswith(_KERBEROS) and not _BARE.fullmatch(value)):
            hint = "leave it out: a plan does not say what runs on this machine"
            raise TableError(f"'{key}' is not taken from a table", where=f"table {table.identifier}", hint=hint)
        if name == "sasl.jaas.config":
            settings |= _login(value, table)
        else:
            settings[option.passed_as or name] = value
    return settings


def _login(text: str, table: Table) -> dict[str, Any]:
    """The user and password of a line for Java's login modules."""
    line = _LOGIN.fullmatch(text)
    arguments = (
        {m[1]: next(v for v in m.groups()[1:] if v is not None) for m in _ARGUMENT.finditer(line[1])} if line else {}
    )
    if not {"username", "password"} <= arguments.keys():
        raise TableError(
            "'properties.sasl.jaas.config' names no user and password",
            where=f"table {table.identifier}",
            hint="only PLAIN and SCRAM work so; for others set the properties of librdkafka's that begin with 'sasl.'",
        )
    return {"sasl.username": arguments["username"], "sasl.password": arguments["password"]}


def consumer_of(settings: Mapping[str, Any], **more: Any) -> Consumer:
    """A client that reads what it is assigned."""
    from confluent_kafka import Consumer

    own = {"enable.auto.commit": False, "auto.offset.reset": "error", "enable.partition.eof": True, "log_level": 0}
    return Consumer({**settings, **own, **more})


def producer_of(settings: Mapping[str, Any], **more: Any) -> Producer:
    """A client that writes."""
    from confluent_kafka import Producer

    return Producer({**settings, "log_level": 0, **more})
