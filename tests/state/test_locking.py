"""A checkpoint belongs to one process at a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flinkplan.state.checkpoint import CheckpointInUseError, CheckpointRecord
from flinkplan.state.form import StateError
from flinkplan.state.locking import held

HOLDER = """
import sys
from flinkplan.state.checkpoint import CheckpointRecord
from flinkplan.state.locking import held
with held(CheckpointRecord(sys.argv[1])):
    print("held", flush=True)
    input()
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX")


def test_a_checkpoint_that_another_process_holds_is_refused(tmp_path: Path) -> None:
    record = CheckpointRecord(tmp_path)
    record.prepare()
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert record.is_in_use
        with pytest.raises(CheckpointInUseError), held(record):
            pass
        process.communicate("\n")
    with held(record), pytest.raises(CheckpointInUseError), held(CheckpointRecord(str(tmp_path))):
        pass
    with held(record):
        pass


def test_a_lock_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="the checkpoint cannot be locked"), held(CheckpointRecord(tmp_path / "none")):
        pass
