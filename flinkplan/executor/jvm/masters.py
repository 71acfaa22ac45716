"""Which masters Spark knows, so that a wrong one is refused before a JVM starts."""

from __future__ import annotations

import re

from ..errors import SparkStartError

_THREADS = r"(\*|[1-9]\d*)"
_HOST_AND_PORT = r"[^\s:/,]+:\d+"
_KNOWN = re.compile(
    "|".join(
        (
            "local",
            rf"local\[{_THREADS}(\s*,\s*\d+)?\]",
            r"local-cluster\[(\s*[1-9]\d*\s*,){2}\s*\d+\s*\]",
            rf"spark://{_HOST_AND_PORT}(,{_HOST_AND_PORT})*",
            "yarn",
            r"(?!spark:)[A-Za-z][\w.+-]*://\S+",
        )
    )
)
"""Source: Spark's ``SparkMasterRegex``.  URLs of other schemes are left to the cluster managers that the JVM has."""

_HINT = "a master is local, local[N], local[*], spark://HOST:PORT, yarn, or k8s://URL"


def check_master(master: str) -> None:
    """Raise :class:`SparkStartError` for a text that names no master of Spark."""
    if _KNOWN.fullmatch(master):
        return
    if master.startswith("spark://"):
        raise SparkStartError(f"'{master}' does not name a host and its port", hint="write spark://HOST:PORT")
    raise SparkStartError(f"Spark has no master '{master}'", hint=_HINT)
