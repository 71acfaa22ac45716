"""The formats of tables as the executor reads and writes them.

What a format is, and its options, stands at :mod:`~.plan.connectors.formats`; what it does is in the Java half
(``flinkplan.runtime.format``).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...plan.connectors import FORMATS, Format
from ..errors import TableError


def find_format(options: Mapping[str, str], where: str) -> Format:
    """The format that a table's options name.  Raises :class:`TableError` for none, or one that is not executed."""
    executed = ", ".join(name for name, format_ in FORMATS.items() if format_.executed)
    name = options.get("format")
    if name is None:
        raise TableError("the option 'format' is missing", where=where, hint=f"one of {executed}")
    if name not in FORMATS or not FORMATS[name].executed:
        raise TableError(f"the format '{name}' is not executed here", where=where, hint=f"these are: {executed}")
    return FORMATS[name]


def keeps_journal(options: Mapping[str, str]) -> bool:
    """Whether a table with these options has a format whose messages are a journal of all changes."""
    format_ = FORMATS.get(options.get("format", ""))
    return format_ is not None and format_.journal


def format_options(format_: Format, options: Mapping[str, str]) -> dict[str, str]:
    """The format's options without its name in front."""
    prefix = f"{format_.name}."
    return {key.removeprefix(prefix): value for key, value in options.items() if key.startswith(prefix)}
