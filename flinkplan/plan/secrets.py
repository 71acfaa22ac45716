"""Secrets in what is shown to people: the one place that says what is one, and hides it.

Source of the words: ``GlobalConfiguration.isSensitive`` of Flink.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from .printable import one_line

HIDDEN = "******"
"""What stands for a secret, as in Flink."""

_WORDS = (
    *("password", "secret", "fs.azure.account.key", "apikey", "api-key", "auth-params", "service-key", "token"),
    *("basic-auth", "jaas.config", "http-headers"),
)
"""A key that contains one of these, in any case, is of a secret."""

_MORE = ("ssl.key.pem", "ssl.keystore.key", "encryptionkey")
"""Keys of Kafka's client and of Derby that hold one, and that Flink's words do not tell."""

_LIKE = "|".join(re.escape(word) for word in (*_WORDS, *_MORE))
_KEY = rf"[\w.$-]*(?:{_LIKE})[\w.-]*"
_NO_VARIABLE = r"(?!\$\{\w+\}(?:[\"'\s&;,)@]|$))"
_BARE = r"[^\s&;,'\"()\[\]{}<>]+"


@cache
def _secrets() -> tuple[re.Pattern[str], ...]:
    """What tells a secret; compiled when a text is first looked through, since most commands show none."""
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
    """Without any of these there is nothing to look for."""
    return re.compile(rf"{_LIKE}|@", re.IGNORECASE)


_SHORTEST = 4
"""Values that are shorter are not looked for everywhere: they would be found in every other word."""

_known: set[str] = set()


def is_sensitive(key: str) -> bool:
    """Whether the value of an option is a secret, by the option's key."""
    lowered = key.lower()
    return any(word in lowered for word in (*_WORDS, *_MORE))


def masked(key: str, value: str) -> str:
    """The value of an option as it can be shown: hidden where it is a secret, but for variables (``${NAME}``)."""
    if is_sensitive(key) and value and not re.fullmatch(r"\$\{\w+\}", value):
        return HIDDEN
    return without_secrets(value)


def masked_json(pointer: str, value: Any) -> Any:
    """A value of JSON as it can be shown; the last step of the JSON pointer is the key that it has."""
    match value:
        case str():
            return masked(pointer.rpartition("/")[2], value)
        case dict():
            return {key: masked_json(f"/{key}", inner) for key, inner in value.items()}
        case list() | tuple():
            return [masked_json(pointer, inner) for inner in value]
    return value


def remember(options: Mapping[str, str], written: Mapping[str, str]) -> None:
    """Hide, from now on and wherever they stand, the secrets that variables brought into the options of a table.

    ``written`` are the options with their variables.  A client may tell in an error what it was given, in words of its
    own.
    """
    for key, value in options.items():
        if value != written.get(key):
            found = [value] if is_sensitive(key) else [value[start:end] for start, end in _spans(value, ())]
            _known.update(secret for secret in found if len(secret) >= _SHORTEST)


def without_secrets(text: str) -> str:
    """The text with the secrets in it hidden: by the keys before them, in URLs, and those that are remembered."""
    return hidden(text)[0]


def shown_line(text: str) -> str:
    """A name, or a description, as it stands in a line: without secrets, and :func:`.one_line`.

    Descriptions of Flink's tell the options that a query's hints set.
    """
    return one_line(without_secrets(text))


def holds_secret(text: str) -> bool:
    """Whether a text says a secret in words of its own: in a URL, or behind a key; variables are none."""
    return bool(_spans(text, ()))


def may_hold_secret(statement: str) -> bool:
    """Whether a statement says a secret, or sets a variable, which may be one."""
    said = rf"flinkplan\.var\.|(?:{_LIKE})[\w.-]*['\"`]?\s*="
    return re.search(said, statement, re.IGNORECASE) is not None or holds_secret(statement)


def hidden(text: str) -> tuple[str, Callable[[int], int]]:
    """The text as :func:`without_secrets` has it, and where a character stands in it that stood elsewhere."""
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
    """Where secrets stand in a text: from one character up to another, in order, none within another."""
    found = (
        [m.span("secret") for pattern in _secrets() for m in pattern.finditer(text)] if _hints().search(text) else []
    )
    found += [m.span() for secret in known if secret in text for m in re.finditer(re.escape(secret), text)]
    spans: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if start == end:
            continue
        if spans and start < spans[-1][1]:
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((start, end))
    return spans
