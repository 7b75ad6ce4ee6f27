"""A study of three parties and Charlie, and a real nats-server on this machine from the kit that was made for it."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import pytest
import tomlkit
from cryptography import x509
from cryptography.x509.oid import NameOID

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.curator import CURATOR_NAME
from smc_dp.core.documents import parse_document
from smc_dp.deploy.approval import Approval
from smc_dp.deploy.frame import MOST_FRAME_BYTES, CarrierError, Frame
from smc_dp.deploy.join import SiteFiles
from smc_dp.deploy.nats.carrier import NatsCarrier
from smc_dp.deploy.nats.connection import CERTIFICATE_FILE, relay_address
from smc_dp.deploy.nats.provision import MOST_STUDY_BYTES, open_study, provision_relay, subjects_of
from smc_dp.deploy.nats.subjects import RelaySubjects
from smc_dp.deploy.study import STUDY_FORMAT, JointStudy
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.run.approvals import RANDOM_BYTES

PARTIES = ("north", "so.uth", "WEST-3")
SERVER = "nats-server"
without_server = pytest.mark.skipif(
    shutil.which(SERVER) is None, reason="nats-server is not installed (Debian: apt install nats-server)"
)


def identity(name: str) -> Identity:
    return Identity.generate(Stream.insecure_from_seed(name))


def study_text(relay: str, title: str = "Readmission") -> str:
    found = {
        **{"format": STUDY_FORMAT, "title": title, "purpose": "a trial", "relay": relay, "insecure_test_keys": True},
        "method": {"name": "prr_mean", "lambda": "1/100"},
        "target": {"epsilon": "1", "noise": "knorm", "calibration": "proven"},
        "protocol": {"name": "pathak2010", "key_bits": 256, "comparison": "all-pairs", "ring_bits": 64},
        "deadlines": {"greetings": 60, "messages": 60},
        "parties": [{"name": name, "key": identity(name).public.hex()} for name in PARTIES],
        "curator": {"key": identity(CURATOR_NAME).public.hex()},
        "bounds": {"columns": {"age": [0, 120]}, "label": {"classes": ["no", "yes"], "column": "back"}},
    }
    return tomlkit.dumps(found)


def joint_study(relay: str, title: str = "Readmission") -> JointStudy:
    return parse_document(JointStudy, study_text(relay, title), "study")


def ready(folder: Path, name: str, study: JointStudy) -> SiteFiles:
    """All that a site has at home when it has approved of the study, in a new folder, but for its credentials."""
    folder.mkdir(parents=True)
    key, approval = folder / f"{name}.key", folder / f"study.{name}.approval"
    (folder / "study.toml").write_text(study_text(study.relay, study.title))
    key.write_text(f"{identity(name).seed.hex()}\n")
    key.chmod(0o600)
    drawn = Stream.from_system().bytes(RANDOM_BYTES)
    approval.write_bytes(Approval.made(study.digest, name, identity(name), drawn).encode())
    found = SiteFiles(
        key, approval=approval, state=folder / f"study.{name}.state",
        counters=folder / "counters", credentials=folder / "credentials", out=folder / "run",
    )  # fmt: skip
    if name == CURATOR_NAME:
        return found
    count = 20 + 5 * PARTIES.index(name)
    cells = (f"{20 + 3 * i % 80},{'yes' if i % 3 else 'no'}" for i in range(count))
    (folder / "rows.csv").write_text("\n".join(["age,back", *cells]) + "\n")
    (folder / "own.toml").write_text("[limits]\nmax_epsilon = 9\nmax_delta = 0.5\ninsecure = true\n")
    Ledger.create(folder / f"{name}.ledger", Fraction(9), Fraction(1, 2)).close()
    return replace(found, policy=folder / "own.toml", data=folder / "rows.csv", ledger=folder / f"{name}.ledger")


def free_port(host: str = "127.0.0.1") -> int:
    with closing(socket.socket()) as found:
        found.bind((host, 0))
        return int(found.getsockname()[1])


def sealed(subjects: RelaySubjects, sender: str, to: str) -> Frame:
    """The one frame between two sites in tests of what others can do at the relay."""
    return Frame(subjects.study, sender, to, "envelope", 0, b"sealed")


def account_of(kit: Path, subjects: RelaySubjects) -> str:
    """The account that stores a study of a kit, by its operator's certificate."""
    certificate = kit / "operator" / "studies" / subjects.stream / CERTIFICATE_FILE
    found = x509.load_pem_x509_certificate(certificate.read_bytes())
    (account,) = found.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    return str(account.value)


def place(subjects: RelaySubjects, sender: str, to: str) -> str:
    """The subject of that frame."""
    return subjects.of_frame(sealed(subjects, sender, to))


@dataclass
class NatsRelay:
    """A nats-server and the kit that it runs from; `subjects` are those of its study."""

    study: JointStudy
    kit: Path
    process: subprocess.Popen[bytes]
    handed: Path | None = None
    """Where the sites' credentials are after they left the kit."""

    @property
    def subjects(self) -> RelaySubjects:
        return subjects_of(self.study)

    @property
    def operator(self) -> Path:
        return self.kit / "operator"

    @property
    def credentials(self) -> Path:
        """The operator's, for this study."""
        return self.operator / "studies" / self.subjects.stream

    def site(self, name: str) -> Path:
        return (self.handed or self.kit / "sites") / name

    def carrier(self, name: str, patience: float = 15.0, most_bytes: int = MOST_FRAME_BYTES) -> NatsCarrier:
        folder, options = self.site(name), {"patience": patience, "most_bytes": most_bytes}
        return NatsCarrier(self.subjects, self.study.relay, name, folder, **options)

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        self.process.wait()

    def start(self) -> None:
        self.process = served(self.operator)

    def reload(self) -> None:
        """Have the running server read its configuration again, twice as the page says."""
        for _ in range(2):
            subprocess.run([SERVER, "--signal", "reload=server.pid"], cwd=self.operator, check=True)
            time.sleep(0.5)

    def hand_over(self, folder: Path) -> None:
        """Move the sites' credentials out of the kit."""
        (self.kit / "sites").rename(folder)
        self.handed = folder

    def another(self, title: str) -> NatsRelay:
        """Return the same relay for another study of the same parties, once that is in its kit."""
        study = joint_study(self.study.relay, title)
        provision_relay(study, self.kit)
        return NatsRelay(study, self.kit, self.process)


def served(folder: Path, prefix: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
    """A nats-server with the configuration in this folder."""
    with (folder / "log").open("ab") as log:
        return subprocess.Popen([*prefix, SERVER, "-c", "server.conf"], cwd=folder, stdout=log, stderr=log)


@contextmanager
def relay(
    folder: Path,
    title: str = "Readmission",
    twin: Callable[[RelaySubjects, str, str], str] | None = None,
    *,
    opened: bool = True,
    stated: Callable[[str], JointStudy] | None = None,
) -> Iterator[NatsRelay]:
    """A running one, on a port of its own and open for its study; `twin`: its configuration in place of the kit's.

    stated: the study of an address, another than that of this file.
    A twin takes the subjects, the address of the relay and the account that stores the study.
    """
    address = f"tls://127.0.0.1:{free_port()}"
    study = joint_study(address, title) if stated is None else stated(address)
    provision_relay(study, folder / "kit")
    if twin is not None:
        subjects = subjects_of(study)
        text = twin(subjects, study.relay, account_of(folder / "kit", subjects))
        (folder / "kit" / "operator" / "server.conf").write_text(text)
    running = NatsRelay(study, folder / "kit", served(folder / "kit" / "operator"))
    try:
        wait_for(running.study)
        if opened:
            open_study(study, running.kit)
        yield running
    finally:
        running.kill()


def two_studies(first: NatsRelay, folder: Path, most_bytes: int = MOST_STUDY_BYTES) -> NatsRelay:
    """Return the second study at a running relay, which went on."""
    first.hand_over(folder / "handed")
    second = first.another("Length of stay")
    second.reload()
    open_soon(second.study, second.kit, most_bytes)
    return second


def open_soon(study: JointStudy, kit: Path, most_bytes: int = MOST_STUDY_BYTES) -> None:
    """Open a study as soon as the server knows it."""
    for _ in until(10):
        with suppress(CarrierError):
            open_study(study, kit, most_bytes)
            break


def wait_for(study: JointStudy) -> None:
    """Until somebody listens at its relay."""
    for _ in until(10):
        with suppress(ConnectionRefusedError), socket.create_connection(relay_address(study.relay), 1):
            return
        time.sleep(0.02)


def until(seconds: float) -> Iterator[float]:
    """Again and again, what is left."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        yield left
