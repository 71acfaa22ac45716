"""What the state of a checkpoint holds, read through Spark's own state data source."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...plan.document import Plan
from ...plan.errors import PlanError
from ...plan.files import Place
from ...plan.names import node_names
from ...plan.nodes import ExecNode, ProcessTableFunction
from ...plan.record import Record, replace
from ...plan.ttl import state_names
from ...plan.user_functions import unbound_functions
from ...state.checkpoint import CheckpointRecord, check_classes
from ...state.keys import KeyValues
from ..build.stream import column_name
from ..jvm.spark import F, sql
from ..prepare.job_plan import JobPlan, JobSettings, prepare, queries_of
from ..prepare.modes import Mode
from ..prepare.steps import Step

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row, SparkSession
    from pyspark.sql.types import StructType

STATE_SOURCE = "flinkplan.runtime.checkpoint.StateSource"
"""The format by which Spark reads the entries of states."""

_FOREVER = datetime(2100, 1, 1, tzinfo=UTC).timestamp() * 1000
"""An expiry beyond this stands for none: Python's window operators keep such states for a hundred years, as did kernels
in checkpoints of before.
"""

_LASTING = "-lasting"
"""What the name of the variable of entries that stay has behind the state's, as ``StateVariables.java`` calls it."""

_FEW = "-few"
"""What the name of the variable of few windows has behind that of many, as ``WindowAggregate.java`` calls it."""


class State(Record):
    """One state of one operator of one sink's query.

    ``operator`` is Spark's number of it, ``node`` the name of its exec node and ``columns`` those of the rows it keeps,
    where the plan on record tells.  ``variables`` are what Spark keeps it in; Spark's own operators have one state
    and none of them.
    """

    sink: str
    operator: int
    node: str | None
    name: str
    variables: Sequence[str]
    folder: Place
    columns: Sequence[str] = ()


class Entry(Record):
    """An entry of a state: its key, its value, and when it expires, if ever."""

    key: tuple[Any, ...]
    value: Any
    expires: datetime | None

    @property
    def is_expired(self) -> bool:
        """Whether operators no longer see it, though it has not been cleaned up yet."""
        return self.expires is not None and self.expires <= datetime.now(UTC)


def find_states(checkpoint: str | Path) -> list[State]:
    """The states of a checkpoint, by sink and operator; reads metadata only.  Raises :class:`PlanError`."""
    record = CheckpointRecord(checkpoint)
    queries = [name for name in record.place.children() if (record.place / name / "offsets").is_folder()]
    if not queries:
        raise _no_states(record)
    plan = record.plan() if record.exists else None
    sinks = {str(record.query(sink)): sink for sink in (queries_of(plan) if plan else ())}
    mode = Mode(record.modes[-1]) if record.modes else Mode.STREAMING
    operators = _known_operators(plan, mode) if plan else {}
    states: list[State] = []
    for name in queries:
        folder = record.place / name
        check_classes(folder)
        sink = sinks.get(str(folder), name)
        states += _states(sink, folder, operators.get(sink, ()))
    return states


def _known_operators(plan: Plan, mode: Mode) -> dict[str, Sequence[_Operator]]:
    """The operators that keep state, by sink; none where only the code of process table functions knows them."""
    if any(isinstance(node, ProcessTableFunction) and unbound_functions(node) for node in plan.nodes):
        return {}
    return _operators(plan, prepare(plan, mode, JobSettings(streams=True)))


def _no_states(record: CheckpointRecord) -> PlanError:
    where = str(record.folder)
    if record.exists and any(record.is_done(name) for name in queries_of(record.plan())):
        return PlanError("the job of this checkpoint has read bounded input, which keeps no state", where=where)
    if record.exists:
        return PlanError("the job of this checkpoint has not begun a batch", where=where)
    return PlanError("there is no checkpoint here", where=where, hint=_hint(record))


def _hint(record: CheckpointRecord) -> str | None:
    """The checkpoints and savepoints in a folder that is none itself."""
    inside = [
        name
        for name in sorted(record.place.children())
        if (record.place / name / "_metadata").exists() or CheckpointRecord(str(record.place / name)).exists
    ]
    return f"name one of those in it: {', '.join(inside[:5])}" if inside else None


class _Operator(Record):
    """An operator that keeps state.

    ``node`` is the name of its exec node, ``by`` what runs it, ``columns`` are those of each input by the name of the
    state that keeps its rows.
    """

    node: str
    by: str
    columns: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, node: ExecNode, name: str, step: Step, plan: Plan) -> _Operator:
        inputs = [tuple(f.name for f in i.fields) for i in plan.inputs(node)]
        return cls(name, step.by, dict(zip(state_names(type(node), len(inputs)), inputs, strict=False)))


def _operators(plan: Plan, job: JobPlan) -> dict[str, Sequence[_Operator]]:
    """The operators that keep state, by sink, in the order in which Spark numbers them."""
    names = node_names(plan)
    return {
        sink: [_Operator.of(node, names[node.id], step, query.plan) for node, step in query.operators]
        for sink, query in job.queries.items()
    }


def _states(sink: str, query: Place, operators: Sequence[_Operator]) -> Iterator[State]:
    numbers = sorted(int(name) for name in (query / "state").children() if name.isdecimal())
    known = dict(enumerate(operators)) if len(operators) == len(numbers) else {}
    seen: set[tuple[str, str]] = set()
    for number in numbers:
        operator = known.get(number)
        if operator is not None and (operator.node, operator.by) in seen:  # one copy of a node is run
            continue
        seen |= {(operator.node, operator.by)} if operator else set()
        for name, variables in (_variables(query / "state" / str(number)) or {"state": ()}).items():
            node, columns = (operator.node, operator.columns.get(name, ())) if operator else (None, ())
            yield State(sink, number, node, name, variables, query, columns)


def _variables(operator: Place) -> dict[str, Sequence[str]]:
    """The variables that an operator declares, by their states; those of Spark itself begin with ``$``."""
    versions = operator / "_metadata" / "v2"
    batches = [name for name in versions.children() if name.isdecimal()]
    if not batches:
        return {}
    latest = (versions / max(batches, key=int)).read()
    properties = json.loads(latest.partition("\n")[2]).get("operatorPropertiesJson") or "{}"
    names = sorted(variable["stateName"] for variable in json.loads(properties).get("stateVariables", ()))
    variables_by_state: dict[str, Sequence[str]] = {}
    for name in names:
        if not name.startswith("$"):
            state = name.removesuffix(_LASTING).removesuffix(_FEW)
            variables_by_state[state] = (*variables_by_state.get(state, ()), name)
    return variables_by_state


def frames_of(spark: SparkSession, state: State) -> Iterator[DataFrame]:
    """The entries of a state as Spark reads them, by variable."""
    reader = spark.read.format(STATE_SOURCE).option("operatorId", state.operator)
    if not state.variables:
        yield reader.load(str(state.folder))
    frames = {name: reader.option("stateVarName", name).load(str(state.folder)) for name in state.variables}
    for name, frame in frames.items():
        yield _unpacked(spark, frame, frames[name.removesuffix(_FEW)]) if name.endswith(_FEW) else frame


def _unpacked(spark: SparkSession, few: DataFrame, many: DataFrame) -> DataFrame:
    """Windows that stand in one value, as the map has them."""

    assert spark._jvm is not None
    types = spark._jvm.org.apache.spark.sql.types.DataType
    bounds, window = (many.schema[name].dataType for name in ("user_map_key", "user_map_value"))
    package = spark._jvm.flinkplan.runtime.time
    windows = package.FewWindows.unpacked(
        few["value.windows"]._jc, types.fromJson(bounds.json()), types.fromJson(window.json())
    )
    names: list[str] = bounds.names  # type: ignore[attr-defined]
    windows_of_key = few.select("key", F.inline(sql.Column(windows)).alias(*names, "user_map_value"))
    return windows_of_key.select("key", F.struct(*names).alias("user_map_key"), "user_map_value")


def key_schema(spark: SparkSession, state: State) -> StructType:
    """The columns of the key of a state."""
    key: StructType = next(frames_of(spark, state)).schema["key"].dataType  # type: ignore[assignment]
    return key


def count(spark: SparkSession, state: State, key: KeyValues | None = None) -> int:
    """How many entries a state has; with ``key`` those whose key begins with its values."""
    return sum(_of_key(frame, key).count() for frame in frames_of(spark, state))


_TIMER = "timer"
"""The state in which kernels keep when a key is due, as ``TimedKernel.java`` calls it; it holds no rows."""


def count_live(spark: SparkSession, state: State, now: int) -> int:
    """How many entries of a state have not expired at a time (epoch milliseconds)."""
    if state.name == _TIMER:
        return 0
    return sum(_live(frame, now).count() for frame in frames_of(spark, state))


def _live(frame: DataFrame, now: int) -> DataFrame:
    values = [name for name in ("user_map_value", "list_element", "value") if name in frame.columns]
    types = {name: frame.schema[name].dataType for name in values}
    expiries = [name for name, t in types.items() if "ttlExpirationMs" in getattr(t, "names", ())]
    return frame.where(frame[expiries[0]]["ttlExpirationMs"] > now) if expiries else frame


def sampled_keys(spark: SparkSession, state: State, limit: int) -> list[tuple[Any, ...]]:
    """Different keys of a state, expired ones among them; the same of each state that has no more than ``limit``."""
    rows = [
        row
        for frame in frames_of(spark, state)
        for row in frame.select("key").distinct().orderBy("key").limit(limit).collect()
    ]
    return [tuple(row["key"]) for row in rows]


def entries(spark: SparkSession, state: State, key: KeyValues | None, limit: int) -> Iterator[Entry]:
    """Some entries of a state; with ``key`` only those whose key begins with its values."""
    all_entries = (entry for frame in frames_of(spark, state) for entry in _entries(frame, state, key, limit))
    return islice(all_entries, limit)


def _entries(frame: DataFrame, state: State, key: KeyValues | None, limit: int) -> Iterator[Entry]:
    for row in _of_key(frame, key).limit(limit).collect():
        entry = _entry(row)
        yield replace(entry, value=_named(entry.value, state.columns))


def _of_key(frame: DataFrame, key: KeyValues | None) -> DataFrame:
    if key is None:
        return frame
    return frame.where(has_key(frame.schema["key"].dataType, F.col("key"), key))  # type: ignore[arg-type]


def has_key(schema: StructType, column: Column, key: KeyValues) -> Column:
    """Whether a key, a struct of this schema, begins with the values of ``key``; there are not more of these."""
    from pyspark.sql.types import BinaryType

    condition = F.lit(True)
    for field, value in zip(schema.fields, key.values, strict=False):
        own = column.getField(field.name)
        text = F.lower(F.hex(own)) if isinstance(field.dataType, BinaryType) else own.cast("string")
        condition &= text.eqNullSafe(F.lit(value))
    return condition


def _named(value: Any, columns: Sequence[str]) -> Any:
    """A value with rows as mappings, the columns of kept rows under the names that the plan has for them."""
    if not hasattr(value, "asDict"):
        return [_named(item, columns) for item in value] if isinstance(value, list) else value
    names = {column_name(i): name for i, name in enumerate(columns)}
    return {names.get(key, key): _named(item, columns) for key, item in value.asDict().items()}


def _entry(row: Row) -> Entry:
    fields = row.asDict()
    key = tuple(fields["key"])
    if "user_map_key" in fields:
        value, expires = _unwrapped(fields["user_map_value"])
        return Entry((*key, *fields["user_map_key"]), value, expires)
    value, expires = _unwrapped(fields["list_element"] if "list_element" in fields else fields["value"])
    return Entry(key, value, expires)


def _unwrapped(value: Any) -> tuple[Any, datetime | None]:
    """A value without the expiry that Spark keeps beside it."""
    fields = value.asDict() if hasattr(value, "asDict") else {}
    millis = fields.get("ttlExpirationMs")
    if millis is None:
        return value, None
    expires = None if millis > _FOREVER else datetime.fromtimestamp(millis / 1000, UTC)
    return fields["value"], expires
