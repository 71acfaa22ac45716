"""The jars that Java functions need in Spark: those of the user's Flink, with what calls the functions."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ..flink.functions import SOURCES
from ..flink.home import flink_jars
from ..flink.jar import compiled_jar

BRIDGE = Path(__file__).parents[1] / "executor" / "runtime" / "bridge"
"""The Java sources of what calls functions, which are compiled with the jars of Flink and of Spark."""


@cache
def function_jars() -> tuple[str, ...]:
    """Their paths.  Raises :class:`.state.form.StateError` where there is no Flink, or no JDK."""
    from ..executor.runtime.jar import jars, runtime_jar

    flink = flink_jars(needed_for="functions in Java run on the classes of Flink")
    compiled_with = (*flink, runtime_jar(), *sorted(jars().glob("*.jar")))
    return str(compiled_jar("functions-on-spark", (BRIDGE, SOURCES), compiled_with)), *map(str, flink)
