"""Where a JDK comes from; ``python jdk.py`` prints it, before anything is installed, for the Makefile."""

PACKAGES = {
    "Debian, Ubuntu": "apt install openjdk-17-jdk-headless",
    "Fedora": "dnf install java-17-openjdk-devel",
    "macOS": "brew install openjdk@17",
}
"""The commands that install one, by the system."""

LEAST = 17
"""The oldest version that flinkplan works with."""


def how_to_install() -> str:
    """One sentence."""
    commands = ", ".join(f"{command} ({system})" for system, command in PACKAGES.items())
    return f"install a JDK, version {LEAST} or later, and let JAVA_HOME, if it is set, point to it: {commands}"


if __name__ == "__main__":
    for _system, _command in PACKAGES.items():
        print(f"  {_system:15} {_command}")
