"""``flinkplan ttl``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from ..plan.printable import aligned

if TYPE_CHECKING:
    from ..plan.document import Plan
    from ..plan.ttl import Edit, State


@click.command(short_help="List the states of a plan and set their TTLs.")
@click.argument("plan")
@click.option("--set", "sets", multiple=True, metavar="NODE.STATE=TTL", help="Set the TTL of these states.")
@click.option("--all", "all_", metavar="TTL", help="Set the TTL of every state.")
@click.option("-i", "--in-place", is_flag=True, help="Write the result to PLAN, not to standard output.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
def command(plan: str, sets: tuple[str, ...], all_: str | None, in_place: bool, format_: str) -> None:
    """List each state of PLAN (a compiled plan or a pipeline) with its TTL and the effect of its expiry, or set TTLs.

    PLAN is a file, - for standard input, REVISION:PATH in git, or a checkpoint directory. For a pipeline, --set prints
    its plan with these TTLs. NODE is an id, an operator's name (join, or join#2 for the second one), or its
    description; NODE and STATE may be patterns: 'join*.*=1 d'. Only the TTLs change; the rest of a plan's file stays as
    it is, byte for byte.
    """
    from ..plan.document import dumps, loads
    from ..plan.errors import PlanError
    from ..plan.output import write_text
    from ..plan.printable import one_line
    from ..plan.ttl import set_ttls, states
    from .inputs import Compilation, compile_in, is_pipeline, open_tree

    edits = _edits(sets, all_)
    if in_place and not edits:
        raise click.UsageError("--in-place needs --set or --all.")
    if in_place and plan == "-":
        raise click.UsageError("--in-place writes PLAN, which must be a file.")
    with open_tree(plan) as (tree, path, source):
        is_compiled = not is_pipeline(source)
        if in_place and not is_compiled:
            hint = f"compile it first: 'flinkplan compile {plan} -o plan.json'"
            raise PlanError("--in-place sets TTLs in a compiled plan, and this is a pipeline", where=plan, hint=hint)
        text = source.text if is_compiled else dumps(compile_in(tree, path, source, Compilation(complete=False)))
    name = source.name
    if not edits:
        plan_ = loads(text, name)
        _list(list(states(plan_)), format_)
        _warn(plan_)
        return
    edited, changes = set_ttls(text, edits, name)
    for change in changes:
        before = "default" if change.state.ttl is None else change.state.ttl
        node = f"{change.state.node_name} (node {change.state.node.id})"
        click.echo(one_line(f"{node} {change.state.name}: {before} → {change.ttl}"), err=True)
    if in_place:
        write_text(plan, edited)
    else:
        click.echo(edited, nl=False)
    _warn(loads(edited, name), _written(sets, all_))


def _written(sets: tuple[str, ...], all_: str | None) -> dict[str, str]:
    """The TTLs of the command line, as the user wrote them, by their targets."""
    parts = (text.rpartition("=") for text in sets)
    return {**({} if all_ is None else {"every state": all_}), **{target: ttl for target, _, ttl in parts}}


def _warn(plan: Plan, written: Mapping[str, str] | None = None) -> None:
    """Print warnings about the TTLs of the plan and those of the command line."""
    from ..advice import duration_findings, plan_findings
    from ..plan.record import replace
    from ..plan.ttl import states
    from .errors import print_warning

    ttls = {state.address: state.ttl for state in states(plan) if state.ttl is not None}
    for target, ttl in {**ttls, **(written or {})}.items():
        for finding in duration_findings(ttl, f"the TTL of {target}"):
            print_warning(finding)
    for finding in plan_findings(plan):
        if finding.rule == "ttl-downstream":
            print_warning(replace(finding, message=f"node {finding.node}: {finding.message}"))


def _edits(sets: tuple[str, ...], all_: str | None) -> list[Edit]:
    from ..plan.durations import parse_duration
    from ..plan.ttl import Edit, parse_edit

    everywhere = [] if all_ is None else [Edit("*", parse_duration(all_))]
    return everywhere + [parse_edit(text) for text in sets]


def _list(states: list[State], format_: str) -> None:
    if format_ == "json":
        from ..plan.printable import json_text

        click.echo(json_text([_as_json(state) for state in states], indent=2))
    elif not states:
        click.echo("The plan has no state with a TTL.")
    else:
        rows = [
            (
                str(state.node.id),
                state.address,
                "-" if state.ttl is None else str(state.ttl),
                "table.exec.state.ttl" if state.ttl is None else "plan",
                state.meaning,
            )
            for state in states
        ]
        click.echo(aligned(("node", "state", "ttl", "from", "when an entry expires"), rows))


def _as_json(state: State) -> dict[str, Any]:
    return {
        "node": state.node.id,
        "nodeType": state.node.type,
        "description": state.node.description,
        "address": state.address,
        "index": state.index,
        "name": state.name,
        "ttl": state.ttl,
        "from": "table.exec.state.ttl" if state.ttl is None else "plan",
        "meaning": state.meaning,
    }
