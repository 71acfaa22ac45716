"""The pipelines of a project: the files that its settings name by patterns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from ..plan.errors import PlanError
from .git import Repository
from .settings import SETTINGS_FILE, Settings


def pipelines_of(settings: Settings) -> list[str]:
    """The paths of the project's pipelines, relative to its folder, in order.

    Files that git ignores are left out.  Raises :class:`PlanError` where no patterns are set, or one matches no file.
    """
    files = _files_below(Path(settings.folder))
    _check(settings, files)
    return matching(settings.pipelines, files)


def _files_below(folder: Path) -> list[str]:
    try:
        repository = Repository.containing(folder)
    except PlanError:
        return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    return below(repository, folder, repository.work_tree_files())


def below(repository: Repository, folder: Path, paths: Iterable[str]) -> list[str]:
    """Paths of a repository, relative to a folder, without those that are not in it."""
    prefix = PurePosixPath(os.path.relpath(folder.resolve(), Path(repository.top).resolve()))
    in_repository = (PurePosixPath(path) for path in paths)
    return [path.relative_to(prefix).as_posix() for path in in_repository if path.is_relative_to(prefix)]


def _check(settings: Settings, files: Sequence[str]) -> None:
    where = f"{Path(settings.folder) / SETTINGS_FILE}, [tool.flinkplan]"
    if not settings.pipelines:
        hint = 'set pipelines = ["pipelines/*.sql"] in [tool.flinkplan] of pyproject.toml, or name the pipelines'
        raise PlanError("the project names no pipelines", where=where, hint=hint)
    for pattern in settings.pipelines:
        if not matching((pattern,), files):
            hint = "* matches within a folder, ** any folders: pipelines/**/*.sql"
            raise PlanError(f"no file matches '{pattern}' of 'pipelines'", where=where, hint=hint)


def matching(patterns: Iterable[str], paths: Iterable[str]) -> list[str]:
    """The paths that match a pattern, in order: ``*`` is any text within a name, ``**`` any number of folders."""
    split_patterns = [pattern.removeprefix("./").split("/") for pattern in patterns]
    return sorted(path for path in paths if any(_matches(path.split("/"), each) for each in split_patterns))


def _matches(path: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(_matches(path[start:], pattern[1:]) for start in range(len(path) + 1))
    return bool(path) and fnmatchcase(path[0], pattern[0]) and _matches(path[1:], pattern[1:])
