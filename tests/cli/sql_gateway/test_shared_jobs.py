"""A job for which several threads wait."""

from __future__ import annotations

import time
from threading import Thread
from typing import Any, cast

import pytest

from flinkplan.cli.sql_gateway.statements import SharedJob
from flinkplan.plan.errors import FlinkplanError


class Fake:
    """A job that ends when it is told; no two threads may be in it at once."""

    def __init__(self) -> None:
        self.has_ended = self.is_stopped = self.is_busy = False
        self.error: FlinkplanError | None = None

    def wait(self, timeout: float) -> bool:
        assert not self.is_busy
        self.is_busy = True
        time.sleep(min(timeout, 0.01))
        self.is_busy = False
        if self.error is not None:
            raise self.error
        return self.has_ended

    def stop(self) -> None:
        assert not self.is_busy
        self.is_stopped = True


def shared(fake: Fake) -> SharedJob:
    return SharedJob(cast(Any, fake))


def test_all_who_wait_see_the_end() -> None:
    fake = Fake()
    job = shared(fake)
    ends: list[bool] = []
    threads = [Thread(target=lambda: ends.append(job.wait())) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert not job.wait(0.05)
    fake.has_ended = True
    for thread in threads:
        thread.join(5)
    assert ends == [True, True, True]
    assert job.wait(0)


def test_all_who_wait_see_the_error() -> None:
    fake = Fake()
    fake.error = FlinkplanError("it failed")
    job = shared(fake)
    for _ in range(2):
        with pytest.raises(FlinkplanError, match="it failed"):
            job.wait()


def test_a_stop_ends_the_waiting() -> None:
    fake = Fake()
    job = shared(fake)
    waiting = Thread(target=job.wait)
    waiting.start()
    job.stop()
    waiting.join(5)
    assert not waiting.is_alive()
    assert fake.is_stopped
