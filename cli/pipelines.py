"""Pipelines and plans as the commands are given them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .options import read_input

if TYPE_CHECKING:
    from ..plan.document import Plan


def compile_pipeline(path: str, options: Mapping[str, str]) -> Plan:
    """Compile a SQL script."""
    text, name = read_input(path)
    return _compile(text, name, options)


def load_plan_or_pipeline(path: str, options: Mapping[str, str]) -> Plan:
    """Load a plan, or compile a SQL script: a plan's text starts with a brace."""
    text, name = read_input(path)
    if not text.lstrip().startswith("{"):
        return _compile(text, name, options)
    from ..plan.document import loads

    return loads(text, name)


def _compile(text: str, name: str, options: Mapping[str, str]) -> Plan:
    from ..plan.errors import UnsupportedError
    from ..planner import compile_script

    if Path(name).suffix in (".yaml", ".yml"):
        raise UnsupportedError("pipelines in YAML are not supported", where=name, hint="write the pipeline in SQL")
    return compile_script(text, file=name, options=options)
