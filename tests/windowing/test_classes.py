"""Rows, states and results of Python classes, and what of a checkpoint is read back."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from flinkplan.executor.build.python.windows import _stored, writer
from flinkplan.plan.types import BIGINT, DOUBLE, STRING, LogicalType, timestamp_ltz
from flinkplan.windowing import (
    AggregateFunction,
    AggregatingStateDescriptor,
    GlobalWindow,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    Row,
    TimeWindow,
    Trigger,
    ValueStateDescriptor,
)
from flinkplan.windowing.declared import arguments, import_path
from flinkplan.windowing.keys import Kept, KeyState, load
from flinkplan.windowing.rows import named_row, result_rows
from flinkplan.windowing.state import KeyedStateStore, merge_states


def test_values_of_a_row_have_places_and_names() -> None:
    row = named_row(["person", "a column"], ["ann", 2])
    assert (row[0], row.person, row["a column"], row.as_dict()) == ("ann", "ann", 2, {"person": "ann", "a column": 2})
    assert pickle.loads(pickle.dumps(row)).person == "ann"
    with pytest.raises(AttributeError, match="no column 'n', only person, a column"):
        _ = row.n


@pytest.mark.parametrize(
    ("given", "rows"),
    [
        (None, []),
        ([(1, 2)], [(1, 2)]),
        ([[1, 2], Row(b=4, a=3)], [(1, 2), (3, 4)]),
        ([{"b": 2, "a": 1}], [(1, 2)]),
        (iter([Row(1, 2)]), [(1, 2)]),
    ],
)
def test_results_become_rows(given: Any, rows: list[tuple[int, int]]) -> None:
    assert list(result_rows(given, ["a", "b"])) == rows


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([(1, 2, 3)], "a result has 3 values, but 2 columns are declared"),
        ([{"a": 1}], "a result has the columns a, but a, b are declared"),
        ([5], "a result is 5, but 2 columns are declared"),
    ],
)
def test_results_that_do_not_fit(given: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        list(result_rows(given, ["a", "b"]))


@pytest.mark.parametrize(
    ("kind", "value", "stored"),
    [
        (DOUBLE, 2, 2.0),
        (STRING, "x", "x"),
        (BIGINT, None, None),
        (LogicalType("DECIMAL", precision=10, scale=2), Decimal("1.005"), Decimal("1.00")),
        (timestamp_ltz(3), datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), 1_000_000),
        (LogicalType("TIME", precision=0), datetime(1970, 1, 1, 0, 1, 1).time(), 61_000),
    ],
)
def test_values_are_stored_as_declared(kind: LogicalType, value: Any, stored: Any) -> None:
    assert writer("a", kind)(value) == stored


@pytest.mark.parametrize(
    ("kind", "value"), [(BIGINT, "1"), (BIGINT, True), (STRING, 1), (DOUBLE, "x"), (BIGINT.not_null(), None)]
)
def test_values_of_other_types_are_refused(kind: LogicalType, value: Any) -> None:
    with pytest.raises(TypeError, match="the column 'a' is"):
        writer("a", kind)(value)


def test_a_moment_without_a_zone_is_utc() -> None:
    assert _stored(datetime(1970, 1, 1, 0, 0, 2), timestamp_ltz(3)) == 2_000_000


class Mean(AggregateFunction):
    def create_accumulator(self) -> Any:
        return (0, 0)

    def add(self, value: Any, accumulator: Any) -> Any:
        return (accumulator[0] + value, accumulator[1] + 1)

    def get_result(self, accumulator: Any) -> Any:
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return (acc_a[0] + acc_b[0], acc_a[1] + acc_b[1])


def test_states_keep_what_they_are_given() -> None:
    states: dict[str, Any] = {}
    store = KeyedStateStore(states)
    value = store.get_state(ValueStateDescriptor("value"))
    value.update(1)
    several = store.get_list_state(ListStateDescriptor("list"))
    several.add(1)
    several.add_all([2, 3])
    by_name = store.get_map_state(MapStateDescriptor("map"))
    by_name.put("a", 1)
    by_name.put_all([("b", 2)])
    total = store.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b))
    total.add(1)
    total.add(2)
    mean = store.get_aggregating_state(AggregatingStateDescriptor("mean", Mean()))
    mean.add(1)
    mean.add(2)
    assert (value.value(), list(several), dict(by_name.items()), total.get(), mean.get()) == (
        1, [1, 2, 3], {"a": 1, "b": 2}, 3, 1.5,
    )  # fmt: skip
    assert by_name.contains("a") and list(by_name.keys()) == ["a", "b"] and list(by_name.values()) == [1, 2]
    by_name.remove("a")
    by_name.remove("b")
    value.update(None)
    total.clear()
    assert by_name.is_empty() and set(states) == {"list", "mean"}


def test_states_of_windows_that_merge() -> None:
    total = ReducingStateDescriptor("sum", lambda a, b: a + b)
    mean, several = AggregatingStateDescriptor("mean", Mean()), ListStateDescriptor("list")
    target: dict[str, Any] = {}
    sources: list[dict[str, Any]] = [{"sum": n, "mean": (n, 1), "list": [n]} for n in (1, 2)]
    for descriptor in (total, mean, several):
        merge_states(target, sources, descriptor)
    assert target == {"sum": 3, "mean": (3, 2), "list": [1, 2]} and sources == [{}, {}]
    with pytest.raises(TypeError, match="the state 'one' cannot be merged"):
        merge_states({}, [{"one": 1}, {"one": 2}], ValueStateDescriptor("one"))


class Every(Trigger):
    def __init__(self, count: int, *others: int, name: str = "", **more: Any) -> None:
        self.count = count

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> Any: ...
    def on_event_time(self, time: int, window: Any, ctx: Any) -> Any: ...
    def on_processing_time(self, time: int, window: Any, ctx: Any) -> Any: ...
    def clear(self, window: Any, ctx: Any) -> None: ...


def test_an_instance_knows_how_it_was_made() -> None:
    assert import_path(Every(3)) == f"{__name__}:Every"
    assert arguments(Every(3, name="x", more=[1])) == {"count": 3, "name": "x", "more": [1]}
    with pytest.raises(ValueError, match="arguments without names"):
        arguments(Every(3, 4))
    with pytest.raises(ValueError, match="must be numbers, texts"):
        arguments(Every(3, name=object()))  # type: ignore[arg-type]


def test_what_a_key_keeps_is_read_back() -> None:
    state = KeyState(named_row(["a", "b"], [1, None]), 5)
    state.contents[TimeWindow(0, 5)] = Kept([(3, ("ann", Decimal("1.5")))], 7)
    state.merged[TimeWindow(0, 9)] = TimeWindow(0, 5)
    state.event_timers.add((4, GlobalWindow.get()))
    state.shared = Kept({"seen": {datetime(2026, 1, 1)}}, 8)
    loaded = load(state.dump(), ())
    assert loaded.dump() == state.dump() and loaded.key.a == 1 and not loaded.is_empty()
    assert KeyState("ann", 0).is_empty()


def test_classes_that_nobody_allowed_are_not_made_of_state() -> None:
    state = KeyState("ann", 0)
    state.shared = Kept({"value": Fraction(1, 2)}, 0)
    with pytest.raises(pickle.UnpicklingError, match=r"the state has a fractions\.Fraction"):
        load(state.dump(), ())
    assert load(state.dump(), ("fractions",)).shared.value == {"value": Fraction(1, 2)}
