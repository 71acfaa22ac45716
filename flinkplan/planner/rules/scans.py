"""Scans, and pushing filters and limits into them.

Sources: ``PushFilterIntoTableSourceScanRule``, ``PushLimitIntoTableSourceScanRule``, ``RexNodeToExpressionConverter``.
"""

from __future__ import annotations

from decimal import Decimal

from ...plan.connectors import ALL
from ...plan.functions import Function, called
from ...plan.functions.arithmetic import DATETIME_MINUS, DATETIME_PLUS, MINUS, NEGATE, PLUS
from ...plan.functions.comparison import AND, OR, SEARCH
from ...plan.functions.typing import is_interval, is_year_month
from ...plan.record import cached_on_record, replace
from ...plan.rex import Call, FieldAccess, InputRef, Literal, RexNode, children
from ...plan.settings import is_on
from ...plan.specs import FilterPushDown, LimitPushDown, ReadingMetadata, RowKind
from ...plan.types import APPROXIMATE, TIMESTAMPS, LogicalType
from ..algebra.builders import filtered
from ..algebra.logical import Filter, Project, Scan, Sort
from ..algebra.physical import SourceScan
from ..algebra.rel import Rel
from ..algebra.row_types import pick, row_of
from ..connectors import connector_of, source_kinds, source_of, table_options
from ..errors import PlanningError
from ..rex import sargs
from ..rex.builder import field_access
from ..rex.evaluation.numbers import java_float
from ..rex.expressions import and_, cast, conjunctions, derive_nullability, identity, is_call, rewrite
from ..rex.normal_forms import to_cnf
from ..rex.sargs import sargs_expanded
from ..rex.simplify import reordered_condition
from ..rex.unplanned import Approximate
from .rule import Config, rule


@rule(on=Scan, configured=True)
def to_sources(rel: Scan, config: Config) -> Rel:
    """Replace each table scan by a source scan that reads all columns.

    Raises :class:`PlanningError` for a changelog of upserts, or one that may repeat events, without a primary key.
    """
    may_repeat = is_on(config, "table.exec.source.cdc-events-duplicate")

    keyed = rel.table.resolved.schema.primary_key is not None
    kinds = source_kinds(rel.table, dict(rel.options))
    repeats = may_repeat and kinds == ALL
    if repeats and not keyed:
        raise PlanningError(
            f"the table '{rel.table.identifier.name}' has no primary key to tell its repeated events by",
            hint="declare a PRIMARY KEY … NOT ENFORCED, or leave table.exec.source.cdc-events-duplicate off",
        )
    upserts = RowKind.UPDATE_AFTER in kinds and RowKind.UPDATE_BEFORE not in kinds
    if upserts and not keyed:
        raise PlanningError(
            f"the table '{rel.table.identifier.name}' has no primary key, by which its source updates rows",
            hint="declare a PRIMARY KEY … NOT ENFORCED",
        )
    normalized = keyed and (upserts or repeats)
    return _with_metadata(
        SourceScan(table=rel.table, fields=rel.fields, options=rel.options, alias=rel.alias, normalized=normalized)
    )


def _with_metadata(scan: SourceScan) -> Rel:
    """The scan with metadata columns behind the physical ones, under a projection to the schema's order.

    It reads them in an order and in types of its own, which the projection casts to those of the table: of a column
    that has a watermark to a time attribute.
    """
    schema = scan.table.resolved.schema
    offered = connector_of(scan.table).metadata
    own = {c.name: c.metadata_key or c.name for c in schema.columns if c.kind == "METADATA"}
    if not own:
        return scan
    names = scan.names
    places = {key: i for i, key in enumerate(offered)}
    metadata = sorted(own, key=lambda name: places.get(own[name], -1))
    keys = tuple(own[name] for name in metadata)
    read = [*schema.physical_names, *metadata]
    declared = pick(scan.fields, map(names.index, read))
    types = (offered.get(own.get(f.name, ""), f.type) for f in declared.fields)
    produced = row_of(read, types)
    reading = replace(scan, abilities=(ReadingMetadata(keys, produced.not_null()),), fields=produced)
    columns = identity(produced.field_types)
    times = {c.name: c.data_type for c in schema.columns if c.name in own and c.data_type is not None}
    exprs = (cast(columns[read.index(f.name)], times.get(f.name, f.type)) for f in scan.fields.fields)
    return Project(input=reading, exprs=tuple(exprs), names=scan.names)


@rule(on=Filter, over=SourceScan)
def push_into_scans(rel: Filter, scan: SourceScan) -> Rel:
    """Offer convertible predicates to the source; those that it does not apply itself stay in the filter.

    So do the names that the filter had when it was made.
    """
    taken = source_of(scan.table).filters
    if taken is False or any(isinstance(a, FilterPushDown) for a in scan.abilities):
        return rel
    given = conjunctions(to_cnf(sargs.expand(rel.condition)))
    parts = [derive_nullability(_in_source_terms(sargs_expanded(p))) if is_convertible(p) else p for p in given]
    offered = [p for p in parts if is_convertible(p)]
    if not offered:
        return rel
    options = table_options(scan.table, dict(scan.options))
    applied = [p for p in offered if taken is True or taken(options, binary(p))]
    kept = [p for p in offered if taken is True or p not in applied]
    rest = [p for p in parts if not is_convertible(p)]
    pushed = FilterPushDown(tuple(map(binary, applied)))
    new = filtered(replace(scan, abilities=(*scan.abilities, pushed)), [reordered_condition(and_([*kept, *rest]))])
    return replace(new, given=rel.given) if isinstance(new, Filter) else new


def _in_source_terms(rex: RexNode) -> RexNode:
    """The predicate as it is after conversion to the source's expressions and back.

    There approximate numbers are Java's, intervals have all units of their kind, and there is one subtraction.
    Fields are accessed anew.
    """

    def convert(node: RexNode) -> RexNode:
        if isinstance(node, FieldAccess):
            return field_access(node.expr, node.name)
        if (
            isinstance(node, (Literal, Call))
            and is_interval(node.type)
            and not is_call(node, MINUS, DATETIME_MINUS, NEGATE)
        ):
            return replace(node, type=_with_all_units(node.type))
        if node.type.root in _TIMES and called(node) in _SOURCE_FUNCTIONS:
            return _SOURCE_FUNCTIONS[called(node)].typed(node.type, *children(node))
        if isinstance(node, Literal) and node.type.root in APPROXIMATE and node.value is not None:
            text = java_float(float(node.value), single=node.type.root == "FLOAT")
            return replace(node, value=Approximate(Decimal(text)))
        return node

    return rewrite(rex, convert)


_TIMES = ("DATE", "TIME", *TIMESTAMPS)
_SOURCE_FUNCTIONS: dict[Function | None, Function] = {PLUS: DATETIME_PLUS, DATETIME_MINUS: MINUS}
"""Flink's functions for the sum and difference of a time and an interval in predicates of sources."""


def _with_all_units(t: LogicalType) -> LogicalType:
    units, scale = ("YEAR_TO_MONTH", None) if is_year_month(t) else ("DAY_TO_SECOND", 6)
    return LogicalType(f"INTERVAL_{units}", t.nullable, precision=2, scale=scale)


def is_convertible(rex: RexNode) -> bool:
    """Whether a predicate can be converted to expressions of sources."""
    if type(rex) is Call:
        function = called(rex)
        if function is SEARCH:
            return is_convertible(rex.operands[0])
        return (function is None or function.is_pushable) and all(map(is_convertible, rex.operands))
    if type(rex) is FieldAccess:
        return isinstance(rex.expr, (InputRef, FieldAccess)) and is_convertible(rex.expr)
    return type(rex) is InputRef or type(rex) is Literal


@cached_on_record
def binary(rex: RexNode) -> RexNode:
    """A predicate as Flink's expressions spell it: SEARCH written out, AND and OR of two operands each."""

    def split(node: RexNode) -> RexNode:
        node = sargs.expand(node)
        for junction in (AND, OR):
            if is_call(node, junction):
                return _nested(junction, node)
        return node

    return rewrite(rex, split)


def _nested(junction: Function, rex: RexNode) -> RexNode:
    operands = [o if not is_call(o, AND, OR) else binary(o) for o in children(rex)]
    nested = operands[0]
    for operand in operands[1:]:
        nullable = nested.type.nullable or operand.type.nullable
        nested = junction.typed(nested.type.with_nullability(nullable), nested, operand)
    return nested


# ---------------------------------------------------------------- limits


@rule(on=Sort, over=SourceScan)
def push_limit(rel: Sort, scan: SourceScan) -> Rel:
    """Push LIMIT without ORDER BY into the source."""
    if rel.order or rel.fetch is None:
        return rel
    if not source_of(scan.table).limit or any(isinstance(a, LimitPushDown) for a in scan.abilities):
        return rel
    limit = LimitPushDown((rel.offset or 0) + rel.fetch)
    return replace(rel, input=replace(scan, abilities=(*scan.abilities, limit)))
