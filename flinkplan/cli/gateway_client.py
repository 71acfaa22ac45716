"""A client of Flink's SQL Gateway: runs statements in a session of a gateway that is running.

Source: ``rest_v4_sql_gateway.yml``, which Flink publishes, and the gateway mode of Flink's SQL client.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from itertools import islice
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from msgspec import DecodeError
from msgspec.json import decode, encode

from ..plan.errors import FlinkplanError
from ..plan.text.tableau import MAX_COLUMN_WIDTH, MAX_WIDTH, changes
from ..plan.types import LogicalType
from ..windowing.rows import Row, RowKind
from .gateway import PORT, TOKEN
from .sql_gateway.type_json import type_from_json

_VERSION = "v4"
_SECONDS = 60.0
"""The time limit for an answer."""
_FIRST_WAIT, _LONGEST_WAIT = 0.005, 0.1
"""How long in seconds a result that is not ready is waited for at first, and at most."""
_CAUSE = re.compile(r"^Caused by: [\w.$]+: (.*?)(?=\n\nEnd of exception|\nCaused by: |\Z)", re.DOTALL | re.MULTILINE)


class GatewaySession:
    """A session of the gateway at ``endpoint`` (``HOST``, ``HOST:PORT`` or an ``http`` URL), with options of its own.

    Raises :class:`FlinkplanError` where no gateway answers there, and for each request that it refuses.
    """

    def __init__(self, endpoint: str, options: Mapping[str, str]) -> None:
        url = urlsplit(endpoint if "://" in endpoint else f"http://{endpoint}")
        try:
            port = url.port or PORT
        except ValueError:
            port = 0
        if url.scheme != "http" or not url.hostname or not port:
            raise FlinkplanError(f"'{endpoint}' is no address of a gateway", hint="write HOST:PORT")
        self._address = f"{url.hostname}:{port}"
        self._connection = HTTPConnection(url.hostname, port, timeout=_SECONDS)
        self._path = ""
        handle = self._call("POST", "/sessions", {"properties": dict(options)})["sessionHandle"]
        self._path = f"/sessions/{handle}"

    def __enter__(self) -> GatewaySession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the session, which stops its SELECTs; the jobs of its INSERTs go on."""
        with suppress(FlinkplanError):
            self._call("DELETE", self._path)
        self._connection.close()

    def options(self) -> dict[str, str]:
        """The options of the session as its statements have left them."""
        properties: dict[str, str] = self._call("GET", self._path)["properties"]
        return properties

    def execute(self, statement: str) -> Result:
        """Execute one statement, and wait for the first part of its result."""
        handle = self._call("POST", f"{self._path}/statements", {"statement": statement})["operationHandle"]
        return Result(self, f"{self._path}/operations/{handle}")

    def part(self, path: str) -> dict[str, Any]:
        """A part of a result, as soon as it is there."""
        wait = _FIRST_WAIT
        while (answer := self._call("GET", path))["resultType"] == "NOT_READY":
            time.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)
        return answer

    def close_operation(self, path: str) -> None:
        """Close an operation, which stops the job of a SELECT."""
        self._call("DELETE", f"{path}/close")

    def _call(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        if token := os.environ.get(TOKEN):
            headers["Authorization"] = f"Bearer {token}"
        try:
            self._connection.request(method, f"/{_VERSION}{path}", None if body is None else encode(body), headers)
            response = self._connection.getresponse()
            answer = decode(response.read())
        except (OSError, HTTPException, DecodeError) as e:
            raise FlinkplanError(
                f"no gateway answers at {self._address}: {e}", hint="'flinkplan gateway' starts one"
            ) from None
        if not isinstance(answer, dict):
            raise FlinkplanError(f"what answers at {self._address} is no gateway")
        if "errors" in answer:
            raise FlinkplanError(_message(answer["errors"]))
        return answer


def _message(errors: list[str]) -> str:
    """The message of the innermost exception of an answer."""
    causes = _CAUSE.findall(errors[-1])
    return str(causes[-1] if causes else errors[-1])


class Result:
    """The result of a statement, with its first part; the other rows of a query arrive later.

    ``max_width`` is the printed width of columns whose type has no maximum length.
    """

    def __init__(self, session: GatewaySession, path: str) -> None:
        self._session = session
        self._path = path
        self._first = session.part(f"{path}/result/0?rowFormat=PLAIN_TEXT")
        self.is_query: bool = self._first["isQueryResult"]
        self.has_rows: bool = self._first["resultKind"] == "SUCCESS_WITH_CONTENT" and "jobID" not in self._first
        """Whether the statement is a query, or one that tells something, such as SHOW TABLES."""
        self.columns: tuple[tuple[str, LogicalType], ...] = tuple(
            (column["name"], type_from_json(column["logicalType"])) for column in self._first["results"]["columns"]
        )
        self.options = session.options() if self.is_query else {}
        """The options of the session that a query was executed with."""
        self.max_width = int(self.options.get(MAX_COLUMN_WIDTH, MAX_WIDTH))

    def _rows(self, seconds: float | None = None) -> Iterator[Row]:
        end = None if seconds is None else time.monotonic() + seconds
        part = self._first
        while True:
            for row in part["results"]["data"]:
                yield Row.of_kind(RowKind[row["kind"]], *row["fields"])
            if part["resultType"] == "EOS" or (end is not None and time.monotonic() >= end):
                return
            part = self._session.part(part["nextResultUri"].removeprefix(f"/{_VERSION}"))

    @contextmanager
    def texts(self, seconds: float | None = None) -> Iterator[Iterator[Row]]:
        """The rows with their kinds as texts, ``None`` for NULL.  After ``seconds`` the job is stopped."""
        try:
            yield self._rows(seconds)
        finally:
            self._session.close_operation(self._path)

    def lines(self, limit: int | None = None, seconds: float | None = None) -> Iterator[str]:
        """The lines of a table of the changes, each as soon as it arrives, as of a query that runs in this process."""
        with self.texts(seconds) as rows:
            yield from changes(self.columns, islice(rows, limit), self.max_width)
