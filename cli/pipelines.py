"""Pipelines and plans as the commands are given them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .options import read_input

if TYPE_CHECKING:
    from ..plan.document import Plan


def compile_pipeline(path: str, options: Mapping[str, str]) -> Plan:
    """Compile a SQL script or a YAML spec."""
    text, name = read_input(path)
    return compile_text(text, name, options)


def compile_text(text: str, name: str, options: Mapping[str, str]) -> Plan:
    """Compile the text of a pipeline; a spec is known by its file's ending."""
    if Path(name).suffix in (".yaml", ".yml"):
        from ..planner.spec import compile_spec

        return compile_spec(text, file=name, options=options)
    from ..planner import compile_script

    return compile_script(text, file=name, options=options)


def load_plan_or_pipeline(path: str, options: Mapping[str, str]) -> Plan:
    """Load a plan, or compile a pipeline: a plan's text starts with a brace."""
    text, name = read_input(path)
    if text.lstrip().startswith("{"):
        from ..plan.document import loads

        return loads(text, name)
    return compile_text(text, name, options)
