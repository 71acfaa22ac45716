"""What environments have that are created without saying so, and warnings about what they compile."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from ..plan.findings import Finding
from ..plan.record import Record
from .jobs import Starter, start


class FlinkplanWarning(UserWarning):
    """A warning about a statement that compiles, but may not be intended; ``finding`` has the rule and the place."""

    def __init__(self, finding: Finding) -> None:
        hint = f" ({finding.hint})" if finding.hint else ""
        where = f"{finding.location}: " if finding.location else ""
        super().__init__(f"{where}{finding.message}{hint} [{finding.rule}]")
        self.finding = finding


def warn_of(finding: Finding) -> None:
    warnings.warn(FlinkplanWarning(finding), stacklevel=2)


class Defaults(Record):
    """What an environment has that is created without saying so."""

    starter: Starter = start
    options: Mapping[str, str] = {}
    warn: Callable[[Finding], None] = warn_of
    py_files: tuple[str, ...] = ()
    catalog_tables: Mapping[str, str] = {}


DEFAULTS: ContextVar[Defaults | None] = ContextVar("defaults", default=None)


@contextmanager
def defaults(
    starter: Starter | None = None,
    options: Mapping[str, str] | None = None,
    warn: Callable[[Finding], None] | None = None,
    py_files: Sequence[str] = (),
    catalog_tables: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """Environments created inside it start jobs so, have these options, load functions from these files, and take the
    tables of external catalogs from these scripts, which are named."""
    made = Defaults(starter or start, options or {}, warn or warn_of, tuple(py_files), catalog_tables or {})
    token = DEFAULTS.set(made)
    try:
        yield
    finally:
        DEFAULTS.reset(token)
