"""Plans that succeed others, for ``compile --like`` and ``upgrade --spec``."""

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
    """The new plan as the successor of the old one; what was carried over is said on standard error."""
    from ..compat.successor import succeed

    successor = succeed(old, new)
    _tell(old, successor)
    return successor.plan


def _tell(old: Plan, successor: Successor) -> None:
    click.echo(_count(len(successor.kept), "operator keeps its id", "operators keep their ids"), err=True)
    if successor.fresh:
        click.echo(f"new: {_listed(successor.plan, successor.fresh)}", err=True)
    if successor.gone:
        click.echo(f"gone: {_listed(old, successor.gone)}", err=True)
    names = node_names(successor.plan)
    for mend in successor.mends:
        click.echo(one_line(f"kept the old order of {names[mend.node]} (node {mend.node}): it {mend.what}"), err=True)
    if successor.mends:
        click.echo("projections restore the order that the query asks for", err=True)
    for ttl in successor.ttls:
        _tell_ttl(ttl)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _listed(plan: Plan, nodes: Iterable[ExecNode]) -> str:
    names = node_names(plan)
    return one_line(", ".join(f"{names[node.id]} (node {node.id})" for node in nodes))


def _tell_ttl(ttl: CarriedTtl) -> None:
    if ttl.kept:
        click.echo(one_line(f"kept {ttl.state} {ttl.ttl}; the pipeline says {ttl.told}"), err=True)
    else:
        what = "the new plan has no such state" if ttl.told is None else f"the pipeline says {ttl.told}"
        verb = "could not be placed" if ttl.told is None else "was not kept"
        message = one_line(f"{ttl.state} {ttl.ttl} {verb}: {what}")
        click.echo(click.style("warning: ", fg="yellow", bold=True) + message, err=True)
