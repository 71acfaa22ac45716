"""``flinkplan explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .options import assignment, check_output, force_option, read_pipeline_text, write_output

if TYPE_CHECKING:
    from ..executor.prepare.job_plan import JobPlan
    from ..plan.document import Plan


@click.command(short_help="Show the operators of a plan or pipeline as a tree.")
@click.argument("plan")
@click.option(
    "--set", "options", multiple=True, type=assignment, metavar="KEY=VALUE", help="Set an option (pipelines only)."
)
@click.option("--physical", is_flag=True, help="Show what runs each operator on Spark, and why.")
@click.option(
    "--mode",
    type=click.Choice(("real-time",)),
    help="With --physical: show the operators that do not run in this mode, and why.",
)
@click.option("--rules", is_flag=True, help="Show which rule of the planner changed what (pipelines only).")
@click.option("--format", "format_", type=click.Choice(("text", "json", "html")), default="text", show_default=True)
@click.option("--sql", metavar="SCRIPT", help="Show this pipeline beside the plan (html only).")
@click.option("-o", "--output", metavar="PATH", help="Write to this file; standard output by default.")
@force_option
def command(
    plan: str,
    options: tuple[tuple[str, str], ...],
    physical: bool,
    mode: str | None,
    rules: bool,
    format_: str,
    sql: str | None,
    output: str | None,
    force: bool,
) -> None:
    """Show PLAN (a compiled plan, a SQL script, a spec in YAML or a Python program) as a tree from the sinks down.

    PLAN is a file, - for standard input, REVISION:PATH in git, or a checkpoint directory.

    Each operator is shown with its keys, its states with their TTLs, and the kinds of rows that it emits (I insert, UB
    and UA update before and after, D delete; UNKNOWN for operators that are not analysed).

    With --physical, each operator is shown with the Spark operators or the kernel that run it. Each sink is a query of
    its own: a batch where all sources are bounded, else a stream. --format html writes all of this as one page with a
    graph.

    With --rules, PLAN is a pipeline, and the output shows how its plan was made: the tree of each INSERT, then for each
    rule of the planner that changed it the stage, the rule and a diff of the tree. --format json has the whole trees
    before and after each rule.
    """
    from ..plan.explain import explain_json, explain_lines
    from ..plan.printable import json_text
    from ..plan.secrets import masked_json, shown_line
    from .inputs import Compilation, read_input_plan, with_project_functions
    from .pipelines import Warnings
    from .plan_pages import plan_page_of

    if rules and (physical or sql is not None or format_ == "html"):
        raise click.UsageError("--rules can only be combined with --set, --format text or json, and --output.")
    if sql is not None and format_ != "html":
        raise click.UsageError("--sql needs --format html.")
    if mode is not None and not physical:
        raise click.UsageError("--mode needs --physical: Flink's operators are the same in each mode.")
    check_output(output, force)
    if rules:
        _show_rules(plan, dict(options), format_, output)
        return
    given = read_input_plan(plan, Compilation(dict(options), warn=Warnings()))
    if options and not given.is_pipeline:
        raise click.UsageError(f"--set is for pipelines; {plan} is a compiled plan, whose options are fixed.")
    compiled = given.plan
    if format_ == "html":
        write_output(plan_page_of(given, plan, sql), output)
        return
    job = None
    if physical:
        from ..executor.prepare.explain import physical_json, physical_lines

        job = _prepared(with_project_functions(compiled), mode)
    if format_ == "json":
        shown = explain_json(compiled) if job is None else physical_json(job)
        write_output(json_text(masked_json("", shown), indent=2) + "\n", output)
        return
    # all lines first: a tree too deep to draw is refused before anything is printed
    tree = explain_lines(compiled) if job is None else physical_lines(job)
    lines = list(tree)
    if output not in (None, "-"):
        write_output("".join(f"{shown_line(str(line))}\n" for line in lines), output)
        return
    for line in lines:
        if line.name:
            name = click.style(shown_line(line.name), bold=True)
            click.echo(f"{click.style(line.branches, dim=True)}{name}  {shown_line(line.text)}")
        else:
            click.echo(click.style(shown_line(str(line)), dim=True))


def _show_rules(path: str, options: dict[str, str], format_: str, output: str | None) -> None:
    """Which rule changed what while a pipeline is compiled."""
    from ..plan.printable import json_text
    from ..plan.secrets import masked_json, shown_line
    from ..planner import trace_script
    from ..planner.tracing.report import trace_json, trace_lines
    from .pipelines import Warnings

    text, name = read_pipeline_text(path)
    trace = trace_script(text, file=name, options=options, warn=Warnings())
    if format_ == "json":
        write_output(json_text(masked_json("", trace_json(trace)), indent=2) + "\n", output)
        return
    lines = [shown_line(line) for line in trace_lines(trace)]
    if output not in (None, "-"):
        write_output("".join(f"{line}\n" for line in lines), output)
        return
    colors = {"  -": "red", "  +": "green"}
    for line in lines:
        click.echo(click.style(line, fg=colors.get(line[:3]), bold=bool(line) and not line.startswith(" ")))


def _prepared(compiled: Plan, mode: str | None) -> JobPlan:
    """What a job of a plan runs, in a mode or by default.  Raises what stands against running it at all."""
    from ..executor.prepare.checks import check_runnable
    from ..executor.prepare.job_plan import prepare, prepare_by_default
    from ..executor.prepare.modes import Mode

    check_runnable(compiled)
    return prepare_by_default(compiled) if mode is None else prepare(compiled, Mode(mode))
