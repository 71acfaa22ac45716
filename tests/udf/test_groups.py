"""GROUP BY by Python functions, as a worker does it: changes, states, views, DISTINCT, and the process itself."""

from __future__ import annotations

import pickle
import struct
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from flinkplan.plan.functions.user import PythonKind
from flinkplan.plan.types import BIGINT, INT, STRING, row
from flinkplan.udf.aggregates import AggregateCode, Builtin, functions_of
from flinkplan.udf.asynchronous import AsyncOptions
from flinkplan.udf.code import FunctionCode, Imports
from flinkplan.udf.data_view import ListView, MapView
from flinkplan.udf.failures import FunctionError
from flinkplan.udf.groups import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, Answer, Grouping, Groups, GroupWork
from flinkplan.udf.interfaces import AggregateFunction, TableAggregateFunction
from flinkplan.udf.opening import Surroundings
from flinkplan.windowing.keys import restricted_loads
from flinkplan.windowing.rows import Row


class Total(AggregateFunction):
    """The sum of values in a row that changes, over a list of what was asked."""

    def create_accumulator(self) -> Any:
        return Row(0)

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        accumulator[0] += args[0]

    def retract(self, accumulator: Any, *args: Any) -> None:
        accumulator[0] -= args[0]

    def get_value(self, accumulator: Any) -> Any:
        return accumulator[0]


class Values(Total):
    """All values; the result is the accumulator itself."""

    def create_accumulator(self) -> Any:
        return []

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        accumulator.append(args[0])

    def retract(self, accumulator: Any, *args: Any) -> None:
        accumulator.remove(args[0])

    def get_value(self, accumulator: Any) -> Any:
        return accumulator


class Views(AggregateFunction):
    """What was there, in views."""

    def create_accumulator(self) -> Any:
        return Row(ListView(), MapView())

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        accumulator[0].add(args[0])
        accumulator[1].put(args[0], (accumulator[1].get(args[0]) or 0) + 1)
        accumulator[1].remove("nothing")

    def get_value(self, accumulator: Any) -> Any:
        return f"{list(accumulator[0])} {dict(accumulator[1].items())}"


class TopTwo(TableAggregateFunction):
    """The two largest values, each a row."""

    def create_accumulator(self) -> Any:
        return []

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        accumulator.append(args[0])

    def retract(self, accumulator: Any, *args: Any) -> None:
        accumulator.remove(args[0])

    def emit_value(self, accumulator: Any) -> Any:
        for rank, value in enumerate(sorted(accumulator, reverse=True)[:2]):
            yield Row(rank, value)


def code(function: Any, condition: int = -1, distinct: bool = False) -> AggregateCode:
    pickled = pickle.dumps(function())
    imports = Imports("job")
    return AggregateCode(FunctionCode("f", PythonKind.GENERAL, False, pickled, imports), (0,), condition, distinct)


def grouping(*calls: AggregateCode, **options: Any) -> Grouping:
    values: dict[str, Any] = {
        "names": ("x", "wanted"),
        "types": (INT, INT),
        "counts": True,
        "update_before": True,
        "row_by_row": False,
        "emits": None,
        "modules": (),
        "zone": "UTC",
    }
    return Grouping(calls=calls, **(values | options))


class Worked:
    """Groups over some micro-batches, with their states between."""

    def __init__(self, what: Grouping) -> None:
        self.what = what
        self.states: dict[int, bytes | None] = {}

    def batch(self, *rows: tuple[int, int, Any]) -> list[tuple[int, int, list[Any]]]:
        """The changes (group, kind, values) that rows (group, kind, x) bring about."""
        groups = Groups(self.what, [each.made() for each in functions_of(self.what.calls)])
        seen: set[int] = set()
        first = []
        for group, _, _ in rows:
            first.append(None if group in seen else self.states.get(group))
            seen.add(group)
        values = pa.array([x for _, _, x in rows], pa.string() if self.what.types[0] == STRING else pa.int32())
        columns = [values, pa.array([1] * len(rows), pa.int32())]
        groups.take([g for g, _, _ in rows], first, [k for _, k, _ in rows], columns)
        changes, states = groups.end()
        self.states.update(states)
        return [(c.group, c.kind, list(c.values)) for c in changes]


def test_a_batch_comes_to_one_change_of_each_group() -> None:
    work = Worked(grouping(code(Total)))
    assert work.batch((0, INSERT, 1), (1, INSERT, 5), (0, INSERT, 2)) == [(0, INSERT, [3]), (1, INSERT, [5])]
    assert work.batch((0, INSERT, 4), (1, UPDATE_BEFORE, 5), (1, UPDATE_AFTER, 5)) == [
        (0, UPDATE_BEFORE, [3]),
        (0, UPDATE_AFTER, [7]),
    ]
    assert work.batch((1, DELETE, 5), (2, DELETE, 1)) == [(1, DELETE, [5])]
    assert work.states[1] is None
    assert 2 not in work.states


def test_each_row_may_come_to_a_change() -> None:
    work = Worked(grouping(code(Total), row_by_row=True, update_before=False))
    rows = ((0, INSERT, 1), (0, INSERT, 0), (0, INSERT, 2), (0, DELETE, 1), (0, DELETE, 0), (0, DELETE, 2))
    assert work.batch(*rows) == [
        (0, INSERT, [1]),
        (0, UPDATE_AFTER, [3]),
        (0, UPDATE_AFTER, [2]),
        (0, DELETE, [2]),
    ]


def test_a_result_that_is_the_accumulator_is_kept_as_it_was() -> None:
    work = Worked(grouping(code(Values)))
    work.batch((0, INSERT, 1))
    assert work.batch((0, INSERT, 2)) == [(0, UPDATE_BEFORE, [[1]]), (0, UPDATE_AFTER, [[1, 2]])]


def test_views_take_keys_that_are_not_there() -> None:
    work = Worked(grouping(code(Views), counts=False))
    work.batch((0, INSERT, 7))
    assert work.batch((0, INSERT, 7))[-1][2] == ["[7, 7] {7: 2}"]


def test_distinct_calls_share_what_they_have_seen() -> None:
    work = Worked(grouping(code(Values, distinct=True), AggregateCode(Builtin("COUNT", True, BIGINT), (0,), -1, True)))
    work.batch((0, INSERT, 1), (0, INSERT, 1), (0, INSERT, 2))
    assert work.batch((0, DELETE, 1))[-1:] == []
    assert work.batch((0, DELETE, 1))[-1] == (0, UPDATE_AFTER, [[2], 1])


@pytest.mark.parametrize(
    ("name", "retracts", "result"),
    [
        ("SUM", True, 6),
        ("$SUM0", True, 6),
        ("AVG", False, 5.0),
        ("MIN", True, 1),
        ("MAX", False, 9),
        ("COUNT", True, 2),
    ],
)
def test_built_in_functions_beside(name: str, retracts: bool, result: Any) -> None:
    work = Worked(grouping(AggregateCode(Builtin(name, retracts, BIGINT), (0,), -1, False), counts=False))
    taken_back = [(0, DELETE, 9)] if retracts else []
    assert work.batch((0, INSERT, 1), (0, INSERT, 9), *taken_back, (0, INSERT, 5))[-1][2] == [result]


def test_a_table_aggregate_function_takes_its_rows_back() -> None:
    work = Worked(grouping(code(TopTwo), emits=row([("rank", INT), ("x", INT)])))
    assert work.batch((0, INSERT, 3)) == [(0, INSERT, [(0, 3)])]
    assert work.batch((0, INSERT, 5)) == [(0, DELETE, [(0, 3)]), (0, INSERT, [(0, 5)]), (0, INSERT, [(1, 3)])]
    assert work.batch((0, DELETE, 5), (0, DELETE, 3)) == [(0, DELETE, [(0, 5)]), (0, DELETE, [(1, 3)])]


def test_a_function_that_fails_names_its_arguments() -> None:
    with pytest.raises(FunctionError, match=r"f\(None\) raised TypeError"):
        Worked(grouping(code(Total))).batch((0, INSERT, None))


class _Process:
    """A worker's process, as the kernel talks to it."""

    def __init__(self, *frames: bytes) -> None:
        command = [sys.executable, "-m", "flinkplan.udf.group_worker"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for frame in frames:
            self.send(frame)

    def send(self, frame: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(struct.pack(">i", len(frame)) + frame)

    def receive(self) -> bytes:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.flush()
        (length,) = struct.unpack(">i", self.process.stdout.read(4))
        return b"" if length < 0 else self.process.stdout.read(length)


def test_the_process_answers_and_says_what_failed() -> None:
    surroundings = Surroundings("UTC", (), True, "task", 100, AsyncOptions())
    what = Grouping((AggregateCode(Builtin("SUM", True, BIGINT), (0,), -1, False),), ("x",), (INT,), *_OPTIONS)
    schema = pa.schema([("g", pa.int32()), ("s", pa.binary()), ("k", pa.int8()), ("x", pa.int32())])
    process = _Process(
        pickle.dumps((GroupWork(what, Answer(("x",), (BIGINT,))), surroundings)), schema.serialize().to_pybytes()
    )

    def asked(rows: Sequence[tuple[Any, ...]]) -> list[pa.RecordBatch]:
        columns = [pa.array(c, f.type) for c, f in zip(zip(*rows, strict=True), schema, strict=True)]
        process.send(pa.RecordBatch.from_arrays(columns, schema=schema).serialize().to_pybytes())
        process.send(b"")
        return [process.receive(), process.receive()]

    changes, states = asked([(0, None, 0, 4), (0, None, 0, 5)])
    columns = [pa.field(str(i), t) for i, t in enumerate((pa.int64(), pa.int32(), pa.int8(), pa.int64()))]
    assert pa.ipc.read_record_batch(pa.py_buffer(changes), pa.schema(columns)).to_pylist() == [
        {"0": 1, "1": 0, "2": INSERT, "3": 9}
    ]
    held = pa.schema([("group", pa.int32()), ("state", pa.binary())])
    (state,) = pa.ipc.read_record_batch(pa.py_buffer(states), held).to_pylist()
    assert pickle.loads(state["state"])[0] == 2
    failed, words = asked([(0, b"no pickle", 0, 1)])
    assert failed == b""
    assert b"Unpickling" in words
    assert process.process.stdin is not None
    process.process.stdin.close()
    assert process.process.wait(10) == 0


_OPTIONS = (True, True, False, None, (), "UTC")


def test_of_a_module_only_its_own_classes_are_read_from_state() -> None:
    own = pickle.dumps(Total(), protocol=5)
    assert isinstance(restricted_loads(own, (__name__,)), Total)
    name = __name__.encode()
    imported = b"\x80\x04\x8c" + bytes([len(name)]) + name + b"\x8c\x0esubprocess.run\x93."
    with pytest.raises(pickle.UnpicklingError, match=r"subprocess\.run"):
        restricted_loads(imported, (__name__,))
