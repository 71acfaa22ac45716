"""What is said of tests that have run: as text, and as JUnit XML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

from ..plan.printable import continued, one_line, printable
from ..plan.text.snippets import described
from .comparing import Difference
from .model import Suite
from .running import Outcome


def failure_text(outcome: Outcome) -> str:
    """Why a test failed: its differences with their tables, or its error with its place."""
    if outcome.error is not None:
        return "\n\n".join(_error_text(error) for error in outcome.error.errors)
    return differences_text(outcome.differences)


def differences_text(differences: Iterable[Difference]) -> str:
    """Differences with their places and tables."""
    parts = []
    for difference in differences:
        place = f"\n --> {difference.expected.span.location}" if difference.expected else ""
        table = difference.table()
        parts.append(f"{one_line(difference.summary)}{place}" + (f"\n{table}" if table else ""))
    return "\n\n".join(parts)


def _error_text(error: Exception) -> str:
    message, place, snippet, hint = described(error)  # type: ignore[arg-type]
    lines = [f"error: {continued(message)}"]
    if place:
        lines.append(f" --> {one_line(place)}")
    if snippet:
        lines.append(printable(snippet))
    if hint:
        lines.append(f"hint: {continued(hint)}")
    return "\n".join(lines)


def junit(results: Sequence[tuple[Suite, Sequence[Outcome]]]) -> str:
    """All tests as JUnit XML: each file is a test suite."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites name="flinkplan test">']
    for suite, outcomes in results:
        failed = sum(bool(outcome.differences) for outcome in outcomes)
        errors = sum(outcome.error is not None for outcome in outcomes)
        name = quoteattr(one_line(str(suite.file)))
        seconds = sum(outcome.seconds for outcome in outcomes)
        counts = f'tests="{len(outcomes)}" failures="{failed}" errors="{errors}"'
        lines.append(f'<testsuite name={name} {counts} time="{seconds:.3f}">')
        lines += (line for outcome in outcomes for line in _case(name, outcome))
        lines.append("</testsuite>")
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _case(suite: str, outcome: Outcome) -> Iterable[str]:
    head = f'  <testcase classname={suite} name={quoteattr(one_line(outcome.case.name))} time="{outcome.seconds:.3f}"'
    if outcome.passed:
        yield f"{head}/>"
        return
    tag = "failure" if outcome.error is None else "error"
    text = failure_text(outcome)
    yield f"{head}>"
    yield f"    <{tag} message={quoteattr(printable(text.partition(chr(10))[0]))}>{escape(printable(text))}</{tag}>"
    yield "  </testcase>"
