"""The states of an operator as tables read them, of both engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from ...plan.names import node_names
from ...state.checkpoint import CheckpointRecord
from ...state.form import JobState, Kind, OperatorState, StateError, StateTable
from ..build.saved_states import SavedOperator, SavedState
from ..jobs.states import State, find_states, frames_of
from ..jvm.spark import F
from .from_flink.tables import is_keyed_state, read_table

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def savepoint_states(
    spark: SparkSession, state: JobState, operator: SavedOperator, names: Sequence[str], folder: Path
) -> Mapping[str, SavedState]:
    """States of an operator of Flink; their rows go through files in ``folder``, which must outlive the frames.

    A value or list for each window is a map, whose keys are the windows.  Raises :class:`StateError`.
    """
    owner = next((each for each in state.manifest.operators if _is_named(each, operator)), None)
    if owner is None:
        known = [
            each.uid or each.hash or "?" for each in state.manifest.operators if any(map(is_keyed_state, each.states))
        ]
        raise _missing(operator, known)
    tables = {table.name: table for table in owner.states if is_keyed_state(table)}
    _check(operator, names, tables)
    return {name: _savepoint_state(spark, state, tables[name], folder) for name in names}


def _is_named(owner: OperatorState, operator: SavedOperator) -> bool:
    return owner.uid == operator.uid if operator.uid is not None else owner.hash == operator.uid_hash


def _savepoint_state(spark: SparkSession, state: JobState, table: StateTable, folder: Path) -> SavedState:
    frame = read_table(spark, state, table, folder).frame
    if not table.namespace:
        return SavedState(table.name, table.kind, frame)
    if table.kind is Kind.MAP:
        raise StateError(f"the state {table.name} is a map for each window, which cannot be a column")
    by_window = frame if table.kind is Kind.VALUE else frame.groupBy("key", "namespace").agg(_elements().alias("value"))
    return SavedState(table.name, Kind.MAP, by_window.withColumnRenamed("namespace", "map_key"))


def _elements() -> Column:
    """The elements of a list in their order."""

    def by_position(one: Column, other: Column) -> Column:
        return F.signum(one["position"] - other["position"]).cast("int")

    return F.array_sort(F.collect_list(F.struct("position", "value")), by_position)["value"]


def checkpoint_states(spark: SparkSession, operator: SavedOperator, names: Sequence[str]) -> Mapping[str, SavedState]:
    """States of an operator of a checkpoint of flinkplan, without entries that have expired.

    The operator is named by its UID in Flink or by its name as ``flinkplan state`` shows it, after the sink and a colon
    where several queries have it.  Raises :class:`StateError`.
    """
    if operator.uid is None:
        raise StateError("operators of a checkpoint of flinkplan have no hashes", hint="name one by 'operator.uid'")
    all_states = find_states(operator.place)
    uids = _node_names(CheckpointRecord(operator.place))
    sink, _, name = operator.uid.rpartition(": ")
    name = uids.get(name, name)
    chosen = [state for state in all_states if state.node == name and sink in ("", state.sink)]
    if not chosen:
        raise _missing(operator, [state.node for state in all_states if state.node])
    if len({(state.sink, state.operator) for state in chosen}) > 1:
        places = ", ".join(dict.fromkeys(f"'{state.sink}: {name}'" for state in chosen))
        raise StateError(f"several queries have the operator {name}", hint=f"name one of {places}")
    by_name = {state.name: state for state in chosen}
    _check(operator, names, by_name)
    return {name: _checkpoint_state(spark, by_name[name]) for name in names}


def _node_names(record: CheckpointRecord) -> Mapping[str, str]:
    """The names of operators in a checkpoint by their UIDs in Flink."""
    if not record.exists:
        return {}
    plan = record.plan()
    names = node_names(plan)
    return {
        f"{node.id}_{transformation}": names[node.id]
        for node in plan.nodes
        for transformation in node.stateful_transformations
    }


def _checkpoint_state(spark: SparkSession, state: State) -> SavedState:
    frames = [_entries(frame) for frame in frames_of(spark, state)]
    kinds = {kind for kind, _ in frames}
    if len(kinds) > 1:
        raise StateError(f"the entries of {state.name} are kept in different forms")
    return SavedState(
        state.name, kinds.pop(), reduce(lambda one, other: one.unionByName(other), (f for _, f in frames))
    )


def _entries(frame: DataFrame) -> tuple[Kind, DataFrame]:
    if "user_map_key" in frame.columns:
        kind, value = Kind.MAP, "user_map_value"
    elif "list_element" in frame.columns:
        kind, value = Kind.LIST, "list_element"
    else:
        kind, value = Kind.VALUE, "value"
    names = getattr(frame.schema[value].dataType, "names", ())
    if "ttlExpirationMs" in names:
        now = int(time() * 1000)
        frame = frame.where(frame[value]["ttlExpirationMs"] > F.lit(now))
        held = frame[value]["value"]
    else:
        held = frame[value]
    map_key = [frame["user_map_key"].alias("map_key")] if kind is Kind.MAP else []
    return kind, frame.select("key", *map_key, held.alias("value"))


def _check(operator: SavedOperator, names: Sequence[str], known: Mapping[str, object]) -> None:
    for name in names:
        if name not in known:
            hint = f"its states are {', '.join(known)}; name one by 'fields.COLUMN.state-name'"
            raise StateError(f"the operator {operator.uid or operator.uid_hash} has no state {name}", hint=hint)


def _missing(operator: SavedOperator, known: Sequence[str]) -> StateError:
    there = ", ".join(dict.fromkeys(known))
    hint = f"the operators are {there}" if there else "no operator has state"
    return StateError(f"there is no operator {operator.uid or operator.uid_hash}", where=operator.place, hint=hint)
