"""``FROM_CHANGELOG`` and ``TO_CHANGELOG``, the process table functions that Flink itself has.

Sources: Flink's ``FromChangelogTypeStrategy`` and ``ToChangelogTypeStrategy``, and their functions in its runtime.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from ..errors import FlinkplanError
from ..record import Record, replace
from ..rex import Call, Literal, RexNode, TableArgument
from ..types import CHARACTER, STRING, LogicalType, map_, row
from ..types import DESCRIPTOR as DESCRIPTOR_TYPE
from .cast import CAST
from .collection import MAP
from .model import Function, Kind
from .process import DEFAULT, DESCRIPTOR, ON_TIME, UID, ProcessArgument, ProcessDeclaration, Trait
from .registry import called, declare
from .rules import always, signature, which
from .user import UserFunction

OP, OP_MAPPING = "op", "op_mapping"
INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = KINDS = ("INSERT", "UPDATE_BEFORE", "UPDATE_AFTER", "DELETE")
_NO_COLUMNS = row([], nullable=False)
_SCALAR = frozenset((Trait.SCALAR,))


def _declared(name: str, *traits: Trait, emits_changes: bool) -> ProcessDeclaration:
    table = ProcessArgument("input", None, frozenset((Trait.TABLE, *traits)), is_optional=False)
    op = ProcessArgument(OP, DESCRIPTOR_TYPE, _SCALAR, is_optional=True)
    mapping = ProcessArgument(OP_MAPPING, map_(STRING, STRING), _SCALAR, is_optional=True)
    return ProcessDeclaration(
        arguments=(table, op, mapping),
        result=_NO_COLUMNS,
        states=(),
        has_system_arguments=True,
        emits_changes=emits_changes,
        has_timers=False,
        takes_context=False,
    )


_SIGNATURE = signature(*(which(name, lambda t: True) for name in ("input", OP, OP_MAPPING, ON_TIME, UID)))
FROM_CHANGELOG, TO_CHANGELOG = (
    declare(name, _SIGNATURE, always(_NO_COLUMNS), kind=Kind.PROCESS_TABLE, bridged=True)
    for name in ("FROM_CHANGELOG", "TO_CHANGELOG")
)
DECLARATIONS: Mapping[Function, ProcessDeclaration] = {
    FROM_CHANGELOG: _declared("FROM_CHANGELOG", Trait.ROW_SEMANTIC_TABLE, emits_changes=True),
    TO_CHANGELOG: _declared(
        "TO_CHANGELOG",
        Trait.ROW_SEMANTIC_TABLE,
        Trait.SUPPORT_UPDATES,
        Trait.REQUIRE_UPDATE_BEFORE,
        Trait.REQUIRE_FULL_DELETE,
        emits_changes=False,
    ),
}
"""What Flink declares of the two functions; the columns of their results depend on the call."""


class ChangelogCall(Record):
    """A call of one of the two functions.

    ``op`` is the name of the column with the operation.  ``mapping`` has the codes of operations: of FROM_CHANGELOG the
    kind of row by code, of TO_CHANGELOG the code by kind of row.
    """

    function: Function
    table: TableArgument
    op: str
    mapping: Mapping[str, str]

    @property
    def op_index(self) -> int:
        """The position of the column with the operation in the table of FROM_CHANGELOG."""
        return self.table.type.field_names.index(self.op)

    @property
    def kept(self) -> tuple[int, ...]:
        """The columns of the table that stand in the result behind the keys and the operation."""
        names = self.table.type.field_names
        without = set(self.table.partition_keys)
        if self.function is FROM_CHANGELOG:
            without.add(self.op_index)
        return tuple(i for i in range(len(names)) if i not in without)

    @property
    def result(self) -> LogicalType:
        """The columns that the function itself emits."""
        fields = [(self.table.type.field_names[i], self.table.type.field_types[i]) for i in self.kept]
        if self.function is TO_CHANGELOG:
            if self.op in (name for name, _ in fields):
                raise FlinkplanError(
                    f"the table has a column '{self.op}' already", hint=f"choose another name: {OP} => DESCRIPTOR(kind)"
                )
            fields.insert(0, (self.op, STRING))
        return row(fields, nullable=False)


def process_declaration(rex: RexNode) -> ProcessDeclaration | None:
    """What is declared of the process table function that an expression calls; ``None`` if it calls none."""
    function = called(rex)
    if isinstance(function, UserFunction):
        return function.process
    call = changelog_call(rex)
    return None if call is None else replace(DECLARATIONS[call.function], result=call.result)


def changelog_call(rex: RexNode) -> ChangelogCall | None:
    """The call of FROM_CHANGELOG or TO_CHANGELOG that an expression is; ``None`` if it is none.

    Raises :class:`FlinkplanError` for arguments that Flink refuses.
    """
    function = called(rex)
    if type(rex) is not Call or function is None or function not in DECLARATIONS:
        return None
    table, op, mapping, *_ = rex.operands
    assert type(table) is TableArgument
    call = ChangelogCall(function, table, _op_name(op), _mapping(function, mapping))
    if function is FROM_CHANGELOG:
        _check_op(call)
    return call


def _op_name(rex: RexNode) -> str:
    names = [OP]
    if type(rex) is Call and rex.name == DESCRIPTOR:
        names = [str(o.value) for o in rex.operands if type(o) is Literal]
    if len(names) != 1:
        raise FlinkplanError(f"the argument '{OP}' names one column", hint=f"write {OP} => DESCRIPTOR({OP})")
    return names[0]


def _check_op(call: ChangelogCall) -> None:
    names = call.table.type.field_names
    if call.op not in names:
        raise FlinkplanError(
            f"there is no column '{call.op}' with the operation of a row",
            hint=f"name the column: {OP} => DESCRIPTOR(column)",
        )
    t = call.table.type.field_types[call.op_index]
    if t.root not in CHARACTER:
        raise FlinkplanError(f"the column '{call.op}' with the operation is a text, not {t.nullable_()}")


def _mapping(function: Function, rex: RexNode) -> Mapping[str, str]:
    if type(rex) is Call and rex.name == DEFAULT:
        return dict(zip(KINDS, KINDS, strict=True))
    pairs = _pairs(rex)
    if pairs is None:
        raise FlinkplanError(
            f"the argument '{OP_MAPPING}' is a constant MAP", hint=f"write {OP_MAPPING} => MAP['I', 'INSERT']"
        )
    kinds: list[str] = []
    mapping: dict[str, str] = {}
    for key, value in pairs:
        keys = [text.strip() for text in key.split(",")]
        kinds += keys if function is TO_CHANGELOG else [value.strip()]
        mapping.update(dict.fromkeys(keys, value.strip() if function is FROM_CHANGELOG else value))
    _check_kinds(function, kinds)
    return mapping


def _check_kinds(function: Function, kinds: Sequence[str]) -> None:
    for i, kind in enumerate(kinds):
        if kind not in KINDS:
            raise FlinkplanError(f"'{kind}' in '{OP_MAPPING}' is no kind of row", hint=f"it is {', '.join(KINDS)}")
        if kind in kinds[:i]:
            raise FlinkplanError(
                f"'{OP_MAPPING}' maps {kind} twice",
                hint="separate several codes by commas: MAP['c, r', 'INSERT']" if function is FROM_CHANGELOG else None,
            )
    if function is FROM_CHANGELOG and UPDATE_AFTER in kinds and UPDATE_BEFORE not in kinds:
        raise FlinkplanError(
            f"'{OP_MAPPING}' maps UPDATE_AFTER without UPDATE_BEFORE, which Flink 2.3 does not support",
            hint="map UPDATE_BEFORE as well",
        )


def _pairs(rex: RexNode) -> list[tuple[str, str]] | None:
    """The keys and values of a MAP of text literals."""
    while called(rex) is CAST and type(rex) is Call:
        rex = rex.operands[0]
    if called(rex) is not MAP or type(rex) is not Call:
        return None
    texts = list(_texts(rex.operands))
    if len(texts) < len(rex.operands):
        return None
    return list(zip(texts[::2], texts[1::2], strict=True))


def _texts(operands: Collection[RexNode]) -> Iterator[str]:
    for rex in operands:
        while called(rex) is CAST and type(rex) is Call:
            rex = rex.operands[0]
        if type(rex) is Literal and isinstance(rex.value, str):
            yield rex.value
