"""Findings: the results of every command that checks plans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType

from .errors import Location
from .record import Record


class Severity(Enum):
    """How severe a finding is, the most severe first."""

    ERROR = "error"
    """The plan cannot run, or does not do what it states."""
    WARNING = "warning"
    """The plan runs, but perhaps not as intended."""
    NOTE = "note"
    """Worth knowing."""


class Rule(Record):
    """A rule of a check: its stable id, the severity of its findings, a summary of one line, and an explanation."""

    id: str
    severity: Severity
    summary: str
    explanation: str


class Finding(Record):
    """One result of a check.

    ``rule`` is the stable id of the rule; ``pointer`` the JSON pointer of the value and ``location`` its place in
    the file; ``node`` and ``node_type`` name the exec node; ``hint`` says what to write instead.
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
        """The message as it appears in reports."""
        return self.message


def rule_table(*rules: Rule) -> Mapping[str, Rule]:
    """The rules by id."""
    return MappingProxyType({rule.id: rule for rule in rules})


def errors(findings: Iterable[Finding]) -> list[Finding]:
    """The findings of severity error."""
    return [f for f in findings if f.severity is Severity.ERROR]


def nearest(word: str, known: Iterable[str]) -> str | None:
    """``did you mean '…'?`` for the known word most like ``word``, or ``None``."""
    import difflib

    matches = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean '{matches[0]}'?" if matches else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint with the known names most like ``name``, or with all of them if they are few; ``None`` otherwise."""
    import difflib

    choices = list(dict.fromkeys(known))
    by_lower_case = {c.lower(): c for c in reversed(choices)}
    matches = [by_lower_case[c] for c in difflib.get_close_matches(name.lower(), by_lower_case, 3, 0.6)]
    if matches:
        return f"did you mean {_joined(matches)}?"
    if choices and len(choices) <= 12:
        return f"there is {_joined(choices, 'and')}"
    return None


def _joined(names: list[str], word: str = "or") -> str:
    *first, last = (f"'{n}'" for n in names)
    return f"{', '.join(first)} {word} {last}" if first else last
