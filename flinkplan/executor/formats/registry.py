"""The formats whose schemas are in a registry: how it is asked, and what is registered there.

Sources: Flink's ``AvroConfluentFormatOptions`` and ``RegistryAvroFormatFactory``, and the HTTP interface of Confluent's
schema registry.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from ...plan.connectors.formats import (
    AUTO_REGISTER,
    BASIC_SOURCE,
    BEARER_SOURCE,
    REGISTRY_SCHEMA,
    REGISTRY_URL,
    SUBJECT,
    TOKEN,
    USER_INFO,
    registry_option,
)
from ...plan.options import is_true
from ..errors import TableError
from .avro_schema import Fields, is_like, schema_of, schema_of_changes

_SECONDS = 20
_TYPE = "application/vnd.schemaregistry.v1+json"


class RegistryFormat:
    """The key or value of messages: its columns, and the options of its format.

    ``subject`` is what Flink registers the schema under where no option says so.
    """

    def __init__(
        self, fields: Fields, options: Mapping[str, str], is_changelog: bool, subject: str, where: str
    ) -> None:
        self._where = where
        self._options = options
        self._subject = registry_option(options, SUBJECT) or subject
        self._fields, self._is_changelog = fields, is_changelog

    @property
    def _derived(self) -> Any:
        return schema_of_changes(self._fields) if self._is_changelog else schema_of(self._fields)

    def check(self) -> None:
        """Raise :class:`TableError` for options that are not executed."""
        for address in self._addresses():
            if not address.startswith(("http://", "https://")):
                raise TableError(f"'{address}' is no address of a schema registry", where=self._where)
        for key, executed, needs in ((BASIC_SOURCE, "USER_INFO", USER_INFO), (BEARER_SOURCE, "STATIC_TOKEN", TOKEN)):
            if (source := self._options.get(key, executed)) != executed:
                hint = f"'{executed}' is, with '{needs}'"
                raise TableError(
                    f"credentials are not taken here from {source}, as '{key}' says", where=self._where, hint=hint
                )
        given = registry_option(self._options, REGISTRY_SCHEMA)
        try:
            differs = given is not None and not is_like(given, self._derived)
        except ValueError:
            raise TableError("the schema of the format is no JSON", where=self._where) from None
        if differs:
            raise TableError(
                "the schema of the format is not the one of the columns",
                where=self._where,
                hint=f"but for names, it is {json.dumps(self._derived)}",
            )

    def spec(self) -> dict[str, str]:
        """What the Java half reads and writes messages with, but for the id of the schema that is written."""
        spec = {"url": ",".join(self._addresses()), "schema": self._schema()}
        authorization = self._authorization()
        return spec | ({} if authorization is None else {"authorization": authorization})

    def register(self) -> int:
        """The id of the schema that is written.  Raises :class:`TableError` where the registry has none."""
        from urllib.parse import quote

        path = f"/subjects/{quote(self._subject, safe='')}"
        if self._options.get(AUTO_REGISTER) is None or is_true(self._options.get(AUTO_REGISTER)):
            path += "/versions"
        return int(self._post(path, {"schema": self._schema()})["id"])

    def _schema(self) -> str:
        return registry_option(self._options, REGISTRY_SCHEMA) or json.dumps(self._derived, separators=(",", ":"))

    def _addresses(self) -> list[str]:
        addresses = (registry_option(self._options, REGISTRY_URL) or "").split(",")
        return [address.strip().rstrip("/") for address in addresses]

    def _authorization(self) -> str | None:
        if TOKEN in self._options:
            return f"Bearer {self._options[TOKEN]}"
        if USER_INFO in self._options:
            return f"Basic {b64encode(self._options[USER_INFO].encode()).decode()}"
        return None

    def _post(self, path: str, body: Mapping[str, str]) -> Any:
        """What the first of the addresses that can be reached answers."""
        from urllib.error import HTTPError, URLError
        from urllib.request import HTTPRedirectHandler, Request, build_opener

        class NoRedirects(HTTPRedirectHandler):
            """The address is the user's: credentials go nowhere else."""

            def redirect_request(self, *_: Any) -> None:
                return None

        headers = {"Content-Type": _TYPE, "Accept": _TYPE}
        if (authorization := self._authorization()) is not None:
            headers["Authorization"] = authorization
        failure = ""
        for address in self._addresses():
            request = Request(address + path, json.dumps(body).encode(), headers)
            try:
                with build_opener(NoRedirects).open(request, timeout=_SECONDS) as response:
                    return json.load(response)
            except HTTPError as e:
                failure = _message(e.read(), e.code)
            except (URLError, OSError, ValueError) as e:
                failure = f"{getattr(e, 'reason', e)}"
        raise TableError(
            f"the schema is not registered under '{self._subject}': {failure}",
            where=self._where,
            hint=f"the schema registry is {', '.join(self._addresses())}",
        )


def _message(body: bytes, status: int) -> str:
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return f"the registry answers with the status {status}"
