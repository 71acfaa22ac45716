"""The options of tables: declared, checked and read before Spark starts."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping

from ..plan.record import Record
from .errors import TableError

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def boolean(text: str) -> bool:
    """``true`` or ``false``, in any case.  Raises :class:`ValueError`."""
    lowered = text.strip().lower()
    if lowered not in ("true", "false"):
        raise ValueError("is neither true nor false")
    return lowered == "true"


def character(text: str) -> str:
    """One character, as it stands.  Raises :class:`ValueError`."""
    if len(text) != 1:
        raise ValueError("is not a single character")
    return text


def escaped_character(text: str) -> str:
    """One character, perhaps as an escape such as ``\\t``.  Raises :class:`ValueError`."""
    if len(text) == 1:
        return text
    return character(text.encode().decode("unicode_escape") if text.isascii() else text)


def word(*values: str) -> Callable[[str], str]:
    """A reader that takes only ``values``, in any case, and gives them as they are here."""
    read = one_of(*values)
    return lambda text: read(text.upper())


def one_of(*values: str) -> Callable[[str], str]:
    """A reader that takes only ``values``."""

    def read(text: str) -> str:
        if text not in values:
            raise ValueError(f"is none of {', '.join(values)}")
        return text

    return read


class OptionSet(Record):
    """What may stand in a table's WITH clause: reader by key; a key that ends in ``*`` stands for all it begins.

    ``owner`` is named in errors.
    """

    owner: str
    readers: Mapping[str, Callable[[str], object]]
    required: tuple[str, ...] = ()

    def check(self, options: Mapping[str, str], where: str) -> None:
        """Raise :class:`TableError` for an unknown, missing or malformed option."""
        for key in self.required:
            if key not in options:
                raise TableError(f"the option '{key}' is missing", where=where, hint=f"{self.owner} requires it")
        for key, value in options.items():
            reader = self._reader(key)
            if reader is None:
                raise TableError(f"unknown option '{key}' of {self.owner}", where=where, hint=self._nearest(key))
            try:
                reader(value)
            except ValueError as e:
                raise TableError(f"the value '{value}' of the option '{key}' {e}", where=where) from None

    def _reader(self, key: str) -> Callable[[str], object] | None:
        for known, reader in self.readers.items():
            if key == known or (known.endswith("*") and re.fullmatch(re.escape(known[:-1]) + ".*", key)):
                return reader
        return None

    def _nearest(self, key: str) -> str:
        close = difflib.get_close_matches(key, self.readers, n=1)
        return f"did you mean '{close[0]}'?" if close else f"known options: {', '.join(sorted(self.readers))}"


def replace_variables(options: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """``options`` with every ``${NAME}`` replaced; what is unset stays (see :func:`unset_variables`)."""
    return {k: _VARIABLE.sub(lambda m: variables.get(m[1], m[0]), v) for k, v in options.items()}


def unset_variables(options: Iterable[str], variables: Mapping[str, str]) -> list[str]:
    """The names used in the option values but not set, in order of appearance."""
    names = (m[1] for text in options for m in _VARIABLE.finditer(text))
    return list(dict.fromkeys(n for n in names if n not in variables))
