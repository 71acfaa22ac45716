"""Files of git revisions, read by git's plumbing commands: the work tree and the index are not touched."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..plan.errors import PlanError
from ..plan.record import Record

_REGULAR_FILES = ("100644", "100755")
"""The modes of files in a tree; others are symbolic links and submodules."""


class Repository(Record):
    """A git repository; ``top`` is the absolute path of its work tree.  Paths are relative to it, with ``/``."""

    top: str

    @classmethod
    def containing(cls, folder: Path) -> Repository:
        """The repository that contains a folder.  Raises :class:`PlanError` where there is none."""
        done = _git(("rev-parse", "--show-toplevel"), str(folder))
        if done.returncode:
            raise PlanError("not in a git repository", where=str(folder), hint="run the command in a git repository")
        return cls(os.fsdecode(done.stdout).removesuffix("\n"))

    def commit(self, revision: str) -> str:
        """The hash of a commit.  Raises :class:`PlanError` for an unknown revision."""
        done = _git(("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"), self.top)
        if done.returncode:
            hint = "write a branch, a tag or a commit; a shallow clone lacks most of them ('fetch-depth: 0' in CI)"
            raise PlanError(f"there is no revision '{revision}'", where=self.top, hint=hint)
        return done.stdout.decode().strip()

    def merge_base(self, revision: str) -> str:
        """The hash of the commit from which ``HEAD`` and a revision have diverged.

        Raises :class:`PlanError` for an unknown revision, and where they have no common commit.
        """
        commit = self.commit(revision)
        done = _git(("merge-base", commit, "HEAD"), self.top)
        if done.returncode:
            hint = "a shallow clone lacks it: fetch the whole history, 'fetch-depth: 0' in CI"
            raise PlanError(f"'{revision}' and HEAD have no common commit", where=self.top, hint=hint)
        return done.stdout.decode().split()[0]

    def files(self, revision: str) -> list[str]:
        """The paths of all files of a revision."""
        return [path for _, path in self._blobs(revision)]

    def work_tree_files(self) -> list[str]:
        """The paths of all files of the work tree that git does not ignore."""
        listed = self._output("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        paths = dict.fromkeys(filter(None, os.fsdecode(listed).split("\0")))
        return [path for path in paths if (Path(self.top) / path).is_file()]

    def changed(self, revision: str) -> list[str]:
        """The paths of the files that have changed since a revision, new ones that git does not ignore among them."""
        changed = self._output("diff-index", "-z", "--name-only", revision, "--")
        new = self._output("ls-files", "-z", "--others", "--exclude-standard")
        return list(filter(None, os.fsdecode(changed + new).split("\0")))

    def renamed(self, revision: str) -> Mapping[str, str]:
        """The path in a revision of each file that the index or a later commit has renamed, by its new path."""
        output = self._output("diff-index", "-z", "--name-status", "--diff-filter=R", "-M", revision, "--")
        fields = os.fsdecode(output).split("\0")
        return {new: old for _, old, new in zip(fields[0::3], fields[1::3], fields[2::3], strict=False)}

    def text(self, revision: str, path: str) -> str | None:
        """The text of a file, ``None`` where the revision has no such file.

        Raises :class:`PlanError` where it is not UTF-8.
        """
        blob = cat_blob(f"{revision}:{path}", self.top)
        return decoded(blob.stdout, f"{revision}:{path}") if blob.returncode == 0 else None

    def contents(self, revision: str, paths: Iterable[str]) -> Mapping[str, bytes]:
        """The contents of those files of a revision that it has, read by one process."""
        named = {path: name for name, path in self._blobs(revision)}
        there = [path for path in dict.fromkeys(paths) if path in named]
        return dict(zip(there, map(bytes, self._read([named[path] for path in there])), strict=True))

    def check_out(self, revision: str, folder: Path) -> None:
        """Write all files of a revision into a folder, but no symbolic links and submodules."""
        blobs = list(self._blobs(revision))
        for (_, path), content in zip(blobs, self._read([name for name, _ in blobs]), strict=True):
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)

    def _read(self, objects: Iterable[str]) -> Iterator[memoryview]:
        """The contents of objects that are there, in their order."""
        names = "".join(f"{name}\n" for name in objects).encode()
        contents = memoryview(self._output("cat-file", "--batch", "--buffer", stdin=names))
        place = 0
        while place < len(contents):
            end = bytes(contents[place : place + 200]).index(b"\n") + place
            start, size = end + 1, int(bytes(contents[place:end]).split()[2])
            yield contents[start : start + size]
            place = start + size + 1

    def _blobs(self, revision: str) -> Iterator[tuple[str, str]]:
        """The name of the object and the path of each regular file of a revision."""
        for line in os.fsdecode(self._output("ls-tree", "-r", "-z", "--full-tree", revision)).split("\0"):
            description, tab, path = line.partition("\t")
            if tab and description.startswith(_REGULAR_FILES):
                yield description.split()[2], path

    def _output(self, *arguments: str, stdin: bytes = b"") -> bytes:
        done = _git(arguments, self.top, stdin)
        if done.returncode:
            raise PlanError(first_line(done.stderr) or f"'git {arguments[0]}' failed", where=self.top)
        return done.stdout


def cat_blob(object_name: str, folder: str = ".") -> subprocess.CompletedProcess[bytes]:
    """The content of ``REVISION:PATH``; ``PATH`` is relative to the top of the repository, after ``./`` to a folder."""
    return _git(("cat-file", "blob", object_name), folder)


def decoded(content: bytes, name: str) -> str:
    """The text of a file.  Raises :class:`PlanError` where it is not UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as e:
        raise PlanError(f"not UTF-8 text (byte {e.start})", where=name) from None


def first_line(message: bytes) -> str:
    """What git says in the first line of a message."""
    return message.decode(errors="replace").strip().removeprefix("fatal: ").partition("\n")[0]


def _git(arguments: tuple[str, ...], folder: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", *arguments], input=stdin, cwd=folder, capture_output=True, check=False)
    except OSError as e:
        raise PlanError(f"git cannot be run: {e.strerror}", where=folder) from None
