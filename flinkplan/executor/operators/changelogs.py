"""Changelogs made complete, and upserts made of them."""

from __future__ import annotations

from ...plan.nodes import ChangelogNormalize
from ..context import TranslationContext
from ..execution import Execution, QueryPlan, kernel, with_ttl
from ..kernels import condition, run_kernel, schema_of
from ..registry import row_by_row, translator
from ..stream import Stream
from .ranks import keyed_rows


def _runs(node: ChangelogNormalize, query: QueryPlan) -> Execution:
    state = with_ttl("ValueState", "changelogNormalizeState", "the last row", node.ttl_ms())
    return kernel(node, query, "changelog.Normalize", "the row that an upsert replaces is looked up", state)


@translator(ChangelogNormalize, runs=_runs, real_time=row_by_row)
def changelog_normalize(node: ChangelogNormalize, inputs: tuple[Stream, ...], context: TranslationContext) -> Stream:
    """A complete changelog of upserts by key."""
    (stream,) = inputs
    frame = keyed_rows(stream, node.unique_keys)
    normalized = run_kernel(
        context,
        frame,
        len(node.unique_keys),
        "changelog.Normalize",
        row=schema_of(stream.type.field_types),
        condition=condition(context, node.filter_condition, stream.type.field_types),
        updateBefore=node.generate_update_before,
        ttl=node.ttl_ms(),
    )
    return Stream(normalized, node.output_type, changelog=True, pulse=stream.pulse)
