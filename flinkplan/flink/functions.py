"""Functions in Java: what the planner has to know of them, which a JVM with the user's Flink tells once.

The answers are kept in the user's cache under a hash of the jars.  ``flinkplan functions`` writes them to a file; with
that file no JVM is started.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..jars import cache
from ..plan.errors import FlinkplanError, PlanError
from ..plan.findings import did_you_mean
from ..plan.functions.java import CallTypes, JavaDeclaration, UnknownValueError, declaration_from_json
from ..plan.record import replace
from ..plan.rex import Literal
from ..plan.types import LogicalType
from ..plan.types.parser import parse_type
from .home import flink_jars
from .jar import compiled_jar, program

SOURCES = Path(__file__).parent / "java_functions"
"""The Java sources that describe functions and call them."""

VERSION = 1
"""The version of the file of functions."""

_MAIN = "flinkplan.functions.Main"
_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
_SECONDS = 120
_WRITE = "write the file again: flinkplan functions JAR… --for PIPELINE -o FILE"

_NEEDED_FOR = "the signatures of functions in Java are read with the classes of Flink"

Document = dict[str, Any]


class JavaFunctions:
    """The functions in some jars.

    ``file`` is a file that ``flinkplan functions`` has written, in which all answers are looked up: no JVM is started.
    ``flink`` says where Flink is, as for :func:`~.home.flink_jars`.
    """

    def __init__(self, jars: Iterable[str], *, file: str | None = None, flink: str | None = None) -> None:
        self.jars = tuple(str(Path(jar).resolve()) for jar in dict.fromkeys(jars))
        self._file = file
        self._flink = flink
        self._document: Document | None = None

    def declaration(self, class_name: str) -> JavaDeclaration:
        """The declaration of the function of a class.  Raises :class:`PlanError` if there is none."""
        functions = self.document["functions"]
        described = functions.get(class_name)
        if described is None:
            places = self._file or " and ".join(self.jars)
            hint = did_you_mean(class_name, functions) or (_WRITE if self._file else None)
            raise PlanError(f"there is no function of the class {class_name} in {places}", hint=hint)
        return replace(declaration_from_json(class_name, described), jars=self.jars, answers=self)

    def types(
        self, class_name: str, arguments: Sequence[LogicalType], literals: Sequence[str | None]
    ) -> CallTypes | None:
        """The types of a call, which the function's own code infers; ``None`` if it refuses the arguments."""
        question = {"class": class_name, "arguments": [t.regular().text for t in arguments], "literals": list(literals)}
        answer = self._answer("calls", question)
        if "error" in answer:
            return None
        accumulator = answer.get("accumulator")
        return CallTypes(
            tuple(map(parse_type, answer["arguments"])),
            parse_type(answer["result"]),
            None if accumulator is None else parse_type(accumulator),
        )

    def value(self, class_name: str, call: Sequence[Literal], result: LogicalType) -> Any:
        """The value of a call of constants.  Raises :class:`UnknownValueError` where the call fails."""
        question = {
            "class": class_name,
            "arguments": [literal.type.text for literal in call],
            "literals": [None if literal.value is None else _text(literal.value) for literal in call],
            "values": [literal.value for literal in call],
        }
        answer = self._answer("values", question)
        if "error" in answer:
            raise UnknownValueError(answer["error"])
        value = answer["value"]
        return int(value) if value is not None and result.root in _INTEGERS else value

    def changelog(
        self, class_name: str, inputs: Sequence[Sequence[str] | None], required: Sequence[str]
    ) -> tuple[str, ...]:
        """The kinds of rows that a process table function emits.  Raises :class:`PlanError` where it tells none."""
        question = {
            "class": class_name,
            "inputs": [None if kinds is None else list(kinds) for kinds in inputs],
            "required": list(required),
        }
        answer = self._answer("changelogs", question)
        if "error" in answer:
            raise PlanError(f"the class {class_name} has no changelog mode for its tables: {answer['error']}")
        return tuple(answer["kinds"])

    @property
    def document(self) -> Document:
        """All that is known."""
        if self._document is None:
            self._document = self._read() if self._file else self._cached()
        return self._document

    def _answer(self, kind: str, question: Mapping[str, Any]) -> Mapping[str, Any]:
        for known in self.document.setdefault(kind, []):
            if all(known[key] == value for key, value in question.items()):
                return known["answer"]  # type: ignore[no-any-return]
        if self._file:
            call = f"{question['class']}({', '.join(question.get('arguments', ()))})"
            raise PlanError(f"{self._file} has no answer for the call {call}", hint=_WRITE)
        answer = self._ask({kind: [question]})[kind][0]
        self.document[kind].append({**question, "answer": answer})
        self._keep()
        return answer  # type: ignore[no-any-return]

    # ---------------------------------------------------------------- files

    def _read(self) -> Document:
        assert self._file is not None
        try:
            document = json.loads(Path(self._file).read_text("utf-8"))
            version, jars = document["version"], document["jars"]
            if version != VERSION:
                raise PlanError(f"{self._file} is of version {version}", hint=_WRITE)
            for jar in map(Path, self.jars):
                if jar.is_file() and jars.get(jar.name) != file_hash(jar):
                    raise PlanError(f"{self._file} was not written for {jar}, whose content is another", hint=_WRITE)
            return {key: document[key] for key in ("version", "jars", "functions", "calls", "values")} | {
                "changelogs": document.get("changelogs", [])
            }
        except OSError as e:
            raise PlanError(f"{self._file} cannot be read: {e.strerror or e}") from None
        except (ValueError, KeyError, AttributeError, TypeError):
            raise PlanError(f"{self._file} is no file of functions", hint=_WRITE) from None

    def _cached(self) -> Document:
        try:
            document: Document = json.loads(self._cache_file.read_text("utf-8"))
            if document["version"] == VERSION:
                return document
        except (OSError, ValueError, KeyError):
            pass
        answer = self._ask({"describe": True})
        self._document = {
            "version": VERSION,
            "jars": {Path(jar).name: file_hash(Path(jar)) for jar in self.jars},
            "functions": answer["functions"],
            "calls": [],
            "values": [],
            "changelogs": [],
        }
        self._keep()
        return self._document

    def _keep(self) -> None:
        try:
            self._cache_file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            write_document(self.document, self._cache_file)
        except OSError:
            pass  # it is asked again

    @property
    def _cache_file(self) -> Path:
        digest = hashlib.sha256(b"".join(bytes.fromhex(file_hash(Path(jar))) for jar in self.jars))
        digest.update(b"".join(path.read_bytes() for path in sorted(SOURCES.rglob("*.java"))))
        digest.update("\0".join(jar.name for jar in flink_jars(self._flink, needed_for=_NEEDED_FOR)).encode())
        return cache() / f"functions-{digest.hexdigest()[:16]}.json"

    # ---------------------------------------------------------------- the JVM

    def _ask(self, questions: Mapping[str, Any]) -> Document:
        for jar in self.jars:
            if not Path(jar).is_file():
                raise PlanError(f"there is no jar {jar}", hint="name it with --jar, or jars in pyproject.toml")
        flink = flink_jars(self._flink, needed_for=_NEEDED_FOR)
        request = {"jars": self.jars, "describe": False, "calls": [], "values": [], "changelogs": [], **questions}
        path = os.pathsep.join(map(str, (compiled_jar("functions", (SOURCES,), flink), *flink)))
        with tempfile.TemporaryDirectory(prefix="flinkplan-functions-") as folder:
            asked, answered = Path(folder, "request.json"), Path(folder, "answer.json")
            asked.write_text(json.dumps(request), "utf-8")
            command = [program("java"), *_OPTIONS, "-cp", path, _MAIN, str(asked), str(answered)]
            try:
                ended = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_SECONDS)
            except subprocess.TimeoutExpired:
                raise FlinkplanError(f"the functions in {', '.join(self.jars)} did not answer in time") from None
            if ended.returncode or not answered.is_file():
                reason = ended.stderr.strip() or f"the JVM ended with {ended.returncode}"
                raise FlinkplanError(f"the functions in {', '.join(self.jars)} cannot be described: {reason}")
            document: Document = json.loads(answered.read_text("utf-8"))
            return document


_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def file_hash(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_document(document: Document, path: Path) -> None:
    """Write what is known of functions; the file is there whole or not at all."""
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}-", delete=False
    ) as f:
        f.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    Path(f.name).replace(path)
