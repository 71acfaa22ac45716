"""What of a plan is not executed, or cannot be: found before anything runs, without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlparse

from ...plan.connectors import has_key, source_kinds
from ...plan.connectors.checks import exposed, problems, unlisted, unnamed_databases
from ...plan.connectors.model import MESSAGE_FORMATS, Problem
from ...plan.document import Plan
from ...plan.errors import FlinkplanError, combined_error
from ...plan.nodes import ExecNode, LookupJoin, ProcessTableFunction, Sink, TableSourceScan
from ...plan.nodes.expressions import expressions
from ...plan.record import Record, replace
from ...plan.rex import RexNode
from ...plan.row_kinds import INSERTS
from ...plan.specs import ContextResolvedTable
from ...plan.tables import DESCRIPTORS, plan_tables, unset_variables
from ..connectors import Connector, find_connector
from ..connectors.tables import Table, table_of
from ..errors import TableError
from .query import choice_of
from .refusals import refusal


def refused_nodes(plan: Plan, options: Mapping[str, str] | None = None) -> Iterator[tuple[int, FlinkplanError]]:
    """Nodes that are not executed, by their place in the plan, each with the reasons."""
    from ..expressions.translate import check_expression

    for index, node in enumerate(plan.nodes):
        choice = choice_of(type(node))
        if choice is None:
            yield index, refusal(node)
            continue
        tests = [partial(choice.check, node, plan, options or {})] if choice.check else []
        for test in (*tests, *(partial(check_expression, rex) for rex in _evaluated(node))):
            try:
                test()
            except FlinkplanError as e:
                yield index, e


def _evaluated(node: ExecNode) -> Sequence[RexNode]:
    """The expressions that are computed; the call of a process table function is not one of them."""
    return node.scalars if isinstance(node, ProcessTableFunction) else expressions(node)


def check_nodes(plan: Plan) -> None:
    """Raise the errors of all nodes that are not executed, together."""
    errors = []
    for index, error in refused_nodes(plan):
        error.where = f"node {plan.nodes[index].id} (/nodes/{index})"
        errors.append(error)
    if errors:
        raise combined_error(errors)


class Subject(Enum):
    """What a refusal is about."""

    NODE = "node"
    """An operator, or an expression in it, that is not executed."""
    TABLE = "table"
    """A table that cannot be read or written so."""
    OPTION = "option"
    """An option of a table that Flink refuses, too."""
    UNLISTED = "unlisted"
    """An option of a table that Flink hands on to a library, and that is on no list of what is handed on here."""
    DATABASE = "database"
    """A database in a folder that the user has not named."""
    VARIABLE = "variable"
    """A variable in options of tables that nobody has set."""
    DEFINITION = "definition"
    """A table whose definition the plan leaves to the session."""
    FILES = "files"
    """Files that are not there."""


class Refusal(Record):
    """Why a plan is not executed: ``index`` is the place of the node that it is about, ``steps`` lead on from there."""

    subject: Subject
    error: FlinkplanError
    index: int | None = None
    steps: tuple[str, ...] = ()


def refusals(
    plan: Plan,
    variables: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    databases: Sequence[str] = (),
) -> Iterator[Refusal]:
    """Everything for which ``execute`` refuses a plan, with these variables and options of the session.

    ``databases`` are the folders whose databases the plan may open.
    """
    variables, options = variables or {}, options or {}
    for index, error in refused_nodes(plan, options):
        yield Refusal(Subject.NODE, error, index)
    unset = unset_variables((v for _, table in plan_tables(plan) for v in table.options.values()), variables)
    if unset:
        names = ", ".join(f"${{{name}}}" for name in unset)
        settings = " ".join(f"--var {name}=…" for name in unset)
        error = TableError(f"the tables' options use {names}, not set", hint=f"set them: {settings}")
        yield Refusal(Subject.VARIABLE, error)
    if DESCRIPTORS not in variables and _needs_descriptors(plan):
        hint = f"protoc --include_imports --descriptor_set_out=FILE … makes one; name it: --var {DESCRIPTORS}=FILE"
        error = TableError("no file of descriptors says what messages of 'protobuf' are", hint=hint)
        yield Refusal(Subject.VARIABLE, error)
    indexes = {node.id: index for index, node in enumerate(plan.nodes)}
    for node, reference in plan_tables(plan):
        try:
            for refusal in _of_table(node, reference, variables, databases):
                yield replace(refusal, index=indexes[node.id])
        except FlinkplanError as e:
            yield Refusal(Subject.TABLE, e, indexes[node.id])


def _needs_descriptors(plan: Plan) -> bool:
    """Whether a table of a plan has messages of Protocol Buffers."""
    options = [table.options or {} for _, table in plan_tables(plan)]
    return any(each.get(key) == "protobuf" for each in options for key in MESSAGE_FORMATS)


_OF_A_RUN = (Subject.VARIABLE, Subject.DEFINITION, Subject.FILES, Subject.DATABASE)


def check_runnable(plan: Plan) -> None:
    """Raise all for which every run of the plan is refused, whatever its variables and files."""
    _raise(plan, (refusal for refusal in refusals(plan) if refusal.subject not in _OF_A_RUN))


def check_executable(
    plan: Plan, variables: Mapping[str, str], options: Mapping[str, str], databases: Sequence[str] = ()
) -> None:
    """Raise all that :func:`refusals` finds, together: :class:`UnsupportedError`, :class:`TableError`."""
    _raise(plan, refusals(plan, variables, options, databases))


def _raise(plan: Plan, refused_subjects: Iterable[Refusal]) -> None:
    tables = {node.id: table for node, table in plan_tables(plan)}
    errors = []
    for each in refused_subjects:
        if each.index is not None and each.error.where is None:
            node = plan.nodes[each.index]
            in_table = each.subject is not Subject.NODE
            in_node = f"node {node.id} (/nodes/{each.index})"
            each.error.where = f"table {tables[node.id].identifier}" if in_table else in_node
        errors.append(each.error)
    if errors:
        raise combined_error(errors)


def _of_table(
    node: ExecNode, reference: ContextResolvedTable, variables: Mapping[str, str], databases: Sequence[str]
) -> Iterator[Refusal]:
    try:
        table = table_of(reference, variables)
    except TableError as e:
        yield Refusal(Subject.DEFINITION, e)
        return
    is_source = not isinstance(node, Sink)
    own = table.resolved.options or {}
    table_problems = [*problems(table.name, table.options, table.resolved.schema, not is_source), *exposed(own)]
    steps = (*_steps_to_table(node), "table", "resolvedTable", "options")

    def refused(subject: Subject, problem: Problem) -> Refusal:
        error = TableError(problem.message, hint=problem.hint)
        return Refusal(subject, error, steps=(*steps, problem.key) if problem.key else steps)

    yield from (refused(Subject.OPTION, problem) for problem in table_problems)
    yield from (refused(Subject.UNLISTED, problem) for problem in unlisted(table.options, own))
    if not table_problems:
        try:
            connector = find_connector(table)
        except TableError as e:
            yield Refusal(Subject.TABLE, e, steps=(*steps, "connector"))
            return
        try:
            connector.check(table, is_source)
        except TableError as e:
            yield Refusal(Subject.TABLE, e, steps=steps)
            return
        if is_source and node.metadata.is_batch and (unfit := _unfit_for_batch(connector, table)) is not None:
            yield Refusal(Subject.TABLE, unfit, steps=steps)
        if isinstance(node, LookupJoin) and not connector.answers_lookups:
            message = f"tables of '{connector.name}' are not asked for the rows of keys here"
            yield Refusal(Subject.TABLE, TableError(message, hint="join the table as a stream"), steps=steps)
        obstacle = connector.changes_obstacle(table)
        if isinstance(node, Sink) and obstacle is not None and node.input_kinds != INSERTS:
            error = TableError(obstacle, hint="declare one, or write the rows of a query that only inserts")
            yield Refusal(Subject.TABLE, error, steps=steps)
        yield from (refused(Subject.DATABASE, problem) for problem in unnamed_databases(table.options, own, databases))
        if is_source and connector.is_bounded(table) and (missing := _missing_files(table)) is not None:
            yield Refusal(Subject.FILES, missing, steps=(*steps, "path"))


def _steps_to_table(node: ExecNode) -> tuple[str, ...]:
    """The steps from a node to its table."""
    if isinstance(node, TableSourceScan):
        return ("scanTableSource",)
    return ("temporalTable", "lookupTableSource") if isinstance(node, LookupJoin) else ("dynamicTableSink",)


def _unfit_for_batch(connector: Connector, table: Table) -> TableError | None:
    """Why a table cannot be read in batch mode.  Source: ``DynamicSourceUtils.validateScanSourceForBatch``."""
    if connector.ends_in_batch_mode:
        return None
    if not connector.is_bounded(table):
        return TableError("an unbounded table cannot be read in batch mode", hint="bound it, or use streaming mode")
    if source_kinds(table.options, has_key(table.resolved)) != INSERTS:
        return TableError(
            "a table of changes cannot be read in batch mode: only tables whose rows are inserted",
            hint="read it in streaming mode",
        )
    return None


def _missing_files(table: Table) -> TableError | None:
    """Files of this machine that are to be read and are not there.  Those elsewhere are Spark's affair."""
    path = table.options.get("path", "")
    if not path or "${" in path or ("://" in path and not path.startswith("file:")):
        return None
    local = Path(unquote(urlparse(path).path)) if path.startswith("file:") else Path(path)
    if local.exists():
        return None
    return TableError(f"there is nothing to read at {local}", hint="is the path, or the variable in it, right?")
