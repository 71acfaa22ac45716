"""The REST endpoint of the gateway, versions 1 to 4 of Flink's protocol.

Source: ``rest_v4_sql_gateway.yml``, which Flink publishes, and ``SqlGatewayRestEndpoint``.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...plan.errors import FlinkplanError
from ...plan.printable import one_line
from ..serving import is_loopback, is_own_name
from .errors import exception_text
from .results import Result
from .service import CANCELED, CLOSED, GatewayService, GatewaySession

VERSIONS = ("v1", "v2", "v3", "v4")
_FLINK_VERSION = "2.3.0"
_MAX_BODY = 10_000_000
"""The maximum size of a request in bytes."""
_ROW_FORMATS = ("JSON", "PLAIN_TEXT")

Body = Mapping[str, Any]
Handler = Callable[["Call"], dict[str, Any]]


class NotServed(Exception):
    """An operation of the protocol that is left out."""


class BadRequest(Exception):
    """A request that does not follow the protocol."""


class Call:
    """A request: its service, version, path parameters, query and body."""

    def __init__(self, service: GatewayService, version: str, request: Request, body: Body) -> None:
        self.service = service
        self.version = version
        self.query = request.query_params
        self._path = request.path_params
        self._body = body

    @property
    def session(self) -> GatewaySession:
        """The session of the path."""
        return self.service.session(self.handle("session"))

    def handle(self, name: str) -> str:
        """A handle in the path."""
        text = str(self._path[name])
        try:
            return str(UUID(text))
        except ValueError:
            raise BadRequest(f"'{one_line(text)}' is no handle") from None

    def text(self, name: str) -> str:
        """A text of the body that must be there."""
        value = self._body.get(name)
        if not isinstance(value, str):
            raise BadRequest(f"the request has no '{name}'")
        return value

    def number(self, name: str) -> int:
        """A whole number of the body, 0 where it is missing."""
        value = self._body.get(name)
        if value is None:
            return 0
        if not isinstance(value, int) or isinstance(value, bool):
            raise BadRequest(f"'{name}' is no whole number")
        return value

    def options(self, name: str) -> dict[str, str]:
        """An object of texts of the body, empty where it is missing."""
        value = self._body.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
            raise BadRequest(f"'{name}' is no object of texts")
        return value

    def token(self) -> int:
        """The token of the path."""
        try:
            return int(self._path["token"])
        except ValueError:
            raise BadRequest(f"'{one_line(str(self._path['token']))}' is no token") from None


def _info(call: Call) -> dict[str, Any]:
    return {"productName": "Apache Flink", "version": _FLINK_VERSION}


def _api_versions(call: Call) -> dict[str, Any]:
    return {"versions": [version.upper() for version in VERSIONS]}


def _open_session(call: Call) -> dict[str, Any]:
    return {"sessionHandle": call.service.open_session(call.options("properties")).handle}


def _session_config(call: Call) -> dict[str, Any]:
    return {"properties": call.session.config()}


def _close_session(call: Call) -> dict[str, Any]:
    call.service.close_session(call.handle("session"))
    return {"status": CLOSED}


def _heartbeat(call: Call) -> dict[str, Any]:
    call.session.touch()
    return {}


def _configure_session(call: Call) -> dict[str, Any]:
    session, text = call.session, call.text("statement")
    timeout = call.number("executionTimeout") / 1000
    operation = session.submit(lambda: session.statements.configure(text), timeout)
    operation.wait()
    try:
        operation.fetch(0)
    finally:
        session.close_operation(operation.handle)
    return {}


def _complete_statement(call: Call) -> dict[str, Any]:
    position = call.number("position")
    return {"candidates": call.session.statements.completions(call.text("statement"), position)}


def _execute_statement(call: Call) -> dict[str, Any]:
    session, text, options = call.session, call.text("statement"), call.options("executionConfig")
    operation = session.submit(
        lambda: session.statements.execute(text, options), call.number("executionTimeout") / 1000
    )
    return {"operationHandle": operation.handle}


def _operation_status(call: Call) -> dict[str, Any]:
    return {"status": call.session.operation(call.handle("operation")).status}


def _cancel_operation(call: Call) -> dict[str, Any]:
    operation = call.session.operation(call.handle("operation"))
    operation.stop(CANCELED)
    return {"status": operation.status}


def _close_operation(call: Call) -> dict[str, Any]:
    call.session.close_operation(call.handle("operation"))
    return {"status": CLOSED}


def _fetch_results(call: Call) -> dict[str, Any]:
    session, token = call.session, call.token()
    handle = call.handle("operation")
    row_format = (call.query.get("rowFormat") or "JSON").upper()
    if row_format not in _ROW_FORMATS:
        raise BadRequest(f"there is no row format '{one_line(row_format)}'")

    def uri(next_token: int) -> str:
        path = f"/{call.version}/sessions/{session.handle}/operations/{handle}/result/{next_token}"
        return path if call.version == "v1" else f"{path}?rowFormat={row_format}"

    fetched = session.operation(handle).fetch(token)
    if fetched is None:
        return {"resultType": "NOT_READY", "nextResultUri": uri(token)}
    result, part = fetched
    answer: dict[str, Any] = {
        "resultType": "EOS" if part.is_end else "PAYLOAD",
        "isQueryResult": result.is_query,
        **_job_of(result),
        "resultKind": result.kind,
        "results": result.rows_json(part, row_format),
    }
    if part.next_token is not None:
        answer["nextResultUri"] = uri(part.next_token)
    return answer


def _job_of(result: Result) -> dict[str, str]:
    return {} if result.job_id is None else {"jobID": result.job_id}


def _unsupported(what: str, hint: str) -> Handler:
    def refuse(call: Call) -> dict[str, Any]:
        raise NotServed(f"{what} is not supported: {hint}")

    return refuse


_SESSION = "/sessions/{session}"
_OPERATION = _SESSION + "/operations/{operation}"
_ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/info", _info),
    ("GET", "/api_versions", _api_versions),
    ("POST", "/sessions", _open_session),
    ("GET", _SESSION, _session_config),
    ("DELETE", _SESSION, _close_session),
    ("POST", _SESSION + "/heartbeat", _heartbeat),
    ("POST", _SESSION + "/configure-session", _configure_session),
    ("GET", _SESSION + "/complete-statement", _complete_statement),
    ("POST", _SESSION + "/statements", _execute_statement),
    ("GET", _OPERATION + "/status", _operation_status),
    ("POST", _OPERATION + "/cancel", _cancel_operation),
    ("DELETE", _OPERATION + "/close", _close_operation),
    ("GET", _OPERATION + "/result/{token}", _fetch_results),
    (
        "POST",
        _SESSION + "/materialized-tables/{identifier}/refresh",
        _unsupported("refreshMaterializedTable", "there are no materialized tables; INSERT into a table"),
    ),
    ("POST", _SESSION + "/scripts", _unsupported("deployScript", "flinkplan run executes a script")),
)
"""The method, the path below the version, and what answers."""


def application(service: GatewayService, host: str, token: str | None) -> Starlette:
    """The endpoint, at the address ``host``; with a ``token`` each request must have it."""
    routes = [
        Route(f"{prefix}{path}", _endpoint(service, version, handler, host, token), methods=[method])
        for version, prefix in (*((v, f"/{v}") for v in VERSIONS), (VERSIONS[-1], ""))
        for method, path, handler in _ROUTES
    ]
    return Starlette(routes=routes)


def _endpoint(
    service: GatewayService, version: str, handler: Handler, host: str, token: str | None
) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        refusal = _refusal(request.headers, host, token)
        if refusal is not None:
            return _errors(*refusal)
        try:
            body = await _body(request)
            content = await run_in_threadpool(handler, Call(service, version, request, body))
        except BadRequest as e:
            return _errors(400, f"Bad Request: {e}.")
        except NotServed as e:
            return _errors(501, str(e))
        except Exception as e:
            return _errors(500, "Internal server error.", exception_text(e, _operation(handler)))
        return Response(msgspec.json.encode(content), media_type="application/json")

    return answer


def _operation(handler: Handler) -> str:
    """The name of an operation in the contract: ``fetchResults`` for ``_fetch_results``."""
    first, *words = handler.__name__.strip("_").split("_")
    return first + "".join(word.capitalize() for word in words)


def _refusal(headers: Mapping[str, str], host: str, token: str | None) -> tuple[int, str] | None:
    """Why a request is refused before it is read.

    A page in a browser can send requests to this address; its ``Origin`` tells them from those of programs.
    """
    origin = headers.get("origin")
    if not is_own_name(headers.get("host", ""), host):
        return 403, "this server has another name"
    if origin is not None and not is_own_name(urlsplit(origin).netloc, host):
        return 403, "requests of foreign pages are refused"
    expected = f"Bearer {token}"
    if token is not None and not hmac.compare_digest(headers.get("authorization", "").encode(), expected.encode()):
        return 401, "the request has no valid token: Authorization: Bearer TOKEN"
    return None


async def _body(request: Request) -> Body:
    """The JSON of a request, empty where it has none.  Raises :class:`BadRequest`."""
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > _MAX_BODY:
            raise BadRequest(f"the request is larger than {_MAX_BODY} bytes")
    if not content.strip():
        return {}
    try:
        body = msgspec.json.decode(bytes(content))
    except (msgspec.DecodeError, RecursionError):
        raise BadRequest("the request is no JSON") from None
    if not isinstance(body, dict):
        raise BadRequest("the request is no JSON object")
    return body


def _errors(status: int, *messages: str) -> Response:
    return Response(msgspec.json.encode({"errors": messages}), status, media_type="application/json")


def check_reach(host: str, token: str | None) -> None:
    """Raise :class:`FlinkplanError` where others than this machine could use the gateway without a token."""
    if token is None and not is_loopback(host):
        raise FlinkplanError(
            f"whoever reaches {host} could run statements here",
            hint="set the environment variable FLINKPLAN_GATEWAY_TOKEN to a token that clients must send",
        )
