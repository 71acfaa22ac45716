"""What a check found: one shape for every command that judges plans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType

from .errors import Location
from .record import Record


class Severity(Enum):
    """How much a finding matters, the worst first."""

    ERROR = "error"
    """The plan cannot run, or does not do what it says."""
    WARNING = "warning"
    """The plan runs, but perhaps not as meant."""
    NOTE = "note"
    """Worth knowing."""


class Rule(Record):
    """A rule of a check: its stable id, the severity of its findings, one line, and what to know about it."""

    id: str
    severity: Severity
    summary: str
    explanation: str


class Finding(Record):
    """One thing found.

    ``rule`` is the stable id of the rule; ``pointer`` the JSON pointer of the value and ``location`` its place in
    the file; ``node`` and ``node_type`` name the exec node it belongs to; ``hint`` says what to write instead.
    """

    rule: str
    severity: Severity
    message: str
    pointer: str = ""
    location: Location | None = None
    node: int | None = None
    node_type: str | None = None
    hint: str | None = None

    @property
    def text(self) -> str:
        """The message as reports have it."""
        return self.message


def rule_table(*rules: Rule) -> Mapping[str, Rule]:
    """The rules by id."""
    return MappingProxyType({rule.id: rule for rule in rules})


def errors(findings: Iterable[Finding]) -> list[Finding]:
    """Those of severity error."""
    return [f for f in findings if f.severity is Severity.ERROR]


def nearest(word: str, known: Iterable[str]) -> str | None:
    """``did you mean '…'?`` for the known word most like ``word``, or ``None``."""
    import difflib

    close = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean '{close[0]}'?" if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint that names what is most like ``name``, or what there is if that is little; ``None`` otherwise."""
    import difflib

    choices = list(dict.fromkeys(known))
    folded = {c.lower(): c for c in reversed(choices)}
    near = [folded[c] for c in difflib.get_close_matches(name.lower(), folded, 3, 0.6)]
    if near:
        return f"did you mean {_either(near)}?"
    if choices and len(choices) <= 12:
        return f"there is {_either(choices, 'and')}"
    return None


def _either(names: list[str], word: str = "or") -> str:
    *first, last = (f"'{n}'" for n in names)
    return f"{', '.join(first)} {word} {last}" if first else last
