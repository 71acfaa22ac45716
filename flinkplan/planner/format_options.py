"""The formats that Flink brings along: their options, the values of these, and which do not go together.

Sources: ``JsonFormatOptionsUtil``, ``DebeziumJsonFormatFactory``, ``CsvCommons``, ``RawFormatFactory``.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..plan.errors import FlinkplanError
from .binder.context import TableUse
from .binder.errors import BindError
from .catalog.catalog import did_you_mean
from .option_values import Check, anything, boolean, character, charset, escaped_character, exactly_one_of, one_of

_JSON: Mapping[str, Check] = {
    "ignore-parse-errors": boolean,
    "map-null-key.mode": one_of("FAIL", "DROP", "LITERAL"),
    "map-null-key.literal": anything,
    "timestamp-format.standard": exactly_one_of("SQL", "ISO-8601"),
    "encode.ignore-null-fields": boolean,
    "encode.decimal-as-plain-number": boolean,
}

FORMATS: Mapping[str, Mapping[str, Check]] = {
    "json": {**_JSON, "fail-on-missing-field": boolean, "decode.json-parser.enabled": boolean},
    "csv": {
        "field-delimiter": escaped_character,
        "array-element-delimiter": character,
        "quote-character": character,
        "escape-character": character,
        "null-literal": anything,
        **dict.fromkeys(
            (
                "disable-quote-character",
                "allow-comments",
                "ignore-parse-errors",
                "empty-string-as-null",
                "fail-on-missing-columns",
                "allow-trailing-comma",
                "trim-spaces",
                "ignore-trailing-unmappable",
                "write-bigdecimal-in-scientific-notation",
            ),
            boolean,
        ),
    },
    "debezium-json": {**_JSON, "schema-include": boolean},
    "canal-json": {**_JSON, "database.include": anything, "table.include": anything},
    "maxwell-json": _JSON,
    "ogg-json": _JSON,
    "raw": {"charset": charset, "endianness": exactly_one_of("big-endian", "little-endian")},
}
"""By the format's name and the option's without it."""

FOREIGN_FORMATS = (
    *("parquet", "orc", "avro", "avro-confluent", "debezium-avro-confluent", "avro-glue", "json-glue"),
    *("protobuf", "json-confluent", "protobuf-confluent"),
)
"""Formats of other jars: their options are left to them."""


def check_format(use: TableUse) -> None:
    """Raise :class:`BindError` for a format or for options of it that Flink refuses."""
    name = use.options["format"]
    if name in FOREIGN_FORMATS:
        return
    if name not in FORMATS:
        choices = (*FORMATS, *FOREIGN_FORMATS)
        raise use.wrong("format", f"there is no format '{name}'", did_you_mean(name, choices))
    checks = {f"{name}.{option}": check for option, check in FORMATS[name].items()}
    for option, value in use.options.items():
        if option in checks:
            _check_value(use, option, value, checks[option])
        elif option.startswith(f"{name}."):
            raise use.wrong(option, f"the format '{name}' has no option '{option}'", did_you_mean(option, checks))
    _check_together(use, name)


def _check_value(use: TableUse, option: str, value: str, check: Check) -> None:
    try:
        check(value)
    except FlinkplanError as error:
        raise use.wrong(option, f"'{value}' is no value of {option}: {error.message}", error.hint) from None


def _check_together(use: TableUse, name: str) -> None:
    def is_on(option: str) -> bool:
        return use.options.get(f"{name}.{option}", "").lower() == "true"

    if is_on("ignore-parse-errors") and is_on("fail-on-missing-field") and not use.as_sink:
        raise _together(use, f"{name}.fail-on-missing-field", f"{name}.ignore-parse-errors")
    if is_on("disable-quote-character") and f"{name}.quote-character" in use.options:
        raise _together(use, f"{name}.quote-character", f"{name}.disable-quote-character")
    if is_on("schema-include") and use.as_sink:
        option = f"{name}.schema-include"
        raise use.wrong(option, f"'{option}' is for reading: no schema can be written", "leave it out")


def _together(use: TableUse, option: str, other: str) -> BindError:
    return use.wrong(option, f"'{option}' and '{other}' do not go together", "leave one of them out")
