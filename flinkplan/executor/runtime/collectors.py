"""Which collector of garbage a JVM is started with: given two, it does not start."""

from __future__ import annotations

import os
import re

SERIAL = "-XX:+UseSerialGC"
PARALLEL = "-XX:+UseParallelGC"

_COLLECTOR = re.compile(r"-XX:\+Use\w+GC\b")
VARIABLES = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "SPARK_SUBMIT_OPTS")
"""By these the environment adds options to those of a JVM that is started."""


def is_chosen(option: str) -> bool:
    """Whether the user has given a JVM an option with this text, in the environment."""
    return any(option in os.environ.get(name, "") for name in VARIABLES)


def is_collector_chosen(*options: str) -> bool:
    """Whether the user has chosen one, in the environment or in ``options``, texts of any kind."""
    texts = (*(os.environ.get(name, "") for name in VARIABLES), *options)
    return any(_COLLECTOR.search(text) for text in texts)
