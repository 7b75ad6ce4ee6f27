"""Sites of a study under a real NVIDIA FLARE, in an environment of its own: provisioned, started, killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import sysconfig
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import tomlkit

from smc_dp.deploy.flare.provision import flare_names, provision_flare
from smc_dp.deploy.flare.templates import LEAD, SERVER_FOLDER_MARK
from smc_dp.deploy.study import JointStudy
from support.organisations import loaded, until
from support.pages import ROOT, write_program
from support.relays import free_port, joint_study, ready

GIVEN = "SMC_DP_FLARE"  # a folder of an environment with FLARE, for whoever runs these tests often
_JOBS = ("nvflare.private.fed.app.client.worker_process", "nvflare.private.fed.app.server.runner_process")
_INSTALL = ("smc-dp[flare]",)  # which is here already, but for the extra
_LOADS = f"""
sys.path.insert(0, {str(ROOT)!r})
import runpy, time
import nvflare.app_common.executors.client_api_executor, nvflare.app_common.np.np_downloader, nvflare.cli, pandas
import nvflare.fuel.f3.drivers.aio_grpc_driver, nvflare.fuel.f3.drivers.aio_http_driver, pyarrow.csv
import nvflare.private.fed.app.client.client_train, nvflare.private.fed.app.client.worker_process
import nvflare.private.fed.app.server.runner_process, nvflare.private.fed.app.server.server_train
import smc_dp.deploy.flare.relay, smc_dp.deploy.flare.site
from nvflare.fuel.f3.streaming import stream_utils

def run(programs):
    stream_utils.sid_base = time.time_ns() // 1000
    sys.executable = os.path.join(os.path.dirname(sys.argv[0]), "python3")
    if sys.argv[0] != sys.executable:
        runpy.run_path(os.path.join(programs, "nvflare"), run_name="__main__")
    del sys.argv[: sys.argv.index("-m") + 1]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
"""What FLARE's processes load, and then each of them as Python runs it; its own children are forks too."""
RELEASED = "the study is over here: released"


def environment(
    shared: Path, called: str = "NVIDIA FLARE", given: str = GIVEN, install: Sequence[str] = _INSTALL
) -> Path:
    """The programs of an environment with the extra `flare`, or with another engine; made once for all workers."""
    if given in os.environ:
        return Path(os.environ[given]) / "bin"
    made = shared / f"{given}-environment-{zlib.crc32(bytes(ROOT)):x}"
    with made.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(made)], check=True)
            (place,) = made.glob("lib/python*/site-packages")  # what is installed here is not fetched again
            (place / "here.pth").write_text(sysconfig.get_path("purelib"))
            pip = [sys.executable, "-m", "pip", "--python", str(made / "bin" / "python3"), "install", "--quiet"]
            pip += ["--no-compile", *install]  # what is imported is compiled then
            done = subprocess.run(pip, capture_output=True, text=True)
            (made / "failed").write_text(done.stderr if done.returncode else "")
    if why := (made / "failed").read_text().strip():
        pytest.skip(f"{called} cannot be installed here: {why.splitlines()[-1]}")
    return made / "bin"


@contextmanager
def forked(folder: Path, programs: Path) -> Iterator[Path]:
    """The same programs, in this folder: forks of one process that has loaded FLARE and this package."""
    folder.mkdir()
    with loaded(folder / "door", programs / "python3", _LOADS, f"run({str(programs)!r})") as program:
        for name in ("nvflare", "python3"):
            write_program(folder / name, program)
        yield folder


def text_of(study: JointStudy, messages: float = 600) -> str:
    """The study as a file, with deadlines that a busy machine keeps."""
    stated = study.model_dump(by_alias=True, exclude_none=True)
    return tomlkit.dumps({**stated, "deadlines": {"greetings": 600, "messages": messages}})


def processes_in(folder: Path) -> list[int]:
    """The processes that were started with something in this folder: FLARE starts those of jobs in new sessions."""
    return [process for process, words in _running() if any(f"{word}/".startswith(f"{folder}/") for word in words)]


def jobs_in(package: Path) -> list[int]:
    """The processes of the jobs of a site, or of the server, with this package."""
    return [process for process, words in _running() if str(package) in words and any(kind in words for kind in _JOBS)]


def _running() -> Iterator[tuple[int, list[str]]]:
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            yield int(process.name), (process / "cmdline").read_text(errors="replace").split("\0")


def kill(*processes: int) -> None:
    """SIGKILL for each of them that is left."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def frames_of(package: Path, sender: str) -> int:
    """How many frames the relay with this package has of this participant."""
    return _asked(package, "SELECT count(*) FROM frames WHERE sender = ?", sender)


def under_two_digests(package: Path) -> int:
    """How many places of the relay with this package hold two different frames."""
    return _asked(
        package,
        "SELECT count(*) FROM (SELECT 1 FROM frames GROUP BY sender, addressee, lane, number HAVING count(*) > 1)",
    )


def _asked(package: Path, question: str, *values: str) -> int:
    for store in package.glob("local/smc_dp/*/frames/*.sqlite"):
        with (
            suppress(sqlite3.OperationalError),
            closing(sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)) as relay,
        ):
            return int(relay.execute(question, values).fetchone()[0])
    return 0  # there is no store yet


@dataclass
class FlareSites:
    """A study at its sites under this folder, and FLARE's packages of all; `study` is what they approved."""

    folder: Path
    programs: Path
    study: JointStudy
    started: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def names(self) -> Mapping[str, str]:
        return flare_names(self.study)

    @property
    def kit(self) -> Path:
        return self.folder / "kit"

    @property
    def packages(self) -> Path:
        return self.folder / "provisioned" / "smc_dp" / "prod_00"

    def own(self, site: str) -> Path:
        """The site's own folder for this study."""
        return self.packages / site / "local" / "smc_dp" / self.study.digest

    def log(self, who: str) -> str:
        return (self.packages / who / "out").read_text(errors="replace")

    def details(self, site: str) -> str:
        """What this site's job wrote for its owner alone."""
        file = self.own(site) / f"{site}.details"
        return file.read_text(errors="replace") if file.exists() else ""

    @property
    def relay(self) -> str:
        """FLARE's name of the server."""
        return "localhost"

    def begin(self, who: str) -> None:
        """Start the server or a site as its package says, in a session of its own, with nothing of this program's."""
        package = self.packages / who
        environ = {"PATH": f"{self.programs}:{os.environ['PATH']}", "HOME": str(package)}
        with (package / "out").open("ab") as log:
            command = ["bash", str(package / "startup" / "sub_start.sh"), "--once"]
            self.started[who] = subprocess.Popen(
                command, cwd=package, env=environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    def begin_all(self) -> None:
        """Start the server and all sites, and wait until it knows them."""
        for who in (self.relay, *self.names):
            self.begin(who)
        known = "uccessfully registered"
        until("all sites at the server", lambda: all(known in self.log(site) for site in self.names), 60)

    def all_of(self, who: str) -> list[int]:
        """The processes of FLARE at a site, and of its jobs."""
        return processes_in(self.packages / who)

    def kill_all(self) -> None:
        """SIGKILL for all that runs in this folder."""
        kill(*(process.pid for process in self.started.values()), *processes_in(self.folder))
        for process in self.started.values():
            process.wait()

    def jobs_of(self, who: str) -> list[int]:
        """The processes of the jobs of a site, or of the server."""
        return jobs_in(self.packages / who)

    def submit(self, job: Path) -> None:
        """As the page of the kit says."""
        command = [str(self.programs / "nvflare"), "job", "submit", "-j", str(job)]
        environ = {"PATH": f"{self.programs}:{os.environ['PATH']}", "HOME": str(self.folder)}
        done = subprocess.run(
            [*command, "--startup-kit", str(self.packages / LEAD)],
            env=environ,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert "job_id" in done.stdout, done.stdout + done.stderr

    def frames(self, sender: str) -> int:
        """How many frames the relay has of this participant."""
        return frames_of(self.packages / self.relay, sender)


def written(folder: Path, study: JointStudy) -> None:
    """Everything that the participants of this study have, each in a folder of its own below this one."""
    for name in study.names:
        own = folder / name
        files = ready(own, name, study)
        (own / "study.toml").write_text(text_of(study, study.deadlines.messages))
        if files.policy is not None:
            files.policy.write_text(f'data = "rows.csv"\n{files.policy.read_text()}')


def agreed(folder: Path, messages: float = 600, **other: object) -> JointStudy:
    """A study whose relay is FLARE on a free port here, and what its participants have, below this folder.

    `other`: sections in place of those of `joint_study`.
    """
    stated = joint_study(f"flare://localhost:{free_port()}").model_dump(by_alias=True, exclude_none=True)
    drafted = JointStudy.model_validate({**stated, **other})
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(text_of(drafted, messages))
    study = JointStudy.read(folder / "study.toml")
    written(folder, study)
    return study


def provisioned(sites: FlareSites) -> FlareSites:
    """The kit of a study, made into packages of FLARE as its page says; nothing runs yet."""
    folder, programs = sites.folder, sites.programs
    provision_flare(sites.study, sites.kit)
    command = [str(programs / "nvflare"), "provision", "-p", str(sites.kit / "project.yml")]
    environ = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder)}
    subprocess.run([*command, "-w", str(folder / "provisioned")], env=environ, check=True, capture_output=True)
    shutil.copytree(sites.kit / "relay" / "local", sites.packages / sites.relay / "local", dirs_exist_ok=True)
    resources = sites.packages / sites.relay / "local" / "resources.json"
    resources.write_text(resources.read_text().replace(SERVER_FOLDER_MARK, str(sites.packages / sites.relay)))
    for site, name in sites.names.items():
        shutil.copytree(sites.kit / site / "local", sites.packages / site / "local", dirs_exist_ok=True)
        shutil.copytree(folder / "own" / name, sites.own(site), dirs_exist_ok=True)
    return sites
