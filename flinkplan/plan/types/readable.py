"""Types as Flink summarizes them in messages and in TYPEOF: ``STRING`` instead of ``VARCHAR(2147483647)``."""

from __future__ import annotations

import re

from .logical import STRING_LENGTH

_SHORT_NAMES = (
    (re.compile(rf"VARCHAR\({STRING_LENGTH}\)"), "STRING"),
    (re.compile(rf"VARBINARY\({STRING_LENGTH}\)"), "BYTES"),
    (re.compile(r"TIMESTAMP\((\d)\) WITH LOCAL TIME ZONE"), r"TIMESTAMP_LTZ(\1)"),
)


def readable(text: str) -> str:
    """A text with its types replaced by their short names (Flink's ``LogicalType.asSummaryString``)."""
    for full_name, short_name in _SHORT_NAMES:
        text = full_name.sub(short_name, text)
    return text
