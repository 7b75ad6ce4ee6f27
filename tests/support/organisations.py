"""Organisations on one machine that share nothing: a folder, a home and an environment of its own for each."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from smc_dp.deploy.store import StoreError, read_facts
from smc_dp.privacy.ledger.ledger import Ledger
from support.pages import ROOT, write_program

_MOST_SECONDS = 120.0
CHARGED_ONCE = ["limit", "reserved", "released"]
"""What a ledger of one study has in the end."""
OF_THE_MACHINE = ("/usr/", "/lib", "/dev/null", "/etc/", "/proc/meminfo")  # libc asks for the size of the memory
INSTALLED = (*OF_THE_MACHINE, *(os.path.realpath(place) for place in (sys.prefix, sys.base_prefix, ROOT)))
"""What every program of the machine reads, and this one."""
_CLIENT = f"""\
#!{sys.executable} -IS
import os, socket, sys
with socket.socket(socket.AF_UNIX) as asked:
    asked.connect({{address!r}})
    socket.send_fds(asked, [repr((os.getcwd(), dict(os.environ), sys.argv)).encode()], [0, 1, 2])
    sys.exit(int(asked.recv(9)))
"""
_SERVER = """\
import ast, atexit, contextlib, fcntl, gc, os, signal, socket, sys, threading, traceback, weakref
{loads}
weakref.finalize._registry.clear()  # or the first fork that ends would clean up what all use
gc.freeze()
with socket.socket(socket.AF_UNIX) as door:
    door.bind(sys.argv[1])
    door.listen()
    print("ready", flush=True)
    while True:
        asked, _ = door.accept()
        told, open_files, _, _ = socket.recv_fds(asked, 1 << 16, 3)
        if os.fork() == 0:
            fcntl.fcntl(asked, fcntl.F_SETOWN, os.getpid())  # whoever kills the client kills this fork
            fcntl.fcntl(asked, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(asked, fcntl.F_SETFL, os.O_ASYNC)
            with contextlib.suppress(BlockingIOError):
                asked.recv(1, socket.MSG_DONTWAIT), os._exit(1)  # it was killed before that, for it says nothing more
            place, known, sys.argv = ast.literal_eval(told.decode())
            for number, opened in enumerate(open_files):
                os.dup2(opened, number)
            sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w", 1), open(2, "w", 1)
            os.chdir(place)
            os.environ.clear()
            os.environ.update(known)
            sys.path[:0] = filter(None, known.get("PYTHONPATH", "").split(":"))
            try:
                code = {runs}
            except SystemExit as ended:
                code = ended.code or 0
            except BaseException:
                code = traceback.print_exc() or 1
            threading._shutdown(), atexit._run_exitfuncs()  # as at the end of a program: others' threads, then handlers
            sys.stdout.flush(), sys.stderr.flush()
            asked.send(b"%d" % code)
            os._exit(0)
        for number in (asked.detach(), *open_files):
            os.close(number)
"""
"""A process that has loaded a program, and a fork of it for each command: loading is most of what a command costs."""
_LOADS = f"""\
sys.path.insert(0, {str(ROOT)!r})
import pandas, pyarrow.csv
import smc_dp.audit.run.checks, smc_dp.cli.audit, smc_dp.cli.ledger, smc_dp.cli.main
import smc_dp.deploy.join, smc_dp.deploy.nats.provision, smc_dp.planning.report
import smc_dp.deploy.preflight, smc_dp.deploy.report, smc_dp.deploy.site_policy, smc_dp.privacy.ledger.ledger
"""


@contextmanager
def loaded(
    address: Path,
    python: str | Path = sys.executable,
    loads: str = _LOADS,
    runs: str = "smc_dp.cli.main.main(sys.argv[1:])",
) -> Iterator[str]:
    """The text of a program that does what `smc-dp` does, or what `runs`, as a fork of a process that has loaded it."""
    server = _SERVER.format(loads=loads, runs=runs)
    with subprocess.Popen(
        [str(python), "-P", "-c", server, str(address)], cwd="/", env={}, stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL, process_group=0,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        try:
            yield _CLIENT.format(address=str(address))
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # forks as well, where a test failed before it ended them


@dataclass
class Organisation:
    """One of them. `started`: its programs that go on by themselves, by the line that started them."""

    folder: Path
    started: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @classmethod
    def made(cls, folder: Path) -> Organisation:
        """A new one; nothing is in its folder but the program."""
        write_program(folder / "bin" / "smc-dp")
        return cls(folder)

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def environment(self) -> dict[str, str]:
        """All that its programs are told; no value is also another organisation's."""
        return {"HOME": str(self.folder), "PATH": f"{self.folder / 'bin'}:/usr/sbin:/usr/bin:/bin"}

    def run(self, line: str) -> str:
        """A line for the shell, which has to end well, and what it said."""
        known = self.environment
        known["PATH"] = f"{self.folder / 'loaded'}:{known['PATH']}"
        done = subprocess.run(
            ["/bin/sh", "-c", line], cwd=self.folder, env=known, capture_output=True, text=True,
            timeout=_MOST_SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{self.name}$ {line}\n{done.stdout}{done.stderr}"
        return done.stdout

    def start(self, line: str) -> None:
        """A line for the shell, whose last command goes on in the shell's own process."""
        before, also, last = line.rpartition("&& ")
        with (self.folder / "said.txt").open("ab") as said:
            command = ["/bin/sh", "-c", f"{before}{also}exec {last}"]
            self.started[line] = subprocess.Popen(
                command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )

    def kill(self, line: str) -> None:
        """SIGKILL."""
        self.started[line].kill()
        self.started[line].wait()

    def ended(self, line: str) -> int:
        """How the program of this line ended, once it has."""
        return self.started.pop(line).wait(_MOST_SECONDS)

    @property
    def said(self) -> str:
        """What its programs said that were started."""
        return (self.folder / "said.txt").read_text(encoding="utf-8")

    def stands(self) -> dict[str, Any]:
        """What its state says of the study, before it has one nothing."""
        try:
            return read_facts(self.folder / f"study.{self.name}.state")
        except StoreError:
            return {}


@contextmanager
def organisations(folder: Path, names: tuple[str, ...], program: str = "") -> Iterator[dict[str, Organisation]]:
    """These, in a folder each; in the end none of their programs is left. `program`: for lines that end at once."""
    made = {name: Organisation.made(folder / name) for name in names}
    for one in made.values() if program else ():
        write_program(one.folder / "loaded" / "smc-dp", program)
    try:
        yield made
    finally:
        for one in made.values():
            for process in one.started.values():
                process.kill()
                process.wait()


def entries(ledger: Path) -> list[str]:
    """The kinds of all entries of a ledger."""
    with Ledger.open(ledger) as opened:
        return [entry.state for entry in opened.history().entries]


def until(what: str, holds: Callable[[], bool], seconds: float = _MOST_SECONDS, look: float = 0.1) -> None:
    """Wait for it; an AssertionError when it does not come."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} seconds")
        time.sleep(look)


@dataclass
class Seen:
    """What was seen of one process: the files that it had open, the folder that it stood in, its variables, and the
    ports at the other ends of its sockets, 0 where it listens.
    """

    files: set[str] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)
    ports: set[int] = field(default_factory=set)

    def look(self, process: int) -> None:
        """Look at it now; it may be gone."""
        place = Path(f"/proc/{process}")
        with suppress(OSError):
            self.variables |= set(filter(None, (place / "environ").read_text().split("\0")))
            self.files.add(os.readlink(place / "cwd"))
            for link in (place / "fd").iterdir():
                with suppress(OSError):
                    self.files.add(os.readlink(link))
            for line in (Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()).splitlines():
                _, _, other, _, *more = line.split()
                if f"socket:[{more[5]}]" in self.files:
                    self.ports.add(int(other.rpartition(":")[2], 16))


def in_common(seen: Mapping[str, Seen], libraries: Iterable[str]) -> Iterator[str]:
    """What two of them have both, but for what everybody reads of the machine."""
    shared = tuple(libraries)
    for (one, first), (other, second) in combinations(seen.items(), 2):
        for file in first.files & second.files:
            if file.startswith("/") and not file.startswith(shared):
                yield f"{one} and {other} have {file}"
        for variable in first.variables & second.variables:
            yield f"{one} and {other} have {variable}"
