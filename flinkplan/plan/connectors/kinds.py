"""Rules for the kinds of changes that a table emits or accepts, depending on its options."""

from __future__ import annotations

from ..options import is_true
from ..row_kinds import ALL, INSERTS, UPSERTS, Kinds
from .formats import FORMATS
from .model import KindsRule, Options


def format_name(options: Options) -> str | None:
    """The name of the format of a table's messages, or of their values if they have keys."""
    return options.get("format") or options.get("value.format")


def option_prefix(named_by: str, name: str) -> str:
    """The prefix of the options of the format ``name`` if the option ``named_by`` names it.

    Source: ``FactoryUtil.getFormatPrefix``.
    """
    return f"{named_by.removesuffix('format')}{name}."


def by_format(options: Options, keyed: bool) -> Kinds:
    """The kinds of changes that the format's messages can express."""
    format_ = FORMATS.get(format_name(options) or "")
    return format_.kinds if format_ else INSERTS


def upserts_by_key(options: Options, keyed: bool) -> Kinds:
    """Upserts if there is a primary key, else inserts."""
    return UPSERTS if keyed else INSERTS


def unless(option: str, kinds: Kinds, otherwise: Kinds = INSERTS) -> KindsRule:
    """``kinds``, or ``otherwise`` if a boolean option is true."""
    return lambda options, keyed: otherwise if is_true(options.get(option)) else kinds


def postgres(options: Options, keyed: bool) -> Kinds:
    """Source: ``PostgreSQLTableSource``."""
    if is_true(options.get("scan.read-changelog-as-append-only.enabled")):
        return INSERTS
    return UPSERTS if options.get("changelog-mode", "all").lower() == "upsert" else ALL


def paimon_source(options: Options, keyed: bool) -> Kinds:
    """Source: ``BaseDataTableSource``."""
    if not keyed or options.get("merge-engine") == "first-row":
        return INSERTS
    produced = options.get("changelog-producer", "none") != "none"
    return ALL if produced or is_true(options.get("scan.remove-normalize")) else UPSERTS


def paimon_sink(options: Options, keyed: bool) -> Kinds:
    """Source: ``FlinkTableSinkBase``."""
    merges = options.get("merge-engine") == "aggregation"
    merges |= options.get("merge-engine") == "partial-update" and any(
        k.endswith(".aggregate-function") for k in options
    )
    return ALL if not keyed or merges or options.get("changelog-producer") == "input" else UPSERTS


def doris_sink(options: Options, keyed: bool) -> Kinds:
    """Source: ``DorisDynamicTableSink``."""
    return ALL if options.get("sink.ignore.update-before", "true").lower() == "false" else UPSERTS


def hudi_source(options: Options, keyed: bool) -> Kinds:
    """All changes if the table is read as a stream and stores its changelog."""
    is_streaming = is_true(options.get("read.streaming.enabled"))
    stores_changelog = is_true(options.get("changelog.enabled")) or is_true(options.get("cdc.enabled"))
    return ALL if is_streaming and stores_changelog else INSERTS


def hudi_sink(options: Options, keyed: bool) -> Kinds:
    """All changes if the table stores its changelog, else upserts."""
    return ALL if is_true(options.get("changelog.enabled")) else UPSERTS


def fluss_source(options: Options, keyed: bool) -> Kinds:
    """Source: ``FlinkTableSource``."""
    if not keyed or options.get("table.merge-engine") == "first_row":
        return INSERTS
    return UPSERTS if options.get("table.changelog.image", "full").lower() == "wal" else ALL
