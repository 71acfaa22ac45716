"""The connectors of other jars: the planner compiles their tables into plans for Flink, and flinkplan does not execute
them.

Their options are not checked.  Sources: the ``getChangelogMode`` methods and ``Supports…`` interfaces in the
connectors' repositories (Flink CDC, flink-connector-jdbc, -mongodb, -hbase, -elasticsearch, -pulsar, -aws,
Apache Paimon, Hudi, Iceberg, Fluss, Doris and StarRocks) and their documentation.
"""

from __future__ import annotations

from ..row_kinds import ALL, INSERTS, UPSERTS
from .kinds import (
    by_format,
    doris_sink,
    fluss_source,
    hudi_sink,
    hudi_source,
    unless,
    upserts_by_key,
)
from .model import MESSAGE_FORMATS, Connector, KindsRule, Sink, Source, always

_AS_APPENDS = "scan.read-changelog-as-append-only.enabled"
_TABLES = {"projection": True, "filters": False, "limit": True}
"""The abilities of sources that query tables; flinkplan does not push filters into them."""


def _cdc(
    name: str, database: str, kinds: KindsRule, has_metadata: bool = True, deletes_by_key: bool = False
) -> Connector:
    source = Source(kinds, bounded=False, deletes_by_key=deletes_by_key)
    return Connector(name, f"the changes of tables in {database}", source, has_metadata=has_metadata)


def _search(name: str, meaning: str) -> Connector:
    return Connector(name, meaning, None, Sink(always(UPSERTS), as_requested=True), formats=MESSAGE_FORMATS)


def _unknown(name: str, meaning: str, source: bool = True, sink: bool = True) -> Connector:
    return Connector(name, meaning, Source(None) if source else None, Sink(None) if sink else None)


OTHERS = (
    Connector(
        "pulsar", "topics of Pulsar", Source(by_format), Sink(by_format), formats=MESSAGE_FORMATS, has_metadata=True
    ),
    Connector(
        "kinesis", "streams of AWS Kinesis", Source(by_format, bounded=False), Sink(by_format), formats=MESSAGE_FORMATS
    ),
    Connector("firehose", "AWS Firehose", None, Sink(by_format), formats=MESSAGE_FORMATS),
    Connector("sqs", "queues of AWS SQS", None, Sink(by_format), formats=MESSAGE_FORMATS),
    Connector("dynamodb", "tables of AWS DynamoDB", None, Sink(always(UPSERTS), deletes_by_key=True)),
    Connector(
        "mongodb",
        "collections of MongoDB",
        Source(always(INSERTS), **_TABLES, bounded=True, lookups=True),
        Sink(upserts_by_key, deletes_by_key=True),
    ),
    _search("elasticsearch-6", "indexes of Elasticsearch 6"),
    _search("elasticsearch-7", "indexes of Elasticsearch 7"),
    _search("elasticsearch-8", "indexes of Elasticsearch 8"),
    _search("opensearch", "indexes of OpenSearch"),
    _search("opensearch-2", "indexes of OpenSearch 2"),
    *(
        Connector(
            name,
            "tables of HBase",
            Source(always(INSERTS), projection=True, bounded=True, lookups=True),
            Sink(always(UPSERTS), as_requested=True),
        )
        for name in ("hbase-1.4", "hbase-2.2", "hbase-2.6")
    ),
    _cdc("oracle-cdc", "Oracle", always(ALL)),
    _cdc("sqlserver-cdc", "SQL Server", always(ALL)),
    _cdc("db2-cdc", "Db2", always(ALL)),
    _cdc("oceanbase-cdc", "OceanBase", always(ALL)),
    _cdc("vitess-cdc", "Vitess", always(ALL), has_metadata=False),
    _cdc("tidb-cdc", "TiDB", always(UPSERTS)),
    _cdc("mongodb-cdc", "MongoDB", unless("scan.full-changelog", UPSERTS, ALL), deletes_by_key=True),
    Connector("hudi", "tables of Apache Hudi", Source(hudi_source, **_TABLES), Sink(hudi_sink, overwrites=True)),
    Connector(
        "hive", "tables of Apache Hive", Source(always(INSERTS), lookups=True), Sink(always(INSERTS), overwrites=True)
    ),
    Connector(
        "fluss",
        "tables of Apache Fluss",
        Source(fluss_source, **_TABLES, lookups=True),
        Sink(upserts_by_key, as_requested=True),
    ),
    Connector(
        "doris",
        "tables of Apache Doris",
        Source(always(INSERTS), **_TABLES, bounded=True, lookups=True),
        Sink(doris_sink, deletes_by_key=True),
    ),
    Connector(
        "starrocks",
        "tables of StarRocks",
        Source(always(INSERTS), **_TABLES, bounded=True, lookups=True),
        Sink(always(ALL), as_requested=True),
    ),
    Connector("faker", "generated rows", Source(always(INSERTS), limit=True, lookups=True)),
    Connector("influxdb", "measurements of InfluxDB", Source(always(INSERTS)), Sink(always(INSERTS))),
    Connector("prometheus", "time series of Prometheus", None, Sink(always(INSERTS))),
    Connector("cloudwatch", "metrics of AWS CloudWatch", None, Sink(always(INSERTS))),
    Connector("socket", "lines from a socket", Source(by_format, bounded=False), formats=MESSAGE_FORMATS),
    _unknown("clickhouse", "tables of ClickHouse"),
    _unknown("redis", "values of Redis"),
    _unknown("cassandra", "tables of Cassandra"),
    _unknown("rabbitmq", "queues of RabbitMQ"),
    _unknown("http", "requests over HTTP"),
    _unknown("rest-lookup", "answers over HTTP", sink=False),
    _unknown("values", "rows of Flink's own tests"),
    _unknown("legacy-csv", "files of comma-separated values of old"),
)
