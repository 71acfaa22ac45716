"""The URLs of databases that are opened here: which drivers, parameters and folders they may name.

Sources: the connection attributes of Apache Derby's reference manual, ``PGProperty`` of PostgreSQL's driver.

A driver loads classes, writes files and runs scripts by parameters of a URL, and an embedded database runs what is
stored in its folder: the functions of its views and triggers are any class's static methods.  A plan may come from
anywhere, so a parameter that is not listed is refused, and so is a folder that the user has not named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..printable import shortened
from ..record import Record
from .model import Options, Problem

ANY = "*"
"""Stands for every folder, where tables are of the user's own script."""


class Database(Record):
    """A kind of database, by how its URLs begin.

    ``parameters`` begin with ``opens``, and ``separator`` stands between them.  ``embedded``: the process itself opens
    the files of the database.
    """

    start: str
    drivers: tuple[str, ...]
    opens: str
    separator: str
    parameters: tuple[str, ...]
    embedded: bool = False

    def names(self, url: str) -> list[str]:
        """The names of a URL's parameters."""
        _, _, rest = url.partition(self.opens)
        return [parameter.partition("=")[0] for parameter in rest.split(self.separator) if parameter]


_POSTGRESQL = (
    *("user", "password", "ssl", "sslmode", "sslrootcert", "sslcert", "sslkey", "sslnegotiation", "channelBinding"),
    *("ApplicationName", "connectTimeout", "loginTimeout", "socketTimeout", "cancelSignalTimeout", "tcpKeepAlive"),
    *("tcpNoDelay", "currentSchema", "targetServerType", "loadBalanceHosts", "hostRecheckSeconds"),
    *("prepareThreshold", "preparedStatementCacheQueries", "preparedStatementCacheSizeMiB", "defaultRowFetchSize"),
    *("adaptiveFetch", "adaptiveFetchMinimum", "adaptiveFetchMaximum", "maxResultBuffer", "reWriteBatchedInserts"),
    *("binaryTransfer", "binaryTransferEnable", "binaryTransferDisable", "stringtype", "readOnly", "readOnlyMode"),
    *("sendBufferSize", "receiveBufferSize", "unknownLength", "disableColumnSanitiser", "assumeMinServerVersion"),
    *("autosave", "cleanupSavepoints", "preferQueryMode", "escapeSyntaxCallMode", "gssEncMode", "protocolVersion"),
    *("hideUnprivilegedObjects", "logUnclosedConnections", "quoteReturningIdentifiers", "allowEncodingChanges"),
)

_DERBY = (
    *("create", "user", "password", "territory", "collation", "dataEncryption", "bootPassword"),
    *("encryptionAlgorithm", "encryptionKey", "encryptionKeyLength"),
)

DATABASES: Sequence[Database] = (
    Database(
        "jdbc:derby:",
        ("org.apache.derby.jdbc.EmbeddedDriver", "org.apache.derby.iapi.jdbc.AutoloadedDriver"),
        ";",
        ";",
        _DERBY,
        embedded=True,
    ),
    Database("jdbc:postgresql:", ("org.postgresql.Driver",), "?", "&", _POSTGRESQL),
)
"""The databases whose tables are executed here."""

_VARIABLES = re.compile(r"(?:\$\{[A-Za-z_][A-Za-z0-9_]*\}/*)+")
_KIND = re.compile(r"([a-z][a-z0-9]+):(.*)", re.DOTALL | re.IGNORECASE)
"""What stands before the name of one of Derby's databases; a single letter is a drive."""


def database_of(options: Options) -> Database | None:
    """The kind of database that a table's URL names, where its tables are executed here."""
    url = options.get("url", "")
    return next((known for known in DATABASES if url.startswith(known.start)), None)


def url_problems(options: Options) -> Iterator[Problem]:
    """Why a table of ``jdbc``, its variables replaced, is not read or written here."""
    known = database_of(options)
    if known is None:
        hint = f"these are: {', '.join(f'{each.start}…' for each in DATABASES)}"
        yield Problem("url", "a database of this kind is not executed here", hint)
        return
    driver = options.get("driver")
    if driver is not None and driver not in known.drivers:
        message = f"'{shortened(driver)}' is not the driver of this database"
        yield Problem("driver", message, f"leave it out, or {known.drivers[0]}")
    for name in known.names(options["url"]):
        if name not in known.parameters:
            message = f"what a URL tells its driver by '{shortened(name)}' is not executed here"
            yield Problem("url", message, "leave it out: only parameters on a list reach the driver")
    if known.embedded and (kind := _kind(options["url"], known)[0]) not in ("directory", "memory"):
        yield Problem("url", f"a database of Derby's by '{shortened(kind)}:' is not executed here", "name its folder")


def _kind(url: str, known: Database) -> tuple[str, str]:
    """Where one of Derby's databases is kept, and what it is called."""
    name = url.removeprefix(known.start).partition(known.opens)[0].strip()
    if name.startswith("//"):
        return "//", name
    found = _KIND.fullmatch(name)
    return (found[1].lower(), found[2]) if found else ("directory", name)


def folder_of(url: str) -> str | None:
    """The folder of an embedded database; ``None`` for one in memory, or of a server."""
    known = database_of({"url": url})
    if known is None or not known.embedded:
        return None
    kind, name = _kind(url, known)
    return None if kind == "memory" else name


def is_named_by_user(options: Options, written: Options, folders: Sequence[str]) -> bool:
    """Whether a table opens no database of a folder that the user has not named.

    ``written`` are the options with their variables: a folder that is a variable alone, ``jdbc:derby:${DB}``, is
    named by whoever sets it.  ``folders`` are named besides; databases may also be in folders below them.
    """
    folder = folder_of(options.get("url", ""))
    if folder is None or ANY in folders:
        return True
    url = written.get("url", "")
    if _VARIABLES.fullmatch(url) or _VARIABLES.fullmatch(folder_of(url) or ""):
        return True
    place = Path(folder).resolve()
    return any(place.is_relative_to(Path(named).resolve()) for named in folders)


def absolute(url: str) -> str:
    """The URL of an embedded database whose folder is found from wherever the driver looks for it."""
    folder, known = folder_of(url), database_of({"url": url})
    if not folder or known is None:
        return url
    _, opens, parameters = url.partition(known.opens)
    return f"{known.start}directory:{Path(folder).absolute()}{opens}{parameters}"
