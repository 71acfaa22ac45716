"""Lowering of process table functions."""

from __future__ import annotations

from ...plan import nodes, specs
from ...plan.functions import called
from ...plan.functions.process import DEFAULT, DESCRIPTOR
from ...plan.functions.user import PythonFunction
from ...plan.nodes.base import ExecNode
from ...plan.rex import Call, RexNode, TableArgument, shown_name
from ..algebra import physical as p
from ..algebra.rel import CallsProcessTable
from ..rex.printer import definition_digest, digest, record_type
from .context import Context, Parts, Rules, Texts


def _process_table(rel: p.ProcessTable, ctx: Context) -> ExecNode:
    assert rel.mode is not None, "changes are inferred"
    return ctx.node(
        nodes.ProcessTableFunction,
        rel,
        *_description(rel),
        state=_states(rel, ctx),
        uid=rel.uid,
        function_call=rel.call,
        input_changelog_modes=rel.input_modes,
        output_changelog_mode=rel.mode,
    )


def _states(rel: p.ProcessTable, ctx: Context) -> tuple[specs.StateMetadata, ...] | None:
    """The states of a function in Python; Flink's plans have none of the classes that it calls."""
    states = rel.declaration.states
    if not states or not isinstance(rel.function, PythonFunction):
        return None
    return ctx.states_of([(state.name, state.ttl_ms) for state in states])


def _description(rel: p.ProcessTable) -> Parts:
    """Source: ``StreamPhysicalProcessTableFunction.explainTerms``."""
    yield f"invocation=[{call_text(rel.call)}]"
    yield f"uid=[{'null' if rel.uid is None else rel.uid}]"
    yield f"select=[{','.join(rel.names)}]"
    yield f"rowType=[{record_type(rel.row_type)}]"


def call_text(call: Call) -> str:
    """The call as Calcite prints it.  Source: ``RexTableArgCall``."""
    function = called(call)
    assert function is not None
    return f"{function.name}({', '.join(map(_argument_text, call.operands))})"


def _argument_text(rex: RexNode) -> str:
    if type(rex) is TableArgument:
        return _table_text(rex)
    if type(rex) is Call and rex.name in (DEFAULT, DESCRIPTOR):
        return f"{shown_name(rex.name)}({', '.join(digest(o, ()) for o in rex.operands)})"
    return definition_digest(rex) if type(rex) is Call else digest(rex, ())


def _table_text(table: TableArgument) -> str:
    text = f"TABLE(#{table.input_index})"
    if table.partition_keys:
        text += f" PARTITION BY({', '.join(f'${key}' for key in table.partition_keys)})"
    if table.order_keys:
        pairs = zip(table.order_keys, table.order_directions or (), strict=True)
        text += f" ORDER BY({', '.join(f'${key} {direction}' for key, direction in pairs)})"
    return text


def process_table_parts(rel: CallsProcessTable) -> Parts:
    """The call, as ``explain --rules`` shows it."""
    return (f"invocation=[{call_text(rel.call)}]",)


TEXTS: Texts = {p.ProcessTable: process_table_parts}

RULES: Rules = {p.ProcessTable: _process_table}
