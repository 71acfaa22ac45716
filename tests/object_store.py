"""S3, as the server of moto plays it: it takes another botocore than s3fs, and so has an environment of its own."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from urllib.request import Request, urlopen

from .environments import environment

BUCKET = "s3://lake"


@contextmanager
def s3() -> Iterator[Mapping[str, str]]:
    """A server with the bucket :data:`BUCKET`; the environment variables by which clients find it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    program = environment("moto", ["moto[server]>=5,<6"]) / "bin" / "moto_server"
    with subprocess.Popen([program, "-p", str(port)], stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        for line in server.stderr:
            if "Running on" in line:
                break
        Thread(target=server.stderr.read, daemon=True).start()  # a full pipe would stop it
        try:
            urlopen(Request(f"{url}/{BUCKET.removeprefix('s3://')}", method="PUT")).close()
            yield {
                "AWS_ACCESS_KEY_ID": "key",
                "AWS_SECRET_ACCESS_KEY": "secret",
                "AWS_DEFAULT_REGION": "us-east-1",
                "AWS_ENDPOINT_URL": url,
                "AWS_ALLOW_HTTP": "true",  # for deltalake
                "PYICEBERG_CATALOG__DEFAULT__S3__ENDPOINT": url,
                "PYICEBERG_CATALOG__DEFAULT__S3__REGION": "us-east-1",
            }
        finally:
            server.terminate()
