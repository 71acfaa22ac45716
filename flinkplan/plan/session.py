"""What a plan leaves to the session that executes it."""

from __future__ import annotations

from collections.abc import Mapping

from .document import Plan
from .durations import parse_duration
from .functions import LocalTime, called, function_of
from .functions.cast import CAST
from .nodes import ExecNode, GroupWindowAggregate, Sink, WatermarkAssigner
from .nodes.expressions import expressions
from .record import replace
from .rex import Call, Literal, RexNode, Sarg, walk
from .settings import IDLE_TIMEOUT, LEGACY_CASTS, LOCAL_TIME_ZONE, SETTINGS, STATE_TTL, Effect, defaults
from .specs import StateMetadata
from .types import LogicalType

SYSTEM_TIME_ZONE = "default"
"""What stands for the machine's own time zone, which a job here does not depend on: it is UTC."""

_EMIT = "table.exec.emit."
_SINK = "table.exec.sink."

DEFAULTS: Mapping[str, str] = defaults(Effect.BOTH, Effect.EXECUTING)
"""The options that a plan may leave to the session, and that do something here, with what they are unless set."""


def session_options(options: Mapping[str, str]) -> dict[str, str]:
    """Those of ``options`` that say something else than what is so anyhow."""
    return {key: options[key] for key, default in DEFAULTS.items() if options.get(key, default) != default}


def option_of(node: ExecNode, key: str, options: Mapping[str, str]) -> str:
    """One of :data:`DEFAULTS` as the node has it, else as the session does; words as they are declared."""
    value = node.option(key, options.get(key, DEFAULTS[key]))
    read = SETTINGS[key].option.type.read(value) if value else value
    return read if isinstance(read, str) else value


def time_zone(plan: Plan, options: Mapping[str, str]) -> str:
    """The time zone of nodes that fix none: the session's, else what a window node of the plan names, else UTC."""
    named = (node.option(LOCAL_TIME_ZONE, "") for node in plan.nodes)
    zone = options.get(LOCAL_TIME_ZONE) or next(filter(None, named), SYSTEM_TIME_ZONE)
    return "UTC" if zone == SYSTEM_TIME_ZONE else zone


def under(plan: Plan, options: Mapping[str, str]) -> Plan:
    """``plan`` as a session with these options executes it: its nodes fix all that they depend on."""
    effective = {**session_options(options), LOCAL_TIME_ZONE: time_zone(plan, options)}
    return with_ttls(replace(plan, nodes=tuple(_under(node, effective) for node in plan.nodes)), options)


def with_ttls(plan: Plan, options: Mapping[str, str]) -> Plan:
    """``plan`` with the session's TTL for states of which it says nothing, as no plan did before Flink 1.18."""
    ttl = options.get(STATE_TTL, DEFAULTS[STATE_TTL])
    if parse_duration(ttl) == 0:
        return plan
    return replace(plan, nodes=tuple(_with_ttl(node, len(plan.inputs(node)), ttl) for node in plan.nodes))


def _with_ttl(node: ExecNode, inputs: int, ttl: str) -> ExecNode:
    declared = node.declared_states(inputs)
    if node.states or not (node.is_stateful and declared):
        return node
    return replace(node, state=tuple(StateMetadata(i, ttl, state.name) for i, state in enumerate(declared)))


def _under(node: ExecNode, options: Mapping[str, str]) -> ExecNode:
    left_open = {key: value for key, value in options.items() if _depends_on(node, key)}
    return replace(node, configuration={**left_open, **(node.configuration or {})}) if left_open else node


def _depends_on(node: ExecNode, option: str) -> bool:
    if option.startswith(_SINK):
        return isinstance(node, Sink)
    if option.startswith(_EMIT):
        return isinstance(node, GroupWindowAggregate)
    if option == IDLE_TIMEOUT:
        return isinstance(node, WatermarkAssigner)
    if option == LEGACY_CASTS:
        return any(called(rex) is CAST for outer in expressions(node) for rex in walk(outer))
    return option in node.metadata.consumed_options or any(
        _tells_local_time(rex) for outermost in expressions(node) for rex in walk(outermost)
    )


def _tells_local_time(rex: RexNode) -> bool:
    """Whether an expression has, or may have, another value in another time zone."""
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
