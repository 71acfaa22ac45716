"""Reading the pipelines and plans that commands are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import click

from .errors import print_warning
from .options import is_json, read_input, read_pipeline_text

if TYPE_CHECKING:
    from ..plan.document import Plan
    from ..plan.findings import Finding
    from ..plan.functions.user import PythonDeclaration


class Warnings:
    """Prints warnings, except of the rules to ``ignore``, and counts them.

    Raises :class:`PlanError` for an entry of ``ignore`` that matches no rule.
    """

    def __init__(self, ignore: Sequence[str] = ()) -> None:
        for pattern in ignore:
            _check_pattern(pattern)
        self._ignore = ignore
        self.count = 0

    def __call__(self, finding: Finding) -> None:
        if not any(fnmatchcase(finding.rule, pattern) for pattern in self._ignore):
            self.count += 1
            print_warning(finding)


def _check_pattern(pattern: str) -> None:
    from ..advice import RULES
    from ..plan.errors import PlanError
    from ..plan.findings import nearest

    if not any(fnmatchcase(rule, pattern) for rule in RULES):
        hint = nearest(pattern, RULES) or f"the rules of warnings are {', '.join(RULES)}"
        raise PlanError(f"no warning has the rule '{pattern}'", hint=hint)


def compile_pipeline(
    path: str,
    options: Mapping[str, str],
    warnings: Warnings | None = None,
    *,
    py_files: Sequence[str] = (),
    replace_pyflink: bool = False,
) -> Plan:
    """Compile a SQL script, a spec in YAML, or a Python program; warnings are printed.

    ``py_files`` are the files and folders from which Python functions may be loaded.
    """
    if path.lower().endswith(".py"):
        from ..table.programs import compile_program

        warn = warnings or Warnings()
        files = (*py_files, *project_files())
        return compile_program(path, options, warn, py_files=files, replace_pyflink=replace_pyflink)
    text, name = read_pipeline_text(path)
    return _compile(text, name, options, warnings, py_files=py_files)


def load_plan_or_pipeline(path: str, options: Mapping[str, str]) -> Plan:
    """Load a plan, or compile a pipeline, whose plan then also has the definitions of its temporary tables.

    Raises :class:`click.UsageError` where ``options`` are given for a plan, which has its options already.
    """
    if path.lower().endswith(".py"):
        return compile_pipeline(path, options)
    text, name = read_input(path)
    if not is_json(text, name):
        return _compile(text, name, options, complete=True)
    from ..plan.document import loads

    if options:
        raise click.UsageError(f"--set is for pipelines; {name} is a compiled plan, whose options are fixed.")
    return loads(text, name)


def restore(plan: Plan, path: str, options: Mapping[str, str], py_files: Sequence[str] = ()) -> Plan:
    """A plan whose tables are replaced by those of the same names in a script, and whose functions are those of it.

    Raises :class:`CatalogError` where the script has a table that the plan does not have, but misses one of the plan's.
    """
    from ..planner.catalog.restoring import RESTORED, check_replaces
    from ..planner.script import definitions, parse_pipeline

    script = parse_pipeline(*read_pipeline_text(path))
    session = definitions(script, {RESTORED: "IDENTIFIER", **options}, _loader(py_files))
    check_replaces(plan, session.catalog, path)
    return session.restore(plan)


def _compile(
    text: str,
    name: str,
    options: Mapping[str, str],
    warnings: Warnings | None = None,
    *,
    complete: bool = False,
    py_files: Sequence[str] = (),
) -> Plan:
    from ..planner import compile_script

    load = _loader(py_files)
    return compile_script(text, file=name, options=options, complete=complete, warn=warnings or Warnings(), load=load)


def _loader(py_files: Sequence[str]) -> Callable[[str], PythonDeclaration]:
    """What loads the Python functions of a script."""

    def load(function: str) -> PythonDeclaration:
        from ..table.function_loader import FunctionLoader

        return FunctionLoader(lambda: (*py_files, *project_files()))(function)

    return load


def project_files() -> Sequence[str]:
    """The Python files and folders that ``py-files`` of the project's ``pyproject.toml`` names."""
    from pathlib import Path

    from ..compat.settings import read_settings

    return read_settings(Path.cwd()).py_files
