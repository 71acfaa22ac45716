"""The error of a function that fails: what it raised, where in its file, and for which arguments.

A worker raises it with its contents as JSON, which is all that reaches the driver of an exception in Python.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Sequence
from functools import partial
from typing import Any

from ..plan.record import Record

_LONGEST_VALUE, _LONGEST_CALL = 60, 300
_MARK = "flinkplan.udf.failures.FunctionError: "


class FunctionError(Exception):
    """A call of a user's function that failed; the text is JSON, which :func:`failure_in` reads."""


class FunctionFailure(Record):
    """What to say of it: ``where`` is the file and line."""

    message: str
    where: str | None


def function_error(
    name: str, error: BaseException, arguments: Sequence[Any] | None, function: Any = None
) -> FunctionError:
    """The error for a call of ``name`` that raised ``error``; ``arguments`` are ``None`` where they are not known.

    Where no line of the user's code raised it, the place is that of the ``function``.
    """
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    message = f"{_shown(name, arguments)} raised {reason}"
    return FunctionError(json.dumps({"message": message, "where": _where(error) or _place_of(function)}))


def loading_error(name: str, error: BaseException) -> FunctionError:
    """The error for a function that a worker cannot make."""
    message = f"Spark's Python worker cannot load the function {name}: {type(error).__name__}: {error}"
    return FunctionError(json.dumps({"message": message, "where": _where(error)}))


def result_error(
    name: str, arguments: Sequence[Any] | None, result: Any, problem: str, function: Any = None
) -> FunctionError:
    """The error for a result that does not fit the declared type."""
    message = f"{_shown(name, arguments)} returned {_short(result)}: {problem}"
    return FunctionError(json.dumps({"message": message, "where": _place_of(function)}))


def state_error(name: str, state: str, value: Any, problem: str, function: Any) -> FunctionError:
    """The error for a value in a state that does not fit its declared type."""
    message = f"{name} keeps {_short(value)} in its state {state}: {problem.replace('result type', 'type', 1)}"
    return FunctionError(json.dumps({"message": message, "where": _place_of(function)}))


def failure_in(text: str) -> FunctionFailure | None:
    """The failure of a function in the text of an exception that a worker raised."""
    _, mark, rest = text.partition(_MARK)
    if not mark:
        return None
    try:
        told = json.JSONDecoder().raw_decode(rest)[0]
        return FunctionFailure(str(told["message"]), told["where"])
    except (ValueError, KeyError, TypeError):
        return None


def _shown(name: str, arguments: Sequence[Any] | None) -> str:
    if arguments is None:
        return f"{name}(…)"
    text = ", ".join(map(_short, arguments))
    return f"{name}({text if len(text) <= _LONGEST_CALL else text[:_LONGEST_CALL] + '…'})"


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def _where(error: BaseException) -> str | None:
    """The innermost line of the user's own code; else the innermost one at all."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not _is_ours(f.filename)]
    own = [f for f in frames if "site-packages" not in f.filename and "/lib/python" not in f.filename]
    innermost = (own or frames)[-1:]
    return f"{innermost[0].filename}:{innermost[0].lineno}" if innermost else None


def _place_of(function: Any) -> str | None:
    """The line where a function, or the method of an instance, begins."""
    while isinstance(function, partial):
        function = function.func
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None:
        code = getattr(getattr(type(function), "__call__", None), "__code__", None)  # noqa: B004
    return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else None


_FOLDER = __file__.rpartition("/")[0]


def _is_ours(file: str) -> bool:
    return file.startswith((_FOLDER, "<"))
