"""A broker of Kafka in a process of its own, which outlives the jobs that are killed and can be down for a while.

It is that of librdkafka's own tests, whose interface in C alone lets it go down.  What it has stays meanwhile.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import confluent_kafka

_PRODUCER = 0
_ID = 1


def _library() -> ctypes.CDLL:
    """The librdkafka that the client brings along, or the system's."""
    package = Path(confluent_kafka.__file__).parent
    found = [*package.with_name("confluent_kafka.libs").glob("librdkafka*"), *package.glob(".dylibs/librdkafka*")]
    library = ctypes.CDLL(str(found[0]) if found else "librdkafka.so.1")
    for name, returns, arguments in (
        ("rd_kafka_new", ctypes.c_void_p, [ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]),
        ("rd_kafka_mock_cluster_new", ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_int]),
        ("rd_kafka_mock_cluster_bootstraps", ctypes.c_char_p, [ctypes.c_void_p]),
        ("rd_kafka_mock_broker_set_down", ctypes.c_int, [ctypes.c_void_p, ctypes.c_int32]),
        ("rd_kafka_mock_broker_set_up", ctypes.c_int, [ctypes.c_void_p, ctypes.c_int32]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = returns, arguments
    return library


def main() -> None:
    """Say where the broker is, then go down or up as each line says, until there are no more."""
    library = _library()
    cluster = library.rd_kafka_mock_cluster_new(library.rd_kafka_new(_PRODUCER, None, None, 0), 1)
    print(library.rd_kafka_mock_cluster_bootstraps(cluster).decode(), flush=True)
    states = {"down": library.rd_kafka_mock_broker_set_down, "up": library.rd_kafka_mock_broker_set_up}
    for line in sys.stdin:
        assert states[line.strip()](cluster, _ID) == 0
        print(line, end="", flush=True)


class BrokerApart:
    """The process; ``servers`` is where the broker is."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.servers = self._answer()

    def turn(self, state: str) -> None:
        """Have the broker ``down`` or ``up``."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{state}\n")
        self._process.stdin.flush()
        assert self._answer() == state

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@contextmanager
def broker_apart() -> Iterator[BrokerApart]:
    """A broker until the end of the block."""
    command = [sys.executable, "-m", __name__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield BrokerApart(process)


if __name__ == "__main__":
    main()
