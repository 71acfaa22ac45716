"""The places of a plan's operators in the pipeline that it was compiled from."""

from __future__ import annotations

from itertools import accumulate

from ...plan.document import Plan
from ...planner.clauses import places
from ...planner.script import parse_pipeline
from ...planner.sql import ast
from .script import Places


def places_in(plan: Plan, text: str, name: str) -> dict[int, Places]:
    """The places of operators by node id.

    Raises :class:`FlinkplanError` for a text that is not a pipeline.
    """
    line_starts = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))

    def in_text(span: ast.Span) -> tuple[int, int]:
        (line, column), (end_line, end_column) = span.source.position(span.start), span.source.position(span.end)
        return line_starts[line - 1] + column - 1, line_starts[end_line - 1] + end_column - 1

    spans_by_node = places(plan, parse_pipeline(text, name)).items()
    return {id: tuple(in_text(span) for span in spans if span is not ast.NO_SPAN) for id, spans in spans_by_node}
