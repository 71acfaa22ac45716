"""A client of the gateway, of as few lines as possible."""

from __future__ import annotations

import json
import re
import time
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen


class StatementError(Exception):
    """An answer with an error: its status, and the class and message of Flink's exception."""

    def __init__(self, status: int, errors: list[str]) -> None:
        super().__init__(errors[-1])
        self.status = status
        causes: list[tuple[str, str]] = re.findall(
            r"^Caused by: ([\w.$]+): (.*?)(?=\n\nEnd of exc|\nCaused by: )", errors[-1], re.S | re.M
        )
        self.java_class, self.message = causes[-1] if causes else ("", errors[-1])


class Client:
    """A session of the gateway at a URL."""

    def __init__(self, url: str, version: str = "v4", headers: dict[str, str] | None = None) -> None:
        self.url = url
        self.version = version
        self.headers = headers or {}
        self.session = ""

    def open(self, **properties: str) -> Client:
        """Open the session."""
        self.session = self.call("POST", "/sessions", {"properties": properties})["sessionHandle"]
        return self

    def call(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Any:
        """The answer to a request.  Raises :class:`StatementError`."""
        url = f"{self.url}{path if path.startswith('/v') else f'/{self.version}{path}'}"
        content = None if body is None else json.dumps(body).encode()
        request = Request(url, content, {"Content-Type": "application/json", **self.headers, **(headers or {})})
        request.method = method
        try:
            with urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except HTTPError as e:
            raise StatementError(e.code, json.load(e)["errors"]) from None

    def submit(self, statement: str, **body: Any) -> str:
        """The path of the operation of a statement."""
        answer = self.call("POST", f"/sessions/{self.session}/statements", {"statement": statement, **body})
        return f"/sessions/{self.session}/operations/{answer['operationHandle']}"

    def result(self, operation: str, row_format: str = "PLAIN_TEXT", seconds: float = 300) -> dict[str, Any]:
        """The whole result of an operation, as its first part has it; ``rows`` are kinds and fields."""
        path: str | None = f"{operation}/result/0?rowFormat={row_format}"
        first: dict[str, Any] = {}
        rows: list[tuple[str, list[Any]]] = []
        end = time.monotonic() + seconds
        while path and time.monotonic() < end:
            answer = self.call("GET", path)
            path = answer.get("nextResultUri")
            if answer["resultType"] == "NOT_READY":
                time.sleep(0.01)
                continue
            first = first or answer
            rows += [(row["kind"], row["fields"]) for row in answer["results"]["data"]]
        assert not path, f"there are still rows after {seconds} s: {rows}"
        return {**first, "rows": rows}

    def execute(self, statement: str, row_format: str = "PLAIN_TEXT", **body: Any) -> dict[str, Any]:
        """The whole result of a statement.  Raises :class:`StatementError`."""
        operation = self.submit(statement, **body)
        try:
            return self.result(operation, row_format)
        finally:
            self.call("DELETE", f"{operation}/close")

    def rows(self, statement: str, row_format: str = "PLAIN_TEXT") -> list[list[Any]]:
        """The fields of the rows of a statement."""
        return [fields for _, fields in self.execute(statement, row_format)["rows"]]
