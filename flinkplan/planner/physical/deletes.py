"""Which deletions carry whole rows, and where upserts therefore need no normalization.

Sources: the ``SatisfyDeleteKindTraitVisitor`` of ``FlinkChangelogModeInferenceProgram``, and
``ChangelogNormalizeRequirementResolver``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from ...plan.options import is_true
from ...plan.record import Struct, field
from ...plan.specs import ReadingMetadata
from ..algebra.logical import Rel
from ..algebra.physical import (
    Calc,
    ChangelogNormalize,
    DropUpdateBefore,
    Exchange,
    Expand,
    MiniBatchAssigner,
    MultiJoin,
    RegularJoin,
    Sink,
    SourceScan,
    UnionAll,
)
from ..algebra.tree import with_inputs
from ..connectors import emits_deletes_by_key, takes_deletes_by_key
from ..metadata.keys import keys_in_group_range, upsert_keys
from ..metadata.modify_kinds import DELETE
from ..rex.expressions import refs
from .changelog import Mode, Updates, primary_key


class Deletes(Enum):
    """What the rows of deletions hold."""

    NONE = 0
    """There are no deletions."""
    BY_KEY = 1
    """The key; the other columns may be NULL."""
    FULL = 2
    """All columns."""

    def satisfy(self, wanted: Deletes) -> bool:
        return self is wanted or (self is Deletes.FULL and wanted is Deletes.BY_KEY)


Found = tuple[Rel, Deletes]
"""A relation, and what the deletions hold that it emits."""


def without_needless_normalizations(
    sink: Sink, modes: Mapping[int, Mode], config: Mapping[str, str]
) -> tuple[Sink, dict[int, Mode]]:
    """The sink without normalizations of upserts that nobody needs, and the modes of what is left.

    A changelog is normalized for rows before updates, for whole rows in deletions, for a filter, and for metadata:
    where none of these is asked for, upserts go on as they are.
    """
    if is_true(config.get("table.exec.source.cdc-events-duplicate")):
        return sink, dict(modes)
    visitor = _Visitor(dict(modes))
    for wanted in _wanted(sink, visitor):
        found = visitor.satisfying(sink.input, wanted)
        if found is not None:
            new = visitor.rebuilt(sink, (found[0],))
            assert isinstance(new, Sink)
            return new, visitor.modes
    return sink, dict(modes)


def _wanted(sink: Sink, visitor: _Visitor) -> tuple[Deletes, ...]:
    """What the sink wants of deletions, the best first."""
    full = visitor.full(sink.input)
    if full is Deletes.NONE or not takes_deletes_by_key(sink.table, dict(sink.options)):
        return (full,)
    key = primary_key(sink)
    return (full,) if key is not None and key not in upsert_keys(sink.input) else (Deletes.BY_KEY, full)


class _Visitor(Struct):
    modes: dict[int, Mode]
    alive: list[Rel] = field(default_factory=list)
    """Keeps every relation whose ``id()`` is noted."""

    def full(self, rel: Rel) -> Deletes:
        """Whole rows, where a relation deletes any."""
        return Deletes.FULL if self.deletes(rel) else Deletes.NONE

    def by_key(self, rel: Rel) -> Deletes:
        return Deletes.BY_KEY if self.deletes(rel) else Deletes.NONE

    def deletes(self, rel: Rel) -> bool:
        return DELETE in self.modes[id(rel)].kinds

    def rebuilt(self, rel: Rel, inputs: tuple[Rel, ...]) -> Rel:
        """The relation over other inputs, in the same mode."""
        if all(new is old for new, old in zip(inputs, rel.inputs, strict=True)):
            return rel
        new = with_inputs(rel, inputs)
        self.modes[id(new)] = self.modes[id(rel)]
        self.alive.append(new)
        return new

    def satisfying(self, rel: Rel, wanted: Deletes) -> Found | None:
        """The relation where what it emits is what is wanted."""
        found = self.visit(rel, wanted)
        return found if found is not None and found[1].satisfy(wanted) else None

    def visit(self, rel: Rel, wanted: Deletes) -> Found | None:
        """The relation, asked for such deletions; ``None`` where it cannot have them."""
        match rel:
            case SourceScan():
                by_key = emits_deletes_by_key(rel.table, dict(rel.options))
                return rel, self.by_key(rel) if by_key else self.full(rel)
            case Exchange() | Expand() | MiniBatchAssigner() | DropUpdateBefore():
                return self.forwarded(rel, wanted)
            case Calc():
                return None if wanted is Deletes.BY_KEY and _filters_beyond_key(rel) else self.forwarded(rel, wanted)
            case UnionAll():
                return self.union(rel, wanted)
            case RegularJoin():
                return self.join(rel, (rel.spec.left_keys, rel.spec.right_keys), wanted)
            case MultiJoin():
                return self.join(rel, rel.keys, wanted)
            case ChangelogNormalize():
                return self.normalize(rel, wanted)
        inputs = [self.visit(i, self.full(i)) for i in rel.inputs]
        if any(found is None for found in inputs):
            return None
        return self.rebuilt(rel, tuple(found[0] for found in inputs if found is not None)), self.full(rel)

    def forwarded(self, rel: Rel, wanted: Deletes) -> Found | None:
        found = self.satisfying(rel.inputs[0], wanted)
        return None if found is None else (self.rebuilt(rel, (found[0],)), found[1])

    def union(self, rel: UnionAll, wanted: Deletes) -> Found | None:
        """Deletions by key, where some of an input are."""
        inputs = [self.visit(i, wanted if self.deletes(i) else Deletes.NONE) for i in rel.inputs]
        told = [found for found in inputs if found is not None]
        if len(told) < len(inputs):
            return None
        kinds = {kind for _, kind in told} - {Deletes.NONE}
        merged = kinds.pop() if len(kinds) == 1 else Deletes.BY_KEY if kinds else Deletes.NONE
        return self.rebuilt(rel, tuple(rel for rel, _ in told)), merged

    def join(self, rel: Rel, keys: tuple[tuple[int, ...], ...], wanted: Deletes) -> Found | None:
        """By key only of inputs whose unique key holds the join key."""
        told = []
        for child, join_key in zip(rel.inputs, keys, strict=True):
            holds = any(frozenset(join_key) <= key for key in keys_in_group_range(child, join_key))
            found = self.visit(child, self.by_key(child)) if holds and wanted is Deletes.BY_KEY else None
            found = found or self.visit(child, self.full(child))
            if found is None:
                return None
            told.append(found)
        by_key = any(kind is Deletes.BY_KEY for _, kind in told)
        return self.rebuilt(rel, tuple(r for r, _ in told)), self.by_key(rel) if by_key else self.full(rel)

    def normalize(self, rel: ChangelogNormalize, wanted: Deletes) -> Found | None:
        """Left out where it adds nothing that is wanted; else it makes whole rows of all deletions."""
        only_after = self.modes[id(rel)].updates is Updates.ONLY_AFTER
        if rel.condition is None and only_after and not _reads_metadata(rel):
            found = self.satisfying(rel.input, wanted)
            if found is not None:
                shuffled, kind = found
                return (shuffled.input if isinstance(shuffled, Exchange) else shuffled), kind
        found = self.satisfying(rel.input, self.by_key(rel.input))
        return None if found is None else (self.rebuilt(rel, (found[0],)), self.full(rel))


def _filters_beyond_key(rel: Calc) -> bool:
    if rel.condition is None:
        return False
    return not any(refs(rel.condition) <= key for key in upsert_keys(rel.input))


def _reads_metadata(rel: Rel) -> bool:
    """Whether a source below reads metadata, which need not be the same for all rows of a key."""
    if isinstance(rel, SourceScan):
        return any(isinstance(a, ReadingMetadata) and a.metadata_keys for a in rel.abilities)
    return any(map(_reads_metadata, rel.inputs))
