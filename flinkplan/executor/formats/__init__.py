"""The formats of tables, found by the option ``format``.

What a format does is in the Java half (``flinkplan.runtime.format``); here are its options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...plan.record import Record
from ..errors import TableError
from ..options import boolean, character, escaped_character, one_of, word

Reader = Callable[[str], object]


class Format(Record):
    """A format: ``options`` by their keys without the format's name in front.

    ``changelog``: messages say what kind of change they are.  ``journal``: who reads the messages wants each
    change, not only what they come to, so that none may be left out.  ``columnar``: Spark's own reader and writer
    of whole files are used.
    """

    name: str
    options: Mapping[str, Reader]
    changelog: bool = False
    journal: bool = False
    columnar: bool = False


_TIMESTAMPS: Mapping[str, Reader] = {"timestamp-format.standard": one_of("SQL", "ISO-8601")}
_JSON_WRITING: Mapping[str, Reader] = {
    "map-null-key.mode": word("FAIL", "DROP", "LITERAL"),
    "map-null-key.literal": str,
    "encode.decimal-as-plain-number": boolean,
    "encode.ignore-null-fields": boolean,
}
_CHANGELOG_JSON: Mapping[str, Reader] = {"ignore-parse-errors": boolean, **_TIMESTAMPS, **_JSON_WRITING}

_FORMATS = {
    format_.name: format_
    for format_ in (
        Format(
            "json",
            {
                "fail-on-missing-field": boolean,
                "ignore-parse-errors": boolean,
                "decode.json-parser.enabled": boolean,
                **_TIMESTAMPS,
                **_JSON_WRITING,
            },
        ),
        Format(
            "csv",
            {
                "field-delimiter": escaped_character,
                "disable-quote-character": boolean,
                "quote-character": character,
                "allow-comments": boolean,
                "ignore-parse-errors": boolean,
                "array-element-delimiter": character,
                "escape-character": character,
                "null-literal": str,
                "write-bigdecimal-in-scientific-notation": boolean,
                "trim-spaces": boolean,
                "ignore-trailing-unmappable": boolean,
                "allow-trailing-comma": boolean,
                "fail-on-missing-columns": boolean,
                "empty-string-as-null": boolean,
            },
        ),
        Format("raw", {"charset": str, "endianness": one_of("big-endian", "little-endian")}),
        Format("debezium-json", {"schema-include": boolean, **_CHANGELOG_JSON}, changelog=True),
        Format(
            "canal-json",
            {"database.include": str, "table.include": str, **_CHANGELOG_JSON},
            changelog=True,
            journal=True,
        ),
        Format("maxwell-json", _CHANGELOG_JSON, changelog=True, journal=True),
        Format("ogg-json", _CHANGELOG_JSON, changelog=True, journal=True),
        Format("parquet", {"utc-timezone": boolean, "*": str}, columnar=True),
        Format("orc", {"*": str}, columnar=True),
    )
}


def find_format(options: Mapping[str, str], where: str) -> Format:
    """The format that a table's options name.  Raises :class:`TableError` for none or an unknown one."""
    name = options.get("format")
    if name is None:
        raise TableError("the option 'format' is missing", where=where, hint=f"one of {', '.join(_FORMATS)}")
    if name not in _FORMATS:
        raise TableError(f"unknown format '{name}'", where=where, hint=f"one of {', '.join(_FORMATS)}")
    return _FORMATS[name]


def keeps_journal(options: Mapping[str, str]) -> bool:
    """Whether a table with these options has a format whose messages are a journal of all changes."""
    name = options.get("format")
    return name in _FORMATS and _FORMATS[name].journal


def format_readers(format_: Format) -> dict[str, Reader]:
    """The readers of the format's options as a table spells them: ``json.ignore-parse-errors``."""
    return {f"{format_.name}.{key}": reader for key, reader in format_.options.items()}


def format_options(format_: Format, options: Mapping[str, str]) -> dict[str, str]:
    """The format's options without its name in front."""
    prefix = f"{format_.name}."
    return {key.removeprefix(prefix): value for key, value in options.items() if key.startswith(prefix)}
