"""Pipelines and plans as the commands are given them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from .errors import print_warning
from .options import read_input, read_pipeline_text

if TYPE_CHECKING:
    from ..plan.document import Plan
    from ..plan.findings import Finding


class Warnings:
    """Prints warnings, but for those of the rules to ``ignore``, and counts them."""

    def __init__(self, ignore: Sequence[str] = ()) -> None:
        self._ignore = ignore
        self.count = 0

    def __call__(self, finding: Finding) -> None:
        if not any(fnmatchcase(finding.rule, pattern) for pattern in self._ignore):
            self.count += 1
            print_warning(finding)


def compile_pipeline(path: str, options: Mapping[str, str], warnings: Warnings | None = None) -> Plan:
    """Compile a SQL script, or a spec in YAML; warnings are printed."""
    text, name = read_pipeline_text(path)
    return _compile(text, name, options, warnings)


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
    """A plan with the tables of a script in place of its own.

    Raises :class:`CatalogError` for a table that replaces none although some of the plan's are left.
    """
    from ..planner.catalog.restoring import RESTORED, check_replaces
    from ..planner.script import definitions, parse_pipeline

    session = definitions(parse_pipeline(*read_input(path)), {RESTORED: "IDENTIFIER", **options})
    check_replaces(plan, session.catalog, path)
    return session.restore(plan)


def _compile(
    text: str, name: str, options: Mapping[str, str], warnings: Warnings | None = None, *, complete: bool = False
) -> Plan:
    from ..planner import compile_script

    return compile_script(text, file=name, options=options, complete=complete, warn=warnings or Warnings())
