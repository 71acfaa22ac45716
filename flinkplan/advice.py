"""Warnings of ``compile``, ``validate`` and ``ttl`` about input that is valid but perhaps not as intended.

Each rule has a stable id.  Rules check a setting, the options of a table, or a whole plan.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from .plan.connectors import CHANGELOG, kinds_are_assumed, with_declared_kinds
from .plan.document import Plan
from .plan.durations import format_duration, parse_duration
from .plan.errors import FlinkplanError
from .plan.findings import Finding, Rule, Severity, rule_table
from .plan.functions import called
from .plan.functions.comparison import EQ, NE, are_text_and_number
from .plan.names import node_names
from .plan.nodes import (
    Calc,
    Exchange,
    ExecNode,
    GlobalGroupAggregate,
    GroupAggregate,
    LocalGroupAggregate,
    LookupJoin,
    MiniBatchAssigner,
    Sink,
    TableSourceScan,
    WatermarkAssigner,
    WindowTableFunction,
)
from .plan.nodes.expressions import expressions
from .plan.options import DURATION
from .plan.printable import shortened
from .plan.rex import InputRef, children, walk
from .plan.settings import SETTINGS, changes_plans, is_known, reason_without_effect, similar_key
from .plan.settings_of_flink import Effect
from .plan.text.positions import pointer
from .plan.ttl import expiring_before_upstream
from .plan.types import LogicalType
from .plan.types.readable import readable

RULES = rule_table(
    Rule(
        "setting-unknown",
        Severity.WARNING,
        "there is no such option",
        "Neither Flink nor flinkplan has an option of this name, so it has no effect. It may be misspelt.",
    ),
    Rule(
        "setting-no-effect",
        Severity.WARNING,
        "this option of Flink has no effect here",
        "The option is for Flink's clusters, or the same is done in another way here. The message says which.",
    ),
    Rule(
        "comparison-types",
        Severity.WARNING,
        "a text is compared with a number",
        "Flink compiles = and <> of a text and a number, but refuses to run them. For <, >, BETWEEN and so on the "
        "text of each row is cast to a number, and a text that is not a number fails the job. Compare with a text, "
        "or write TRY_CAST(text AS BIGINT), which is NULL for such a text.",
    ),
    Rule(
        "window-half",
        Severity.WARNING,
        "rows are grouped by only one end of their window",
        "Flink aggregates by windows only if both window_start and window_end are grouping columns. With one of "
        "them it is a normal aggregation: it updates its result with each row, before the window has ended, and "
        "keeps its groups for ever unless a TTL is set.",
    ),
    Rule(
        "window-never-fires",
        Severity.WARNING,
        "global windows have no trigger",
        "A global window has no end, so without a trigger it never has a result. Add a trigger, such as {purging: "
        "{count: 100}}.",
    ),
    Rule(
        "window-keeps-rows",
        Severity.WARNING,
        "an evictor makes a window keep all its rows",
        "An evictor removes rows from a window before its function is called, so each row is stored until then, "
        "once for each of its windows. Without the evictor, reduce and aggregate store one accumulator for each "
        "window.",
    ),
    Rule(
        "ttl-without-unit",
        Severity.WARNING,
        "a duration is a number without a unit",
        "A number without a unit is in milliseconds: 3600 is less than four seconds. Write the unit, such as 1 h.",
    ),
    Rule(
        "ttl-downstream",
        Severity.WARNING,
        "the TTL of an operator is shorter than that of an operator that feeds it",
        "If an entry has expired downstream but not upstream, an update is treated as a new row. Set a TTL that is "
        "at least as long as those of the operators that feed it.",
    ),
    Rule(
        "variable-unclosed",
        Severity.WARNING,
        "a variable in a table's option is not closed",
        "A variable is written ${NAME}, with letters, digits and underscores. Other text is not replaced, so "
        "'${OUT' is a directory of that name.",
    ),
    Rule(
        "changelog-assumed",
        Severity.WARNING,
        "the changes that a connector emits or takes are unknown",
        "The planner assumes inserts only. If this is wrong, so is the plan. Declare the changes with the table option "
        f"'{CHANGELOG}' = 'I,UA,D' (I insert, UB and UA the rows before and after an update, D delete); Flink does not "
        "see this option.",
    ),
)

_UNCLOSED = re.compile(r"\$\{(?![A-Za-z_][A-Za-z0-9_]*\})")
_BARE = re.compile(r"\s*[0-9]+\s*")


def finding_of(rule: str, message: str, hint: str | None = None) -> Finding:
    """A finding of a rule, without a place."""
    return Finding(rule, RULES[rule].severity, message, hint=hint)


def setting_findings(key: str, value: str, *, executes: bool) -> Iterator[Finding]:
    """The findings about an option of a session; ``executes`` says whether the session also executes its plans.

    If it only compiles them, for Flink or for a later command, options of Flink's runtime are no finding.
    """
    setting = SETTINGS.get(key)
    if not is_known(key):
        yield finding_of("setting-unknown", f"there is no option '{shortened(key)}'", similar_key(key))
    elif setting is not None and setting.effect is Effect.EXECUTING and not executes:
        if not setting.is_default(value):
            message = f"'{key}' has no effect when a plan is compiled: no plan holds it"
            yield finding_of("setting-no-effect", message, f"say it where the plan is executed: --set {key}={value}")
    elif (instead := reason_without_effect(key, value)) is not None:
        if executes or changes_plans(key):
            yield finding_of("setting-no-effect", f"'{key}' has no effect here: {instead}")
    elif setting is not None and setting.option.type is DURATION:
        yield from duration_findings(value, f"'{key}'")


def duration_findings(value: str | int, name: str) -> Iterator[Finding]:
    """The findings about the text of a duration; ``name`` names it in messages."""
    if isinstance(value, bool) or not _BARE.fullmatch(str(value)):
        return
    try:
        millis = parse_duration(value)
    except FlinkplanError:
        return
    if millis:
        hours, rest = divmod(millis, 3_600_000)
        text = format_duration(millis)
        readable_text = text if not text.endswith("ms") else f"{millis / 1000:g} s"
        hint = None if hours and not rest else f"with a unit it says what it means: '{millis} s' or '{millis} ms'"
        message = f"{name} is {millis} without a unit: milliseconds, that is {readable_text}"
        yield finding_of("ttl-without-unit", message, hint)


def table_findings(name: str, options: Mapping[str, str], as_sink: bool) -> Iterator[tuple[str, Finding]]:
    """The findings about a table's options, each with the option's key."""
    for key, value in options.items():
        if _UNCLOSED.search(value):
            message = f"'{key}' of the table '{name}' begins a variable that does not end: {shortened(value)}"
            yield key, finding_of("variable-unclosed", message, "write ${NAME}, of letters, digits and underscores")
    if "connector" in options and kinds_are_assumed(options, as_sink):
        verb = "takes" if as_sink else "emits"
        connector = f"the connector '{shortened(options['connector'])}'"
        message = f"it is not known which changes {connector} {verb}: inserts only is assumed"
        yield "connector", finding_of("changelog-assumed", message, f"say it with '{CHANGELOG}' = 'I,UA,D'")


def plan_findings(plan: Plan, *, comparisons: bool = True) -> Iterator[Finding]:
    """The findings about a plan, each at its node; without ``comparisons`` that rule is left out."""
    indexes = {node.id: index for index, node in enumerate(plan.nodes)}
    names = node_names(plan)

    def at(node: ExecNode, finding: Finding, *steps: str | int) -> Finding:
        place = pointer("nodes", indexes[node.id], *steps)
        return Finding(finding.rule, finding.severity, finding.message, place, None, node.id, node.type, finding.hint)

    for node in plan.nodes:
        if comparisons and (mixed := _mixed_comparison(node)) is not None:
            yield at(node, comparison_finding(*mixed, equality=True))
        bound = _only_window_bound(plan, node)
        if bound is not None:
            bounds = ("window_start", "window_end")
            present, missing = bounds[bound], bounds[1 - bound]
            message = f"rows are grouped by {present} without {missing}: this is no aggregation by windows"
            yield at(node, finding_of("window-half", message, f"group by {missing}, too"), "grouping")
    for node, upstream, shortest, longest in expiring_before_upstream(plan):
        upstream_ttl = f"keeps it for {format_duration(longest)}" if longest else "never forgets"
        message = f"it keeps state for {format_duration(shortest)}, while {names[upstream.id]} upstream {upstream_ttl}"
        yield at(node, finding_of("ttl-downstream", message, "let it keep state as long, or longer"), "state")


def all_table_findings(plan: Plan) -> Iterator[Finding]:
    """The findings about the options of the plan's tables."""
    steps: tuple[str, ...]
    for index, node in enumerate(plan.nodes):
        if isinstance(node, TableSourceScan):
            reference, steps = node.scan_table_source.table, ("scanTableSource",)
        elif isinstance(node, LookupJoin):
            reference, steps = node.table, ("temporalTable", "lookupTableSource")
        elif isinstance(node, Sink):
            reference, steps = node.dynamic_table_sink.table, ("dynamicTableSink",)
        else:
            continue
        options = with_declared_kinds(reference.options, node.own_properties)
        for key, finding in table_findings(reference.name, options, isinstance(node, Sink)):
            place = pointer("nodes", index, *steps, "table", "resolvedTable", "options", key)
            yield Finding(
                finding.rule, finding.severity, finding.message, place, None, node.id, node.type, finding.hint
            )


def comparison_finding(left: LogicalType, right: LogicalType, *, equality: bool) -> Finding:
    """The finding about the comparison of a text with a number."""
    comparison = readable(f"{left.nullable_()} is compared with {right.nullable_()}")
    effect = "Flink compiles this, and refuses to run it" if equality else "a text that is no number fails the job"
    hint = "compare texts with texts, or TRY_CAST the text to a number"
    return finding_of("comparison-types", f"{comparison}: {effect}", hint)


def _mixed_comparison(node: ExecNode) -> tuple[LogicalType, LogicalType] | None:
    for outermost in expressions(node):
        for rex in walk(outermost):
            if called(rex) in (EQ, NE):
                left, right = (operand.type for operand in children(rex))
                if are_text_and_number(left, right):
                    return left, right
    return None


_FORWARDING = (Exchange, MiniBatchAssigner, WatermarkAssigner)


def _only_window_bound(plan: Plan, node: ExecNode) -> int | None:
    """0 if rows are grouped by window_start without window_end, 1 for the reverse; ``None`` otherwise."""
    if not isinstance(node, (GroupAggregate, GlobalGroupAggregate)):
        return None
    (source,) = plan.inputs(node)
    bounds = {bound for column in node.grouping if (bound := _window_bound(plan, source, column)) is not None}
    return bounds.pop() if len(bounds) == 1 else None


def _window_bound(plan: Plan, node: ExecNode, column: int) -> int | None:
    """0 if a column of a node is window_start, 1 if it is window_end; ``None`` for another column."""
    while not isinstance(node, WindowTableFunction):
        if isinstance(node, Calc):
            rex = node.projection[column] if column < len(node.projection) else None
            if not isinstance(rex, InputRef):
                return None
            column = rex.index
        elif isinstance(node, LocalGroupAggregate):
            if column >= len(node.grouping):
                return None
            column = node.grouping[column]
        elif not isinstance(node, _FORWARDING):
            return None
        (node,) = plan.inputs(node)
    bound = column - (len(node.fields) - 3)
    return bound if bound in (0, 1) else None
