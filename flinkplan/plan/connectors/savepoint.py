"""The connector of tables over the state of an operator, with all its options.

Sources: ``SavepointConnectorOptions`` and ``SavepointDynamicTableSourceFactory`` of Flink's state processor API
(FLIP-496), and its documentation, "State Processor API", "Table API".
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import FlinkplanError
from ..options import TEXT, Option, OptionType, one_of
from ..row_kinds import INSERTS
from ..specs import ResolvedSchema
from .bundled import EVERYWHERE, unused
from .model import Connector, Options, Problem, Source, always

PATH, UID, UID_HASH = "state.path", "operator.uid", "operator.uid.hash"
STATE_NAME, STATE_TYPE = "fields.#.state-name", "fields.#.state-type"

_CLASSES = (
    *("java.lang.String", "java.lang.Boolean", "java.lang.Byte", "java.lang.Short", "java.lang.Integer"),
    *("java.lang.Long", "java.lang.Float", "java.lang.Double", "java.lang.Character", "java.math.BigDecimal"),
    *("java.math.BigInteger", "java.time.LocalDate", "java.time.LocalTime", "java.time.LocalDateTime"),
    *("java.time.Instant", "java.sql.Date", "java.sql.Time", "java.sql.Timestamp", "java.util.Date"),
    "org.apache.flink.table.data.RowData",
)
"""The classes that an option may name.  They are compared only: serializers in the savepoint say what values are."""


def _class(value: str) -> str:
    if value not in _CLASSES:
        raise FlinkplanError(
            "classes are not loaded", hint="leave the option out: the savepoint says what its values are"
        )
    return value


_CLASS = OptionType("class", _class)


def _factory(key: str, meaning: str) -> Option:
    return Option(key, TEXT, None, meaning, refused="it loads a class; the savepoint says what its values are")


def _problems(options: Options, schema: ResolvedSchema, as_sink: bool) -> Iterator[Problem]:
    if as_sink:
        return
    if (UID in options) == (UID_HASH in options):
        hint = f"write one of them: '{UID}' = '4_group-aggregate'; 'flinkplan state PATH' lists the operators"
        yield Problem(UID, f"either '{UID}' or '{UID_HASH}' names the operator", hint)
    if schema.primary_key is None:
        hint = "declare the column of the key: PRIMARY KEY (k) NOT ENFORCED"
        yield Problem("", "a table over state needs a primary key, which is the key of the state", hint)
        return
    key = schema.primary_key.columns
    if all(column.name in key for column in schema.columns if column.is_physical):
        yield Problem("", "a table over state needs a column for a state beside the key")
    for column in schema.columns:
        if not column.is_physical:
            yield Problem("", f"a table over state has physical columns only, which '{column.name}' is not")


SAVEPOINT = Connector(
    "savepoint",
    "the state of an operator, in a savepoint of Flink or in a checkpoint of flinkplan: a row for each key",
    Source(always(INSERTS), bounded=True),
    None,
    (
        *EVERYWHERE,
        Option(PATH, TEXT, None, "the directory of the savepoint or checkpoint", required=True),
        Option(UID, TEXT, None, "the UID of the operator: 4_group-aggregate"),
        Option(UID_HASH, TEXT, None, "the operator's hash, instead of its UID"),
        unused("state.backend.type", one_of("HASHMAP", "ROCKSDB", "FORST"), None, "the backend that has the state"),
        Option(STATE_NAME, TEXT, None, "the name of the state; by default that of the column"),
        Option(STATE_TYPE, one_of("VALUE", "LIST", "MAP"), None, "its kind; by default ARRAY is a list, MAP is a map"),
        unused("fields.#.key-class", _CLASS, None, "the class of a map's keys"),
        _factory("fields.#.key-type-factory", "a factory of the type of a map's keys"),
        unused("fields.#.value-class", _CLASS, None, "the class of values"),
        _factory("fields.#.value-type-factory", "a factory of the type of values"),
    ),
    problems=_problems,
    executed=True,
)
