"""A schema registry of the tests, with the part of Confluent's HTTP interface that clients use."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote


class Registry:
    """Schemas by id and subject; ``authorization`` is the header that requests must have, if any."""

    def __init__(self) -> None:
        self.schemas: list[dict[str, Any]] = []
        self.subjects: dict[str, list[int]] = {}
        self.authorization: str | None = None
        self.requests: list[str] = []
        self.url = ""

    def add(self, schema: Any, subject: str = "others", **more: Any) -> int:
        """Register a schema; the same one has the same id under all subjects."""
        entry = {"schema": schema if isinstance(schema, str) else json.dumps(schema), **more}
        known = [i for i, other in enumerate(self.schemas) if _parsed(other) == _parsed(entry)]
        number = known[0] if known else len(self.schemas)
        if not known:
            self.schemas.append(entry)
        self.subjects.setdefault(subject, []).append(number + 1)
        return number + 1

    def schema(self, subject: str) -> Any:
        """The newest schema of a subject."""
        return json.loads(self.schemas[self.subjects[subject][-1] - 1]["schema"])

    def answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """The status and the content of an answer."""
        if (match := re.fullmatch(r"/schemas/ids/(\d+)", path)) and method == "GET":
            number = int(match[1])
            known = 0 < number <= len(self.schemas)
            return (200, self.schemas[number - 1]) if known else (404, {"message": "Schema not found"})
        match = re.fullmatch(r"/subjects/([^/]+)(/versions)?", path)
        assert match is not None
        assert method == "POST"
        subject = unquote(match[1])
        if match[2]:
            return 200, {"id": self.add(body["schema"], subject)}
        numbers = [n for n in self.subjects.get(subject, []) if _parsed(self.schemas[n - 1]) == _parsed(body)]
        return (200, {"id": numbers[0]}) if numbers else (404, {"message": f"Subject '{subject}' not found."})


def _parsed(entry: dict[str, Any]) -> Any:
    return json.loads(entry["schema"])


@contextmanager
def registry() -> Iterator[Registry]:
    """A registry that answers on this machine."""
    served = Registry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer("GET", {})

        def do_POST(self) -> None:
            self._answer("POST", json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, method: str, body: dict[str, Any]) -> None:
            served.requests.append(f"{method} {self.path}")
            status, content = 401, {"message": "Unauthorized"}
            if served.authorization is None or self.headers.get("Authorization") == served.authorization:
                status, content = served.answer(method, self.path, body)
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
