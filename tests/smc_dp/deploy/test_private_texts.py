"""Cells, paths and names stay with their owner: planted ones are searched for in all that carriers and loggers get."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import logging
import shutil
import stat
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from support import sites
from support.relay_carriers import InMemoryCarrier, PassingCarrier
from support.relays import PARTIES, joint_study, ready, relay, without_server
from support.sites import PromptCarrier, Sites

import smc_dp
from smc_dp.core.errors import InputError
from smc_dp.core.private_text import PrivateText
from smc_dp.data.federation import Rows
from smc_dp.deploy.flare.local import END_CODE
from smc_dp.deploy.frame import Carrier, CarrierError, Frame
from smc_dp.deploy.join import SiteFiles, open_carrier, take_part
from smc_dp.deploy.paths import state_folder
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.relay_wire import encode_parts
from smc_dp.deploy.study import JointStudy
from smc_dp.run.agreement import Agreement

SITE = "smc_dp.deploy.flare.site"
INSTALLED = importlib.util.find_spec("nvflare") is not None


# What the module of FLARE's job takes from NVIDIA FLARE, where that is not installed; with it, the real thing.


class _Executor:
    """A component of FLARE's, as far as its logger goes: that is called by the module of its class."""

    def __init__(self) -> None:
        self.logger = logging.getLogger(f"{self.__class__.__module__}.{self.__class__.__qualname__}")


class _Message:
    def __init__(self, headers: Any = None, payload: Any = None) -> None:
        self.headers, self.payload = headers or {}, payload

    def get_header(self, key: str) -> object:
        return self.headers.get(key)


_OK = SimpleNamespace(OK="ok")
_DEFS = SimpleNamespace(MessageHeaderKey=SimpleNamespace(RETURN_CODE="rc"), ReturnCode=_OK)
_NAMES: dict[str, dict[str, object]] = {
    "apis.executor": {"Executor": _Executor},
    "apis.fl_constant": {"ReturnCode": _OK},
    "apis.fl_context": {"FLContext": object},
    "apis.shareable": {"Shareable": dict, "make_reply": lambda code: {"rc": code}},
    "apis.signal": {"Signal": object},
    "fuel.f3.cellnet": {"defs": _DEFS},
    "fuel.f3.cellnet.fqcn": {"FQCN": SimpleNamespace(ROOT_SERVER="server", join=".".join)},
    "fuel.f3.message": {"Message": _Message},
}


@contextmanager
def flare_site() -> Iterator[Any]:
    """The module of FLARE's job at a site; the loggers that it changes are as they were afterwards."""
    loggers = [logging.getLogger(name) for name in ("smc_dp", "protocols")]
    before = [(logger, logger.propagate, logger.handlers[:]) for logger in loggers]
    known = set(sys.modules)
    if not INSTALLED:
        for name, found in _NAMES.items():
            parts = f"nvflare.{name}".split(".")
            for n in range(1, len(parts) + 1):
                sys.modules.setdefault(".".join(parts[:n]), ModuleType(parts[n - 1]))
            vars(sys.modules[f"nvflare.{name}"]).update(found)
    try:
        yield importlib.import_module(SITE)
    finally:
        for name in set(sys.modules) - known:
            if not INSTALLED and name.partition(".")[0] == "nvflare":
                del sys.modules[name]
        if not INSTALLED:
            sys.modules.pop(SITE, None)
        for logger, propagate, handlers in before:
            logger.propagate, logger.handlers[:] = propagate, handlers


NORTH = PARTIES[0]
CELL, PATH, NAME = "HIV positive 4711", "ward-of-planted-doctor", "patients-of-1987"
PLANTED = (CELL, PATH, NAME)


class Heard(logging.Handler):
    """Every record as a formatter would write it."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(logging.Formatter("%(name)s %(message)s"))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture
def heard() -> Iterator[Heard]:
    """What a handler on the root hears, where every logger tells everything."""
    handler, loggers = Heard(), [logging.getLogger(name) for name in ("", "smc_dp", "protocols")]
    levels = [logger.level for logger in loggers]
    loggers[0].addHandler(handler)
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
    yield handler
    loggers[0].removeHandler(handler)
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


def bad_cell(files: SiteFiles) -> SiteFiles:
    files.data.write_text(f"age,back\n{CELL},yes\n30,no\n")
    return files


def no_file(files: SiteFiles) -> SiteFiles:
    files.data.unlink()
    return files


def no_ledger(files: SiteFiles) -> SiteFiles:
    files.ledger.write_bytes(CELL.encode())
    return files


SPOILT: dict[str, tuple[Callable[[SiteFiles], SiteFiles], Sequence[str]]] = {
    "a cell": (bad_cell, (CELL, PATH, NAME)),
    "a file that is gone": (no_file, (PATH, NAME)),
    "a ledger that is none": (no_ledger, (PATH,)),
}
"""How a site's files are spoilt, and what its owner has to be told of."""


def at_home(folder: Path, relay_address: str, spoil: Callable[[SiteFiles], SiteFiles]) -> tuple[Path, SiteFiles]:
    """A site that is ready, all of whose files have planted names."""
    home = folder / PATH
    files = ready(home, NORTH, joint_study(relay_address))
    data = files.data.rename(home / f"{NAME}.csv")
    return home / "study.toml", spoil(SiteFiles(**{**vars(files), "data": data}))


class Recorded(PassingCarrier):
    """A carrier, and all that is handed to it."""

    def __init__(self, inner: Carrier) -> None:
        super().__init__(inner)
        self.sent: list[Frame] = []

    def send(self, frames: Sequence[Frame]) -> None:
        self.sent += frames
        super().send(frames)


def found_in(*outputs: object) -> list[str]:
    """Which planted texts stand in any of these, in any case of letters."""
    everything = "\n".join(map(repr, outputs)).lower()
    return [planted for planted in PLANTED if planted.lower() in everything]


@pytest.mark.parametrize(
    ("kind", "spoilt"),
    [*(("in memory", spoilt) for spoilt in SPOILT), pytest.param("NATS", "a cell", marks=without_server)],
)
def test_carriers_and_loggers_have_nothing_of_what_the_owner_is_told(
    tmp_path: Path, heard: Heard, kind: str, spoilt: str
) -> None:
    spoil, told = SPOILT[spoilt]
    carriers: list[Recorded] = []
    said: list[PrivateText] = []

    def recorded(*asked: Any) -> Carrier:
        way = InMemoryCarrier(RelayStore(), NORTH, asked[0].digest) if kind == "in memory" else open_carrier(*asked)
        carriers.append(Recorded(way))
        return carriers[0]

    def refusal(address: str, credentials: Path | None = None) -> str:
        study_file, files = at_home(tmp_path, address, spoil)
        if credentials is not None and files.credentials is not None:
            shutil.copytree(credentials, files.credentials)
        with pytest.raises(InputError) as found:
            take_part(study_file, files, said.append, recorded)
        return str(found.value)

    if kind == "in memory":
        text = refusal("flare://relay.example.org:8102")
    else:
        with relay(tmp_path / "relay") as running:
            text = refusal(running.study.relay, running.site(NORTH))
    assert all(planted in text for planted in told)
    sent = [frame.encode() for frame in carriers[0].sent]
    assert len(sent) == 1  # that it does not take part, and no more
    assert found_in(sent, *heard.lines) == []


class Failing(PromptCarrier):
    """Says once why it does not reach the relay, in words of somebody else."""

    failed = False

    def fetch(self, seconds: float) -> list[Frame]:
        if not self.failed:
            self.failed = True
            raise CarrierError("relay.not_reached", why=CELL, hint="")
        return super().fetch(seconds)


def test_a_party_hears_what_it_gains_before_it_has_sent_anything(tmp_path: Path) -> None:
    class StopHereError(Exception):
        pass

    heard_of: list[tuple[int, int]] = []

    def before(agreement: Agreement, rows: Rows) -> None:
        heard_of.append((len(agreement.parties), len(rows)))
        raise StopHereError

    study_file, files = at_home(tmp_path, "flare://relay.example.org:8102", lambda files: files)
    way = Recorded(InMemoryCarrier(RelayStore(), NORTH, JointStudy.read(study_file).digest))
    with pytest.raises(StopHereError):
        take_part(study_file, files, lambda text: None, lambda *asked: way, before)
    assert heard_of == [(len(PARTIES), len(files.data.read_text().splitlines()) - 1)]
    assert way.sent == []
    assert not state_folder(study_file, NORTH).exists()


def test_a_site_logs_the_code_of_an_error_of_its_carrier_and_its_owner_has_the_text(
    tmp_path: Path, heard: Heard
) -> None:
    study = sites.joint(sites.PRR_MEAN)
    run = Sites(study, tmp_path, between=lambda name, carrier: Failing(carrier.relay, name, study.digest))
    run.begin(study.parties[0])
    run.turn(study.parties[0])
    assert any(CELL in line for line in run.said[study.parties[0]])
    assert any("relay.not_reached" in line for line in heard.lines)
    assert found_in(*heard.lines) == []


class Cell:
    """FLARE's way to the server: it answers that there is nothing."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []

    def send_request(self, *, request: Any, **_: object) -> Any:
        self.asked.append(bytes(request.payload))
        return SimpleNamespace(get_header=lambda key: "ok", payload=encode_parts([]))


def flare_job(local: Path, cell: Cell, digest: str, **changes: object) -> Any:
    """One job at a site, whose own folder is `local`: what it tells, by FLARE's real class where that is there."""
    workspace = SimpleNamespace(get_site_config_dir=lambda: str(local))
    engine = SimpleNamespace(get_workspace=lambda: workspace, get_cell=lambda: cell)
    context = SimpleNamespace(get_engine=lambda: engine, get_identity_name=lambda: "site-1", get_job_id=lambda: "job-1")
    with flare_site() as site:
        for name, value in changes.items():
            setattr(site, name, value)
        return site.SiteExecutor(digest).execute("take_part", {}, context, SimpleNamespace(triggered=False))


def in_flare(folder: Path, spoil: Callable[[SiteFiles], SiteFiles]) -> tuple[Path, str, Path]:
    """A site's FLARE folder, the digest of its study, and the file with its details."""
    study = joint_study("flare://relay.example.org:8102")
    study_file, files = at_home(folder, study.relay, spoil)
    own = folder / "local" / "smc_dp" / study.digest
    own.mkdir(parents=True)
    named = {**{n: str(p) for n, p in vars(files).items() if p and n != "credentials"}, "study": str(study_file)}
    (own / "site-1.toml").write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in named.items()))
    return folder / "local", study.digest, own / "site-1.details"


@pytest.mark.parametrize("spoilt", SPOILT)
def test_flare_s_log_has_the_code_of_a_refusal_and_its_owner_the_text(
    tmp_path: Path, heard: Heard, capfd: pytest.CaptureFixture[str], spoilt: str
) -> None:
    spoil, told = SPOILT[spoilt]
    local, digest, details = in_flare(tmp_path, spoil)
    cell = Cell()
    reply = flare_job(local, cell, digest)
    assert reply[END_CODE] == "refused"
    assert any("refused: " in line for line in heard.lines)
    assert found_in(cell.asked, dict(reply), *heard.lines, capfd.readouterr()) == []
    assert stat.S_IMODE(details.stat().st_mode) == 0o600
    assert all(planted in details.read_text() for planted in told)


def test_flare_hears_of_a_failure_that_nobody_foresaw_what_kind_it_is_and_no_more(
    tmp_path: Path, heard: Heard, capfd: pytest.CaptureFixture[str]
) -> None:
    local, digest, details = in_flare(tmp_path, lambda files: files)

    def fails(*_: object) -> None:
        logging.getLogger("smc_dp.run").error("a line about %s", CELL)
        raise KeyError(CELL)

    reply = flare_job(local, Cell(), digest, take_part=fails)
    assert reply[END_CODE] == "failed"
    assert [line for line in heard.lines if "KeyError" in line]
    assert found_in(dict(reply), *heard.lines, capfd.readouterr()) == []
    assert CELL in details.read_text()
    assert "a line about" not in details.read_text()  # sites of one process would write into each other's files


def test_a_warning_inside_flare_is_its_owner_s(tmp_path: Path, heard: Heard, capfd: pytest.CaptureFixture[str]) -> None:
    """Python writes warnings to standard error, which FLARE keeps: they may say how many rows are clipped."""
    local, digest, details = in_flare(tmp_path, lambda files: files)

    def warns(*_: object) -> None:
        warnings.simplefilter("default")  # as outside of a test
        warnings.warn(CELL, stacklevel=1)
        raise InputError("rows.none")

    assert flare_job(local, Cell(), digest, take_part=warns)[END_CODE] == "refused"
    assert found_in(*heard.lines, capfd.readouterr()) == []
    assert f"UserWarning: {CELL}" in details.read_text().splitlines()


# The lint: what a logger in the rooms of a site is given.

ROOMS = ("deploy", "privacy/ledger", "run")
_LEVELS = {"debug", "info", "warning", "error", "exception", "critical", "log"}


def told_texts(source: str) -> Iterator[int]:
    """The lines on which a logger is given an error, but for its code and its type, a path, or a private text."""
    tree = ast.parse(source)
    errors = {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        logger = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr in _LEVELS else None
        if logger is None or not ast.unparse(logger).lower().endswith(("_log", "logger")):
            continue
        codes = [node.value for node in ast.walk(call) if isinstance(node, ast.Attribute) and node.attr == "code"]
        types = [node for node in ast.walk(call) if isinstance(node, ast.Call) and ast.unparse(node.func) == "type"]
        harmless = {id(inner) for node in (*codes, *types) for inner in ast.walk(node)}
        inner = [node for node in ast.walk(call) if id(node) not in harmless]
        names = {node.id for node in inner if isinstance(node, ast.Name)}
        attributes = {node.attr for node in inner if isinstance(node, ast.Attribute)}
        keywords = {keyword.arg for keyword in call.keywords}
        text = {"path", "why", "fault", "on_screen", "exception"} & attributes or keywords & {"exc_info", "stack_info"}
        if names & errors or text:
            yield call.lineno


def test_no_logger_of_a_site_is_given_the_text_of_an_error_or_a_path() -> None:
    root = Path(smc_dp.__file__).parent
    found = {
        f"{path.relative_to(root)}:{line}"
        for room in ROOMS
        for path in (root / room).rglob("*.py")
        for line in told_texts(path.read_text())
    }
    assert found == set()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        *(("self.logger.error(f'refused: {error}')", [4]), ("_LOG.info('%s', str(error))", [4])),
        *(("_LOG.exception('it failed')", [4]), ("_LOG.info('failed', exc_info=True)", [4])),
        *(("_LOG.info('ledger %s', self.path)", [4]), ("_LOG.info('%s', text.on_screen())", [4])),
        *(("_LOG.info('%s', error.code)", []), ("_LOG.error('%s', type(error).__name__)", [])),
    ],
)
def test_the_lint_notices_texts_and_lets_codes_pass(line: str, found: list[int]) -> None:
    assert list(told_texts(f"try:\n    pass\nexcept ValueError as error:\n    {line}\n")) == found
