"""Pipelines and plans as the commands are given them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .options import read_input, read_pipeline_text

if TYPE_CHECKING:
    from ..plan.document import Plan


def compile_pipeline(path: str, options: Mapping[str, str]) -> Plan:
    """Compile a SQL script, or a spec in YAML."""
    text, name = read_pipeline_text(path)
    return _compile(text, name, options)


def load_plan_or_pipeline(path: str, options: Mapping[str, str]) -> Plan:
    """Load a plan, or compile a pipeline: a plan's text starts with a brace, its file is not named as YAML.

    A pipeline's plan has the definitions of its temporary tables too.
    """
    from ..planner.spec import is_spec

    text, name = read_input(path)
    if is_spec(name) or not text.lstrip().startswith("{"):
        return _compile(text, name, options, complete=True)
    from ..plan.document import loads

    return loads(text, name)


def restore(plan: Plan, path: str, options: Mapping[str, str]) -> Plan:
    """A plan with the tables that it only names as a script defines them."""
    from ..planner.script import definitions, parse_pipeline

    return definitions(parse_pipeline(*read_input(path)), options).restore(plan)


def _compile(text: str, name: str, options: Mapping[str, str], *, complete: bool = False) -> Plan:
    from ..planner import compile_script

    return compile_script(text, file=name, options=options, complete=complete)
