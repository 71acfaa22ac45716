"""Reports of findings for people, programs and CI systems.

Every renderer takes a :class:`Report` and returns text; :func:`render` finds it by name.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from ...plan.findings import Finding
from ...plan.record import replace
from ...plan.secrets import without_secrets
from .model import Report

__all__ = ["FORMATS", "Report", "render"]

FORMATS = ("text", "json", "github", "sarif", "junit", "markdown")


def _masked(finding: Finding) -> Finding:
    """The finding without secrets."""
    hint = finding.hint and without_secrets(finding.hint)
    return replace(finding, message=without_secrets(finding.message), hint=hint)


def render(report: Report, format: str) -> str:
    """The report in one of the :data:`FORMATS`, ending with a line break unless it is empty."""
    renderer: Callable[[Report], str] = import_module(f".as_{format}", __name__).render
    text = renderer(replace(report, findings=[_masked(finding) for finding in report.findings]))
    return text if not text or text.endswith("\n") else text + "\n"
