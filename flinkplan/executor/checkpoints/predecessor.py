"""What a job of a changed plan takes over from the checkpoint of its predecessor as it is.

That is where the sources go on, their watermarks, and the entries of operators whose kernels keep the same as before.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from ...plan.document import Plan
from ...plan.files import Place
from ...plan.nodes import ExecNode, TableSourceScan, Values, WatermarkAssigner
from ...plan.record import replace
from ...state.form import StateError
from ...state.moving import NotMovedError
from ..build.time.event_time import SHIFT_MS
from ..jvm.session import PARTITIONS
from ..prepare.known.source_names import source_names
from .from_flink.carriers import Carried
from .job_state import CheckpointState, SavedQuery
from .operators import Operator
from .placed_sources import placed_sources
from .positions import Kept, Restarted, Start
from .watermarks import FOLDER, SourceWatermarks


class Predecessor:
    """The checkpoint of the old plan, for queries of the new one.

    ``origins`` are the ids of old nodes by those of the new nodes that have their state, ``unchanged`` the new nodes
    whose state stays as it is.  ``history`` is a checkpoint of the new plan, from which the state of the nodes
    ``replayed`` comes.
    """

    def __init__(
        self,
        state: CheckpointState,
        origins: Mapping[int, int],
        unchanged: Collection[int],
        history: CheckpointState | None = None,
        replayed: Collection[int] = (),
    ) -> None:
        self._state = state
        self._origins = origins
        self._unchanged = unchanged
        self._history = history
        self._replayed = replayed

    @property
    def partitions(self) -> int:
        """In how many partitions the state is."""
        return max(query.progress.partitions for query in self._state.queries.values())

    @property
    def settings(self) -> Mapping[str, str]:
        """The setting by which a new query has its state in as many partitions."""
        return {PARTITIONS: str(self.partitions)}

    def starts(self, plan: Plan) -> Mapping[int, Start]:
        """Where the sources of the new plan go on, by the ids of their nodes.

        Raises :class:`StateError` where the old queries have not read the same of a source.
        """
        known: dict[int, Kept] = {}
        for query in self._state.queries.values():
            for node, start in _read(query):
                if known.setdefault(node, start).offset != start.offset:
                    hint = "run the job once with --mode available-now, so that each reads all that is there"
                    raise StateError("the sinks' queries have not read the same", where=f"node {node}", hint=hint)
        sources = [node for node in plan.nodes if isinstance(node, TableSourceScan | Values)]
        return {node.id: known.get(self._origins.get(node.id, -1), Restarted()) for node in sources}

    def entries(self, sink: str, node: ExecNode, operator: Operator) -> Carried | None:
        """The entries of a node whose kernel keeps the same as before; ``None`` where they must be made anew.

        Raises :class:`NotMovedError` where they cannot be made, either.
        """
        if self._history is not None and node.id in self._replayed:
            return _entries_over(self._history, node, operator)
        old = self._origins.get(node.id)
        if old is None:
            return None
        if node.id in self._unchanged:
            for query in self._queries_for(sink):
                kept = query.operator(old)
                if kept is not None and _keep_the_same(kept, operator):
                    return query.entries[kept.number]
        if old in self._state.refused:
            raise self._state.refused[old]
        return None

    def watermarks(self, sink: str, plan: Plan) -> SourceWatermarks:
        """The watermarks of the sources of a query."""
        reached: dict[str, int] = {}
        for query in self._queries_for(sink):
            for name, mark in _reached(query).items():
                reached.setdefault(name, mark)
        names = source_names(plan)
        assigners = [node.id for node in plan.nodes if isinstance(node, WatermarkAssigner)]
        marks = {number: reached.get(names[number]) for number in assigners}
        return SourceWatermarks(names, marks, new_wait=False)

    def _queries_for(self, sink: str) -> list[SavedQuery]:
        """The old queries, first that of the same sink."""
        queries = self._state.queries
        return sorted(queries.values(), key=lambda query: query is not queries.get(sink))


def _entries_over(history: CheckpointState, node: ExecNode, operator: Operator) -> Carried | None:
    for query in history.queries.values():
        kept = query.operator(node.id)
        if kept is not None and _keep_the_same(kept, operator):
            return query.entries[kept.number]
    if node.id in history.refused:
        raise history.refused[node.id]
    return None


def _keep_the_same(old: Operator, new: Operator) -> bool:
    return old.kernel is not None and replace(old, number=new.number) == new


def _read(query: SavedQuery) -> Iterator[tuple[int, Kept]]:
    """How far the sources of a query have been read, by the ids of their nodes."""
    for place, offset in zip(placed_sources(query.stateful), query.progress.sources, strict=True):
        if place.node is not None:
            folder = (query.folder / "sources" / str(place.number)).local
            if folder is None:
                raise NotMovedError("only a checkpoint on a local disk can be migrated", where=str(query.folder))
            yield place.node, Kept(offset, Path(folder))


def _reached(query: SavedQuery) -> Mapping[str, int]:
    """The watermarks that the sources of a query have reached (epoch milliseconds), by their names."""
    mark = query.progress.watermark - SHIFT_MS
    names = list(source_names(query.plan.plan).values())
    if not query.progress.watermark or not names:
        return {}
    if len(names) == 1:
        return {names[0]: mark}
    return {
        name: max(own, mark)
        for name, own in _watermarks_of_several(query.folder / FOLDER, query.progress.batch).items()
    }


def _watermarks_of_several(folder: Place, batch: int) -> Mapping[str, int]:
    """What is kept of several sources behind a batch: in the file of the last one that has moved a watermark."""
    batches = [int(name) for name in folder.children() if name.isdecimal()] if folder.is_folder() else []
    last = max((number for number in batches if number <= batch), default=None)
    return {} if last is None else json.loads((folder / str(last)).read())
