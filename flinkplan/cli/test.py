"""``flinkplan test``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from .options import write_output

if TYPE_CHECKING:
    from ..testing.flink import FlinkOutcome
    from ..testing.model import Case, Suite
    from ..testing.running import Outcome

FAILED = 1


@click.command(short_help="Run the unit tests of pipelines.")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option("-k", "pattern", metavar="TEXT", help="Only tests with this text, or pattern, in their names.")
@click.option("--update", is_flag=True, help="Write the rows that came into the tests that expected others.")
@click.option("--junit", metavar="PATH", help="Write a report in JUnit's XML to this file.")
@click.option("--list", "list_", is_flag=True, help="List the tests, and run none.")
@click.option("--flink", metavar="PYTHON", help="Run the tests on Flink too; a Python with apache-flink.")
@click.option("-w", "--watch", is_flag=True, help="Run again whenever a file changes, until Ctrl-C.")
@click.option("-q", "--quiet", is_flag=True, help="Print only what failed.")
@click.pass_obj
def command(
    debug: bool,
    paths: tuple[str, ...],
    pattern: str | None,
    update: bool,
    junit: str | None,
    list_: bool,
    flink: str | None,
    watch: bool,
    quiet: bool,
) -> int:
    """Run the tests in files *.test.yaml: rows go into the sources of a pipeline, and those of its sinks are compared.

    PATH is a file or a directory; the current directory by default. All tests run in one session of Spark. Sources of
    all connectors are replaced by the rows of a test, and nothing is written into sinks. The exit code is 1 if a test
    fails.

    With --flink, Flink executes the same plans over the same rows, and the final rows that it writes are compared with
    those that a test expects. Tests with a changed pipeline, a clock that is set or input that does not end are run on
    Spark only.
    """
    from ..testing.loading import load_tests

    def is_chosen(case: Case) -> bool:
        return pattern is None or pattern in case.name or fnmatchcase(case.name, pattern)

    if list_:
        for suite in map(load_tests, _files(paths)):
            for case in filter(is_chosen, suite.cases):
                click.echo(f"{suite.file}: {case.name}")
        return 0
    if watch:
        _watch(paths, lambda: _run_all(paths, pattern, is_chosen, update, junit, quiet, flink))
    return _run_all(paths, pattern, is_chosen, update, junit, quiet, flink)


def _files(paths: tuple[str, ...]) -> list[Path]:
    from ..plan.errors import PlanError
    from ..testing.loading import SUFFIXES, find_test_files

    files = find_test_files([Path(path) for path in paths or (".",)])
    if not files:
        raise PlanError("there are no tests", hint=f"tests are in files *{SUFFIXES[0]}; 'flinkplan init' writes one")
    return files


def _run_all(
    paths: tuple[str, ...],
    pattern: str | None,
    is_chosen: Callable[[Case], bool],
    update: bool,
    junit: str | None,
    quiet: bool,
    flink: str | None,
) -> int:
    """Run the chosen tests and print what came; gives the exit code."""
    from ..plan.errors import PlanError
    from ..testing.loading import load_tests
    from ..testing.reporting import junit as junit_text

    suites = [load_tests(file) for file in _files(paths)]
    chosen = [suite for suite in suites if any(map(is_chosen, suite.cases))]
    results = [(suite, _run(suite, is_chosen, quiet)) for suite in chosen]
    differs_on_flink = flink is not None and bool(_on_flink(flink, chosen, is_chosen, quiet))
    if update:
        _update(results)
    if junit is not None:
        write_output(junit_text(results), junit)
    outcomes = [outcome for _, each in results for outcome in each]
    if not outcomes:
        raise PlanError(f"no test has '{pattern}' in its name", hint="--list lists them")
    failed = sum(not outcome.passed for outcome in outcomes)
    seconds = sum(outcome.seconds for outcome in outcomes)
    summary = f"{len(outcomes) - failed} passed" + (f", {failed} failed" if failed else "") + f" in {seconds:.1f} s"
    click.echo(click.style(summary, fg="red" if failed else "green", bold=True))
    return FAILED if failed or differs_on_flink else 0


def _on_flink(
    python: str, suites: Sequence[Suite], is_chosen: Callable[[Case], bool], quiet: bool
) -> list[FlinkOutcome]:
    """Run tests on Flink and print how each ended; gives those that differ or failed."""
    from ..compat.settings import read_settings
    from ..plan.printable import one_line
    from ..testing.flink import FlinkRunner
    from ..testing.reporting import differences_text
    from ..testing.running import pipeline_of

    bad = []
    with FlinkRunner(python) as runner:
        for suite in suites:
            pipeline = pipeline_of(suite, read_settings(suite.file.parent).code)
            for case in filter(is_chosen, suite.cases):
                outcome = runner.outcome(suite, case, pipeline)
                name = one_line(f"{suite.file}: {case.name}")
                if outcome.not_run:
                    if not quiet:
                        click.echo(f"{click.style('not run on Flink', fg='yellow')}  {name}: {outcome.not_run}")
                elif outcome.differences or outcome.error:
                    bad.append(outcome)
                    text = outcome.error or differences_text(outcome.differences)
                    click.echo(f"{click.style('differs on Flink', fg='red', bold=True)}  {name}\n")
                    click.echo("\n".join(f"    {line}".rstrip() for line in text.split("\n")) + "\n")
                elif not quiet:
                    click.echo(f"{click.style('passed on Flink', fg='green')}  {name}")
    return bad


def _watch(paths: tuple[str, ...], run: Callable[[], int]) -> NoReturn:
    """Run the tests, and again after each change of a file beside them or beside their pipelines."""
    from ..plan.errors import FlinkplanError
    from ..plan.printable import one_line
    from ..testing.watching import snapshot, wait_for_change, watched_folders
    from .errors import print_error

    while True:
        folders = watched_folders(_files(paths))
        before = snapshot(folders)
        try:
            run()
        except FlinkplanError as e:
            print_error(e)
        click.echo("waiting for changes; Ctrl-C ends", err=True)
        changed = sorted(wait_for_change(folders, before))
        click.echo(f"\nchanged: {one_line(', '.join(map(str, changed)))}", err=True)


def _run(suite: Suite, is_chosen: Callable[[Case], bool], quiet: bool) -> Sequence[Outcome]:
    from ..compat.settings import read_settings
    from ..plan.printable import one_line
    from ..testing.reporting import failure_text
    from ..testing.running import run_suite

    outcomes = []
    py_files = read_settings(suite.file.parent).code
    for outcome in run_suite(suite, py_files, is_chosen):
        outcomes.append(outcome)
        name = one_line(f"{suite.file}: {outcome.case.name}")
        if outcome.passed and not quiet:
            click.echo(f"{click.style('passed', fg='green')}  {name}")
        if not outcome.passed:
            click.echo(f"{click.style('failed', fg='red', bold=True)}  {name}\n")
            text = failure_text(outcome)
            click.echo("\n".join(f"    {line}".rstrip() for line in text.split("\n")) + "\n")
    return outcomes


def _update(results: Sequence[tuple[Suite, Sequence[Outcome]]]) -> None:
    from ..plan.output import write_text
    from ..testing.updating import updated

    for suite, outcomes in results:
        differences = [difference for outcome in outcomes for difference in outcome.differences]
        text = updated(suite, differences)
        if text != suite.text:
            write_text(suite.file, text)
            click.echo(f"updated {suite.file}", err=True)
