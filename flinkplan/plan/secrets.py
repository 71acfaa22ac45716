"""Recognizes secrets in texts that are shown to users, and hides them.

Source of the words: ``GlobalConfiguration.isSensitive`` of Flink.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from .printable import one_line

HIDDEN = "******"
"""The replacement of a secret, as in Flink."""

_WORDS = (
    *("password", "secret", "fs.azure.account.key", "apikey", "api-key", "auth-params", "service-key", "token"),
    *("basic-auth", "jaas.config", "http-headers"),
)
"""The value of a key that contains one of these words, in any case, is a secret."""

_CLIENT_KEYS = ("ssl.key.pem", "ssl.keystore.key", "encryptionkey")
"""Further keys of secrets, of Kafka's client and of Derby, which Flink's words do not match."""

_ANY_WORD = "|".join(re.escape(word) for word in (*_WORDS, *_CLIENT_KEYS))
_KEY = rf"[\w.$-]*(?:{_ANY_WORD})[\w.-]*"
_NO_VARIABLE = r"(?!\$\{\w+\}(?:[\"'\s&;,)@]|$))"
_BARE = r"[^\s&;,'\"()\[\]{}<>]+"


@cache
def _secrets() -> tuple[re.Pattern[str], ...]:
    """The patterns that find secrets; they are compiled on first use, because most commands do not need them."""
    return (
        # 'password' = 'x' of SQL, "password" : "x" of JSON
        re.compile(rf"(['\"`]){_KEY}\1\s*[=:]\s*'{_NO_VARIABLE}(?P<secret>(?:[^']|'')*)(?:'|$)", re.IGNORECASE),
        re.compile(rf"(['\"`]){_KEY}\1\s*[=:]\s*\"{_NO_VARIABLE}(?P<secret>(?:[^\"\\]|\\.)*)(?:\"|$)", re.IGNORECASE),
        # ?password=x of URLs, password="x" of logins
        re.compile(rf"\b{_KEY}=(?P<secret>{_NO_VARIABLE}{_BARE})", re.IGNORECASE),
        re.compile(rf"\b{_KEY}\s*=\s*\\?\"{_NO_VARIABLE}(?P<secret>[^\"\\]+)", re.IGNORECASE),
        # password: x of YAML, perhaps behind the line's number
        re.compile(
            rf"^\s*(?:\d+ \|\s*)?(?:-\s+)?{_KEY}:[ \t]+['\"]?{_NO_VARIABLE}(?P<secret>[^\s#'\"][^\n'\"]*)", re.I | re.M
        ),
        # //user:x@host, and Oracle's user/x@host
        re.compile(rf"//[^\s/?#@:'\"]*:{_NO_VARIABLE}(?P<secret>[^\s/'\"]+)@"),
        re.compile(rf"jdbc:oracle:\w+:[^\s/@'\"]+/{_NO_VARIABLE}(?P<secret>[^\s@'\"]+)@", re.IGNORECASE),
    )


@cache
def _hints() -> re.Pattern[str]:
    """A quick test: a text without a match holds no secret that the other patterns would find."""
    return re.compile(rf"{_ANY_WORD}|@", re.IGNORECASE)


_SHORTEST = 4
"""Shorter values are not hidden everywhere, because they would match parts of ordinary words."""

_known: set[str] = set()


def is_sensitive(key: str) -> bool:
    """Whether the value of the option with this key is a secret."""
    lowered = key.lower()
    return any(word in lowered for word in (*_WORDS, *_CLIENT_KEYS))


def masked(key: str, value: str) -> str:
    """The value of an option, hidden if it is a secret and not a variable (``${NAME}``)."""
    if is_sensitive(key) and value and not re.fullmatch(r"\$\{\w+\}", value):
        return HIDDEN
    return without_secrets(value)


def masked_json(pointer: str, value: Any) -> Any:
    """A JSON value with its secrets hidden; the last step of the JSON pointer is the value's key."""
    match value:
        case str():
            return masked(pointer.rpartition("/")[2], value)
        case dict():
            return {key: masked_json(f"/{key}", inner) for key, inner in value.items()}
        case list() | tuple():
            return [masked_json(pointer, inner) for inner in value]
    return value


def remember(options: Mapping[str, str], written: Mapping[str, str]) -> None:
    """Hide from now on, in all texts, the secrets that variables brought into the options of a table.

    ``written`` are the options with their variables.  This is necessary because the error messages of a client may
    contain the values that it was given.
    """
    for key, value in options.items():
        if value != written.get(key):
            secrets = [value] if is_sensitive(key) else [value[start:end] for start, end in _spans(value, ())]
            _known.update(secret for secret in secrets if len(secret) >= _SHORTEST)


def without_secrets(text: str) -> str:
    """The text with its secrets hidden: values of sensitive keys, passwords in URLs, and remembered secrets."""
    return hidden(text)[0]


def shown_line(text: str) -> str:
    """A name or description for one line of output, without secrets.

    Flink's descriptions contain the options that a query's hints set.
    """
    return one_line(without_secrets(text))


def holds_secret(text: str) -> bool:
    """Whether a text contains a secret, in a URL or after a sensitive key; a variable is not a secret."""
    return bool(_spans(text, ()))


def may_hold_secret(statement: str) -> bool:
    """Whether a statement contains a secret, or sets a variable, whose value may be one."""
    assignment = rf"flinkplan\.var\.|(?:{_ANY_WORD})[\w.-]*['\"`]?\s*="
    return re.search(assignment, statement, re.IGNORECASE) is not None or holds_secret(statement)


def hidden(text: str) -> tuple[str, Callable[[int], int]]:
    """The result of :func:`without_secrets`, and a function from positions in the text to positions in the result."""
    spans = _spans(text, _known)
    parts, last = [], 0
    for start, end in spans:
        parts += [text[last:start], HIDDEN]
        last = end

    def shifted(position: int) -> int:
        shift = 0
        for start, end in spans:
            if position >= end:
                shift += len(HIDDEN) - (end - start)
            elif position > start:
                return start + shift
        return position + shift

    return "".join([*parts, text[last:]]), shifted


def _spans(text: str, known: Iterable[str]) -> list[tuple[int, int]]:
    """The ranges of a text that are secrets, in order and without overlaps."""
    matches = (
        [m.span("secret") for pattern in _secrets() for m in pattern.finditer(text)] if _hints().search(text) else []
    )
    matches += [m.span() for secret in known if secret in text for m in re.finditer(re.escape(secret), text)]
    spans: list[tuple[int, int]] = []
    for start, end in sorted(matches):
        if start == end:
            continue
        if spans and start < spans[-1][1]:
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((start, end))
    return spans
