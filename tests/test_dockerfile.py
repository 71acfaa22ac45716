"""What can be said of the Dockerfile without building it."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, each with its arguments."""
    lines = [line for line in (ROOT / "Dockerfile").read_text("utf-8").splitlines() if not line.startswith("#")]
    text = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in text.splitlines() if line)]


def arguments(name: str) -> list[str]:
    return [rest for instruction, rest in instructions() if instruction == name]


def test_images_are_named_by_version() -> None:
    assert [image for image in arguments("FROM") if not re.search(r":\d", image) or ":latest" in image] == []


def test_the_command_is_run_by_a_user_without_rights() -> None:
    last = [name for name, _ in instructions()][-4:]
    assert last == ["USER", "WORKDIR", "ENTRYPOINT", "CMD"]
    (user,) = arguments("USER")
    assert int(user) > 0
    assert f"--uid {user} " in arguments("RUN")[-1]


def test_what_is_copied_is_there_and_sent_to_the_build() -> None:
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    copied = {path for rest in arguments("COPY") if "--from" not in rest for path in rest.split()[:-1]}
    assert {path.removeprefix("./") for path in copied} == sent
    assert [path for path in sent if not (ROOT / path).exists()] == []


def test_what_is_installed_is_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (extras,) = re.findall(r"flinkplan-\*\.whl\)\[([\w,]+)\]", arguments("RUN")[-1])
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    (entry,) = arguments("ENTRYPOINT")
    assert set(json.loads(entry)) <= set(project["scripts"])
