"""Local copies of files in an object store."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, cast

import pytest

from flinkplan.executor.build.connectors.lake import check_alone
from flinkplan.executor.errors import TableError
from flinkplan.executor.lake.copies import Copies
from flinkplan.executor.lake.positions import StoredFile, local_file


class Store:
    """Files that are in a store, and how often each was opened."""

    def __init__(self, **files: bytes) -> None:
        self.files = files
        self.opened: list[str] = []

    def open(self, path: str) -> BinaryIO:
        self.opened.append(path)
        if path.removeprefix("s3://lake/") not in self.files:
            raise FileNotFoundError(path)
        return io.BytesIO(self.files[path.removeprefix("s3://lake/")])


def content(file: StoredFile) -> bytes:
    path = local_file(file.path)
    assert path is not None
    return path.read_bytes()


def test_files_are_copied_once_and_until_a_batch_is_done(tmp_path: Path) -> None:
    here = StoredFile(f"file://{tmp_path}/x", 1, {})
    store = Store(a=b"one", b=b"two")
    checks: list[int] = []
    copies = Copies(store.open, lambda: checks.append(1), "table t")
    remote = [StoredFile(f"s3://lake/{name}", 3, {"day": name}) for name in "ab"]
    for _ in range(2):
        kept, *copied = copies.of([here, *remote])
        assert kept == here
        assert [(content(file), file.partition) for file in copied] == [(b"one", {"day": "a"}), (b"two", {"day": "b"})]
    assert (store.opened, checks) == (["s3://lake/a", "s3://lake/b"], [1])
    copies.remove()
    assert not any(local_file(file.path).exists() for file in copied)  # type: ignore[union-attr]
    assert content(copies.of(remote[:1])[0]) == b"one"


def test_a_file_that_is_gone_is_said() -> None:
    with pytest.raises(TableError, match="s3://lake/c cannot be copied"):
        Copies(Store().open, lambda: None, "table t").of([StoredFile("s3://lake/c", 3, {})])


def test_executors_on_other_machines_do_not_see_them() -> None:
    java = SimpleNamespace(sc=lambda: SimpleNamespace(isLocal=lambda: False))
    context = SimpleNamespace(spark=SimpleNamespace(sparkContext=SimpleNamespace(_jsc=java)))
    table = SimpleNamespace(identifier="t")
    with pytest.raises(TableError, match="executors do not see"):
        check_alone(cast(Any, table), cast(Any, context))
