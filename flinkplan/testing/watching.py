"""Which files the tests depend on, and when one of them changes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..plan.errors import FlinkplanError
from ..plan.record import Record
from .loading import load_tests

POLL_SECONDS = 0.3
"""How often files are looked at."""


class FileState(Record):
    """What tells that a file has changed."""

    modified: int
    size: int


def watched_folders(files: Iterable[Path]) -> set[Path]:
    """The folders of files of tests, and those of their pipelines and of the rows that they read."""
    folders: set[Path] = set()
    for file in files:
        folders.add(file.parent)
        try:
            suite = load_tests(file)
        except FlinkplanError:
            continue
        steps = [step for case in suite.cases for step in case.steps]
        rows = [given for step in steps for given, _ in step.given.values()]
        rows += [each.rows for step in steps for each in step.expected if each.rows is not None]
        named = [suite.pipeline, *(step.pipeline for step in steps), *(each.file for each in rows)]
        folders |= {path.parent for path in named if path is not None}
    return folders


def snapshot(folders: Iterable[Path]) -> Mapping[Path, FileState]:
    """The files in some folders, without those below them."""
    states = {}
    for folder in folders:
        for file in folder.iterdir() if folder.is_dir() else ():
            try:
                status = file.stat()
            except OSError:
                continue
            if file.is_file():
                states[file] = FileState(status.st_mtime_ns, status.st_size)
    return states


def wait_for_change(folders: Iterable[Path], before: Mapping[Path, FileState]) -> set[Path]:
    """Wait until files in the folders differ from ``before``; gives those that were changed, added or removed."""
    folders = list(folders)
    while True:
        now = snapshot(folders)
        changed = {file for file in {*before, *now} if before.get(file) != now.get(file)}
        if changed:
            return changed
        time.sleep(POLL_SECONDS)
