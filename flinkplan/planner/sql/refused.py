"""Statements of Flink SQL that flinkplan refuses, with what they need."""

from __future__ import annotations

from collections.abc import Mapping

_MODIFIED = "Flink does this in batch mode only, by connectors that support it"

REFUSED: Mapping[str, str] = {
    "MATERIALIZED": "a materialized table needs a catalog that stores it, and Flink's gateway, which refreshes it",
    "MODEL": "a model needs a provider, a Java class that Flink calls while a job runs",
    "CONNECTION": "a connection needs a catalog of Flink that stores its secrets",
    "CALL": "a procedure is Java code of a catalog of Flink",
    "ANALYZE": "statistics of tables change plans of Flink's batch mode only",
    "DELETE": _MODIFIED,
    "TRUNCATE": _MODIFIED,
    "UPDATE": _MODIFIED,
    "REFRESH": "a materialized table needs a catalog that stores it, and Flink's gateway, which refreshes it",
    "MERGE": "Flink itself does not support it",
    "UPSERT": "Flink itself does not support it",
    "RECURSIVE": "Flink itself does not support it",
    "SNAPSHOT": "Flink has such joins from release 2.4 on; join FOR SYSTEM_TIME AS OF a time of the left side",
    "COMPACT": "Flink does this for tables that it manages itself, of which no connector has any",
}
"""What a statement needs, by the word that it is recognized by."""

IN_STREAMS: Mapping[str, str] = {
    "ANALYZE": "ANALYZE TABLE is not supported for streaming mode now",
    "DELETE": "DELETE statement is not supported for streaming mode now.",
    "TRUNCATE": "TRUNCATE TABLE statement is not supported in streaming mode.",
    "UPDATE": "UPDATE statement is not supported for streaming mode now.",
}
"""What Flink says to those of these statements that it does in batch mode only."""

REFUSED_FUNCTIONS: Mapping[str, str] = {
    "ML_PREDICT": REFUSED["MODEL"],
    "ML_EVALUATE": REFUSED["MODEL"],
    "VECTOR_SEARCH": "it needs a table of a connector that searches vectors, and flinkplan has none",
}
"""The same for table functions of FROM."""
