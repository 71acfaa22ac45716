"""Reads plans by the references of the command line: files, revisions in git, checkpoints."""

from __future__ import annotations

import subprocess

from ..plan.errors import PlanError
from ..plan.files import Place
from ..state.checkpoint import CheckpointRecord
from .diff import Source


def read_plan(reference: str) -> Source:
    """The text of a plan.

    ``reference`` is a file, a checkpoint directory (whose plan is read), each a path or a URI, or ``REVISION:PATH`` in
    git, whose path is relative to the working directory or to the top of the repository.  Raises :class:`PlanError`
    where there is no such plan.
    """
    place = Place.of(reference)
    if place.is_folder():
        return recorded_plan(reference)
    if ":" in reference and place.local and not place.exists():
        return _from_git(reference)
    return Source(reference, place.read(), reference)


def recorded_plan(checkpoint: str) -> Source:
    """The plan that made a checkpoint."""
    record = CheckpointRecord(checkpoint)
    if not record.exists:
        raise PlanError(
            "this directory is not a checkpoint of 'flinkplan execute'",
            where=checkpoint,
            hint="name a plan, REVISION:PATH, or a checkpoint",
        )
    return Source(checkpoint, record.plan_text(), str(record.plan_file))


def _from_git(reference: str) -> Source:
    revision, _, path = reference.partition(":")
    if not revision or revision.startswith("-") or not path:
        raise PlanError("no such file", where=reference, hint="write a file, REVISION:PATH, a checkpoint or -")
    is_relative = path.startswith(("./", "../"))
    blob = _blob(f"{revision}:{path if is_relative else f'./{path}'}", reference)
    if blob.returncode and not is_relative:
        blob = _blob(f"{revision}:{path}", reference)
    if blob.returncode:
        message = blob.stderr.decode(errors="replace").strip().removeprefix("fatal: ") or "git found nothing"
        raise PlanError(message.splitlines()[0], where=reference, hint="write REVISION:PATH, such as main:plans/p.json")
    try:
        return Source(reference, blob.stdout.decode("utf-8"))
    except UnicodeDecodeError as e:
        raise PlanError(f"not UTF-8 text (byte {e.start})", where=reference) from None


def _blob(object_name: str, reference: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", "cat-file", "blob", object_name], capture_output=True, check=False)
    except OSError as e:
        raise PlanError(f"git cannot be run: {e.strerror}", where=reference) from None
