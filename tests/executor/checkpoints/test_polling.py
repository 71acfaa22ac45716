"""Telling how far something is that goes on in the JVM."""

from __future__ import annotations

from threading import Event

import pytest
from py4j.protocol import Py4JNetworkError

from flinkplan.executor.checkpoints import polling


def test_nothing_is_told_of_a_jvm_that_has_ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(polling, "_SECONDS", 0.001)
    asked, told = Event(), list[int]()

    def number() -> int:
        if told:
            asked.set()
            raise Py4JNetworkError("Answer from Java side is empty")
        return 7

    with polling.polled(number, told.append):
        assert asked.wait(10)
    assert told == [7]
    assert "Traceback" not in capsys.readouterr().err
