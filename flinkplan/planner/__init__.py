"""From Flink SQL to a compiled plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..plan.interpreter import no_garbage_collection

if TYPE_CHECKING:
    from ..plan.document import Plan
    from ..plan.findings import Finding
    from .catalog.functions import Loader
    from .tracing.tracer import Trace


@no_garbage_collection
def compile_script(
    text: str,
    *,
    file: str | None = None,
    options: Mapping[str, str] | None = None,
    complete: bool = False,
    warn: Callable[[Finding], None] | None = None,
    load: Loader | None = None,
    catalog_tables: Mapping[str, str] | None = None,
) -> Plan:
    """The plan of the one INSERT or statement set of a SQL script, or of a spec in YAML where ``file`` says so.

    ``options`` are the configuration the script starts with, ``file`` is named in messages.  ``complete``: the plan has
    the definitions of temporary tables as well, of which Flink's has the names only.  ``warn`` gets the
    findings of :mod:`~.advice`, about what compiles but may not be meant.  ``load`` gives the declarations of Python
    functions by the path of their code; without it they are refused.  ``catalog_tables`` are scripts, by their names,
    that define the tables of catalogs which are not in memory.  Raises :class:`FlinkplanError` with file, line and
    column for everything that is wrong with the script.
    """
    from .script import compile_statements, parse_pipeline

    script = parse_pipeline(text, file)
    return compile_statements(script, options or {}, warn, complete=complete, load=load, catalog_tables=catalog_tables)


def trace_script(
    text: str,
    *,
    file: str | None = None,
    options: Mapping[str, str] | None = None,
    warn: Callable[[Finding], None] | None = None,
) -> Trace:
    """What each rule changes while a pipeline is compiled.

    Parameters and errors are those of :func:`compile_script`.
    """
    from .script import parse_pipeline, with_job

    return with_job(parse_pipeline(text, file), options or {}, warn, lambda session, job: session.trace(job))
