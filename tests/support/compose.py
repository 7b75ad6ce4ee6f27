"""Stand for `docker compose`: run the services of a compose file by their own commands, in the folders that they mount.

    python compose.py run|up|wait|down ...

There is no container engine here. What the image says, entry point and folder, is read from the Dockerfile.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

CONTAINER = Path(__file__).resolve().parents[2] / "smc_dp" / "deploy" / "container"
LOOKS = 0.05
MOST_SECONDS = 120.0


@dataclass(frozen=True)
class Service:
    """One service of the compose file of this folder."""

    name: str
    found: dict[str, Any]

    def image(self, instruction: str) -> str:
        """Return what the Dockerfile says after an instruction that stands in it once."""
        (said,) = re.findall(rf"^{instruction} (.*)$", (CONTAINER / "Dockerfile").read_text(), re.MULTILINE)
        return str(said)

    def here(self, path: str) -> str:
        """Return a path in the container as it is on this machine; nothing but what is mounted can be written."""
        for mount in self.found["volumes"]:
            outside, inside = mount.split(":")
            if (path + "/").startswith(f"{inside}/"):
                return str(Path(outside).resolve()) + path[len(inside) :]
        assert not path.startswith("/"), path
        return path

    def start(self, arguments: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        """Start its program, with these arguments in place of its own; its exit code will be in a file."""
        program = self.found.get("entrypoint") or json.loads(self.image("ENTRYPOINT"))
        line = [*program, *map(self.here, arguments or self.found["command"])]
        exit_code = Path(f".{self.name}.exit").resolve()
        exit_code.unlink(missing_ok=True)
        started = subprocess.Popen(
            ["/bin/sh", "-c", f'"$@"; code=$?; echo $code > {exit_code}; exit $code', "sh", *line],
            cwd=self.here(self.found.get("working_dir") or self.image("WORKDIR")),
            start_new_session=True,
        )
        Path(f".{self.name}.pid").write_text(str(started.pid))
        return started


def up(services: dict[str, Service]) -> None:
    """Start all in the order in which they wait for each other."""
    ready: set[str] = set()
    while waiting := [one for one in services.values() if one.name not in ready]:
        one = next(one for one in waiting if set(one.found.get("depends_on", {})) <= ready)
        started = one.start()
        wanted = {
            needed["condition"]
            for other in services.values()
            for on, needed in other.found.get("depends_on", {}).items()
            if on == one.name
        }
        if "service_completed_successfully" in wanted:
            while started.wait(MOST_SECONDS) != 0:
                assert one.found["restart"] == "on-failure"
                time.sleep(LOOKS)
                started = one.start()
        ready.add(one.name)


def wait(names: Sequence[str]) -> int:
    """Wait until these have ended, and return the exit code of the last."""
    code, end = 0, time.monotonic() + MOST_SECONDS
    for name in names:
        path = Path(f".{name}.exit")
        while not (path.exists() and path.read_text().endswith("\n")):
            assert time.monotonic() < end, f"{name} has not ended"
            time.sleep(LOOKS)
        code = int(path.read_text())
        print(code)
    return code


def down(services: dict[str, Service]) -> None:
    """End whatever still runs."""
    for name in services:
        with suppress(FileNotFoundError, ProcessLookupError):
            os.killpg(int(Path(f".{name}.pid").read_text()), signal.SIGKILL)


def main(arguments: list[str]) -> int:
    """Carry out `compose` and one of its commands in this folder."""
    parsed = yaml.safe_load(Path("compose.yaml").read_text())
    services = {name: Service(name, found) for name, found in parsed["services"].items()}
    compose, command, *rest = arguments
    assert compose == "compose"
    if command == "run":
        assert rest[:2] == ["--rm", "--no-deps"]
        return services[rest[2]].start(rest[3:]).wait(MOST_SECONDS)
    if command == "wait":
        return wait(rest)
    {"up": up, "down": down}[command](services)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
