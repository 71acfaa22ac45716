"""Lowering of MATCH_RECOGNIZE."""

from __future__ import annotations

from collections.abc import Iterable

from ...plan import nodes, specs
from ...plan.nodes.base import ExecNode
from ...plan.record import Json
from ...plan.rex import Call, Literal, RexNode
from ..algebra import physical as p
from ..algebra.rel import MatchesPattern
from ..rex.printer import definition_digest, expression, named, operator_name, untyped_literal
from .context import Context, Parts, Rules, Texts, columns, order_text


def _match(rel: p.Match, ctx: Context) -> ExecNode:
    spec = specs.MatchSpec(
        pattern=rel.pattern,
        pattern_definitions=_sorted(rel.definitions),
        measures=_sorted(rel.measures),
        after=rel.after,
        subsets=Json(sorted(rel.subsets)),
        all_rows=False,
        partition=specs.PartitionSpec(rel.partition),
        order_by=specs.SortSpec(rel.order),
        interval=rel.interval,
    )
    return ctx.node(nodes.Match, rel, *_description(rel), match_spec=spec)


def _sorted(named_: Iterable[tuple[str, RexNode]]) -> Json:
    return Json(sorted(named_, key=lambda item: item[0]))


def _description(rel: p.Match) -> Iterable[str]:
    """Source: ``MatchUtil`` and ``StreamPhysicalMatch``."""
    if rel.partition:
        yield f"partitionBy=[{columns(rel.input, rel.partition)}]"
    if rel.order:
        yield f"orderBy=[{order_text(rel.input, rel.order)}]"
    measures = [named(expression(rex, rel.input.names, infix=False), name) for name, rex in rel.measures]
    yield f"measures=[{', '.join(measures)}]"
    yield "rowsPerMatch=[ONE ROW PER MATCH]"
    yield f"after=[{after_text(rel.after)}]"
    yield f"pattern=[{pattern_text(rel.pattern)}]"
    if rel.subsets:
        yield f"subset=[{', '.join(map(_subset_text, rel.subsets))}]"
    yield f"define=[{{{', '.join(f'{name}={definition_digest(rex)}' for name, rex in rel.definitions)}}}]"


def _subset_text(subset: tuple[str, tuple[str, ...]]) -> str:
    name, variables = subset
    return f"{name} = ({', '.join(variables)})"


def after_text(after: RexNode) -> str:
    """Where the search goes on after a match."""
    if isinstance(after, Call):
        return f"{operator_name(after)} {pattern_text(after.operands[0])}"
    assert isinstance(after, Literal)
    return str(after.value).replace("_", " ")


def pattern_text(pattern: RexNode) -> str:
    """A row pattern."""
    if isinstance(pattern, Call):
        return f"{operator_name(pattern)}({', '.join(map(pattern_text, pattern.operands))})"
    assert isinstance(pattern, Literal)
    return untyped_literal(pattern)


def match_parts(rel: MatchesPattern) -> Parts:
    """A row pattern, as ``explain --rules`` shows it."""
    if rel.partition:
        yield f"partitionBy=[{columns(rel.input, rel.partition)}]"
    yield f"orderBy=[{order_text(rel.input, rel.order)}]"
    fields = rel.input.names
    measures = (f"{expression(rex, fields)} AS {name}" for name, rex in rel.measures)
    yield f"measures=[{', '.join(measures)}]"
    yield f"define=[{', '.join(f'{name} AS {expression(rex, fields)}' for name, rex in rel.definitions)}]"


TEXTS: Texts = {p.Match: match_parts}

RULES: Rules = {p.Match: _match}
