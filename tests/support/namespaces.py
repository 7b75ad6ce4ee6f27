"""Networks of their own for organisations on one machine: a site reaches the relay and nobody else."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import pytest

RELAY_HOST = "10.77.0.1"
_PREFIX = 24


@cache
def can_make() -> bool:
    """Whether this process may make network namespaces, and bridges in them."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        return False
    name = f"smc-probe-{os.getpid()}"
    commands = (f"ip netns add {name}", f"ip -n {name} link add br0 type bridge")
    done = [subprocess.run(command.split(), capture_output=True, check=False).returncode for command in commands]
    subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
    return done == [0, 0]


without_namespaces = pytest.mark.skipif(
    not can_make(),
    reason="network namespaces cannot be made here (wanted root, and iproute2)",
)


@dataclass(frozen=True)
class Networks:
    """One namespace for the relay and one for each site."""

    prefix: str
    sites: tuple[str, ...]

    def inside(self, name: str | None) -> tuple[str, ...]:
        """What comes before a command that runs at this site, or at the relay."""
        return ("ip", "netns", "exec", self.space(name))

    def space(self, name: str | None) -> str:
        return f"{self.prefix}-{'relay' if name is None else self.sites.index(name)}"

    def host(self, name: str) -> str:
        """The address of a site."""
        return f"10.77.0.{self.sites.index(name) + 2}"


@contextmanager
def networks(sites: Sequence[str], *, isolated: bool = True) -> Iterator[Networks]:
    """A wire from each site to the relay's bridge, which hands on nothing from one wire to another if `isolated`."""
    made = Networks(f"smc{os.getpid()}{'' if isolated else 'x'}", tuple(sites))
    try:
        bridge = made.space(None)
        _ip(f"netns add {bridge}")
        _ip(f"-n {bridge} link add br0 type bridge")
        _ip(f"-n {bridge} address add {RELAY_HOST}/{_PREFIX} dev br0")
        for device in ("lo", "br0"):
            _ip(f"-n {bridge} link set {device} up")
        for n, name in enumerate(sites):
            space = made.space(name)
            _ip(f"netns add {space}")
            _ip(f"link add wire{n} netns {bridge} type veth peer name eth0 netns {space}")
            _ip(f"-n {bridge} link set wire{n} master br0 up")
            if isolated:
                _ip(f"-n {bridge} link set wire{n} type bridge_slave isolated on")
            _ip(f"-n {space} address add {made.host(name)}/{_PREFIX} dev eth0")
            for device in ("lo", "eth0"):
                _ip(f"-n {space} link set {device} up")
        yield made
    finally:
        for space in (made.space(None), *map(made.space, sites)):
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)


def _ip(words: str) -> None:
    done = subprocess.run(["ip", *words.split()], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {words}: {done.stderr}"
