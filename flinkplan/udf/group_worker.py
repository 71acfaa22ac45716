"""The process that works for a kernel on many keys at once: ``python -m flinkplan.udf.group_worker``.

It reads from its standard input and answers on its standard output, in frames: a length (four bytes, big-endian), then
as many bytes.  The first frame is pickled, as the driver wrote it: the :class:`Work`, such as
:class:`~.groups.GroupWork`, with what its functions are called in.  The second one is the Arrow schema of what comes.
Then each frame is a record batch, and an empty one ends them: the answer is two record batches.  Where a function fails
the answer is a frame of the length -1 and one with the error's text.
"""

from __future__ import annotations

import gc
import os
import pickle
import struct
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, BinaryIO, Protocol

import pyarrow as pa

from .code import FunctionCode
from .failures import FunctionError
from .opening import Opened, Surroundings

_LENGTH = struct.Struct(">i")
_FAILED = -1
_ALLOCATIONS = 200_000
"""How many objects more than before there are when Python looks for cycles again, instead of 700: the rows of a batch
and what is kept of them are there until its end, so that looking at them finds nothing, and takes 40 % of the time."""


class Started(Protocol):
    """Work that has begun."""

    def take(self, columns: Sequence[pa.Array]) -> None:
        """Take the columns of a record batch.  Raises :class:`FunctionError` where a function fails."""

    def end(self) -> list[pa.RecordBatch]:
        """What has come of all batches since the last time.  Raises :class:`FunctionError`."""


class Work(Protocol):
    """What is to be done."""

    @property
    def functions(self) -> tuple[FunctionCode, ...]:
        """The functions of a user that it calls."""

    def started(self, functions: Sequence[Any]) -> Started:
        """The work, by the opened functions."""


def main(source: BinaryIO, target: BinaryIO) -> None:
    """Work until the source ends."""
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS, 10, 10)
    work, surroundings = pickle.loads(_required(source))
    schema = pa.ipc.read_schema(pa.py_buffer(_required(source)))
    with ExitStack() as opened:
        requests = _Requests(work, surroundings, schema, opened)
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

    def __init__(self, work: Work, surroundings: Surroundings, schema: Any, opened: ExitStack) -> None:
        self._work = work
        self._schema = schema
        self._surroundings = surroundings
        self._opened = opened
        self._started: Started | None = None
        self._failure: str | None = None

    def take(self, frame: bytes) -> None:
        """Process a record batch, unless one before it has failed."""
        if self._failure is None:
            self._guarded(lambda: self._take(frame))

    def answers(self) -> Sequence[Any] | str:
        """The record batches of the answer, or the text of what has failed."""
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
        if self._started is None:
            opened = self._opened.enter_context(Opened(self._work.functions, self._surroundings))
            self._started = self._work.started(opened.functions)
        self._started.take(pa.ipc.read_record_batch(pa.py_buffer(frame), self._schema).columns)

    def _ended(self) -> Sequence[Any]:
        assert self._started is not None, "no request is empty"
        return [batch.serialize() for batch in self._started.end()]


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
