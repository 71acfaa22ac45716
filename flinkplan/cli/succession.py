"""Plans that keep the ids and TTLs of older ones, for ``compile --like`` and ``upgrade --spec``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from ..plan.names import node_names
from ..plan.printable import one_line

if TYPE_CHECKING:
    from ..compat.successor import CarriedTtl, Successor
    from ..plan.document import Plan
    from ..plan.nodes import ExecNode


def succeed(old: Plan, new: Plan) -> Plan:
    """The new plan as the successor of the old one; what was kept is printed to standard error."""
    from ..compat.successor import succeed

    successor = succeed(old, new)
    _print_summary(old, successor)
    return successor.plan


def _print_summary(old: Plan, successor: Successor) -> None:
    click.echo(_count(len(successor.kept), "operator keeps its id", "operators keep their ids"), err=True)
    if successor.fresh:
        click.echo(f"new: {_listed(successor.plan, successor.fresh)}", err=True)
    if successor.gone:
        click.echo(f"gone: {_listed(old, successor.gone)}", err=True)
    names = node_names(successor.plan)
    for reordering in successor.reorderings:
        click.echo(
            one_line(
                f"kept the old order of {names[reordering.node]} (node {reordering.node}): it {reordering.description}"
            ),
            err=True,
        )
    if successor.reorderings:
        click.echo("projections restore the order that the query asks for", err=True)
    for ttl in successor.ttls:
        _print_ttl(ttl)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _listed(plan: Plan, nodes: Iterable[ExecNode]) -> str:
    names = node_names(plan)
    return one_line(", ".join(f"{names[node.id]} (node {node.id})" for node in nodes))


def _print_ttl(ttl: CarriedTtl) -> None:
    if ttl.kept:
        click.echo(one_line(f"kept {ttl.state} {ttl.ttl}; the pipeline says {ttl.declared}"), err=True)
    else:
        reason = "the new plan has no such state" if ttl.declared is None else f"the pipeline says {ttl.declared}"
        message = one_line(f"{ttl.state} {ttl.ttl} was not kept: {reason}")
        click.echo(click.style("warning: ", fg="yellow", bold=True) + message, err=True)
