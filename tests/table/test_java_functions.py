"""Which jars functions in Java are loaded from, and what is known of them without a JVM."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from flinkplan.flink.functions import JavaFunctions, file_hash
from flinkplan.plan.errors import PlanError
from flinkplan.plan.functions.java import UnknownValueError
from flinkplan.plan.rex import Literal
from flinkplan.plan.types import INT, STRING
from flinkplan.planner.catalog.functions import Registered
from flinkplan.table.function_loader import FunctionLoader

SHOUT = {
    "kind": "SCALAR",
    "deterministic": True,
    "stateless": True,
    "constant_folding": True,
    "requirements": [],
    "signatures": [{"arguments": ["INT"], "rest": "STRING", "result": "STRING"}],
}


def written(folder: Path, **parts: Any) -> str:
    """A file as ``flinkplan functions`` writes it."""
    document = {"version": 1, "jars": {}, "functions": {"a.Shout": SHOUT}, "calls": [], "values": [], **parts}
    path = folder / "functions.json"
    path.write_text(json.dumps(document))
    return str(path)


def java(name: str = "a.Shout", *jars: str) -> Registered:
    """A function that a statement registers."""
    return Registered(name, is_java=True, jars=jars)


def test_declaration_is_read_from_the_file(tmp_path: Path) -> None:
    loader = FunctionLoader(lambda: [written(tmp_path)])
    declaration = loader(java("a.Shout", "not/there.jar"))
    [signature] = declaration.signatures or ()  # type: ignore[union-attr]
    assert str(signature) == "INT, STRING…"
    assert signature.parameters(3) == (INT, STRING, STRING)


def test_unknown_class_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"no function of the class a\.Shot") as caught:
        FunctionLoader(lambda: [written(tmp_path)])(java("a.Shot"))
    assert "a.Shout" in (caught.value.hint or "")


def test_jar_that_nobody_named_is_refused() -> None:
    with pytest.raises(PlanError, match=r"the jar 'lib/a\.jar' of the class 'a\.Shout' is not loaded") as caught:
        FunctionLoader(lambda: [])(java("a.Shout", "lib/a.jar"))
    assert (caught.value.hint or "").startswith("--jar lib/a.jar, or jars in pyproject.toml")


def test_class_without_any_jar_is_refused() -> None:
    with pytest.raises(PlanError, match="no jars are named"):
        FunctionLoader(lambda: ["functions.py"])(java())


def test_statement_means_the_named_jar_of_the_same_file_name(tmp_path: Path) -> None:
    loader = FunctionLoader(lambda: [written(tmp_path), str(tmp_path / "a.jar")])
    functions = loader.java_functions("a.Shout", ["file:///elsewhere/a.jar"])
    assert functions.jars == (str(tmp_path / "a.jar"),)


def test_own_statements_may_name_jars(tmp_path: Path) -> None:
    loader = FunctionLoader(lambda: [], trusts_statements=True)
    assert loader.java_functions("a.Shout", [f"file://{tmp_path}/a.jar"]).jars == (str(tmp_path / "a.jar"),)


def test_file_of_another_content_of_the_jar_is_refused(tmp_path: Path) -> None:
    jar = tmp_path / "a.jar"
    jar.write_bytes(b"new")
    file = written(tmp_path, jars={"a.jar": "0" * 64})
    with pytest.raises(PlanError, match="was not written for"):
        JavaFunctions([str(jar)], file=file).declaration("a.Shout")
    file = written(tmp_path, jars={"a.jar": file_hash(jar)})
    assert JavaFunctions([str(jar)], file=file).declaration("a.Shout").deterministic


@pytest.mark.parametrize("text", ["[]", "{", '{"version": 1}', "null"])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "functions.json").write_text(text)
    with pytest.raises(PlanError, match="is no file of functions"):
        JavaFunctions([], file=str(tmp_path / "functions.json")).declaration("a.Shout")


def answered(**question: Any) -> Mapping[str, Any]:
    """An entry of the file: what was asked of ``a.Shout``, and the answer."""
    return {"class": "a.Shout", **question}


def test_answers_of_the_file(tmp_path: Path) -> None:
    types = {"arguments": ["INT", "STRING NOT NULL"], "result": "INT", "accumulator": "BIGINT"}
    call = answered(arguments=["INT", "CHAR(1) NOT NULL"], literals=[None, "x"], answer=types)
    refused = answered(arguments=["DATE"], literals=[None], answer={"error": "no"})
    value = answered(arguments=["INT NOT NULL"], literals=["1"], values=[1], answer={"value": "7"})
    failing = answered(arguments=["INT NOT NULL"], literals=["2"], values=[2], answer={"error": "no"})
    functions = JavaFunctions([], file=written(tmp_path, calls=[call, refused], values=[value, failing]))
    one = Literal(1, INT.not_null())
    from flinkplan.plan.types.parser import parse_type

    inferred = functions.types("a.Shout", [INT, parse_type("CHAR(1) NOT NULL")], [None, "x"])
    assert inferred is not None
    assert (inferred.result, str(inferred.accumulator)) == (INT, "BIGINT")
    assert functions.types("a.Shout", [parse_type("DATE")], [None]) is None
    assert functions.value("a.Shout", [one], INT) == 7
    with pytest.raises(UnknownValueError):
        functions.value("a.Shout", [Literal(2, INT.not_null())], INT)
    with pytest.raises(PlanError, match=r"has no answer for the call a\.Shout\(INT NOT NULL\)") as caught:
        functions.value("a.Shout", [Literal(3, INT.not_null())], INT)
    assert "--for PIPELINE" in (caught.value.hint or "")
