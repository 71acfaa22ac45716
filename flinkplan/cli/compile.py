"""``flinkplan compile``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .openlineage.options import openlineage_option
from .options import (
    assignment,
    catalog_tables_option,
    check_output,
    force_option,
    py_files_option,
    read_reference,
    replace_pyflink_option,
    write_output,
)
from .pipelines import Warnings, compile_pipeline

if TYPE_CHECKING:
    from ..plan.document import Plan


@click.command(short_help="Compile a pipeline to a plan.")
@click.argument("pipeline")
@click.option("-o", "--output", default="-", metavar="PATH", help="Write the plan here; - is standard output.")
@click.option("--like", metavar="OLD", help="Keep the ids and TTLs of the operators that the plan OLD has too.")
@click.option("--set", "options", multiple=True, type=assignment, metavar="KEY=VALUE", help="Set an option.")
@click.option("--if-not-exists", is_flag=True, help="Do nothing where the file exists.")
@force_option
@py_files_option
@catalog_tables_option
@replace_pyflink_option
@click.option("--ignore", multiple=True, metavar="RULE", help="Do not print warnings of this rule; may be a pattern.")
@openlineage_option
@click.option("--strict", is_flag=True, help="Exit with 1, and write no plan, if there are warnings.")
def command(
    pipeline: str,
    output: str,
    like: str | None,
    options: tuple[tuple[str, str], ...],
    if_not_exists: bool,
    force: bool,
    py_files: tuple[str, ...],
    catalog_tables: tuple[str, ...],
    replace_pyflink: bool,
    ignore: tuple[str, ...],
    openlineage: bool,
    strict: bool,
) -> int:
    """Compile PIPELINE (a SQL script, a spec in YAML, or - for a script on standard input) to Flink's plan.

    PIPELINE can also be a Python program that uses the Table API of PyFlink: it is run until it starts a job, and the
    plan of this is written.

    An existing file is only replaced with --force. Warnings are printed to standard error; 'flinkplan rule' explains
    them.

    With --like, a job can continue under the new plan from a savepoint that it wrote under OLD. Flink finds state by
    the ids of operators: operators that are in both plans keep their ids, and new ones get unused ids. OLD is a file,
    - for standard input, REVISION:PATH in git, or a checkpoint directory. What was kept is printed to standard error.
    """
    from ..plan.document import dumps
    from ..plan.files import Place

    if if_not_exists and force:
        raise click.UsageError("--if-not-exists and --force exclude each other.")
    if pipeline == like == "-":
        raise click.UsageError("Only one of PIPELINE and OLD can come from standard input.")
    if if_not_exists and output != "-" and Place.of(output).exists():
        return 0
    check_output(output, force, "--if-not-exists leaves it alone")
    warnings = Warnings(ignore)
    plan = compile_pipeline(
        pipeline,
        dict(options),
        warnings,
        py_files=py_files,
        catalog_tables=catalog_tables,
        replace_pyflink=replace_pyflink,
    )
    if strict and warnings.count:
        return 1
    if like is not None:
        from ..compat.successor import read_predecessor
        from .succession import succeed

        plan = succeed(read_predecessor(read_reference(like)), plan)
    write_output(f"{dumps(plan)}\n" if output == "-" else dumps(plan), output)
    if openlineage:
        _send_lineage(plan, pipeline)
    return 0


def _send_lineage(plan: Plan, pipeline: str) -> None:
    from .openlineage.emitting import emitter
    from .openlineage.events import JobName

    with emitter() as sender:
        sender.compiled(plan, JobName.of(pipeline), {})
