"""A query of Spark as it will run: its part of the plan, what is known of it, and the step of each node."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Generic, TypeVar

from ...plan.changelog import row_kinds
from ...plan.document import Plan
from ...plan.explain import columns_of, keys
from ...plan.nodes import ExecNode
from ...plan.record import Record, cached_property, field
from ...plan.row_kinds import INSERTS, Kinds
from ...plan.session import option_of
from ...plan.settings import is_batch_mode
from .known.native_calls import obstacle
from .known.row_order import read_in_order, updated_in_place
from .known.settled_joins import Joins
from .modes import Mode
from .refusals import refusal
from .steps import Step

Node = TypeVar("Node", bound=ExecNode)


class QueryPlan(Record, dict=True):
    """The part of a plan that one sink needs, which is one query of Spark: a batch or a stream.

    ``whole``: the plan of all sinks whose queries share what they compute; of a query by itself its own.  ``is_batch``:
    all input is read at once, and ends.  ``folds``: the changes that one batch makes to a key may come to one, for
    nobody looks at each of them.  ``variables`` replace ``${NAME}`` in options of tables; ``options`` are the
    session's, for what the plan's nodes do not say.  ``in_kernels``: kernels keep all state of a stream, also what
    Spark's own operators could keep.
    """

    plan: Plan
    whole: Plan
    mode: Mode
    is_batch: bool
    folds: bool
    variables: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    in_kernels: bool = False

    @property
    def is_real_time(self) -> bool:
        """Whether operators see each row when it comes, not with those of a batch."""
        return self.mode is Mode.REAL_TIME

    @property
    def is_final(self) -> bool:
        """Whether a streaming plan yields the final rows of its bounded input, as it would in Flink's batch mode."""
        return self.is_batch and not self.plan.is_batch and is_batch_mode(self.options)

    def must_net(self, node: ExecNode) -> bool:
        """Whether rows that ``node`` emits may be taken back, where only those that stay are wanted."""
        return self.is_final and self.is_changelog(node) and not self.joins.is_settled(node)

    def step(self, node: ExecNode) -> Step:
        """What runs ``node``.  Raises :class:`UnsupportedError` for a node that is not run."""
        step = self._chosen.get(node.id)
        if step is None:
            choice = choice_of(type(node))
            if choice is None:
                raise refusal(node)
            step = self._chosen[node.id] = choice.choose(node, self)
        return step

    @cached_property
    def _chosen(self) -> dict[int, Step]:
        return {}

    @cached_property
    def steps(self) -> Mapping[int, Step]:
        """The steps of all nodes by their ids, in the plan's order.  Raises as :meth:`step`."""
        return {node.id: self.step(node) for node in self.plan.nodes}

    @property
    def operators(self) -> Iterator[tuple[ExecNode, Step]]:
        """The operators that keep state, each with the node that it is of, in the order in which Spark numbers them.

        That is from the sink down, an operator before its inputs.  A node that several others read comes once for each
        of them: Spark numbers each copy, and runs the first one.
        """
        stack = list(self.plan.sinks)
        while stack:
            node = stack.pop()
            step = self.step(node)
            yield from ((node, each) for each in (step, *step.runs_before) if each.states)
            stack.extend(reversed(self.plan.inputs(node)))

    @cached_property
    def kinds(self) -> Mapping[int, Kinds | None]:
        """The kinds of rows by the id of the node that emits them; ``None`` where it is not known."""
        return row_kinds(self.plan)

    @cached_property
    def joins(self) -> Joins:
        """The joins of a batch; where queries share them, as any sink needs them."""
        return Joins(self.whole, row_kinds(self.whole), self.folds)

    @cached_property
    def numbered(self) -> frozenset[int]:
        """The ids of the nodes whose rows' numbers show in the result: operators behind order rows by them.

        Where queries share nodes, in the result of any sink.
        """
        return read_in_order(self.whole, row_kinds(self.whole), self.folds, numbers=True)

    @cached_property
    def _updated_in_place(self) -> frozenset[int]:
        return updated_in_place(self.whole)

    def folds_at(self, node: ExecNode) -> bool:
        """Whether the changes that one batch makes to a key of ``node`` may come to one."""
        return self.folds and (self.is_final or node.id not in self._updated_in_place)

    @cached_property
    def obstacle(self) -> str | None:
        """Why the state of a stream cannot all be Spark's own; ``None``: it can."""
        return "its checkpoint has the state of kernels" if self.in_kernels else obstacle(self.plan)

    @property
    def has_native_state(self) -> bool:
        """Whether all state is Spark's own, which is encoded in its own way."""
        return not self.is_real_time and self.obstacle is None

    def is_changelog(self, node: ExecNode) -> bool:
        """Whether ``node`` emits other rows than insertions."""
        return self.kinds[node.id] != INSERTS

    def input(self, node: ExecNode, index: int = 0) -> ExecNode:
        """An input of ``node``."""
        return self.plan.inputs(node)[index]

    def keys(self, node: ExecNode) -> tuple[str, ...]:
        """The columns by which a node's rows belong together."""
        return tuple(keys(self.plan, node))

    def window_keys(self, node: ExecNode) -> tuple[str, ...]:
        """The same where rows are brought together by their windows, too."""
        return (*self.keys(node), "window start", "window end")

    def kernel_keys(self, node: ExecNode) -> tuple[str, ...]:
        """The same of a kernel that keeps rows by windows: in a batch each window of a key is a key of its own."""
        return self.window_keys(node) if self.is_batch else self.keys(node)

    def columns(self, node: ExecNode, indexes: Sequence[int]) -> str:
        """The names of some columns of ``node``, for people."""
        return ", ".join(columns_of(node, indexes))

    def option(self, node: ExecNode, key: str) -> str:
        """One of :data:`~.plan.session.DEFAULTS` as the node has it, else as the session does."""
        return option_of(node, key, self.options)


Obstacle = Callable[[Node, QueryPlan], str | None]
"""Why a node does not run in real-time mode; ``None``: it does."""

Check = Callable[[Node, Plan, Mapping[str, str]], None]
"""Of a node, the plan it stands in and the options of the session."""


def never(node: ExecNode, query: QueryPlan) -> str | None:
    """The obstacle of nodes that nothing is known of."""
    return "it works on batches of rows"


class Choice(Record, Generic[Node]):
    """How the step of a class of nodes is chosen, and which nodes of it are not run.

    ``check`` raises :class:`FlinkplanError` for a node that is refused, ``real_time`` says why a node is in real-time
    mode.
    """

    choose: Callable[[Node, QueryPlan], Step]
    check: Check[Node] | None = None
    real_time: Obstacle[Node] = never


_CHOICES: dict[type[ExecNode], Choice[Any]] = {}


def chooser(
    node_class: type[Node], *, check: Check[Node] | None = None, real_time: Obstacle[Node] = never
) -> Callable[[Callable[[Node, QueryPlan], Step]], Callable[[Node, QueryPlan], Step]]:
    """Register the function that chooses the steps of nodes of ``node_class``; see :class:`Choice`.

    Unless ``real_time`` is given, no node of the class runs in real-time mode.
    """

    def register(choose: Callable[[Node, QueryPlan], Step]) -> Callable[[Node, QueryPlan], Step]:
        _CHOICES[node_class] = Choice(choose, check, real_time)
        return choose

    return register


@cache
def choices() -> Mapping[type[ExecNode], Choice[Any]]:
    """What is registered, by the class of node: one module of ``choose`` a family."""
    package = importlib.import_module(f"{__package__}.choose")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return _CHOICES


@cache
def choice_of(node_class: type[ExecNode]) -> Choice[Any] | None:
    """What is registered for a class of node, or for the class that it extends; ``None``: it is not run."""
    return next((choice for base in node_class.__mro__ if (choice := choices().get(base))), None)
