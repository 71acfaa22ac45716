"""What process table functions say of the changes that they read and emit.

Source: ``FlinkChangelogModeInferenceProgram``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from ...plan.functions.process import Trait
from ...plan.functions.user import UserFunction
from ...plan.rex import Literal, TableArgument
from ...plan.row_kinds import Kinds
from ...plan.specs import ReceivedKind, RowKind
from ..algebra.physical import ProcessTable
from ..algebra.rel import CallsProcessTable, Rel
from ..errors import Part, PlanningError


def process_table_mode(
    rel: CallsProcessTable, inputs: Sequence[Sequence[ReceivedKind]], required: Collection[ReceivedKind]
) -> tuple[ReceivedKind, ...]:
    """The kinds of rows that a function emits for inputs with rows of these kinds.

    ``required`` are the kinds that what reads the function takes.
    """
    if not rel.declaration.emits_changes:
        return (ReceivedKind.INSERT,)
    function = rel.function
    if not isinstance(function, UserFunction):
        return tuple(ReceivedKind)[:4]
    of_arguments = [
        [kind.value for kind in inputs[operand.input_index]] if type(operand) is TableArgument else None
        for operand in rel.call.operands[: len(rel.declaration.arguments)]
    ]
    names = [kind.value for kind in ReceivedKind if kind in required]
    return tuple(map(ReceivedKind, function.changelog(of_arguments, names)))


def process_table_kinds(rel: CallsProcessTable, inputs: Sequence[Kinds], required: Kinds) -> Kinds:
    """The same as kinds of rows, of inputs whose deletions have all columns."""
    modes = [[ReceivedKind(kind.value) for kind in RowKind if kind in kinds] for kinds in inputs]
    return frozenset(kind.row_kind for kind in process_table_mode(rel, modes, ReceivedKind.of(required)))


def takes_updates(rel: CallsProcessTable, index: int) -> bool:
    """Whether the table at an input may be updated."""
    tables = rel.declared_tables
    return index < len(tables) and Trait.SUPPORT_UPDATES in tables[index].traits


def partitions(rel: CallsProcessTable) -> Iterator[frozenset[int]]:
    """Of each table the columns of the result that it is partitioned by.

    Source: ``toPartitionColumns``, which finds none for tables behind the first one by a mistake.
    """
    start = 0
    for declared, table in zip(rel.declared_tables, rel.tables, strict=True):
        count = len(table.partition_keys)
        is_passed = Trait.PASS_COLUMNS_THROUGH in declared.traits
        yield frozenset(table.partition_keys if is_passed else range(start, start + count))
        start += count


_UID = re.compile(r"[a-zA-Z_][a-zA-Z-_0-9]*")


def is_uid(text: str) -> bool:
    """Whether a text may name an operator.  Source: ``SystemTypeInference``."""
    return _UID.fullmatch(text) is not None


def check_process_uids(operators: Iterable[Rel]) -> None:
    """Raise :class:`PlanningError` where two operators of a job have one name.  Source: ``PtfUidValidator``."""
    seen: set[str] = set()
    for rel in operators:
        if isinstance(rel, ProcessTable) and rel.uid is not None:
            if rel.uid in seen:
                name = rel.function.name
                raise PlanningError(
                    f"two calls of process table functions have the name '{rel.uid}'",
                    hint=f"name each of them: {name}(…, uid => 'my-id')",
                    part=Part.FUNCTION,
                    name=name,
                )
            seen.add(rel.uid)


def process_uid(rel: CallsProcessTable) -> str | None:
    """The name of the operator: the argument ``uid``, else of a function of whole tables its own name.

    Raises :class:`PlanningError` where that is none.
    """
    given = rel.call.operands[-1] if rel.declaration.has_system_arguments else None
    if type(given) is Literal and given.value is not None:
        return str(given.value)
    if not rel.declaration.is_set:
        return None
    name = rel.function.name
    if not is_uid(name):
        raise PlanningError(
            f"the operator of the function '{name}' needs a name, and its own is none that Flink accepts",
            hint=f"name it: {name}(…, uid => 'my-id')",
            part=Part.FUNCTION,
            name=name,
        )
    return name
