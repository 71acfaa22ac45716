"""Plans on local disks and wherever fsspec reaches."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from ..plan.document import read_text, write_text
from ..plan.errors import PlanError


def local_path(path: str) -> Path | None:
    """The local file that a path or a ``file:`` URI means; ``None`` for another place."""
    if path.startswith("file:"):
        return Path(unquote(urlparse(path).path))
    return None if "://" in path else Path(path)


def exists(path: str) -> bool:
    """Whether there is such a file.  Raises :class:`PlanError` where that cannot be known."""
    local = local_path(path)
    return local.exists() if local else bool(_remote(path, "exists"))


def read(path: str) -> str:
    """The text of a file.  Raises :class:`PlanError`."""
    local = local_path(path)
    return read_text(local) if local else str(_remote(path, "read_text", encoding="utf-8"))


def write(path: str, text: str) -> None:
    """Write a file, on a local disk whole or not at all.  Raises :class:`PlanError`."""
    local = local_path(path)
    if local:
        write_text(local, text)
    else:
        _remote(path, "write_text", text, encoding="utf-8")


def _remote(path: str, action: str, *args: Any, **options: Any) -> Any:
    import fsspec

    try:
        filesystem, place = fsspec.core.url_to_fs(path)
        return getattr(filesystem, action)(place, *args, **options)
    except ImportError as e:
        hint = "install what fsspec needs for it; there are the extras s3 and hdfs: pip install 'flinkplan[s3]'"
        raise PlanError(str(e), where=path, hint=hint) from None
    except FileNotFoundError:
        raise PlanError("no such file", where=path) from None
    except (OSError, ValueError) as e:
        raise PlanError(str(e) or type(e).__name__, where=path) from None
