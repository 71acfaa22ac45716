"""What a checkpoint directory says about the job that it belongs to, beside the state itself."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ..plan.document import Plan, dumps, loads, pretty
from ..plan.errors import FlinkplanError, PlanError
from ..plan.files import Place
from ..plan.functions.conditional import HASH_CODE
from ..plan.printable import shortened
from ..plan.record import Record
from ..plan.text.json_text import parse_json

WAY_OUT = "put back a copy of the whole checkpoint, or start with a new one: --checkpoint DIR"
"""What is to be done about a checkpoint that is damaged."""

FUNCTIONS = {HASH_CODE.internal_name: "flink"}
"""The functions whose results go into state and have changed, with their versions of today."""

_OWN = "flinkplan"
_PLAIN_NAME = re.compile(r"\w[\w .,=@+$()~-]*")
_COMPACT = ".compact"
_LOG_FILE = re.compile(rf"(\d+)(?:{re.escape(_COMPACT)})?", re.ASCII)
_LONGEST_NAME = 150
"""In bytes: file systems take 255, Spark puts something behind."""


class CheckpointRecord(Record):
    """The record in the checkpoint directory ``folder``: a path, or a URI that fsspec reaches.

    ``is_durable``: what is recorded is still there after a crash of the machine.  The directory of a job without a
    checkpoint need not be.
    """

    folder: str | Path
    is_durable: bool = True

    @property
    def place(self) -> Place:
        """The checkpoint directory."""
        return Place.of(self.folder)

    @property
    def plan_file(self) -> Place:
        """Where the plan stands that made the checkpoint, or that it was last run with."""
        return self.place / _OWN / "plan.json"

    @property
    def _end_file(self) -> Place:
        return self.place / _OWN / "ended"

    @property
    def _mode_file(self) -> Place:
        return self.place / _OWN / "mode"

    @property
    def _options_file(self) -> Place:
        return self.place / _OWN / "options.json"

    @property
    def _functions_file(self) -> Place:
        return self.place / _OWN / "functions.json"

    @property
    def _queries_file(self) -> Place:
        return self.place / _OWN / "queries.json"

    @property
    def _history_file(self) -> Place:
        return self.place / _OWN / "history"

    def own_file(self, name: str) -> Place:
        """A file of flinkplan's beside those of the queries."""
        return self.place / _OWN / name

    @property
    def lock_file(self) -> Path | None:
        """The file that the process locks which writes the checkpoint; none where files cannot be locked."""
        folder = self.place.local
        return folder / _OWN / "lock" if folder else None

    @property
    def is_in_use(self) -> bool:
        """Whether another process is writing the checkpoint."""
        if sys.platform == "win32" or not self.lock_file or not self.lock_file.exists():
            return False
        import fcntl

        try:
            with self.lock_file.open("r+b") as file:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    @property
    def exists(self) -> bool:
        """Whether a job has been recorded."""
        return self.plan_file.exists()

    @property
    def has_history(self) -> bool:
        """Whether the job began with the state of history, which its sources have not read."""
        return self._history_file.exists()

    def begin_with_history(self) -> None:
        """Record that the job begins with the state of history."""
        self._write(self._history_file, "")

    @property
    def has_queries(self) -> bool:
        """Whether a query has begun a batch."""
        return any(_numbers(self.place / name / "offsets") for name in self.place.children())

    @property
    def has_ended(self) -> bool:
        """Whether the job has ended its input, fired every window, and so cannot go on."""
        return self._end_file.exists()

    def query(self, name: str) -> Place:
        """The directory of the query called ``name``, which is the name itself where a directory can be called so."""
        plain = _PLAIN_NAME.fullmatch(name) and len(name.encode()) <= _LONGEST_NAME
        if plain and name != _OWN and not re.fullmatch(r"job-\d+", name):
            return self.place / name
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        folder = self.place / f"{re.sub(r'[^a-zA-Z0-9]+', '_', name)[:40]}-{digest}"
        former = self.place / name
        is_inside = not name.startswith("/") and not {".", ".."} & set(name.split("/"))
        return former if is_inside and len(name) <= _LONGEST_NAME and (former / "metadata").exists() else folder

    def plan_text(self) -> str:
        """The recorded plan.  Raises :class:`PlanError` where there is none."""
        return self.plan_file.read()

    def plan(self) -> Plan:
        """The recorded plan.  Raises :class:`DamagedCheckpointError` where it cannot be read."""
        try:
            return loads(self.plan_text(), str(self.plan_file))
        except FlinkplanError as e:
            raise DamagedCheckpointError(e.message, self.plan_file) from None

    @property
    def modes(self) -> tuple[str, ...]:
        """The mode in which the job was first run, and that in which it was last; nothing where none is recorded."""
        return tuple(self._mode_file.read().split()) if self._mode_file.exists() else ()

    def prepare(self) -> None:
        """Make the directory.  Raises :class:`PlanError` where it cannot be written."""
        if self.lock_file is None:
            return
        try:
            self.lock_file.parent.mkdir(parents=True, exist_ok=True)
            self.lock_file.touch()
        except OSError as e:
            raise PlanError(f"the checkpoint cannot be written: {e.strerror or e}", where=str(self.folder)) from None

    @property
    def session_options(self) -> Mapping[str, str] | None:
        """What the session set that the plan was last run in; ``None`` where that is not recorded."""
        return self._texts(self._options_file)

    @property
    def queries(self) -> Mapping[str, str]:
        """The ids of the queries that have been started, by their names."""
        return self._texts(self._queries_file) or {}

    def _texts(self, file: Place) -> dict[str, str] | None:
        if not file.exists():
            return None
        try:
            content = parse_json(file.read(), str(file))
        except PlanError as e:
            raise DamagedCheckpointError(e.message, file) from None
        if not isinstance(content, dict):
            raise DamagedCheckpointError("a JSON object is wanted here", file)
        return {str(key): str(value) for key, value in content.items()}

    @property
    def functions(self) -> Mapping[str, str]:
        """The versions of functions whose results have changed since, by their names, as they are in its state."""
        return self._texts(self._functions_file) or ({} if self.exists else FUNCTIONS)

    def _write(self, file: Place, text: str) -> None:
        file.write(text, durable=self.is_durable)

    def begin(self, plan: Plan, mode: str, session_options: Mapping[str, str]) -> None:
        """Record the plan that is run from now on, what the session sets, and the mode."""
        first = (*self.modes, mode)[0]
        if not self.exists:
            self._write(self._functions_file, pretty(FUNCTIONS) + "\n")
        self._write(self._options_file, pretty(session_options) + "\n")
        self._write(self.plan_file, dumps(plan))
        self._write(self._mode_file, f"{first}\n{mode}\n")

    def started(self, ids: Mapping[str, str]) -> None:
        """Record that queries have been started: their ids by their names."""
        if self.queries != {**self.queries, **ids}:
            self._write(self._queries_file, pretty({**self.queries, **ids}) + "\n")

    @property
    def _files(self) -> tuple[Place, ...]:
        return self._options_file, self.plan_file, self._mode_file

    def contents(self) -> Mapping[Place, str]:
        """What is recorded, by file."""
        return {file: file.read() for file in self._files if file.exists()}

    def put_back(self, contents: Mapping[Place, str]) -> None:
        """Record again what was recorded before: the job that had begun since has done nothing."""
        for file in self._files:
            if file in contents:
                file.write(contents[file])
            else:
                file.remove()

    def end(self) -> None:
        """Record that the job has ended its input."""
        self._write(self._end_file, "")

    def name_query(self, name: str, query_id: str) -> str:
        """The id of a query that is no stream, which keeps the one that it was first given."""
        metadata = self.query(name) / "metadata"
        if not metadata.exists():
            self._write(metadata, json.dumps({"id": query_id}) + "\n")
        return str(parse_json(metadata.read(), str(metadata))["id"])

    def _done_file(self, name: str) -> Place:
        return self.query(name) / "done"

    def is_done(self, name: str) -> bool:
        """Whether a query that is no stream has written all that it is to write."""
        return self._done_file(name).exists()

    def finish(self, name: str) -> None:
        """Record that a query that is no stream has written all."""
        self._write(self._done_file(name), "")

    def batches(self, names: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """The numbers of the batches that queries have begun, as far as the checkpoint goes back."""
        return {name: tuple(_numbers(self.query(name) / "offsets")) for name in names}

    def is_batch_open(self, name: str) -> bool:
        """Whether a query has begun a batch that is not done."""
        folder = self.query(name)
        return max(_numbers(folder / "offsets"), default=-1) > max(_numbers(folder / "commits"), default=-1)

    def settings(self, name: str) -> Mapping[str, str]:
        """The settings of Spark that a query goes on with: its first batch has fixed them; none before that."""
        folder = self.query(name) / "offsets"
        numbers = _numbers(folder)
        metadata = _json_lines(folder / str(numbers[-1]), 1)[0] if numbers else None
        settings = metadata.get("conf") if isinstance(metadata, dict) else None
        return {str(k): str(v) for k, v in settings.items()} if isinstance(settings, dict) else {}

    def is_begun(self, names: Iterable[str]) -> bool:
        """Whether any of these queries has begun as a stream."""
        return any(self.batches(names).values())

    def check(self, names: Iterable[str]) -> None:
        """Look whether all is there that queries go on from, ``names`` those of the recorded plan.

        Raises :class:`DamagedCheckpointError`, which names the file, where they would start again from nothing, or
        Spark would not understand it.
        """
        known = self.queries
        for name in dict.fromkeys([*names, *known]):
            folder = self.query(name)
            if not (folder / "metadata").exists():
                if name in known:
                    raise DamagedCheckpointError(f"the state of the sink {name} is gone", folder)
                if _PLAIN_NAME.fullmatch(name) is None and (outside := Place.of(f"{self.place}/{name}")).exists():
                    hint = f"move it to {folder}"
                    raise DamagedCheckpointError(f"the state of the sink {name} stands at a wrong place", outside, hint)
                continue
            _check_query(folder, known.get(name))


def _check_query(folder: Place, query_id: str | None) -> None:
    metadata = folder / "metadata"
    record = _json_lines(metadata, 0)[0]
    if not isinstance(record, dict) or not isinstance(record.get("id"), str):
        raise DamagedCheckpointError("the file does not say which query it belongs to", metadata)
    if not re.fullmatch(r"[\w-]+", record["id"]):
        raise DamagedCheckpointError("the file has something else than the id of a query", metadata)
    if query_id not in (None, record["id"]):
        raise DamagedCheckpointError("this is the state of another query", folder)
    offsets, commits = _numbers(folder / "offsets"), _numbers(folder / "commits")
    begun, done = max(offsets, default=-1), max(commits, default=-1)
    if done > begun or (offsets and done < begun - 1):
        missing = f"batches are done up to number {done}, but begun up to number {begun}"
        raise DamagedCheckpointError(missing, folder / ("offsets" if done > begun else "commits"))
    if begun > 0 and begun - 1 not in offsets:
        raise DamagedCheckpointError("the file is gone", folder / "offsets" / str(begun - 1))
    for number in offsets[-2:]:
        file = folder / "offsets" / str(number)
        settings, *ends = _json_lines(file, 1)
        _check_settings(settings, file)
        _check_file_logs(folder / "sources", ends)
    for number in commits[-1:]:
        _json_lines(folder / "commits" / str(number), 1)


_CLASS = re.compile(r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)+")
_OF_SPARK = "org.apache.spark."


def check_classes(folder: Place) -> None:
    """Look whether a query's settings, which Spark takes from the checkpoint, name classes of Spark's own alone.

    Among them are the class that keeps state and the codec that compresses it, whatever classes a checkpoint of
    somebody else says that these are.  Source: Spark's ``OffsetSeqMetadata.relevantSQLConfs``.

    Raises :class:`DamagedCheckpointError`.
    """
    for number in _numbers(folder / "offsets")[-2:]:
        file = folder / "offsets" / str(number)
        _check_settings(_json_lines(file, 1)[0], file)


def _check_settings(settings: object, file: Place) -> None:
    conf = settings.get("conf") if isinstance(settings, dict) else None
    for key, value in conf.items() if isinstance(conf, dict) else ():
        if _CLASS.fullmatch(str(value).strip()) and not str(value).strip().startswith(_OF_SPARK):
            raise DamagedCheckpointError(f"its setting {shortened(key)} names the class {shortened(str(value))}", file)


def _check_file_logs(sources: Place, ends: Sequence[object]) -> None:
    """Look whether each source that lists its files has its list.

    A source that is read in several places of a query has one list, but an end for each of them.
    """
    try:
        for source, end in enumerate(ends):
            _check_file_log(sources / str(source), end)
    except DamagedCheckpointError:
        lists = len(_numbers(sources))
        if lists not in (0, len(ends)) and lists in _numbers_of_sources(sources, ends):
            return
        raise


def _numbers_of_sources(sources: Place, ends: Sequence[object]) -> set[int]:
    """Of how many sources, in order, the ends may be: each has its list, and may come again with the end it had."""
    numbers = {0}
    for place, end in enumerate(ends):
        again = numbers if end in ends[:place] else set()
        numbers = {*again, *(number + 1 for number in numbers if _has_file_log(sources / str(number), end))}
    return numbers


def _has_file_log(log: Place, end: object) -> bool:
    try:
        _check_file_log(log, end)
    except DamagedCheckpointError:
        return False
    return True


def _check_file_log(log: Place, end: object) -> None:
    """Look whether Spark's own list of the files that a source has taken up reaches as far as it has read.

    Source: Spark's ``CompactibleFileStreamLog``: one file each time some are found, each tenth with all before it.
    """
    last = end.get("logOffset") if isinstance(end, dict) else None
    if not isinstance(last, int):
        return
    names = {int(match[1]): match[0] for name in log.children() if (match := _LOG_FILE.fullmatch(name))}
    whole = [number for number, name in names.items() if name.endswith(_COMPACT) and number <= last]
    for number in range(max(whole, default=0), last + 1):
        if number not in names:
            raise DamagedCheckpointError("the list of the files that were read is gone", log / str(number))
        _json_lines(log / names[number], 1)


def _numbers(folder: Place) -> list[int]:
    """The files of one of Spark's logs."""
    return sorted(int(name) for name in folder.children() if name.isascii() and name.isdecimal())


def _json_lines(file: Place, versions: int) -> list[object]:
    """The lines of JSON of a file, behind so many lines with a version.  A line ``-`` stands for ``None``."""
    try:
        lines = file.read().split("\n")
        if any(not re.fullmatch(r"v\d+", line) for line in lines[:versions]) or not lines[versions].strip():
            raise ValueError
        stripped = (line.strip() for line in lines[versions:])
        return [None if line == "-" else json.loads(line) for line in stripped if line]
    except (PlanError, ValueError, IndexError):
        raise DamagedCheckpointError("the file is damaged", file) from None


class DamagedCheckpointError(FlinkplanError):
    """A checkpoint that something is missing of, or that cannot be understood (exit code 1)."""

    exit_code = 1

    def __init__(self, message: str, place: Place, hint: str | None = None) -> None:
        super().__init__(
            f"the checkpoint is damaged: {message}",
            where=str(place),
            hint=hint or WAY_OUT,
        )


class CheckpointInUseError(FlinkplanError):
    """A checkpoint that another job is writing (exit code 1)."""

    exit_code = 1

    def __init__(self, record: CheckpointRecord) -> None:
        super().__init__(
            "another job is running on this checkpoint",
            where=str(record.folder),
            hint="stop it, or wait for its end; a job beside it needs a checkpoint of its own: --checkpoint DIR",
        )
