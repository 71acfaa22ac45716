"""The options that a plan leaves to the session that executes it."""

from __future__ import annotations

from collections.abc import Mapping

from .document import Plan
from .durations import parse_duration
from .functions import LocalTime, called, function_of
from .functions.cast import CAST
from .nodes import ExecNode, GroupWindowAggregate, Sink, WatermarkAssigner
from .nodes.expressions import expressions
from .nodes.python import PythonNode
from .record import replace
from .rex import Call, Literal, RexNode, Sarg, walk
from .settings import (
    ASYNC_SCALAR,
    IDLE_TIMEOUT,
    JOB_PARAMETERS,
    LEGACY_CASTS,
    LOCAL_TIME_ZONE,
    SETTINGS,
    STATE_TTL,
    defaults,
)
from .settings_of_flink import Effect
from .specs import StateMetadata
from .types import LogicalType

SYSTEM_TIME_ZONE = "default"
"""Flink's word for the time zone of the machine.  flinkplan's jobs do not depend on the machine: here it means UTC."""

_EMIT = "table.exec.emit."
_SINK = "table.exec.sink."

DEFAULTS: Mapping[str, str] = defaults(Effect.BOTH, Effect.EXECUTING)
"""The defaults of the options that a plan may leave to the session and that flinkplan executes."""


def session_options(options: Mapping[str, str]) -> dict[str, str]:
    """The options of :data:`DEFAULTS` that are set to another value than their default."""
    return {key: options[key] for key, default in DEFAULTS.items() if options.get(key, default) != default}


def option_of(node: ExecNode, key: str, options: Mapping[str, str]) -> str:
    """The value of an option of :data:`DEFAULTS`: the node's, else the session's, else the default."""
    value = node.option(key, options.get(key, DEFAULTS[key]))
    parsed = SETTINGS[key].option.type.read(value) if value else value
    return parsed if isinstance(parsed, str) else value


def time_zone(plan: Plan, options: Mapping[str, str]) -> str:
    """The time zone of nodes that state none: the session's, else that of a window node of the plan, else UTC."""
    named = (node.option(LOCAL_TIME_ZONE, "") for node in plan.nodes)
    zone = options.get(LOCAL_TIME_ZONE) or next(filter(None, named), SYSTEM_TIME_ZONE)
    return "UTC" if zone == SYSTEM_TIME_ZONE else zone


def with_session_options(plan: Plan, options: Mapping[str, str]) -> Plan:
    """``plan`` with the session's options written into the nodes that depend on them and have no value of their own."""
    effective = {**session_options(options), LOCAL_TIME_ZONE: time_zone(plan, options)}
    return with_ttls(replace(plan, nodes=tuple(_with_options(node, effective) for node in plan.nodes)), options)


def with_ttls(plan: Plan, options: Mapping[str, str]) -> Plan:
    """``plan`` with the session's TTL for states without one; before Flink 1.18 no plan had TTLs."""
    ttl = options.get(STATE_TTL, DEFAULTS[STATE_TTL])
    if parse_duration(ttl) == 0:
        return plan
    return replace(plan, nodes=tuple(_with_ttl(node, len(plan.inputs(node)), ttl) for node in plan.nodes))


def _with_ttl(node: ExecNode, inputs: int, ttl: str) -> ExecNode:
    declared = node.ttl_states(inputs)
    if node.states or not (node.is_stateful and declared):
        return node
    return replace(node, state=tuple(StateMetadata(i, ttl, state.name) for i, state in enumerate(declared)))


def _with_options(node: ExecNode, options: Mapping[str, str]) -> ExecNode:
    relevant = {key: value for key, value in options.items() if _depends_on(node, key)}
    return replace(node, configuration={**relevant, **(node.configuration or {})}) if relevant else node


def _depends_on(node: ExecNode, option: str) -> bool:
    if option.startswith(_SINK):
        return isinstance(node, Sink)
    if option.startswith(_EMIT):
        return isinstance(node, GroupWindowAggregate)
    if option == IDLE_TIMEOUT:
        return isinstance(node, WatermarkAssigner)
    if option.startswith((JOB_PARAMETERS, "python.", ASYNC_SCALAR)):
        return isinstance(node, PythonNode)
    if option == LEGACY_CASTS:
        return any(called(rex) is CAST for outer in expressions(node) for rex in walk(outer))
    return option in node.metadata.consumed_options or any(
        _depends_on_time_zone(rex) for outermost in expressions(node) for rex in walk(outermost)
    )


def _depends_on_time_zone(rex: RexNode) -> bool:
    """Whether the value of an expression depends, or may depend, on the time zone."""
    match rex:
        case Literal(type=type_) | Sarg(type=type_):
            return _is_instant(type_)
        case Call(key=key, operands=operands, type=type_):
            function = function_of(*key)
            local = LocalTime.BY_TYPE if function is None else function.local_time
            instants = any(map(_is_instant, (type_, *(operand.type for operand in operands))))
            return local is LocalTime.ALWAYS or (local is LocalTime.BY_TYPE and instants)
    return False


def _is_instant(type_: LogicalType) -> bool:
    """Whether values of the type are instants, or hold some."""
    inner = (*type_.children, *(field.type for field in type_.fields))
    return type_.root == "TIMESTAMP_LTZ" or any(map(_is_instant, inner))
