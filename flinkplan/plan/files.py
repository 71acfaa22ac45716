"""Files and folders on local disks and on file systems that fsspec supports."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from .document import read_text
from .errors import PlanError
from .output import EMPTY_PATH, replaces, write_text
from .record import Record


class Place(Record):
    """A file or folder: a local path or a URI.  Constructed by :meth:`of`."""

    name: str

    @classmethod
    def of(cls, path: str | Path) -> Place:
        """The place that a path or URI names; a ``file:`` URI names a local path.

        Raises :class:`PlanError` for an empty text.
        """
        text = str(path)
        if not text:
            raise PlanError(EMPTY_PATH, hint="name a file or directory")
        return cls(unquote(urlparse(text).path)) if text.startswith("file:") else cls(text)

    def __str__(self) -> str:
        return self.name

    def __truediv__(self, name: str) -> Place:
        return Place(f"{self.name.rstrip('/')}/{name}")

    @property
    def local(self) -> Path | None:
        """The local path; ``None`` for a place that is not local."""
        return None if "://" in self.name else Path(self.name)

    @property
    def scheme(self) -> str:
        """The scheme of the URI, such as ``s3``; empty for a local path."""
        return self.name.partition("://")[0] if self.local is None else ""

    def exists(self) -> bool:
        """Whether the file or folder exists.  Raises :class:`PlanError` if that cannot be determined."""
        return self.local.exists() if self.local else bool(self._remote("exists"))

    def would_be_replaced(self) -> bool:
        """Whether :meth:`write` would overwrite a file.  Raises :class:`PlanError` as :meth:`exists`."""
        return replaces(self.local) if self.local else self.exists()

    def is_folder(self) -> bool:
        """Whether the folder exists.  Raises :class:`PlanError` if that cannot be determined."""
        return self.local.is_dir() if self.local else bool(self._remote("isdir"))

    def children(self) -> list[str]:
        """The names of the files and folders in the folder; empty if it does not exist."""
        if self.local:
            return sorted(child.name for child in self.local.iterdir()) if self.local.is_dir() else []
        names = self._remote("ls", detail=False) if self.is_folder() else []
        return sorted(name.rstrip("/").rpartition("/")[2] for name in names)

    def read(self) -> str:
        """The text of the file.  Raises :class:`PlanError`."""
        return read_text(self.local) if self.local else str(self._remote("read_text", encoding="utf-8"))

    def write(self, text: str, *, durable: bool = True) -> None:
        """Write the file; a local one is replaced as a whole or not at all, ``durable``: so that it survives a crash.

        Raises :class:`PlanError`.
        """
        if self.local:
            write_text(self.local, text, durable=durable)
            return
        self._remote("makedirs", at=Place(self.name.rpartition("/")[0]), exist_ok=True)
        self._remote("write_text", text, encoding="utf-8")

    def remove(self) -> None:
        """Remove the file if it exists.  Raises :class:`PlanError` if that fails."""
        if self.local:
            self.local.unlink(missing_ok=True)
        elif self.exists():
            self._remote("rm_file")

    def _remote(self, action: str, *args: Any, at: Place | None = None, **options: Any) -> Any:
        import fsspec

        try:
            filesystem, path = fsspec.core.url_to_fs((at or self).name)
            filesystem.invalidate_cache()  # Spark writes there as well
            return getattr(filesystem, action)(path, *args, **options)
        except ImportError as e:
            hint = "install what fsspec needs for it; there are the extras s3 and hdfs: pip install 'flinkplan[s3]'"
            raise PlanError(str(e), where=self.name, hint=hint) from None
        except FileNotFoundError:
            raise PlanError("no such file", where=self.name) from None
        except (OSError, ValueError) as e:
            raise PlanError(str(e) or type(e).__name__, where=self.name) from None


def remove_stale(folder: Path, prefix: str, seconds: float) -> None:
    """Remove folders of this prefix that processes have left which were killed, when they are so old."""
    for left in folder.glob(f"{prefix}*"):
        if left.stat().st_mtime < time.time() - seconds:
            shutil.rmtree(left, ignore_errors=True)


def is_program(name: str) -> bool:
    """Whether a file is a Python program, by its name."""
    return name.lower().endswith(".py")
