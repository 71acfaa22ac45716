"""Options of tables as the executor reads them: variables replaced, values in their types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def replace_variables(options: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """``options`` with every ``${NAME}`` replaced; what is unset stays (see :func:`unset_variables`)."""
    return {k: _VARIABLE.sub(lambda m: variables.get(m[1], m[0]), v) for k, v in options.items()}


def unset_variables(options: Iterable[str], variables: Mapping[str, str]) -> list[str]:
    """The names used in the option values but not set, in order of appearance."""
    names = (m[1] for text in options for m in _VARIABLE.finditer(text))
    return list(dict.fromkeys(n for n in names if n not in variables))
