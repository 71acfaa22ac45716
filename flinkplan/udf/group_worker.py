"""The process that works on groups for a kernel: ``python -m flinkplan.udf.group_worker``.

It reads from its standard input and answers on its standard output, in frames: a length (four bytes, big-endian), then
as many bytes.  The first frame is the pickled :class:`~.groups.Grouping` with the function context, as the driver
wrote them; the second one the Arrow schema of the rows.  Then each frame is a record batch of rows (group, state, kind,
columns), and an empty one ends them: the answer is a record batch of changes (cause, group, kind, values), then one of
states (group, bytes).  Where a function fails the answer is a frame of the length -1 and one with the error's text.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, BinaryIO

import pyarrow as pa

from .aggregates import functions_of
from .failures import FunctionError
from .groups import Answer, Grouping, Groups
from .opening import Opened, Surroundings

_LENGTH = struct.Struct(">i")
_FAILED = -1


def main(source: BinaryIO, target: BinaryIO) -> None:
    """Work until the source ends."""
    grouping, answer, surroundings = pickle.loads(_required(source))
    schema = pa.ipc.read_schema(pa.py_buffer(_required(source)))
    with ExitStack() as opened:
        requests = _Requests(grouping, answer, surroundings, schema, opened)
        while (frame := _read(source)) is not None:
            if frame:
                requests.take(frame)
                continue
            answers = requests.answers()
            if isinstance(answers, str):
                target.write(_LENGTH.pack(_FAILED))
                answers = [answers.encode()]
            for each in answers:
                _write(target, each)
            target.flush()


class _Requests:
    """The rows of a request, and what is answered; functions are opened for the first rows."""

    def __init__(
        self, grouping: Grouping, answer: Answer, surroundings: Surroundings, schema: Any, opened: ExitStack
    ) -> None:
        self._grouping = grouping
        self._answer = answer
        self._schema = schema
        self._surroundings = surroundings
        self._opened = opened
        self._groups: Groups | None = None
        self._failure: str | None = None

    def take(self, frame: bytes) -> None:
        """Process a record batch, unless one before it has failed."""
        if self._failure is None:
            self._guarded(lambda: self._take(frame))

    def answers(self) -> Sequence[Any] | str:
        """The record batches of changes and states, or the text of what has failed."""
        answers: Sequence[Any] = () if self._failure is not None else self._guarded(self._ended)
        failure, self._failure = self._failure, None
        return answers if failure is None else failure

    def _guarded(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except FunctionError as error:
            self._failure = f"{type(error).__module__}.{type(error).__qualname__}: {error}"
        except Exception as error:
            self._failure = f"{type(error).__name__}: {error}"
        return None

    def _take(self, frame: bytes) -> None:
        if self._groups is None:
            opened = self._opened.enter_context(Opened(functions_of(self._grouping.calls), self._surroundings))
            self._groups = Groups(self._grouping, opened.functions)
        numbers, states, kinds, *columns = pa.ipc.read_record_batch(pa.py_buffer(frame), self._schema).columns
        self._groups.take(numbers.to_pylist(), states.to_pylist(), kinds.to_pylist(), columns)

    def _ended(self) -> Sequence[Any]:
        assert self._groups is not None, "no request is empty"
        changes, states = self._groups.end()
        return [self._answer.changes(changes).serialize(), self._answer.states(states).serialize()]


def _required(source: BinaryIO) -> bytes:
    frame = _read(source)
    if frame is None:
        sys.exit(0)  # nobody wanted it in the end
    return frame


def _read(source: BinaryIO) -> bytes | None:
    head = source.read(_LENGTH.size)
    return source.read(_LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else None


def _write(target: BinaryIO, content: Any) -> None:
    target.write(_LENGTH.pack(len(content)))
    target.write(content)


if __name__ == "__main__":
    answers_to = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what functions print is no answer
    main(sys.stdin.buffer, answers_to)
