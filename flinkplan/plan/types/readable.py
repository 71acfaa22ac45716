"""Types as people write them."""

from __future__ import annotations

import re

from .logical import STRING_LENGTH

_WRITTEN = (
    (re.compile(rf"VARCHAR\({STRING_LENGTH}\)"), "STRING"),
    (re.compile(rf"VARBINARY\({STRING_LENGTH}\)"), "BYTES"),
    (re.compile(r"TIMESTAMP\((\d)\) WITH LOCAL TIME ZONE"), r"TIMESTAMP_LTZ(\1)"),
)


def readable(text: str) -> str:
    """A text with its types as people write them: ``STRING``, not ``VARCHAR(2147483647)``."""
    for plan_name, written in _WRITTEN:
        text = plan_name.sub(written, text)
    return text
