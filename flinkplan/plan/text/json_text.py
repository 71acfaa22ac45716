"""Parses JSON that users edit, with errors that name the place to fix."""

from __future__ import annotations

import json
import re
from typing import Any

from ..errors import Location, PlanError
from .spelling import Number

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|.)", re.DOTALL)
_CLOSING = {"}": "an object's last value", "]": "a list's last element"}
_CLEARER_MESSAGES = {
    "Expecting value": "a value belongs here: a text in double quotes, a number, a list, an object, true …",
    "Expecting ':' delimiter": "a colon is missing between a key and its value",
    "Illegal trailing comma before end of object": "there is a comma too many",
    "Illegal trailing comma before end of array": "there is a comma too many",
    "Extra data": "there is something behind the end of the document",
    "Invalid control character at": "a line break or another control character stands inside a text",
}
"""Clearer texts for Python's messages; messages that are not listed are shown unchanged."""


def parse_json(text: str, file: str | None = None) -> Any:
    """Parse JSON, refusing duplicate keys and lone surrogates, which UTF-8 cannot encode.

    Raises :class:`PlanError` with line and column.
    """
    if text.startswith("\ufeff"):
        raise PlanError("the file begins with a byte order mark", where=file, hint="save it as UTF-8 without one")
    if not text.strip():
        raise PlanError("the file is empty", where=file)
    _check_surrogates(text, file)
    try:
        return json.loads(text, object_pairs_hook=_unique_keys, parse_float=Number.read)
    except json.JSONDecodeError as e:
        raise _explained_error(e, text, file) from None
    except RecursionError:
        raise PlanError("the JSON is nested too deeply", where=file) from None
    except PlanError as e:
        from .positions import location_of_repeated_key

        e.where = location_of_repeated_key(text, file)
        raise
    except ValueError:
        raise PlanError("the JSON holds a number with thousands of digits", where=file) from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [k for k, _ in pairs]
        duplicate = next(k for k in keys if keys.count(k) > 1)
        raise PlanError(f"the key '{duplicate}' stands twice in one object")
    return values


def _explained_error(error: json.JSONDecodeError, text: str, file: str | None) -> PlanError:
    """The error at the place to fix, which is often before the place where parsing stopped."""
    at = error.pos
    before = text[:at].rstrip()
    here = text[at : at + 1]
    if error.msg.startswith("Unterminated") or not text[at:].strip():
        return _error_at("it ends too early", text, at, file)
    if before.endswith(",") and here in _CLOSING:
        return _error_at(f"there is a comma too many behind {_CLOSING[here]}", text, len(before) - 1, file, "remove it")
    if error.msg == "Expecting ',' delimiter":
        if here in ('"', "{", "["):
            return _error_at("a comma is missing here", text, len(before), file)
        return _error_at(
            "something else than a comma follows the value", text, at, file, "texts stand in double quotes"
        )
    if text.startswith(("//", "/*", "#"), at):
        return _error_at("JSON has no comments", text, at, file, "remove it")
    if error.msg.startswith("Expecting property name"):
        return _error_at("a key in double quotes belongs here", text, at, file)
    return _error_at(_CLEARER_MESSAGES.get(error.msg, error.msg), text, at, file)


def _check_surrogates(text: str, file: str | None) -> None:
    """Raise :class:`PlanError` for an escape such as ``\\ud83d`` that is not part of a surrogate pair."""
    if "\\ud" not in text and "\\uD" not in text:
        return
    high: re.Match[str] | None = None
    for escape in _ESCAPE.finditer(text):
        code = int(escape[1], 16) if escape[1] else 0
        follows = high is not None and escape.start() == high.end()
        if 0xDC00 <= code < 0xE000 and follows:
            high = None
            continue
        lone = high or (escape if 0xDC00 <= code < 0xE000 else None)
        if lone is not None:
            raise _lone_surrogate(lone, text, file)
        high = escape if 0xD800 <= code < 0xDC00 else None
    if high is not None:
        raise _lone_surrogate(high, text, file)


def _lone_surrogate(escape: re.Match[str], text: str, file: str | None) -> PlanError:
    return _error_at(f"{escape[0]} is one half of a surrogate pair, and no character", text, escape.start(), file)


def _error_at(message: str, text: str, at: int, file: str | None, hint: str | None = None) -> PlanError:
    line = text.count("\n", 0, at) + 1
    where = Location(file, line, at - text.rfind("\n", 0, at))
    return PlanError(f"not valid JSON: {message}", where=where, hint=hint)
