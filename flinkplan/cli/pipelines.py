"""Reading the pipelines and plans that commands are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from .errors import print_warning
from .options import read_pipeline_text

if TYPE_CHECKING:
    from ..plan.document import Plan
    from ..plan.findings import Finding


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
    catalog_tables: Sequence[str] = (),
    replace_pyflink: bool = False,
) -> Plan:
    """Compile a SQL script, a spec in YAML, or a Python program; warnings are printed.

    ``py_files`` are the files and folders from which Python functions may be loaded, ``catalog_tables`` scripts that
    define the tables of external catalogs.
    """
    from ..compat.diff import Source
    from ..plan.files import is_program
    from .inputs import Compilation, Tree, compile_in

    if is_program(path):
        source = Source(path, "", path)
    else:
        text, name = read_pipeline_text(path)
        source = Source(name, text)
    compilation = Compilation(options, complete=False, warn=warnings or Warnings(), replace_pyflink=replace_pyflink)
    return compile_in(Tree(py_files, catalog_tables), path, source, compilation)


def restore(plan: Plan, path: str, options: Mapping[str, str], py_files: Sequence[str] = ()) -> Plan:
    """A plan whose tables are replaced by those of the same names in a script, and whose functions are those of it.

    Raises :class:`CatalogError` where the script has a table that the plan does not have, but misses one of the plan's.
    """
    from ..planner.catalog.restoring import RESTORED, check_replaces
    from ..planner.script import definitions, parse_pipeline
    from .inputs import Tree, loading_from

    script = parse_pipeline(*read_pipeline_text(path))
    tree = Tree(py_files)
    load = loading_from(tree.py_files)
    session = definitions(script, {RESTORED: "IDENTIFIER", **options}, load, tree.catalog_tables())
    check_replaces(plan, session.catalog, path)
    return session.restore(plan)


def project_pipelines() -> list[str]:
    """The paths of the project's pipelines.

    Raises :class:`click.UsageError` for a project that names none, :class:`PlanError` where they are missing.
    """
    from pathlib import Path

    import click

    from ..compat.project import pipelines_of
    from ..compat.settings import read_settings

    settings = read_settings(Path())
    if not settings.pipelines:
        raise click.UsageError("Name a plan or pipeline, or set 'pipelines' in [tool.flinkplan] of pyproject.toml.")
    return [str(Path(settings.folder) / path) for path in pipelines_of(settings)]
