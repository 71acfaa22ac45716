"""The formats.

Sources: the format factories of Flink 2.3 (``JsonFormatOptionsUtil``, ``DebeziumJsonFormatFactory``, ``CsvCommons``,
``RawFormatFactory``, ``AvroFormatFactory``) and, for those of other jars, their documentation.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..options import (
    BOOLEAN,
    CHARACTER,
    CHARSET,
    ESCAPED_CHARACTER,
    NUMBER,
    POSITIVE,
    TEXT,
    WHOLE,
    Option,
    OptionType,
    exactly_one_of,
    one_of,
)
from ..row_kinds import ALL
from .model import Format

_IGNORE = Option("ignore-parse-errors", BOOLEAN, "false", "a field that cannot be read is NULL, a line is left out")
_JSON = (
    Option("map-null-key.mode", one_of("FAIL", "DROP", "LITERAL"), "FAIL", "how a NULL key of a map is written"),
    Option("map-null-key.literal", TEXT, "null", "the text of a NULL key in the mode LITERAL"),
    Option(
        "timestamp-format.standard",
        exactly_one_of("SQL", "ISO-8601"),
        "SQL",
        "how times are written: 2020-12-30 12:13:14.123 or 2020-12-30T12:13:14.123",
    ),
    Option("encode.ignore-null-fields", BOOLEAN, "false", "NULL fields are left out of the objects written"),
    Option("encode.decimal-as-plain-number", BOOLEAN, "false", "decimals are written without an exponent"),
)

_CSV = (
    Option("field-delimiter", ESCAPED_CHARACTER, ",", "the separator of fields"),
    Option("disable-quote-character", BOOLEAN, "false", "values are not quoted"),
    Option("quote-character", CHARACTER, '"', "the quote of values"),
    Option("allow-comments", BOOLEAN, "false", "lines that begin with # are left out"),
    _IGNORE,
    Option("array-element-delimiter", CHARACTER, ";", "the separator of the elements of an array or row"),
    Option("escape-character", CHARACTER, None, "the character that escapes the next one"),
    Option("null-literal", TEXT, None, "the text that stands for NULL"),
    Option("write-bigdecimal-in-scientific-notation", BOOLEAN, "true", "decimals are written with an exponent"),
    Option("trim-spaces", BOOLEAN, "false", "spaces around values are left out"),
    Option("ignore-trailing-unmappable", BOOLEAN, "false", "fields beyond the table's columns are left out"),
    Option("allow-trailing-comma", BOOLEAN, "true", "a delimiter may end a line"),
    Option("fail-on-missing-columns", BOOLEAN, "false", "a line with too few fields fails the job"),
    Option("empty-string-as-null", BOOLEAN, "false", "an empty text is NULL"),
)


_AVRO = (
    Option("encoding", exactly_one_of("binary", "json"), "binary", "Avro's binary encoding, or the one in JSON"),
    Option(
        "timestamp_mapping.legacy",
        BOOLEAN,
        "true",
        "TIMESTAMP is Avro's timestamp; else its local one, TIMESTAMP_LTZ that",
    ),
    Option("open.fastread", BOOLEAN, "false", "Flink reads by the faster of Avro's two readers", executed=False),
    Option("codec", TEXT, "snappy", "how files are compressed", executed=False),
)


REGISTRY_URL, SUBJECT, REGISTRY_SCHEMA, AUTO_REGISTER = "url", "subject", "schema", "auto.register.schemas"
BASIC_SOURCE, USER_INFO = "basic-auth.credentials-source", "basic-auth.user-info"
BEARER_SOURCE, TOKEN = "bearer-auth.credentials-source", "bearer-auth.token"
_STORES = "certificates of authorities that the machine trusts are used"


def registry_option(options: Mapping[str, str], key: str) -> str | None:
    """An option of a format with a schema registry, by its name or its older one."""
    return options.get(key, options.get(f"schema-registry.{key}"))


_REGISTRY = (
    *(
        Option(f"{prefix}{key}", TEXT, None, f"{meaning}{more}")
        for prefix, more in (("", ""), ("schema-registry.", "; the older name"))
        for key, meaning in (
            (REGISTRY_URL, "the address of the schema registry, or several between commas"),
            (SUBJECT, "the subject under which a sink registers its schema; by default the topic with -key or -value"),
            (REGISTRY_SCHEMA, "the schema of the columns, with other names of records than Flink's"),
        )
    ),
    Option(AUTO_REGISTER, BOOLEAN, "true", "a schema that is not registered is; else the job fails"),
    Option(BASIC_SOURCE, TEXT, None, "where user and password are from: USER_INFO"),
    Option(USER_INFO, TEXT, None, "user and password, with a colon between them, as a variable"),
    Option(BEARER_SOURCE, TEXT, None, "where the token is from: STATIC_TOKEN"),
    Option(TOKEN, TEXT, None, "the token, as a variable"),
    *(
        Option(f"ssl.{store}.{key}", TEXT, None, f"the {key} of a {store}", refused=_STORES)
        for store in ("keystore", "truststore")
        for key in ("location", "password")
    ),
    Option("properties.*", TEXT, None, "another setting of the registry's client", refused="it has no list of them"),
)


def _library(library: str, key: str, type_: OptionType, default: str | None, meaning: str) -> Option:
    """An option that both Flink and Spark pass to the library of a columnar format."""
    return Option(key, type_, default, meaning, passed_as=f"{library}.{key}")


def _others(library: str) -> Option:
    return Option(
        "*",
        TEXT,
        None,
        f"others that Flink hands to {library}'s library",
        refused="only options on a list are handed to Spark",
    )


_PARQUET = (
    Option(
        "compression",
        one_of("UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "LZ4_RAW", "ZSTD"),
        "SNAPPY",
        "how columns are compressed",
        passed_as="compression",
    ),
    _library("parquet", "compression.codec.zstd.level", WHOLE, "3", "the level of ZSTD, from 1 to 22"),
    _library("parquet", "block.size", POSITIVE, "134217728", "the bytes of a row group"),
    _library("parquet", "page.size", POSITIVE, "1048576", "the bytes of a page"),
    _library("parquet", "dictionary.page.size", POSITIVE, "1048576", "the bytes of a dictionary's page"),
    _library("parquet", "enable.dictionary", BOOLEAN, "true", "values that repeat are written once"),
    _library("parquet", "validation", BOOLEAN, "false", "written values are checked against the schema"),
    _library(
        "parquet",
        "writer.version",
        exactly_one_of("PARQUET_1_0", "PARQUET_2_0", "v1", "v2"),
        "PARQUET_1_0",
        "the version of pages",
    ),
    _library("parquet", "writer.max-padding", WHOLE, "8388608", "how many bytes may stay empty before a row group"),
    _library("parquet", "page.row.count.limit", POSITIVE, "20000", "the rows of a page"),
    _library("parquet", "bloom.filter.enabled", BOOLEAN, "false", "columns have Bloom filters"),
    _library("parquet", "bloom.filter.max.bytes", POSITIVE, "1048576", "the bytes of a Bloom filter"),
    Option("utc-timezone", BOOLEAN, "false", "Flink's times are of UTC, not of the machine's zone", executed=False),
    Option("batch-size", POSITIVE, "2048", "how many rows Flink reads at once", executed=False),
    Option("write.int64.timestamp", BOOLEAN, "false", "Flink writes times as numbers, not as INT96", executed=False),
    Option(
        "timestamp.time.unit",
        exactly_one_of("nanos", "micros", "millis"),
        "micros",
        "the unit of these numbers",
        executed=False,
    ),
    _others("Parquet"),
)

_ORC = (
    Option(
        "compress",
        one_of("NONE", "ZLIB", "SNAPPY", "LZO", "LZ4", "ZSTD", "BROTLI"),
        None,
        "how columns are compressed; by default ZLIB in Flink and ZSTD in Spark",
        passed_as="compression",
    ),
    _library("orc", "compress.size", POSITIVE, "262144", "the bytes that are compressed at once"),
    _library("orc", "stripe.size", POSITIVE, "67108864", "the bytes of a stripe"),
    _library("orc", "block.size", POSITIVE, "268435456", "the bytes of a block of the file system"),
    _library("orc", "block.padding", BOOLEAN, "true", "stripes do not cross blocks"),
    _library("orc", "block.padding.tolerance", NUMBER, "0.05", "which share of a stripe may stay empty for that"),
    _library("orc", "create.index", BOOLEAN, "true", "files have indexes"),
    _library("orc", "row.index.stride", POSITIVE, "10000", "the rows between their entries"),
    _library("orc", "bloom.filter.columns", TEXT, None, "the columns with Bloom filters, between commas"),
    _library("orc", "bloom.filter.fpp", NUMBER, "0.01", "the rate of false positives of Bloom filters"),
    _library(
        "orc",
        "dictionary.key.threshold",
        NUMBER,
        "0.8",
        "the maximum share of distinct values for which there is a dictionary",
    ),
    _library(
        "orc",
        "encoding.strategy",
        one_of("SPEED", "COMPRESSION"),
        "SPEED",
        "whether encoding is optimized for speed or for size",
    ),
    _library(
        "orc",
        "compression.strategy",
        one_of("SPEED", "COMPRESSION"),
        "SPEED",
        "whether compression is optimized for speed or for size",
    ),
    _others("ORC"),
)

FORMATS: Mapping[str, Format] = {
    format_.name: format_
    for format_ in (
        Format(
            "json",
            "one JSON object per line",
            (
                Option(
                    "fail-on-missing-field", BOOLEAN, "false", "a missing field fails the job, instead of being NULL"
                ),
                _IGNORE,
                Option("decode.json-parser.enabled", BOOLEAN, "true", "Flink reads by the faster of its two parsers"),
                *_JSON,
            ),
            executed=True,
        ),
        Format("csv", "separated values, one row per line", _CSV, executed=True),
        Format(
            "raw",
            "one column, as its bytes",
            (
                Option("charset", CHARSET, "UTF-8", "how text is encoded"),
                Option("endianness", exactly_one_of("big-endian", "little-endian"), "big-endian", "the order of bytes"),
            ),
            executed=True,
        ),
        Format(
            "debezium-json",
            "changes in Debezium's format",
            (Option("schema-include", BOOLEAN, "false", "messages hold their schema (to read only)"), _IGNORE, *_JSON),
            kinds=ALL,
            executed=True,
        ),
        Format(
            "canal-json",
            "changes in Canal's format",
            (
                Option("database.include", TEXT, None, "a regular expression of the databases whose changes are read"),
                Option("table.include", TEXT, None, "a regular expression of the tables whose changes are read"),
                _IGNORE,
                *_JSON,
            ),
            kinds=ALL,
            journal=True,
            executed=True,
        ),
        Format("maxwell-json", "changes in Maxwell's format", (_IGNORE, *_JSON), ALL, journal=True, executed=True),
        Format("ogg-json", "changes in GoldenGate's format", (_IGNORE, *_JSON), ALL, journal=True, executed=True),
        Format(
            "parquet",
            "columns in files of Parquet",
            _PARQUET,
            columnar=True,
            executed=True,
        ),
        Format("orc", "columns in files of ORC", _ORC, columnar=True, executed=True),
        Format("avro", "records of Avro, as messages", _AVRO, framed=True, executed=True),
        Format(
            "avro-confluent",
            "records of Avro, their schemas in a registry",
            _REGISTRY,
            framed=True,
            executed=True,
            needs=((REGISTRY_URL, f"schema-registry.{REGISTRY_URL}"),),
            secrets=(USER_INFO, TOKEN),
            servers=(REGISTRY_URL, f"schema-registry.{REGISTRY_URL}"),
        ),
        Format(
            "debezium-avro-confluent",
            "changes in Debezium's format, in Avro, their schemas in a registry",
            _REGISTRY,
            kinds=ALL,
            framed=True,
            executed=True,
            needs=((REGISTRY_URL, f"schema-registry.{REGISTRY_URL}"),),
            secrets=(USER_INFO, TOKEN),
            servers=(REGISTRY_URL, f"schema-registry.{REGISTRY_URL}"),
        ),
        Format("avro-glue", "records of Avro, their schemas in AWS Glue"),
        Format("json-glue", "objects of JSON, their schemas in AWS Glue"),
        Format("json-confluent", "objects of JSON, their schemas in a registry"),
        Format(
            "protobuf",
            "messages of Protocol Buffers",
            (
                Option("message-class-name", TEXT, None, "the name of the message's Java class", required=True),
                Option("ignore-parse-errors", BOOLEAN, "false", "a message that cannot be read is left out"),
                Option("read-default-values", BOOLEAN, "false", "a field that is not set has its default, not NULL"),
                Option("write-null-string-literal", TEXT, "", "the text of a NULL in an array or a map"),
            ),
            framed=True,
            executed=True,
            needs=(("message-class-name",),),
        ),
        Format("protobuf-confluent", "messages of Protocol Buffers, their schemas in a registry"),
    )
}
"""The formats by name: Flink's own with all their options, those of other jars with their kinds of changes only."""
