"""The formats of tables as the executor reads and writes them.

What a format is, and its options, stands at :mod:`~.plan.connectors.formats`; what it does is in the Java half
(``flinkplan.runtime.format``).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...plan.connectors import FORMAT, FORMATS, Format, format_of
from ...plan.connectors.kinds import option_prefix
from ...plan.options import option_of
from ..errors import TableError


def find_format(options: Mapping[str, str], where: str, named_by: str = FORMAT) -> Format:
    """The format that an option of a table names.

    Raises :class:`TableError` where there is none, or one that is not executed.
    """
    executed = ", ".join(name for name, format_ in FORMATS.items() if format_.executed)
    name = options.get(named_by)
    if name is None:
        raise TableError(f"the option '{named_by}' is missing", where=where, hint=f"one of {executed}")
    if name not in FORMATS or not FORMATS[name].executed:
        raise TableError(f"the format '{name}' is not executed here", where=where, hint=f"these are: {executed}")
    return FORMATS[name]


def keeps_journal(options: Mapping[str, str]) -> bool:
    """Whether a table with these options has a format whose messages are a journal of all changes."""
    format_ = format_of(options)
    return format_ is not None and format_.journal


def format_options(format_: Format, options: Mapping[str, str], named_by: str = FORMAT) -> dict[str, str]:
    """The options of the format that another option names, by the names under which they are handed on.

    What is not declared, or does nothing here, is left out.
    """
    prefix = option_prefix(named_by, format_.name)
    given = {key.removeprefix(prefix): value for key, value in options.items() if key.startswith(prefix)}
    declared = {key: option_of(key, format_.options or ()) for key in given}
    return {
        option.passed_as or key: given[key]
        for key, option in declared.items()
        if option is not None and option.is_executed
    }
