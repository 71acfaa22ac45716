"""Clients of Flink's SQL Gateway, unmodified, each in a virtual environment of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from flinkplan.cli.sql_gateway.server import serving
from flinkplan.cli.sql_gateway.service import GatewayService, Limits

pytestmark = [
    pytest.mark.nightly("installs clients from PyPI into environments of their own"),
    pytest.mark.programs,
    pytest.mark.spark,
]


class Environment:
    """A virtual environment with a client; skips the test where its Python or the package cannot be had."""

    def __init__(self, folder: Path, python: str, *packages: str) -> None:
        self.folder = folder
        if not any(_makes(interpreter, folder / "venv") for interpreter in _interpreters(python)):
            pytest.skip(f"there is no {python}")
        pip = [str(folder / "venv/bin/pip"), "install", "-q", "--disable-pip-version-check", *packages]
        installed = subprocess.run(pip, capture_output=True, text=True)
        if installed.returncode:
            pytest.skip(f"{packages[0]} cannot be installed: {installed.stderr[-300:]}")

    def run(self, *arguments: str, **environment: str) -> str:
        """What a program of the environment prints."""
        program = [str(self.folder / "venv/bin" / arguments[0]), *arguments[1:]]
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), **environment}
        done = subprocess.run(program, capture_output=True, text=True, cwd=self.folder, env=env, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def _interpreters(python: str) -> Iterator[str | Path]:
    """Interpreters of a version: that of the path, which may be a shim of pyenv that does not start, then pyenv's."""
    on_path = shutil.which(python)
    if on_path is not None:
        yield on_path
    yield from sorted(Path.home().glob(f".pyenv/versions/{python.removeprefix('python')}.*/bin/{python}"))


def _makes(interpreter: str | Path, folder: Path) -> bool:
    """Whether an interpreter can make a virtual environment."""
    return subprocess.run([interpreter, "-m", "venv", folder], capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of a gateway."""
    service = GatewayService({}, Limits())
    with serving(service, "127.0.0.1", 0) as url:
        yield int(url.rpartition(":")[2])
    service.close()


def test_db_api(port: int, tmp_path: Path) -> None:
    environment = Environment(tmp_path, f"python3.{sys.version_info.minor}", "py-flink-sql-gateway==0.1.6")
    script = textwrap.dedent(f"""
        import flink_gateway
        with flink_gateway.connect("http://127.0.0.1:{port}") as connection, connection.cursor() as cursor:
            rows = "(1, 'a', 2.50), (2, 'b', CAST(NULL AS DECIMAL(3, 2)))"
            cursor.execute(f"CREATE TEMPORARY VIEW v AS SELECT * FROM (VALUES {{rows}}) AS t (i, s, d)")
            cursor.execute("SELECT i, s, d, TIMESTAMP '2024-01-31 01:02:03' AS ts, ARRAY[i] AS l FROM v")
            print([(d[0], d[1]) for d in cursor.description])
            print(cursor.fetchall())
            cursor.execute("SHOW TABLES")
            print(cursor.fetchone(), cursor.fetchone())
            try:
                cursor.execute("SELECT nope FROM v")
            except flink_gateway.Error as error:
                print("Column 'nope' not found in any table" in str(error))
    """)
    (tmp_path / "client.py").write_text(script)
    lines = environment.run("python", "client.py").splitlines()
    assert "('i'," in lines[0]
    assert "(1, 'a', Decimal('2.5'), datetime.datetime(2024, 1, 31, 1, 2, 3), [1])" in lines[1]
    assert "None" in lines[1]
    assert lines[2:] == ["('v',) None", "True"]


DBT_PROJECT = Path(__file__).parent / "dbt_project"
"""A project with a source, a seed, a view, tables of batch mode and of a stream, and tests."""


def test_dbt(port: int, tmp_path: Path) -> None:
    environment = Environment(tmp_path, "python3.10", "dbt-flink-adapter==1.3.11", "setuptools<70")
    (tmp_path / ".dbt").mkdir()
    for file in DBT_PROJECT.rglob("*.*"):
        target = tmp_path / file.relative_to(DBT_PROJECT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(file.read_text().replace("FOLDER", str(tmp_path)).replace("PORT", str(port)))
    printed = environment.run("dbt", "build", "--profiles-dir", ".")
    assert "Completed successfully" in printed
    assert "PASS=8 WARN=0 ERROR=0 SKIP=0 TOTAL=8" in printed
    assert _written(tmp_path / "data/totals") == ['{"name":"a","total":7}', '{"name":"b","total":7}']
    assert _written(tmp_path / "data/expensive") == ['{"id":1,"name":"a"}', '{"id":2,"name":"b"}']


def _written(folder: Path) -> list[str]:
    """The lines of a table, in order."""
    return sorted(line for file in folder.iterdir() if file.is_file() for line in file.read_text().splitlines())


def test_mcp(port: int, tmp_path: Path) -> None:
    environment = Environment(tmp_path, "python3.12", "flink-mcp==0.2.6")
    script = textwrap.dedent("""
        import asyncio
        from fastmcp import Client
        from flink_mcp.flink_mcp_server import build_server
        async def main():
            async with Client(build_server()) as client:
                print(sorted(tool.name for tool in await client.list_tools()))
                session = await client.call_tool("open_new_session", {})
                print(session.data)
        asyncio.run(main())
    """)
    (tmp_path / "client.py").write_text(script)
    printed = environment.run("python", "client.py", SQL_GATEWAY_API_BASE_URL=f"http://127.0.0.1:{port}")
    assert "session" in printed


def test_sql_client_of_flink(port: int, tmp_path: Path) -> None:
    """Flink's own client; the jar of its gateway, in which its messages are, does not come with PyPI's Flink."""
    home = os.environ.get("FLINK_HOME")
    if home is None or not list(Path(home).glob("opt/flink-sql-gateway*.jar")):
        pytest.skip("FLINK_HOME names no distribution of Flink with opt/flink-sql-gateway")
    script = "SET 'sql-client.execution.result-mode' = 'tableau'; SELECT 1 AS a; SHOW TABLES;"
    command = [f"{home}/bin/sql-client.sh", "gateway", "--endpoint", f"127.0.0.1:{port}"]
    done = subprocess.run(command, input=script, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert "| +I |           1 |" in done.stdout
