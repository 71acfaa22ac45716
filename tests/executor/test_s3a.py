"""Files and checkpoints that Spark itself keeps in S3, by Hadoop's client for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.object_store import BUCKET, s3

JARS = "FLINKPLAN_S3A_JARS"
pytestmark = [
    pytest.mark.programs,
    pytest.mark.nightly("an environment with the server takes a minute to make"),
    pytest.mark.skipif(JARS not in os.environ, reason=f"{JARS} names no jars: hadoop-aws and what it needs, by commas"),
]

SCRIPT = """
CREATE TABLE given (id INT) WITH ('connector' = 'filesystem', 'path' = 's3a://lake/given', 'format' = 'json');
CREATE TABLE copied (id INT) WITH ('connector' = 'filesystem', 'path' = 's3a://lake/copied', 'format' = 'json');
INSERT INTO copied SELECT id FROM given;
"""


def test_a_stream_goes_on_where_it_was(tmp_path: Path) -> None:
    from s3fs import S3FileSystem

    (tmp_path / "p.sql").write_text(SCRIPT)
    with s3() as settings:
        url = settings["AWS_ENDPOINT_URL"]
        of_spark = {
            "jars": os.environ[JARS],
            "hadoop.fs.s3a.endpoint": url,
            "hadoop.fs.s3a.path.style.access": "true",
            "hadoop.fs.s3a.access.key": settings["AWS_ACCESS_KEY_ID"],
            "hadoop.fs.s3a.secret.key": settings["AWS_SECRET_ACCESS_KEY"],
        }
        conf = [part for key, value in of_spark.items() for part in ("--conf", f"spark.{key}={value}")]
        run = [sys.executable, "-m", "flinkplan", "run", str(tmp_path / "p.sql"), "--mode", "available-now"]
        for number in range(2):
            row = json.dumps({"id": number}).encode()
            urlopen(Request(f"{url}/lake/given/{number}.json", data=row, method="PUT")).close()
            command = [*run, "--checkpoint", "s3a://lake/state", *conf]
            subprocess.run(command, check=True, env={**os.environ, **settings})
        files = S3FileSystem(endpoint_url=url, key="key", secret="secret")
        lines = [line for file in files.find(f"{BUCKET}/copied") for line in files.read_text(file).splitlines()]
    assert sorted(json.loads(line)["id"] for line in lines) == [0, 1]
