"""The database URLs that flinkplan opens: the drivers, parameters and folders that they may contain.

Sources: the connection attributes of Apache Derby's reference manual, ``PGProperty`` of PostgreSQL's driver.

Parameters of a URL can make a driver load classes, write files and run scripts, and an embedded database runs the code
that is stored in its folder: the functions of its views and triggers are static methods of any class.  A plan is
untrusted, so a parameter that is not listed is refused, and so is a folder that the user has not named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..printable import shortened
from ..record import Record
from .model import Options, Problem

ANY = "*"
"""Stands for all folders, for tables of the user's own script."""


class Database(Record):
    """A kind of database; ``start`` is the prefix of its URLs.

    The parameters in a URL follow ``opens`` and are separated by ``separator``.  ``embedded`` says that the process
    itself opens the files of the database.
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
"""The databases whose tables flinkplan executes."""

_VARIABLES = re.compile(r"(?:\$\{[A-Za-z_][A-Za-z0-9_]*\}/*)+")
_KIND = re.compile(r"([a-z][a-z0-9]+):(.*)", re.DOTALL | re.IGNORECASE)
"""The subsubprotocol before the name of a Derby database; a single letter is a drive instead."""


def database_of(options: Options) -> Database | None:
    """The database of a table's URL; ``None`` if flinkplan does not execute its tables."""
    url = options.get("url", "")
    return next((database for database in DATABASES if url.startswith(database.start)), None)


def url_problems(options: Options) -> Iterator[Problem]:
    """The reasons why flinkplan does not execute a table of ``jdbc``; its variables must have been replaced."""
    database = database_of(options)
    if database is None:
        hint = f"these are: {', '.join(f'{supported.start}…' for supported in DATABASES)}"
        yield Problem("url", "a database of this kind is not executed here", hint)
        return
    driver = options.get("driver")
    if driver is not None and driver not in database.drivers:
        message = f"'{shortened(driver)}' is not the driver of this database"
        yield Problem("driver", message, f"leave it out, or {database.drivers[0]}")
    for name in database.names(options["url"]):
        if name not in database.parameters:
            message = f"what a URL tells its driver by '{shortened(name)}' is not executed here"
            yield Problem("url", message, "leave it out: only parameters on a list reach the driver")
    if database.embedded and (kind := _kind(options["url"], database)[0]) not in ("directory", "memory"):
        yield Problem("url", f"a database of Derby's by '{shortened(kind)}:' is not executed here", "name its folder")


def _kind(url: str, known: Database) -> tuple[str, str]:
    """The subsubprotocol of a Derby database (``directory``, ``memory`` …) and its name."""
    name = url.removeprefix(known.start).partition(known.opens)[0].strip()
    if name.startswith("//"):
        return "//", name
    match = _KIND.fullmatch(name)
    return (match[1].lower(), match[2]) if match else ("directory", name)


def folder_of(url: str) -> str | None:
    """The folder of an embedded database; ``None`` for a database in memory or on a server."""
    known = database_of({"url": url})
    if known is None or not known.embedded:
        return None
    kind, name = _kind(url, known)
    return None if kind == "memory" else name


def is_named_by_user(options: Options, written: Options, folders: Sequence[str]) -> bool:
    """Whether the user has named the folder of the database that a table opens, if it opens one in a folder.

    ``written`` are the options with their variables: a folder that is a variable alone, ``jdbc:derby:${DB}``, is
    named by the user who sets the variable.  Databases may also be in ``folders`` and in folders below them.
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
    """The URL of an embedded database with its folder as an absolute path; other URLs are unchanged."""
    folder, known = folder_of(url), database_of({"url": url})
    if not folder or known is None:
        return url
    _, opens, parameters = url.partition(known.opens)
    return f"{known.start}directory:{Path(folder).absolute()}{opens}{parameters}"
