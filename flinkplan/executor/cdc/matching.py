"""Names of tables that are given as they are, or by regular expressions."""

from __future__ import annotations

import re

from .settings import CaptureError

_META = re.compile(r"[\\^$.|?*+()\[\]{}]")


def matches(pattern: str, name: str) -> bool:
    """Whether a name is the one that is given, or matches the expression that is."""
    if pattern == name or not _META.search(pattern):
        return pattern == name
    try:
        return re.fullmatch(pattern, name) is not None
    except re.error as e:
        raise CaptureError(f"'{pattern}' is no regular expression: {e}") from None
