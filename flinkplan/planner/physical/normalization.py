"""Normalizing changelogs that are incomplete or may repeat events.

Sources: ``StreamPhysicalTableSourceScanRule``, ``FlinkMarkChangelogNormalizeProgram``,
``PushCalcPastChangelogNormalizeRule``, ``WatermarkAssignerChangelogNormalizeTransposeRule``,
``EventTimeTemporalJoinRewriteRule``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from ...plan.functions.comparison import OR
from ...plan.record import replace
from ...plan.rex import InputRef, RexNode
from ..algebra.builders import calc, merge_calc
from ..algebra.names import uniquify
from ..algebra.physical import Calc, ChangelogNormalize, Exchange, SourceScan, VersionedJoin, WatermarkAssigner
from ..algebra.rel import Rel
from ..algebra.tree import Pass, Rewrite, bottom_up, walk_once, with_inputs
from ..errors import Part, PlanningError
from ..rex.expressions import and_, conjunctions, identity, is_call, or_, refs, remap
from ..rex.normal_forms import pull_factors, to_cnf
from ..rex.sargs import sargs_expanded


def normalize_changelogs(rel: Rel) -> Rel:
    """The tree with a normalization over each source that needs one; filters and projections go below where allowed."""
    readers = _calcs_of_sources(rel)
    return Pass(lambda each, visit: _normalize(each, visit, readers)).visit(rel)


def _normalize(rel: Rel, visit: Rewrite, shared: Sequence[tuple[Rel, list[Calc]]]) -> Rel:
    if isinstance(rel, VersionedJoin) and rel.right_time >= 0:
        rel = replace(rel, right=_versions(rel.right))
    if (marked := _marked_calc(rel)) is not None:
        return _past_watermark(*marked)
    if isinstance(rel, Calc) and (source := _read_source(rel)) is not None:
        readers = next(calcs for read, calcs in shared if read == source)
        pushed = conjunctions(rel.condition) if len(readers) == 1 else _common(readers)
        marked = _marked_calc(rel.input)
        if marked is None:
            return _past_calc(rel, pushed, rel.input, _key(rel.input))
        below = _past_watermark(*marked)
        if isinstance(below, ChangelogNormalize) and below.condition is None:
            return _past_calc(rel, pushed, below.input.inputs[0], below.unique_keys)
        merged = merge_calc(replace(rel, input=below))
        if len(readers) > 1 or not isinstance(merged, Calc) or not isinstance(merged.input, ChangelogNormalize):
            return merged
        normalized = merged.input
        return _past_calc(merged, conjunctions(merged.condition), normalized.input.inputs[0], normalized.unique_keys)
    if _source(rel) is not None:
        return _normalized(rel, None)
    new = with_inputs(rel, tuple(map(visit, rel.inputs)))
    return merge_calc(new) if isinstance(new, Calc) else new


def _marked_calc(rel: Rel) -> tuple[WatermarkAssigner, Calc] | None:
    """The watermarks that are assigned over a calc over a source that is normalized, and that calc."""
    if isinstance(rel, WatermarkAssigner) and isinstance(rel.input, Calc) and _source(rel.input.input) is not None:
        return rel, rel.input
    return None


def _read_source(rel: Calc) -> Rel | None:
    """What a calc reads: a source that is normalized, or the watermarks over a calc over one."""
    return _source(rel.input) if _marked_calc(rel.input) is None else rel.input


def _calcs_of_sources(rel: Rel) -> list[tuple[Rel, list[Calc]]]:
    """The sources that are normalized, each with the calcs that read it."""
    readers: list[tuple[Rel, list[Calc]]] = []
    for each, places in walk_once(rel).values():
        if isinstance(each, Calc) and (source := _read_source(each)) is not None:
            calcs = next((calcs for read, calcs in readers if read == source), None)
            if calcs is None:
                readers.append((source, calcs := []))
            calcs += [each] * min(places, 2)
    return readers


def _common(calcs: Iterable[Calc]) -> tuple[RexNode, ...]:
    """The conditions that all readers of a shared source have; other conditions would prevent the sharing.

    A single common condition is left to the readers.
    """
    conditions = [None if c.condition is None else pull_factors(sargs_expanded(c.condition)) for c in calcs]
    present = [c for c in conditions if c is not None]
    factors = conjunctions(pull_factors(or_(present))) if len(present) == len(conditions) else ()
    leading = tuple(takewhile(lambda factor: not is_call(factor, OR), factors))
    return tuple(part for factor in leading for part in conjunctions(to_cnf(factor))) if len(factors) > 1 else ()


def _versions(rel: Rel) -> Rel:
    """The right side of a temporal join, which reads the changelog of a source without normalization.

    Raises :class:`PlanningError` for a filter: without the filtered rows, older versions would seem to last longer.
    """
    path = [rel]
    while isinstance(path[-1], (Exchange, Calc, WatermarkAssigner)):
        path.append(path[-1].input)
    source = path[-1]
    if not isinstance(source, SourceScan) or not any(isinstance(p, WatermarkAssigner) for p in path):
        return rel
    if any(isinstance(p, Calc) and p.condition is not None for p in path):
        name = source.table.identifier.name
        raise PlanningError(
            f"the versioned table '{name}' is filtered before the join, which would lose versions",
            hint="filter the result of the join instead",
            part=Part.TEMPORAL_JOIN,
        )
    return bottom_up(rel, lambda node: replace(node, normalized=False) if isinstance(node, SourceScan) else node)


def _source(rel: Rel) -> SourceScan | None:
    while isinstance(rel, WatermarkAssigner):
        rel = rel.input
    return rel if isinstance(rel, SourceScan) and rel.normalized else None


def _key(rel: Rel) -> tuple[int, ...]:
    scan = _source(rel)
    assert scan is not None and scan.table.resolved.schema.primary_key is not None
    return tuple(rel.names.index(c) for c in scan.table.resolved.schema.primary_key.columns)


def _normalized(rel: Rel, condition: RexNode | None, key: tuple[int, ...] | None = None) -> ChangelogNormalize:
    key = _key(rel) if key is None else key
    shuffled = Exchange(input=rel, keys=key)
    return ChangelogNormalize(input=shuffled, unique_keys=key, condition=condition)


def _past_calc(rel: Calc, pushed: tuple[RexNode, ...], source: Rel, key: tuple[int, ...]) -> Rel:
    """A calc over the normalization of ``source``, which has the unique ``key``.

    Conditions on the key go below the normalization, others into it; unused columns are dropped below.
    """
    if rel.condition is not None and not pushed:
        return replace(rel, input=_normalized(source, None, key))
    below = [c for c in pushed if refs(c) and refs(c) <= set(key)]
    rest = [c for c in pushed if c not in below]
    above = [c for c in conjunctions(rel.condition) if c not in pushed]
    needed = sorted(set(key).union(*map(refs, rel.projection), *map(refs, rest), *map(refs, above)))
    mapping = {old: new for new, old in enumerate(needed)}
    names = [source.names[i] for i in needed]
    columns = identity(source.types)
    trimmed = calc(source, (columns[i] for i in needed), names, and_(below) if below else None)
    condition = remap(and_(rest), mapping) if rest else None
    normalized = _normalized(trimmed, condition, tuple(mapping[k] for k in key))
    kept = remap(and_(above), mapping) if above else None
    return calc(normalized, (remap(e, mapping) for e in rel.projection), rel.names, kept)


def _past_watermark(rel: WatermarkAssigner, below: Calc) -> Rel:
    """Watermarks over a calc over the source are assigned below the normalization.

    Key columns that the calc drops are kept until above it; a calc that drops nothing else moves above it.
    """
    source = below.input
    place = {e.index: i for i, e in enumerate(below.projection) if isinstance(e, InputRef)}
    key = _key(source)
    columns = identity(source.types)
    added = [k for k in key if k not in place]
    if not added:
        return _normalized(rel, None, tuple(place[k] for k in key))
    width = len(below.projection)
    place |= {k: width + i for i, k in enumerate(added)}
    if len(place) == len(columns) == width + len(added) and below.condition is None:
        origin = {new: old for old, new in place.items()}
        return _calc_above(rel, below, origin)
    names = uniquify([*below.names, *(source.names[k] for k in added)])
    wide = calc(source, (*below.projection, *(columns[k] for k in added)), names, below.condition)
    marked = replace(rel, input=wide)
    normalized = _normalized(marked, None, tuple(place[k] for k in key))
    return calc(normalized, identity(marked.types)[:width], rel.names)


def _calc_above(rel: WatermarkAssigner, below: Calc, origin: dict[int, int]) -> Rel:
    """The source with watermarks and normalization, and above them the calc that permutes columns."""
    source = below.input
    rowtime = origin[rel.rowtime_index]
    marked = replace(rel, input=source, rowtime_index=rowtime, expr=remap(rel.expr, origin))
    columns = identity(marked.types)
    return calc(_normalized(marked, None), (columns[origin[i]] for i in range(len(below.projection))), rel.names)
