"""What is wrong with a spec is said with its place in the YAML file."""

from __future__ import annotations

import pytest

from tests.planner.spec.support import INSERTS, SPEC, TABLES, errors, place


def columns(written: str) -> str:
    """A spec with these columns of the table ``t``, from line 4, column 14."""
    return SPEC.replace("{a: INT, s: STRING}", written)


def query(written: str) -> str:
    """A spec with this query, from line 11, column 12."""
    return SPEC.replace("SELECT a FROM t", written)


NO_YAML = {
    "empty": ("", "1:1", "empty", "version: 1"),
    "comments only": ("# nothing\n", "1:1", "empty", "version: 1"),
    "a tab": (SPEC.replace("    query", "\tquery"), "11:1", "this is not YAML", "spaces"),
    "an open bracket": ("a: [b", "1:6", "this is not YAML", "closing bracket"),
    "an open quote": ("version: 1\na: 'b", "2:6", "this is not YAML", "closing quote"),
    "a backquote": (query("`x`"), "11:12", "this is not YAML", "quotes"),
    "a colon in a text": (query("SELECT a: b"), "11:20", "this is not YAML", "quotes"),
    "a control character": ("a: \x01", "1:4", "U\\+0001", None),
    "two documents": (SPEC + "---\na: 1\n", "13:1", "second document", "one spec"),
    "an alias": (query("*t"), "11:12", "no aliases", None),
    "an anchor": (query("&t x"), "11:12", "no anchors", None),
    "a tag": (query("!!str x"), "11:12", "no tags", None),
    "a duplicate key": (SPEC + INSERTS, "12:1", "'inserts' stands here for a second time", "9:1"),
    "a key that is no text": ("version: 1\n? [a]\n: b\n", "2:3", "a key is a text", None),
    "nested without end": ("a: " + "[" * 100_000, "1:23", "nested too deeply", None),
    "nested in blocks": ("".join(" " * depth + "a:\n" for depth in range(500)), "21:21", "nested too deeply", None),
}

REFUSED = {
    "a list": ("- a\n", "1:1", "must be a mapping", None),
    "a text": ("pipeline", "1:1", "must be a mapping", None),
    "no version": (SPEC.replace("version: 1", "options: {}"), "1:1", "no 'version'", "version: 1"),
    "another version": (SPEC.replace("version: 1", "version: 2"), "1:10", "'version' must be 1", None),
    "nothing to insert": (TABLES, "1:1", "no 'inserts'", None),
    "an empty list": (TABLES + "inserts: []\n", "9:10", "'inserts' is empty", None),
    "a mapping for a list": (TABLES + "inserts: {into: o}\n", "9:10", "'inserts' must be a list, not a mapping", None),
    "a number for a mapping": (columns("5"), "4:14", "'tables.t.columns' must be a mapping, not the number 5", None),
    "nothing for a text": (query(""), "11:5", r"'inserts\[0\].query' must be a text, not nothing", None),
    "a truth value for a text": (query("true"), "11:12", "must be a text, not the truth value true", "'true'"),
    "an unknown section": (TABLES + INSERTS.replace("inserts", "insert"), "9:1", "unknown key 'insert'", "'inserts'"),
    "an unknown key": (SPEC.replace("query", "querry"), "11:5", "unknown key 'querry'", "did you mean 'query'"),
    "an underscore": (SPEC.replace("columns: {a: INT}", "primary_key: a"), "7:5", "'primary_key'", "'primary-key'"),
    "a strange key": (SPEC.replace("    query", "    zzz: 1\n    query"), "11:5", "'zzz'", "the keys here are into, "),
    "a comma in braces": (columns("{a: DECIMAL(10, 2)}"), "4:30", "a text or a mapping, not nothing", "needs quotes"),
    "no type": (columns("{a: {comment: x}}"), "4:15", "neither 'type' nor 'as'", None),
    "type and expression": (columns("{a: {as: 1, type: INT}}"), "4:26", "'type' cannot stand beside 'as'", None),
    "virtual without metadata": (
        columns("{a: {type: INT, virtual: true}}"),
        "4:15",
        "no 'metadata'",
        "metadata column",
    ),
    "a column without a name": (columns("{'': INT}"), "4:15", "a key in 'tables.t.columns' is empty", None),
    "no connector": (SPEC.replace("    with: {connector: print}\n", ""), "6:3", "neither 'with' nor 'like'", None),
    "a word in the wrong case": (
        SPEC + "    on-conflict: NOTHING\n",
        "12:18",
        "'nothing', 'deduplicate' or 'error', not 'NOTHING'",
        "did you mean 'nothing'",
    ),
}

NO_SQL = {
    "a query": (query("SELECT a FRM t"), "11:25", "expected the end of the query", "FROM instead of FRM"),
    "a semicolon": (query("SELECT a FROM t;"), "11:27", "expected the end of the query", "no ';'"),
    "a type": (columns("{a: DECIMAL(x)}"), "4:26", "expected", None),
    "an expression": (columns("{a: INT, b: {as: a +}}"), "4:34", "expected", None),
    "a name": (SPEC.replace("into: o", "into: o."), "10:11", "'o.' is no name", "database.table"),
    "parentheses without end": (query("SELECT " + "(" * 5000), "11:12", "nested too deeply", None),
}

NO_MEANING = {
    "a table": (query("SELECT a FROM tt"), "11:26", "'tt'", "'t'"),
    "a sink": (SPEC.replace("into: o", "into: oo"), "10:11", "'oo'", "'o'"),
    "a column": (query("|\n      SELECT a,\n        b\n      FROM t"), "13:9", "no column 'b'", "'a'"),
    "a folded text": (query(">-\n      SELECT a\n      FROM t\n\n      WHERE b > 1"), "15:13", "no column 'b'", None),
    "a plain text of lines": (query("SELECT a\n      FROM t\n      WHERE b > 1"), "13:13", "no column 'b'", None),
    "single quotes": (query("'SELECT a FROM t WHERE s = ''x'' AND b > 1'"), "11:49", "no column 'b'", None),
    "double quotes": (query('"SELECT\\n\\ta FROM t \\\n      WHERE\\u0020b > 1"'), "12:18", "no column 'b'", None),
    "an escaped name": (query('"SELECT \\x62 FROM t"'), "11:20", "no column 'b'", None),
    "a primary key": (
        SPEC.replace("    columns: {a: INT}\n", "    columns: {a: INT}\n    primary-key: [b]\n"),
        "8:19",
        "'b'",
        "'a'",
    ),
    "a watermark": (
        SPEC.replace("STRING}\n", "STRING}\n    watermark: {column: s, as: s}\n", 1),
        "5:25",
        "event time must be of type TIMESTAMP",
        None,
    ),
    "views in a circle": (
        TABLES + "views: {v: SELECT * FROM w, w: SELECT * FROM v}\n" + INSERTS,
        "9:46",
        "no table or view 'v'",
        None,
    ),
    "a table twice": (SPEC.replace("  o:", "  default_database.t: {like: t}\n  o:"), "6:3", "exists already", None),
}

CASES = {**NO_YAML, **REFUSED, **NO_SQL, **NO_MEANING}


@pytest.mark.parametrize(("text", "where", "message", "hint"), CASES.values(), ids=CASES)
def test_the_place_and_the_mend(text: str, where: str, message: str, hint: str | None) -> None:
    (error,) = errors(text)
    assert place(error) == where
    assert error.snippet is not None
    with pytest.raises(type(error), match=message):
        raise error
    if hint is not None:
        assert hint in str(error.hint)


def test_findings_of_the_schema_come_together_and_in_order() -> None:
    text = "options: [a]\ntables: {t: 5}\ninserts:\n  - {into: o, from: p}\n  - x\nversion: 3\n"
    assert [place(error) for error in errors(text)] == ["1:10", "2:13", "4:15", "5:5", "6:10"]


def test_findings_in_sql_come_together() -> None:
    text = (
        columns("{a: DECIMAL(x), b: {as: 1 +}}").replace("SELECT a FROM t", "SELEC") + "  - {into: o, query: 'a b'}\n"
    )
    assert [place(error).partition(":")[0] for error in errors(text)] == ["4", "4", "11", "12"]


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_line_ends_and_wide_characters(end: str) -> None:
    text = query("|\n      SELECT 'é😀' AS e,\n      '😀' || b\n      FROM t")
    (error,) = errors(text.replace("\n", end))
    assert place(error) == "13:14"
    assert error.snippet == "  13 |       '😀' || b\n     |              ^"
