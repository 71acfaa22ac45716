from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from flinkplan.compat.reports import FORMATS, Report, render
from flinkplan.compat.validation import RULES, validate_text
from flinkplan.plan.record import replace
from tests.conftest import Golden
from tests.parity.corpus import HERE

GOOD = (HERE / "cases/join-two-cdc-tables-with-primary-keys/plan.json").read_text("utf-8")
BAD = (
    GOOD.replace('"ttl" : "0 ms"', '"ttl" : "1.5 h"', 1)
    .replace('"name" : "rightState"', '"name" : "a|b"')
    .replace('"joinType" : "LEFT"', '"joinType" : "L<&\\u0001"')
    .replace('"joinType" : "INNER"', '"joinType" : "L<&\\u0001"')
)


def report(text: str) -> Report:
    return Report(
        "validate", "plans/orders.json", validate_text(text, "plans/orders.json"), RULES, {"plans/orders.json": text}
    )


@pytest.mark.parametrize("format_", FORMATS)
def test_findings(format_: str, golden: Golden) -> None:
    golden.check(f"findings.{format_}", render(report(BAD), format_))


@pytest.mark.parametrize("format_", FORMATS)
def test_nothing_found(format_: str, golden: Golden) -> None:
    golden.check(f"nothing.{format_}", render(report(GOOD), format_))


@pytest.mark.parametrize("text", [GOOD, BAD])
def test_machines_can_read_theirs(text: str) -> None:
    made = report(text)
    assert len(json.loads(render(made, "json"))["findings"]) == len(made.findings)
    (run,) = json.loads(render(made, "sarif"))["runs"]
    assert {result["ruleId"] for result in run["results"]} == {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert len(run["results"]) == len(made.findings)
    suite = ElementTree.fromstring(render(made, "junit"))
    assert len(suite.findall("testcase")) == max(1, len(made.findings))
    assert len(render(made, "github").splitlines()) == len(made.findings)


@pytest.mark.parametrize(("strict", "failures"), [(False, 2), (True, 3)])
def test_warnings_fail_only_strict_checks(strict: bool, failures: int) -> None:
    suite = ElementTree.fromstring(render(replace(report(BAD), strict=strict), "junit"))
    assert (suite.get("failures"), len(suite.findall("testcase/failure"))) == (str(failures), failures)


def test_code_scanning_wants_uris() -> None:
    made = replace(report(BAD), sources={}, findings=[replace(f, location=None) for f in report(BAD).findings])
    (run,) = json.loads(render(replace(made, subject="my plans/50%.json"), "sarif"))["runs"]
    places = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]}
    assert places == {"my%20plans/50%25.json"}
