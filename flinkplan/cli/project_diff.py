"""Judging the change of a whole project since a revision of git, for ``flinkplan diff --base``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..compat.diff import Source
from ..compat.git import Repository
from ..compat.project import below, matching, pipelines_of
from ..compat.project_diff import PipelineChange, ProjectDiff, Status
from ..compat.verdicts import Verdict
from ..plan.errors import FlinkplanError, PlanError
from ..plan.files import is_program
from ..plan.record import Record, cached_property
from .inputs import Compilation, Revision, Tree, read_in
from .judging import judged

if TYPE_CHECKING:
    from ..compat.settings import Settings


def diff_project(
    base: str,
    settings: Settings,
    options: Mapping[str, str],
    environment: str | None = None,
    only: Sequence[str] = (),
) -> ProjectDiff:
    """The changes of a project's pipelines since ``HEAD`` and the revision ``base`` have diverged.

    The new side is the work tree.  ``options`` are those of the session, ``environment`` the one whose variables each
    side has, ``only`` the paths of the pipelines to judge instead of all.  Raises :class:`PlanError` for an unknown
    revision, and where the settings name no pipelines.
    """
    repository = Repository.containing(Path(settings.folder))
    commit = repository.merge_base(base)
    revision = Revision.open(repository, base, commit)
    try:
        project = _Project(repository, settings, revision, commit, options, environment)
        pairs = list(project.pairs(only))
        project.load_old(pairs)
        changes = [project.change(pair) for pair in pairs]
    finally:
        revision.close()
    fail_on = Verdict(settings.fail_on or "incompatible")
    return ProjectDiff.of(base, changes, fail_on)


class _Pair(Record):
    """The paths of a pipeline relative to the project: before and now; ``None`` where it is not there."""

    old: str | None
    new: str | None


class _Project:
    """The two versions of a project."""

    def __init__(
        self,
        repository: Repository,
        settings: Settings,
        revision: Revision,
        commit: str,
        options: Mapping[str, str],
        environment: str | None,
    ) -> None:
        self._repository, self._revision, self._commit = repository, revision, commit
        self._folder, self._settings = Path(settings.folder), settings
        variables = settings.variables(environment)
        known_before = environment in revision.settings.environments
        old_variables = revision.settings.variables(environment) if known_before else variables
        self._old_compilation = Compilation(options, old_variables)
        self._new_compilation = Compilation(options, variables)
        self._changed_files = repository.changed(commit)

    def pairs(self, only: Sequence[str]) -> Iterator[_Pair]:
        """The pipelines before and now, in the order of their paths."""
        new = pipelines_of(self._settings)
        before = self._below(self._repository.files(self._commit))
        renamed = {
            path: origin
            for renamed_to, renamed_from in self._repository.renamed(self._commit).items()
            for path, origin in zip(self._below([renamed_to]), self._below([renamed_from]), strict=False)
        }
        origins = {path: renamed.get(path, path) for path in new}
        pairs = [_Pair(origin if origin in before else None, path) for path, origin in origins.items()]
        removed = (path for path in matching(self._settings.pipelines, before) if path not in origins.values())
        pairs += [_Pair(path, None) for path in removed]
        chosen = {self._relative(path) for path in only}
        if unknown := sorted(chosen - {path for pair in pairs for path in (pair.old, pair.new) if path}):
            raise PlanError("this is not one of the project's pipelines", where=unknown[0])
        ordered = sorted(pairs, key=lambda pair: pair.new or pair.old or "")
        return (pair for pair in ordered if not chosen or pair.new in chosen or pair.old in chosen)

    def _below(self, paths: Iterable[str]) -> list[str]:
        return below(self._repository, self._folder, paths)

    def _relative(self, path: str) -> str:
        place, folder = Path(path).absolute(), self._folder.absolute()
        return place.relative_to(folder).as_posix() if place.is_relative_to(folder) else path

    def change(self, pair: _Pair) -> PipelineChange:
        """What happened to a pipeline."""
        shown = str(self._folder / (pair.new or pair.old or ""))
        if pair.new is None:
            return PipelineChange(shown, Status.REMOVED)
        old_path = str(self._folder / pair.old) if pair.old and pair.old != pair.new else None
        try:
            new_source = self._tree.read(shown)
            if pair.old is None:
                read_in(self._tree, shown, new_source, self._new_compilation)
                return PipelineChange(shown, Status.ADDED)
            in_repository = self._in_repository(pair.old)
            old_source = self._revision.read(in_repository)
            if self._is_same(old_source, new_source):
                return PipelineChange(shown, Status.UNCHANGED, old_path)
            old = read_in(self._revision, in_repository, old_source, self._old_compilation)
            new = read_in(self._tree, shown, new_source, self._new_compilation)
            diff = judged(old, new, self._settings, self._new_compilation.options)
        except FlinkplanError as e:
            return PipelineChange(shown, Status.FAILED, old_path, errors=e.errors)
        python_changed = self._has_python_changed and _mentions_python(new_source)
        if old_source.text == new_source.text and not diff.findings and not python_changed:
            return PipelineChange(shown, Status.UNCHANGED, old_path)
        return PipelineChange(shown, Status.CHANGED, old_path, diff, python_changed=python_changed)

    def load_old(self, pairs: Iterable[_Pair]) -> None:
        """Read the old versions of pipelines at once."""
        self._revision.load(self._in_repository(pair.old) for pair in pairs if pair.old)

    def _in_repository(self, path: str) -> str:
        return os.path.relpath((self._folder / path).resolve(), Path(self._repository.top).resolve())

    @cached_property
    def _tree(self) -> Tree:
        return Tree()

    def _is_same(self, old: Source, new: Source) -> bool:
        """Whether a pipeline cannot have another plan than before."""
        if old.text != new.text or self._old_compilation.variables != self._new_compilation.variables:
            return False
        if is_program(new.name):
            return not self._changed_files  # it may import and read any of them
        if self._have_changed(Path(self._settings.folder) / path for path in self._settings.catalog_tables):
            return False
        return not (self._has_python_changed and _mentions_python(new))

    @cached_property
    def _has_python_changed(self) -> bool:
        """Whether a file or folder of ``py-files`` has changed."""
        return self._have_changed(map(Path, self._settings.code))

    def _have_changed(self, paths: Iterable[Path]) -> bool:
        """Whether one of these files, or a file in one of these folders, has changed."""
        roots = [path.resolve() for path in paths]
        changed = [Path(self._repository.top).resolve() / path for path in self._changed_files]
        return any(path.is_relative_to(root) for root in roots for path in changed)


def _mentions_python(source: Source) -> bool:
    """Whether a pipeline in SQL or YAML can use Python functions."""
    return not is_program(source.name) and "python" in source.text.lower()
