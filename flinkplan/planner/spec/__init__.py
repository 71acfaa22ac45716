"""Declarative pipelines in YAML, a second front door: the syntax tree is the one that SQL gives.

The keys are those of ``schemas/spec-v1.schema.json``; types, expressions and queries inside are Flink SQL.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..sql.ast import Script

SUFFIXES = (".yaml", ".yml")


def is_spec(file: str | None) -> bool:
    """Whether a file's name says that it holds a spec."""
    return file is not None and PurePath(file).suffix.lower() in SUFFIXES


def parse_spec(text: str, file: str | None = None) -> Script:
    """The statements that a spec stands for: settings, tables, views, then one INSERT or statement set.

    Raises :class:`FlinkplanError` with the places in the YAML text, an ErrorGroup for several: first for what is no
    YAML, then for what the schema refuses, then for what is no SQL.
    """
    from ..sql.source import Source, without_mark
    from .reader import read
    from .statements import script
    from .validation import validate

    source = Source(without_mark(text), file)
    return script(validate(read(source)), source)
