"""Normalizing changelogs that are incomplete or may repeat events.

Sources: ``StreamPhysicalTableSourceScanRule``, ``PushCalcPastChangelogNormalizeRule``,
``WatermarkAssignerChangelogNormalizeTransposeRule``.
"""

from __future__ import annotations

from ...plan.rex import RexNode
from ..algebra import Rel
from ..physical import Calc, ChangelogNormalize, Exchange, SourceScan, WatermarkAssigner
from .calcs import calc
from .rexes import and_, conjunctions, identity, is_deterministic, refs, remap
from .tree import with_inputs


def normalize_changelogs(rel: Rel) -> Rel:
    """Put a normalization over each source that needs one, below it what may be filtered and left out by then."""
    if isinstance(rel, Calc) and _source(rel.input) is not None:
        return _past_calc(rel)
    if _source(rel) is not None:
        return _normalized(rel, None)
    return with_inputs(rel, tuple(normalize_changelogs(i) for i in rel.inputs))


def _source(rel: Rel) -> SourceScan | None:
    while isinstance(rel, WatermarkAssigner):
        rel = rel.input
    return rel if isinstance(rel, SourceScan) and rel.normalized else None


def _key(rel: Rel) -> tuple[int, ...]:
    scan = _source(rel)
    assert scan is not None and scan.table.resolved.schema.primary_key is not None
    return tuple(rel.row_type.field_names.index(c) for c in scan.table.resolved.schema.primary_key.columns)


def _normalized(rel: Rel, condition: RexNode | None, key: tuple[int, ...] | None = None) -> ChangelogNormalize:
    key = _key(rel) if key is None else key
    shuffled = Exchange(input=rel, keys=key, row_type=rel.row_type)
    return ChangelogNormalize(input=shuffled, unique_keys=key, condition=condition, row_type=rel.row_type)


def _past_calc(rel: Calc) -> Rel:
    """Conditions on the key go below the normalization, others into it; unused columns are dropped below."""
    source = rel.input
    key = _key(source)
    parts = conjunctions(rel.condition)
    below = [c for c in parts if refs(c) and refs(c) <= set(key) and is_deterministic(c)]
    rest = [c for c in parts if c not in below]
    needed = sorted(set(key).union(*map(refs, rel.projection), *map(refs, rest)))
    mapping = {old: new for new, old in enumerate(needed)}
    names = [source.row_type.field_names[i] for i in needed]
    columns = identity(source.row_type)
    trimmed = calc(source, (columns[i] for i in needed), names, and_(below) if below else None)
    condition = remap(and_(rest), mapping) if rest else None
    normalized = _normalized(trimmed, condition, tuple(mapping[k] for k in key))
    return calc(normalized, (remap(e, mapping) for e in rel.projection), rel.row_type.field_names)
