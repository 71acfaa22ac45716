"""Changelogs made complete."""

from __future__ import annotations

from ....plan.nodes import ChangelogNormalize
from ...prepare.steps import Kernel
from ..context import TranslationContext
from ..kernels import condition, keyed_rows, run_kernel, schema_of
from ..registry import builder
from ..stream import Stream


@builder(Kernel, ChangelogNormalize)
def changelog_normalize(
    node: ChangelogNormalize, step: Kernel, inputs: tuple[Stream, ...], context: TranslationContext
) -> Stream:
    """A complete changelog of upserts by key."""
    (stream,) = inputs
    frame = keyed_rows(stream, node.unique_keys)
    normalized = run_kernel(
        context,
        step,
        frame,
        len(node.unique_keys),
        row=schema_of(stream.type.field_types),
        condition=condition(context, node.filter_condition, stream.type.field_types),
        updateBefore=node.generate_update_before,
        ttl=node.ttl_ms(),
    )
    return Stream(normalized, node.output_type, changelog=True, pulse=stream.pulse)
