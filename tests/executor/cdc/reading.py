"""Sources that are read as Spark reads them, without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

from flinkplan.executor.cdc.settings import Capture
from flinkplan.executor.cdc.stream import Positions
from flinkplan.executor.connectors.turns import InTurn

SECONDS = 30.0


class Reader:
    """A source that is read as Spark does, one batch after the other."""

    def __init__(self, capture: Capture, folder: Path, position: dict[str, Any] | None = None) -> None:
        self.positions = Positions(capture, folder, False, InTurn())
        self.positions.open()
        self.position = position or self.positions.initial("s")
        self.positions.lag(self.position, "s")

    def batch(self) -> bytes:
        """What the next batch reads."""
        answer = self.positions.latest(self.position, "s")
        self.position = answer["position"]
        self.positions.commit(self.position, "s")
        return b"".join(Path(path).read_bytes() for path in answer["written"])

    def until(self, is_so: Callable[[bytes], bool]) -> bytes:
        """What batches read until something is so."""
        read, deadline = self.batch(), monotonic() + SECONDS
        while not is_so(read):
            assert monotonic() < deadline, read
            read += self.batch()
        return read

    def rest(self) -> bytes:
        """What there is to read."""
        self.positions.stop_at_what_is_there("s")
        read, before = b"", None
        while before != self.position:
            before = self.position
            read += self.batch()
        return read

    def again(self, capture: Capture, folder: Path) -> Reader:
        """The same in another process."""
        self.positions.close("s")
        return Reader(capture, folder, self.position)
