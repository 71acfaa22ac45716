"""Asynchronous functions: the calls of a batch run side by side, and their results come in the order of the rows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..plan.record import Record
from .failures import function_error


class AsyncOptions(Record):
    """The options ``table.exec.async-scalar.…`` of Flink.

    ``concurrent``: how many calls run at a time.  ``timeout``: seconds that a call may take with all its attempts.
    ``attempts``: how often a call is made that fails; ``delay``: seconds between two attempts.
    """

    concurrent: int = 10
    timeout: float = 180.0
    attempts: int = 1
    delay: float = 0.1


def awaited(name: str, function: Callable[..., Any], rows: Iterable[Sequence[Any]], options: AsyncOptions) -> list[Any]:
    """The results for the arguments of each row.  Raises :class:`FunctionError` for the first call that fails."""
    return asyncio.run(_gathered(name, function, rows, options))


async def _gathered(
    name: str, function: Callable[..., Any], rows: Iterable[Sequence[Any]], options: AsyncOptions
) -> list[Any]:
    slots = asyncio.Semaphore(options.concurrent)

    async def attempted(arguments: Sequence[Any]) -> Any:
        for attempt in range(1, options.attempts + 1):
            try:
                return await function(*arguments)
            except Exception:
                if attempt == options.attempts:
                    raise
            await asyncio.sleep(options.delay)

    async def called(arguments: Sequence[Any]) -> Any:
        async with slots:
            try:
                return await asyncio.wait_for(attempted(arguments), options.timeout)
            except TimeoutError:
                error = TimeoutError(f"it took longer than {options.timeout:g} s")
                raise function_error(name, error, arguments, function) from None
            except Exception as error:
                raise function_error(name, error, arguments, function) from None

    return await asyncio.gather(*(called(arguments) for arguments in rows))
