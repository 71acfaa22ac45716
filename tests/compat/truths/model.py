"""What a case is: state made under one plan, a restart under another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flinkplan.plan.document import Plan
from flinkplan.plan.nodes import ExecNode, Join
from flinkplan.plan.record import replace
from flinkplan.planner import compile_script
from tests.compat.pipelines import JOIN, JOIN_COLUMNS, SUMS, SUMS_COLUMNS, script

Row = Mapping[str, Any]
Files = Mapping[str, Sequence[Row]]
Edit = Callable[[Plan], Plan]
"""What a hand changes in a compiled plan."""


def order(id: int, product: str = "p", amount: int = 1, price: int | None = 10, **more: Any) -> Row:
    """A row of the table orders."""
    row = {"id": id, "product": product, "shop": "s", "amount": amount, "price": price, "discount": 2}
    return {**row, "ts": "2020-01-01 00:00:00", **more}


def shipment(order_id: int, cost: int = 5, **more: Any) -> Row:
    """A row of the table shipments."""
    row = {"order_id": order_id, "carrier": "c", "cost": cost, "shop": "s"}
    return {**row, "ts": "2020-01-01 00:00:00", **more}


def as_compiled(plan: Plan) -> Plan:
    """No edit."""
    return plan


def each(cls: type[ExecNode], **fields: Any) -> Edit:
    """Set fields of all nodes of a type."""
    return lambda plan: replace(
        plan, nodes=tuple(replace(n, **fields) if isinstance(n, cls) else n for n in plan.nodes)
    )


def left_ttl(ttl: str, flink_version: str | None = None) -> Edit:
    """Keep the left rows of joins for ``ttl``, in a plan of that release of Flink."""

    def kept(node: ExecNode) -> ExecNode:
        if not isinstance(node, Join):
            return node
        left, right = node.states
        return replace(node, state=(replace(left, ttl=ttl), right))

    return lambda plan: replace(
        plan, flink_version=flink_version or plan.flink_version, nodes=tuple(map(kept, plan.nodes))
    )


@dataclass(frozen=True)
class Truth:
    """State made under ``old``, a restart under ``new``: scripts or specs, and what ``edits`` change in their plans.

    ``first`` and ``second`` are the rows by table (and file) that are there before and after the restart.  The
    changes written after it are ``expected``: ``c`` or ``d``, then the row; or Spark refuses with an error that has
    ``refused`` in it.  ``seamless``: they are those of a run that was never stopped.  ``uninterrupted``: the rows that
    such a run would leave, where the new plan cannot read what came first.  ``rules`` are those that the
    case backs.

    On Flink the new plan has the ids of the old one unless ``own_ids``, and sinks of files print unless
    ``keeps_sinks``.  ``is_hidden``: these rows do not show that Flink takes its state for something else;
    ``other_history``: it goes on with what it has, where a run of the new plan alone would have read or kept others.
    """

    name: str
    rules: tuple[str, ...]
    old: str
    new: str
    first: Files
    second: Files
    expected: Sequence[tuple[Any, ...]] = ()
    refused: str | None = None
    uninterrupted: Sequence[tuple[Any, ...]] | None = None
    seamless: bool = False
    own_ids: bool = False
    keeps_sinks: bool = False
    is_hidden: bool = False
    other_history: bool = False
    edits: tuple[Edit, Edit] = (as_compiled, as_compiled)

    @cached_property
    def plans(self) -> tuple[Plan, Plan]:
        """The plan before the restart, and the one after it."""
        texts = zip(self.edits, (self.old, self.new), strict=True)
        old, new = (edit(compile_script(text, file=_file(text))) for edit, text in texts)
        return old, new


def _file(text: str) -> str | None:
    """A name for a text that says whether it is YAML."""
    return "pipeline.yaml" if text.startswith("version:") else None


def sums(name: str, rule: str, new: str, columns: str, expected: Sequence[tuple[Any, ...]], **more: Any) -> Truth:
    """A change of two sums over one order before and one after the restart."""
    first = {"orders/a": [order(1, amount=2, price=10)], **more.pop("more", {})}
    second = {"orders/b": [order(2, amount=3, price=7)]}
    old = script(more.pop("old", SUMS), more.pop("old_columns", SUMS_COLUMNS))
    return Truth(name, (rule,), old, script(new, columns, more.pop("settings", "")), first, second, expected, **more)


def joined(name: str, rules: tuple[str, ...], new: str, **more: Any) -> Truth:
    """A change of a join whose left row came before, and whose right row comes after the restart."""
    columns = more.pop("columns", JOIN_COLUMNS)
    first = {"orders/a": [order(1)], "shipments/a": []}
    second = {"shipments/b": [shipment(1)]}
    return Truth(name, rules, script(JOIN, JOIN_COLUMNS), script(new, columns), first, second, **more)
