"""``flinkplan compile``."""

from __future__ import annotations

import click

from .options import assignment, check_output, force_option, read_reference, write_output
from .pipelines import Warnings, compile_pipeline


@click.command(short_help="Compile a pipeline to a plan.")
@click.argument("pipeline")
@click.option("-o", "--output", default="-", metavar="PATH", help="Where to write the plan; standard output for -.")
@click.option("--like", metavar="OLD", help="Keep the ids and TTLs that the plan OLD has for the operators that stay.")
@click.option("--set", "options", multiple=True, type=assignment, metavar="KEY=VALUE", help="Set an option first.")
@click.option("--if-not-exists", is_flag=True, help="Leave an existing plan alone and do nothing.")
@force_option
@click.option("--ignore", multiple=True, metavar="RULE", help="Leave warnings of this rule, or pattern, out.")
@click.option("--strict", is_flag=True, help="Write no plan where there is a warning, and end with 1.")
def command(
    pipeline: str,
    output: str,
    like: str | None,
    options: tuple[tuple[str, str], ...],
    if_not_exists: bool,
    force: bool,
    ignore: tuple[str, ...],
    strict: bool,
) -> int:
    """Compile PIPELINE (a SQL script or a spec in YAML, or - for a script on standard input) to Flink's plan.

    The plan's file appears whole or not at all; one that exists is left alone unless --force says otherwise. Warnings,
    of what is perhaps not as meant, go to standard error; 'flinkplan rule' explains them.

    With --like a job goes on under the new plan from a savepoint that it made under OLD: Flink finds state by ids, so
    operators that stay keep theirs, and new ones get ids that none before them had. OLD is a file, - for standard
    input, REVISION:PATH in git, or a checkpoint directory. What was kept is said on standard error.
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
    plan = compile_pipeline(pipeline, dict(options), warnings)
    if strict and warnings.count:
        return 1
    if like is not None:
        from ..compat.successor import read_predecessor
        from .succession import succeed

        plan = succeed(read_predecessor(read_reference(like)), plan)
    write_output(f"{dumps(plan)}\n" if output == "-" else dumps(plan), output)
    return 0
