"""The regular join: both sides kept in state until their TTL, or joined by Spark where all rows stay.

Source of the rules: Flink's ``StreamExecJoin`` and ``JoinInputSideSpec``.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....plan.nodes import Join, MultiJoin
from ....plan.record import Record
from ....plan.specs import JoinType
from ..known.settled_joins import native_type
from ..query import QueryPlan, chooser
from ..steps import Kernel, Native, StateLayout, declared_name, own_state
from ..watermarks import united

_KEEPS_LEFT = (JoinType.LEFT, JoinType.FULL, JoinType.ANTI)
_KEEPS_RIGHT = (JoinType.RIGHT, JoinType.FULL)
_LEFT_ONLY = (JoinType.SEMI, JoinType.ANTI)


class KeptRows(Record):
    """How a side of a join keeps its rows.

    ``state``: the state's name.  ``ttl``: its TTL in milliseconds; 0: none.  ``unique``: the columns that tell rows
    apart.  ``single``: a join key has one row at most.  ``appended``: rows are only ever added, and nobody counts their
    matches.
    """

    state: str
    ttl: int
    unique: tuple[int, ...] | None
    single: bool
    appended: bool

    @property
    def kind(self) -> str:
        """Spark's kind of state."""
        if self.single:
            return "ValueState"
        return "ListState" if self.appended and self.unique is None else "MapState"

    def holds(self, unique: str) -> str:
        """What the state holds for a join key, with the columns of ``unique`` by name."""
        if self.single:
            return "the row"
        if self.unique is not None:
            return f"row by {unique}"
        return "rows" if self.appended else "how often by row"


class NativeJoin(Native, kw_only=True):
    """Spark's own join.

    ``kind``: what Spark calls the kind of join.  ``changelog``: its rows have a row kind.  ``ordered``: rows that one
    row of an input brings about keep their order.
    """

    kind: str
    changelog: bool
    ordered: bool


class KernelJoin(Kernel, kw_only=True):
    """A join row by row.

    ``left`` and ``right``: how each side keeps its rows.  ``keeps_left`` and ``keeps_right``: rows of the side come out
    without a match, too.  ``changelog`` and ``ordered``: as of :class:`NativeJoin`.
    """

    left: KeptRows
    right: KeptRows
    keeps_left: bool
    keeps_right: bool
    changelog: bool
    ordered: bool


class KernelMultiJoin(Kernel, kw_only=True):
    """A join of several inputs row by row.

    ``keys``: the columns of the common key in each input.  ``sides``: how each input keeps its rows.  ``preserves``:
    whether rows of what is joined so far come out without a match in each input.  ``changelog``: as of
    :class:`NativeJoin`.  ``folds``: the changes that one batch makes to a key may come to one.
    """

    keys: tuple[tuple[int, ...], ...]
    sides: tuple[KeptRows, ...]
    preserves: tuple[bool, ...]
    changelog: bool
    folds: bool


@chooser(Join, real_time=united)
def join(node: Join, query: QueryPlan) -> NativeJoin | KernelJoin:
    """Spark's own join in a batch whose rows all stay, else a kernel."""
    spec = node.join_spec
    kind = spec.join_type
    ordered = query.joins.needs_tie(node)
    changelog = query.is_changelog(node)
    if query.is_batch and query.joins.obstacle(node) is None:
        why = "all rows are there, and none is taken back"
        return NativeJoin(operators="Join", why=why, kind=native_type(kind), changelog=changelog, ordered=ordered)
    counts = (kind in _KEEPS_LEFT or kind in _LEFT_ONLY, kind in _KEEPS_RIGHT)
    keys = (spec.left_keys, spec.right_keys)
    upsert_keys = (node.left_upsert_keys, node.right_upsert_keys)
    left, right = (_kept(node, i, 2, keys[i], upsert_keys[i], counts[i], query) for i in range(2))
    return KernelJoin(
        kernel="join.SemiAntiJoin" if kind in _LEFT_ONLY else "join.StreamingJoin",
        why="rows of either side expire one by one and can be taken back",
        shuffle=query.keys(node),
        states=(_state(node, 0, 2, left, query), _state(node, 1, 2, right, query)),
        left=left,
        right=right,
        keeps_left=kind in _KEEPS_LEFT,
        keeps_right=kind in _KEEPS_RIGHT,
        changelog=changelog,
        ordered=ordered,
    )


@chooser(MultiJoin, real_time=united)
def multi_join(node: MultiJoin, query: QueryPlan) -> KernelMultiJoin:
    """All inputs at once, so that no rows between two joins are kept."""
    count = len(query.plan.inputs(node))
    keys = tuple(tuple(p.required_distribution.keys or ()) for p in node.input_properties or ())
    unique = node.input_unique_keys or ((),) * count
    sides = tuple(_kept(node, i, count, keys[i], [key for key in unique[i] if key], False, query) for i in range(count))
    return KernelMultiJoin(
        kernel="join.MultiJoin",
        why="no rows between two joins are kept",
        shuffle=query.keys(node),
        states=tuple(_state(node, i, count, side, query) for i, side in enumerate(sides)),
        keys=keys,
        sides=sides,
        preserves=tuple(kind is JoinType.LEFT for kind in node.join_types),
        changelog=query.is_changelog(node),
        folds=query.folds,
    )


def _kept(
    node: Join | MultiJoin,
    index: int,
    count: int,
    join_key: Sequence[int],
    unique_keys: Sequence[Sequence[int]] | None,
    counted: bool,
    query: QueryPlan,
) -> KeptRows:
    """How the rows of an input are kept: at most one a key, by a unique key, by content, or only appended.

    ``unique_keys``: by which they are known.  ``counted``: their matches are counted.
    """
    contained = [key for key in unique_keys or () if set(key) <= set(join_key)]
    unique = min(contained or unique_keys or (), key=len, default=None)
    appended = not (counted or query.is_changelog(query.input(node, index)))
    return KeptRows(
        declared_name(node, index, count),
        node.ttl_ms(index),
        None if unique is None else tuple(unique),
        bool(contained),
        appended,
    )


def _state(node: Join | MultiJoin, index: int, count: int, kept: KeptRows, query: QueryPlan) -> StateLayout:
    holds = kept.holds(query.columns(query.input(node, index), kept.unique or ()))
    return own_state(node, kept.kind, holds, index, inputs=count)
