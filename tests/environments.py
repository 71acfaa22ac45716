"""Environments of Python that tests make once, in ``out``, for what cannot be installed beside all else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

OUT = Path(__file__).parents[1] / "out"


def environment(name: str, requirements: Sequence[str]) -> Path:
    """The folder of the environment ``out/<name>``; the test is skipped where it cannot be made."""
    folder = OUT / name
    done, needed = folder / "requirements", "\n".join([*requirements, sys.version])
    if done.is_file() and done.read_text() == needed:
        return folder
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", *requirements],
    ):
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            pytest.skip(f"{' '.join(requirements)} cannot be installed: {made.stderr.strip().splitlines()[-1:]}")
    done.write_text(needed)
    return folder
