"""Plans of older Flink releases are read, judged, carried on and run like those of the newest.

``releases/<release>/<case>.json`` is what that release compiled from the case's script.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from flinkplan.compat.diff import Diff, Source, diff_texts
from flinkplan.compat.successor import succeed
from flinkplan.compat.upgrade import migrate
from flinkplan.compat.validation import validate_text
from flinkplan.compat.verdicts import Verdict
from flinkplan.executor.jobs.job import JobOptions, execute
from flinkplan.executor.prepare.modes import Mode
from flinkplan.plan.document import FLINK_VERSION, dumps, load, loads
from flinkplan.plan.errors import UnsupportedError
from flinkplan.plan.explain import explain_text
from flinkplan.plan.ttl import parse_edit, set_ttls
from flinkplan.planner import compile_script
from tests.parity.compare import compare_plans, compare_rows
from tests.parity.corpus import HERE, Case
from tests.parity.levels import check_rows

RELEASES = HERE / "releases"
FILES = sorted(RELEASES.glob("*/*.json"))


@dataclass(frozen=True)
class OlderCase(Case):
    """A case with the plan that an older release compiled."""

    release: str = ""

    @property
    def plan_file(self) -> Path:
        return RELEASES / self.release / f"{self.name}.json"

    @property
    def newest(self) -> Path:
        """The plan of the newest release."""
        return self.folder / "plan.json"


def older(name: str) -> OlderCase:
    release, _, case = name.partition("/")
    return OlderCase(HERE / "cases" / case, release)


class Truth(NamedTuple):
    """What is true of the plan of an older release and that of the newest.

    ``rules``: what the difference is judged by, beyond what is cosmetic; none where ``upgrade`` makes the one of the
    other.  ``goes_on``: a checkpoint made under the one goes on under the other.
    """

    rules: frozenset[str] = frozenset()
    goes_on: bool = True


TTL_LEFT = frozenset(("ttl-left-to-job",))
"""Before 1.18 plans said nothing of TTLs."""

COSMETIC = {"flink-version-changed", "node-version-changed", "description-changed"}

TRUTHS = {
    "1.17/agg-canal-min-max-retract": Truth(TTL_LEFT),
    "1.17/agg-grouping-sets": Truth(TTL_LEFT),
    "1.17/agg-rollup-having": Truth(TTL_LEFT),
    "1.17/changelog-upsert-sink-require-on-conflict-off": Truth(TTL_LEFT | {"stateful-node-version-changed"}),
    "1.17/expr-arithmetic-integers": Truth(),
    "1.17/expr-where-null-filters": Truth(frozenset(("stateless-node-changed",))),
    "1.17/rank-topn-over-updating-sum": Truth(TTL_LEFT),
    "1.17/ttl-one-hour-join-aggregate-dedup-topn-pipeline": Truth(TTL_LEFT),
    "1.17/window-cumulate-cube-null-keys": Truth(),
    "1.17/window-hop-cumulate-offset": Truth(),
    "1.17/window-legacy-session": Truth(),
    "1.17/window-ltz-epoch-millis-tumble": Truth(),
    "1.17/window-tumble-agg-docs-bid": Truth(),
    "1.17/window-tumble-count-distinct-split": Truth(),
    "1.18/agg-mini-batch-two-phase-retract": Truth(),
    "1.18/join-full-outer-extra-non-equi-condition": Truth(),
    "1.18/join-interval-in-where-then-tumble": Truth(),
    "1.18/window-hop-filter-having": Truth(),
    "1.18/window-ltz-dst-newyork": Truth(),
    "1.18/window-stmtset-raw-and-window": Truth(),
    "1.18/window-topn-after-agg": Truth(),
    "1.19/agg-mini-batch-two-phase-distinct": Truth(),
    "1.19/changelog-sink-key-differs-retract-sink": Truth(
        frozenset(("stateful-node-version-changed", "sink-materializer-changed", "state-left-behind")), goes_on=False
    ),
    "1.19/join-temporal-versioned-view-from-append-log": Truth(),
    "1.19/rank-topn-with-rank-number": Truth(),
    "1.19/ttl-hint-join-sides-override-default": Truth(),
    "1.19/window-over-rows-unbounded-global": Truth(frozenset(("over-function-changed",))),
    "1.19/window-session-agg-global": Truth(),
    "1.20/agg-debezium-distinct-and-filter": Truth(),
    "1.20/rank-dedup-with-filter-on-result": Truth(),
    "1.20/window-legacy-session": Truth(),
    "2.0/changelog-cdc-events-duplicate-filtered-twice": Truth(
        frozenset(("normalized-rows-changed", "stateless-node-changed")), goes_on=False
    ),
    "2.0/ttl-one-hour-join-aggregate-dedup-topn-pipeline": Truth(
        frozenset(("output-changed", "retraction-changed")), goes_on=False
    ),
    "2.0/window-ltz-dst-newyork": Truth(),
    "2.1/agg-cube": Truth(),
    "2.1/rank-topn-over-updating-sum": Truth(),
    "2.2/changelog-upsert-sink-require-on-conflict-off": Truth(frozenset(("stateful-node-version-changed",))),
    "2.2/join-using-and-natural-mixed-key-types": Truth(frozenset(("stateless-node-changed",))),
}

every_case = pytest.mark.parametrize("name", TRUTHS)
every_file = pytest.mark.parametrize("file", FILES, ids=lambda f: f"{f.parent.name}/{f.stem}")


@cache
def difference(name: str) -> Diff:
    """From the older plan to the newest."""
    old, new = (Source(str(f), f.read_text("utf-8"), str(f)) for f in (older(name).plan_file, older(name).newest))
    return diff_texts(old, new)


HINTED = "1.19/ttl-hint-join-sides-override-default"
"""Its pipeline asks for a TTL below that of a join upstream."""


def faults(name: str, text: str) -> list[str]:
    """The rules by which validate finds fault, but for what the pipeline itself asked for."""
    found = [finding.rule for finding in validate_text(text)]
    return found[1:] if name == HINTED and found[:1] == ["ttl-downstream"] else found


@every_file
def test_is_kept_as_it_was_written(file: Path) -> None:
    text = file.read_text("utf-8")
    plan = loads(text)
    assert plan.flink_version == file.parent.name
    assert dumps(plan) == text


@every_file
def test_there_is_nothing_to_find_fault_with(file: Path) -> None:
    assert faults(f"{file.parent.name}/{file.stem}", file.read_text("utf-8")) == []


@every_file
def test_is_explained(file: Path) -> None:
    plan = load(file)
    text = explain_text(plan)
    assert all(f"{node.id} " in text for node in plan.nodes)


def test_every_file_has_its_truth() -> None:
    assert {f"{f.parent.name}/{f.stem}" for f in FILES} - TRUTHS.keys() == {"1.19/match"}


@every_case
def test_is_upgraded_to_what_the_newest_release_compiles(name: str) -> None:
    upgraded = migrate(load(older(name).plan_file), FLINK_VERSION).plan
    comparison = compare_plans(older(name).newest.read_text("utf-8"), dumps(upgraded))
    spelling_alone = any(beside in comparison.why for beside in ("serializableString", "/primaryKey/name"))
    assert (comparison.content or spelling_alone) == (not TRUTHS[name].rules), comparison.why
    assert {n.id for n in upgraded.nodes} == {n.id for n in load(older(name).plan_file).nodes}


@every_case
def test_an_upgrade_changes_no_state(name: str) -> None:
    text = older(name).plan_file.read_text("utf-8")
    upgraded = dumps(migrate(loads(text), FLINK_VERSION).plan)
    found = diff_texts(Source("old", text), Source("new", upgraded))
    assert {f.rule for f in found.findings} <= COSMETIC
    assert faults(name, upgraded) == []


@every_case
def test_the_difference_is_judged(name: str) -> None:
    found = difference(name)
    assert {f.rule for f in found.findings} - COSMETIC == TRUTHS[name].rules
    assert (found.spark <= Verdict.COMPATIBLE) == TRUTHS[name].goes_on


def test_the_first_row_by_event_time_is_kept_in_another_form_since_2_1() -> None:
    rows = "SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts) AS place FROM t"
    new = dumps(
        compile_script(
            "CREATE TABLE t (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');"
            "CREATE TABLE o (id INT, ts TIMESTAMP(3)) WITH ('connector' = 'print');"
            f"INSERT INTO o SELECT id, ts FROM ({rows}) WHERE place = 1"
        )
    )
    old = new.replace('"outputInsertOnly" : true,', "").replace('"flinkVersion" : "2.3"', '"flinkVersion" : "1.20"')
    found = diff_texts(Source("old", old), Source("new", new))
    assert "first-row-emission-changed" in {f.rule for f in found.findings}
    assert found.flink is found.spark is Verdict.INCOMPATIBLE


def test_ttls_that_were_edited_by_hand_are_kept() -> None:
    text = older("1.19/ttl-hint-join-sides-override-default").plan_file.read_text("utf-8")
    plan = loads(set_ttls(text, [parse_edit("join.leftState=17 min")])[0])
    upgraded = migrate(plan, FLINK_VERSION).plan
    ttls = [s.ttl for n in upgraded.nodes for s in n.states]
    assert ttls == [s.ttl for n in plan.nodes for s in n.states]
    assert "17 min" in ttls


RECOMPILED = [name for name, truth in TRUTHS.items() if truth.goes_on]


@pytest.mark.parametrize("name", RECOMPILED)
def test_what_is_compiled_anew_for_an_older_plan_restores_its_state(name: str) -> None:
    """The nodes keep their ids, and the versions whose state they can read."""
    text = older(name).plan_file.read_text("utf-8")
    anew = succeed(migrate(loads(text), FLINK_VERSION).plan, load(older(name).newest)).plan
    assert {n.id for n in anew.nodes} == {n.id for n in loads(text).nodes}
    found = diff_texts(Source("old", text), Source("new", dumps(anew)))
    assert found.flink <= Verdict.COMPATIBLE
    assert found.spark <= Verdict.COMPATIBLE


def test_a_node_that_does_not_run_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    text = (RELEASES / "1.19" / "match.json").read_text("utf-8")
    plan = loads(text.replace("stream-exec-match_1", "stream-exec-vector-search-table-function_1"))
    with pytest.raises(UnsupportedError, match="stream-exec-vector-search"):
        execute(plan, JobOptions(variables={"CASE": str(tmp_path)}))


PRICES = "A9 A8 A7 B5 A8 B4 B3 A7 A6 B9 A10"
"""The symbols and prices of rows, one a second."""


@pytest.mark.spark
def test_a_pattern_of_an_older_release_is_found(tmp_path: Path) -> None:
    """The rows are those that Flink 2.3 finds by this plan."""
    (tmp_path / "data").mkdir()
    rows = [
        {"symbol": price[0], "price": int(price[1:]), "tax": 1, "ts": f"2024-01-01 00:00:{second:02}"}
        for second, price in enumerate(PRICES.split())
    ]
    (tmp_path / "data" / "a.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    plan = load(RELEASES / "1.19" / "match.json")
    execute(plan, JobOptions(checkpoint=str(tmp_path / "checkpoint"), variables={"CASE": str(tmp_path)})).wait()
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file() and not path.name.startswith((".", "_"))]
    found = [tuple(json.loads(line).values()) for path in files for line in path.read_text("utf-8").splitlines()]
    assert sorted(found) == [("A", 8, 10), ("A", 9, 8), ("B", 5, 9)]


def parts(name: str) -> frozenset[str]:
    """The release of a plan, and its kinds of nodes."""
    plan = older(name).plan_file.read_text("utf-8")
    return frozenset((name.partition("/")[0], *re.findall(r'"type" : "(stream-exec-[\w-]+)"', plan)))


def covering(names: Sequence[str]) -> set[str]:
    """Few plans that have all the parts of all; chosen one after the other by how many more they have."""
    missing, chosen = set[str]().union(*map(parts, names)), set[str]()
    while missing:
        best = max(names, key=lambda name: len(parts(name) & missing))
        missing -= parts(best)
        chosen.add(best)
    return chosen


RESTARTED = [name for name, truth in TRUTHS.items() if truth.goes_on and older(name).expected.exists()]
COVERING = covering(RESTARTED)
NIGHTLY = pytest.mark.nightly("others run each kind of node and each release")


@pytest.mark.spark
@pytest.mark.parametrize("name", [n if n in COVERING else pytest.param(n, marks=NIGHTLY) for n in TRUTHS])
def test_writes_what_flink_wrote(name: str, tmp_path: Path) -> None:
    assert check_rows(older(name), tmp_path) == ""


@pytest.mark.spark
@pytest.mark.parametrize("name", [n if n in COVERING else pytest.param(n, marks=NIGHTLY) for n in RESTARTED])
def test_a_checkpoint_goes_on_under_the_newest_plan(name: str, tmp_path: Path) -> None:
    case = older(name)
    for plan, half in ((case.plan_file, 0), (case.newest, 1)):
        _put_half(case.folder / "data", tmp_path / "data", half)
        mode = Mode.BOUNDED if half else Mode.AVAILABLE_NOW
        options = JobOptions(checkpoint=str(tmp_path / "checkpoint"), variables={"CASE": str(tmp_path)}, mode=mode)
        execute(load(plan), options).wait()
    assert compare_rows(case.pipeline, case.expected, tmp_path / "out") == []


def _put_half(source: Path, target: Path, half: int) -> None:
    """Write the first or the second half of each file's lines, as a file that comes in this order."""
    for file in (p for p in source.rglob("*") if p.is_file()):
        lines = file.read_text("utf-8").splitlines(keepends=True)
        middle = len(lines) // 2
        part = target / file.relative_to(source).with_name(f"{half}-{file.name}")
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_text("".join(lines[middle:] if half else lines[:middle]), "utf-8")
