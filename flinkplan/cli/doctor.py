"""``flinkplan doctor``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from ..plan.printable import continued, json_text, one_line
from .signals import ends_raised
from .variables import variable_options

if TYPE_CHECKING:
    from ..doctor.examining import Patient
    from ..doctor.model import Diagnosis

FOUND = 1
"""The exit code where something was found."""

_SECONDS = 10.0


@click.command(short_help="Tell why nothing comes out of a job.")
@click.argument("checkpoint", required=False)
@click.option("--ui", metavar="PORT", help="Ask the job that serves its page on this port, or at this URL.")
@click.option("--no-state", is_flag=True, help="Do not read the keys of joins from the state, for which Spark starts.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@variable_options
@click.pass_obj
def command(
    debug: bool,
    checkpoint: str | None,
    ui: str | None,
    no_state: bool,
    format_: str,
    variables: Mapping[str, str],
) -> int:
    """Tell which sources have no rows, which windows wait for which watermark, which rows were dropped as late, and
    which joins and filters let nothing pass.

    CHECKPOINT is that of 'flinkplan execute'; its job may be running. It is only read. A running job with --ui PORT can
    be asked by its port instead.

    Most is concluded from what the job has counted. For a join whose sides did not meet, Spark starts and compares
    their keys. The exit code is 1 if anything was found.
    """
    if (checkpoint is None) == (ui is None):
        raise click.UsageError("Name a checkpoint, or a running job with --ui PORT.")
    if checkpoint is None:
        found = _asked(ui or "")
    else:
        found = [_shown(each) for each in _examined(checkpoint, variables, reads_state=not no_state, debug=debug)]
    if format_ == "json":
        click.echo(json_text(found, indent=2))
    else:
        print_diagnoses(found)
        if not found:
            click.echo("nothing was found that keeps rows back", err=True)
    return FOUND if found else 0


def _shown(found: Diagnosis) -> dict[str, Any]:
    from ..doctor.model import as_json

    return as_json(found)


def _examined(checkpoint: str, variables: Mapping[str, str], *, reads_state: bool, debug: bool) -> Sequence[Diagnosis]:
    from ..doctor.examining import Patient, examined
    from ..executor.jobs.counting import now_ms

    patient = Patient.of_checkpoint(checkpoint, variables, now_ms())
    found = examined(patient)
    if reads_state and _wants_keys(patient):
        return _with_keys(checkpoint, patient, debug)
    return found


def _wants_keys(patient: Patient) -> bool:
    """Whether keys in the state tell more than counts."""
    from ..doctor.joins import has_unmet_join

    return not patient.job.is_batch and any(has_unmet_join(query) for query in patient.queries())


def _with_keys(checkpoint: str, patient: Patient, debug: bool) -> Sequence[Diagnosis]:
    from ..doctor.examining import examined
    from ..doctor.state_keys import comparing
    from ..executor.jvm.quiet import quiet_jvm
    from ..executor.jvm.session import session

    with ends_raised(), nullcontext() if debug else quiet_jvm():
        return examined(patient, comparing(checkpoint, session(lean=True)))


def print_diagnoses(found: Sequence[Mapping[str, Any]], *, err: bool = False) -> None:
    """Print diagnoses as text, by sink."""
    sink = None
    for each in found:
        if each["sink"] != sink:
            sink = each["sink"]
            click.echo(click.style(one_line(sink), bold=True), err=err)
        kind = click.style(each["diagnosis"], fg="yellow", bold=True)
        click.echo(f"  {kind}: {continued(each['message'])}", err=err)
        if each["hint"]:
            click.echo(f"    {click.style('hint: ', fg='cyan')}{continued(each['hint'])}", err=err)


def _asked(place: str) -> list[dict[str, Any]]:
    """What a running job answers.  Raises :class:`FlinkplanError` where none does."""
    from urllib.error import URLError
    from urllib.request import ProxyHandler, build_opener

    from ..plan.errors import FlinkplanError

    address = f"http://127.0.0.1:{place}" if place.isdecimal() else place.rstrip("/")
    if urlsplit(address).scheme not in ("http", "https"):
        raise click.UsageError("--ui takes a port, or a URL that begins with http://.")
    try:
        # a proxy of the environment does not reach this machine
        with build_opener(ProxyHandler({})).open(f"{address}/diagnoses", timeout=_SECONDS) as answer:
            found = json.loads(answer.read())
    except (URLError, OSError, ValueError) as e:
        reason = getattr(e, "reason", None) or e
        hint = "start the job with --ui PORT, or name its checkpoint"
        raise FlinkplanError(f"no job answers: {reason}", where=address, hint=hint) from None
    if not isinstance(found, list) or not all(_is_diagnosis(each) for each in found):
        raise FlinkplanError("what answers is no job of flinkplan", where=address)
    return found


def _is_diagnosis(each: object) -> bool:
    return isinstance(each, dict) and all(isinstance(each.get(key), str) for key in ("sink", "diagnosis", "message"))
