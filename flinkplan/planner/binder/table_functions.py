"""Table functions in FROM: of users, also process table functions, and windowing ones."""

from __future__ import annotations

from ...plan.findings import did_you_mean
from ...plan.functions import Function, Kind
from ...plan.functions.table import WINDOW_FUNCTIONS
from ...plan.functions.user import PythonFunction, UserFunction
from ...plan.rex import Call, CorrelVariable, FieldAccess, InputRef, Literal, RexNode, input_refs, transform
from ...plan.specs import JoinType
from ...plan.types import LogicalType, row
from ..algebra.logical import Correlate, Filter, Values
from ..algebra.names import uniquify
from ..algebra.rel import Rel
from ..sql import ast
from ..sql.refused import REFUSED_FUNCTIONS
from .calls import arguments_of, fit
from .context import Context
from .errors import BindError, unsupported
from .expressions import ExpressionBinder
from .from_items import FromItem, named_item
from .joins import outer_type
from .process_tables import bind_process_table
from .scope import Namespace, Scope
from .windows import bind_window_function


def bind_function(context: Context, node: ast.TableFunction, outer: Scope | None) -> FromItem:
    name = str(node.call.name).upper()
    if name in WINDOW_FUNCTIONS:
        rel = bind_window_function(context, node.call, outer)
        return named_item(rel, rel.row_type, node.alias, None)
    own = _process_table_function(context, node.call)
    if own is not None:
        rel = bind_process_table(context, node.call, own, outer)
        return named_item(rel, rel.row_type, node.alias, None)
    function = user_table_function(context, node.call)
    operands = ExpressionBinder(context, Scope((), outer), str(node.call.name)).bind_all(
        arguments_of(function, node.call)
    )
    call, names = _function_call(function, operands, node)
    correlate = Correlate(
        input=Values(fields=row([], nullable=False), tuples=((),)),
        type=JoinType.INNER,
        correl="",
        call=call,
        function_type=call.type,
        aliases=None,
    )
    named = row(zip(names, call.type.field_types, strict=True), nullable=False)
    return FromItem(correlate, (Namespace(named, 0, node.alias.name.name if node.alias else None),))


def _process_table_function(context: Context, call: ast.FunctionCall) -> Function | None:
    """The process table function that is called; ``None`` for another function."""
    function = context.function(call.name)
    return function if function is not None and function.kind is Kind.PROCESS_TABLE else None


def takes_tables(context: Context, call: ast.FunctionCall) -> bool:
    """Whether a function reads tables by itself, and not the rows of what it is joined with."""
    is_window = str(call.name).upper() in WINDOW_FUNCTIONS
    return is_window or _process_table_function(context, call) is not None


def user_table_function(context: Context, call: ast.FunctionCall) -> Function:
    """The user's table function that is called.  Raises :class:`BindError` if there is none."""
    function = context.function(call.name)
    if isinstance(function, UserFunction) and function.kind is Kind.TABLE:
        return function
    if function is not None:
        raise BindError(f"{call.name} is no table function", call.name.span, "call it in SELECT or WHERE")
    name = str(call.name).upper()
    if name in REFUSED_FUNCTIONS:
        raise unsupported(name, call.name.span, reason=REFUSED_FUNCTIONS[name])
    known = [*WINDOW_FUNCTIONS, *context.catalog.functions.names()]
    raise BindError(
        f"there is no table function {call.name}", call.name.span, did_you_mean(str(call.name).upper(), known)
    )


def _function_call(
    function: Function, operands: tuple[RexNode, ...], node: ast.TableFunction
) -> tuple[Call, tuple[str, ...]]:
    """The call of a table function, and the names of its columns: those of the alias, or its own."""
    call = function.call(*fit(function, operands, node.call.span))
    names = call.type.field_names
    if node.alias is not None and node.alias.columns:
        names = tuple(c.name for c in node.alias.columns)
        if len(names) != len(call.type.fields):
            raise BindError(
                f"{node.call.name} gives {len(call.type.fields)} columns, {len(names)} names are given", node.alias.span
            )
    return call, names


def bind_function_join(
    context: Context,
    join: ast.Join,
    node: ast.TableFunction,
    function: Function,
    left: FromItem,
    kind: JoinType,
    outer: Scope | None,
) -> FromItem:
    """``left JOIN LATERAL TABLE(f(…))``: each left row with the rows that the function gives for it."""
    if kind not in (JoinType.INNER, JoinType.LEFT):
        raise unsupported(f"a {join.kind} JOIN with a table function", join.span, "use CROSS JOIN or LEFT JOIN")
    inside = Scope(left.namespaces, outer, left.merged)
    operands = ExpressionBinder(context, inside, str(node.call.name)).bind_all(arguments_of(function, node.call))
    call, names = _function_call(function, operands, node)
    alias = node.alias.name.name if node.alias else None
    nullable = kind is JoinType.LEFT
    fields = zip(names, call.type.field_types, strict=True)
    namespace = Namespace(row(((n, outer_type(t, nullable)) for n, t in fields), nullable=False), left.rel.width, alias)
    scope = Scope((*left.namespaces, namespace), outer, left.merged)
    condition = None
    if join.condition is not None:
        bound = ExpressionBinder(context, scope, "ON").condition(join.condition)
        condition = None if isinstance(bound, Literal) and bound.value is True else bound
    if condition is not None and (nullable or any(i < left.rel.width for i in input_refs(condition))):
        raise unsupported(
            "a condition of a join with a table function",
            join.span,
            "write ON TRUE" if nullable else "write the condition into WHERE",
        )
    correl = context.correlations.next()
    outer_row = _named_by_scope(left)
    if not isinstance(function, PythonFunction):  # the calls of others stay in the plan, with the row of both sides
        names_of_both = uniquify([*outer_row.field_names, *names])
        types_of_both = [*outer_row.field_types, *call.type.field_types]
        outer_row = row(zip(names_of_both, types_of_both, strict=True), nullable=False)
    variable = CorrelVariable(correl, outer_row)
    types = outer_row.field_names

    def through_variable(rex: RexNode) -> RexNode:
        return FieldAccess(types[rex.index], variable) if isinstance(rex, InputRef) else rex

    rel: Rel = Correlate(
        input=left.rel,
        type=kind,
        correl=correl,
        call=transform(call, through_variable),
        function_type=call.type,
        aliases=None if isinstance(function, PythonFunction) else names,
    )
    if condition is not None:
        rel = Filter(input=rel, condition=condition)
    return FromItem(rel, scope.namespaces, left.merged, unnested=left.unnested)


def _named_by_scope(item: FromItem) -> LogicalType:
    """The row of an item of FROM with the names that the statement gives to its columns."""
    names = list(item.rel.names)
    for namespace in item.namespaces:
        for position, field in enumerate(namespace.row_type.fields):
            names[namespace.offset + position] = field.name
    return row(zip(uniquify(names), item.rel.types, strict=True), nullable=False)
