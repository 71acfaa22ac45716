"""Reads plans by the references of the command line: files, revisions in git, checkpoints."""

from __future__ import annotations

import os
from pathlib import Path

from ..plan.errors import PlanError
from ..plan.files import Place
from ..state.checkpoint import CheckpointRecord
from .diff import Source
from .git import Repository, cat_blob, decoded, first_line


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


def find_in_git(reference: str) -> tuple[Repository, str, str] | None:
    """The repository, the revision and the path from its top that ``REVISION:PATH`` names; ``None`` for other ones."""
    place = Place.of(reference)
    revision, colon, path = reference.partition(":")
    if not colon or not revision or not path or revision.startswith("-") or not place.local or place.exists():
        return None
    try:
        repository = Repository.containing(Path.cwd())
    except PlanError:
        return None
    below = os.path.relpath(Path.cwd().resolve() / path, Path(repository.top).resolve())
    is_relative = path.startswith(("./", "../"))
    paths = (below,) if is_relative else (below, path)
    present = (p for p in paths if not cat_blob(f"{revision}:{p}", repository.top).returncode)
    return next(((repository, revision, p) for p in present), None)


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
    blob = cat_blob(f"{revision}:{path if is_relative else f'./{path}'}")
    if blob.returncode and not is_relative:
        blob = cat_blob(f"{revision}:{path}")
    if blob.returncode:
        message = first_line(blob.stderr) or "git found nothing"
        raise PlanError(message, where=reference, hint="write REVISION:PATH, such as main:plans/p.json")
    return Source(reference, decoded(blob.stdout, reference))
