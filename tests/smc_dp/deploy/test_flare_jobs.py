"""Studies under a real NVIDIA FLARE 2.9: provisioned sites that meet a hostile hub, and a death."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.flare_sites import RELEASED, FlareSites, agreed, environment, forked, kill, provisioned
from support.organisations import CHARGED_ONCE, entries, until

from smc_dp.cli.main import main
from smc_dp.deploy.flare.templates import EXECUTOR

pytestmark = pytest.mark.slow
RECORD, RELEASE = "transcript.jsonl", "release.json"


@pytest.fixture
def sites(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlareSites]:
    """Sites of a secure sum that can lose a party."""
    target = {"epsilon": "1", "delta": "1e-5", "noise": "ddg", "calibration": "proven"}
    sums = {"name": "secure_sum", "colluders": 0, "dropouts": 1, "most_rows": 10**7, "sizes": "hidden"}
    study = agreed(
        tmp_path / "own", messages=5, insecure_test_keys=False, target=target,
        method={"name": "newton", "adjacency": "replace"},
        protocol={**sums, "verifiable": False, "output": "curator", "left_out": []},
    )  # fmt: skip
    with forked(tmp_path / "bin", environment(tmp_path_factory.getbasetemp().parent)) as programs:
        found = FlareSites(tmp_path, programs, study)
        try:
            yield provisioned(found)
        finally:
            found.kill_all()


# A hub whose own policies let anything through; one site, the twin, lets its jobs do anything too.
TWIN = "site-4"
EVIL = """
import json, os, pathlib
from nvflare.apis.executor import Executor
from nvflare.apis.shareable import Shareable
from nvflare.fuel.f3.cellnet.defs import MessageHeaderKey
from nvflare.fuel.f3.message import Message

HERE = pathlib.Path(os.environ["HOME"], "was-here")

class Evil(Executor):
    def execute(self, task_name, shareable, fl_ctx, abort_signal):
        cell, codes, names = fl_ctx.get_engine().get_cell(), {}, []
        def forge(message):
            message.set_header("client_name", names[-1])
        cell.core_cell.add_outgoing_request_filter("*", "*", forge)
        for name in ("site-4", "site-1"):
            names.append(name)
            asked = cell.send_request(
                channel="smc_dp", target="server." + fl_ctx.get_job_id(), topic="last", timeout=5.0,
                request=Message(payload=bytes.fromhex("82656e6f72746868656e76656c6f7065")),
            )
            codes[name] = asked.get_header(MessageHeaderKey.RETURN_CODE)
        HERE.write_text(json.dumps(codes))
        names.append("site-4")
        return Shareable()
"""
NOT_LISTED = "nvflare.app_common.np.np_trainer.NPTrainer"


def let_anything_through(local: Path) -> None:
    resources = json.loads((local / "resources.json").read_text())
    (local / "resources.json").write_text(json.dumps({**resources, "class_allow_list": ["*"]}))
    rights = json.loads((local / "authorization.json").read_text())
    rights["permissions"]["lead"]["byoc"] = "any"
    (local / "authorization.json").write_text(json.dumps(rights))


def job(sites: FlareSites, name: str, path: str, study: str) -> Path:
    """A job like that of the kit, but for the class that sites are to run and the study that it names."""
    made = shutil.copytree(sites.kit / "job", sites.folder / name)
    meta = json.loads((made / "meta.json").read_text())
    (made / "meta.json").write_text(json.dumps({**meta, "name": name, "min_clients": 1}))
    server, client = (made / "app" / "config" / f"config_fed_{side}.json" for side in ("server", "client"))
    for file in (server, client):
        file.write_text(file.read_text().replace(sites.study.digest, study))
    found = json.loads(client.read_text())
    if path != EXECUTOR:
        found["executors"][0]["executor"] = {"path": path}
    client.write_text(json.dumps(found))
    return made


def test_hostile_jobs_are_refused_and_a_site_that_never_returns_is_gone_on_without(
    sites: FlareSites, capsys: pytest.CaptureFixture[str]
) -> None:
    for who in (sites.relay, TWIN):
        let_anything_through(sites.packages / who / "local")
    hostile = hostile_jobs(sites)
    sites.begin_all()
    check_refusals(sites, hostile)
    until("the end of these jobs", lambda: not any(map(sites.jobs_of, (sites.relay, *sites.names))), 60)
    check_drop_out(sites)
    capsys.readouterr()
    assert main(["audit", str(sites.own("site-1") / "run")]) == 0


def hostile_jobs(sites: FlareSites) -> list[Path]:
    """One that brings code, one that names another class, and one that names another study."""
    other, places = "f" * 64, sites.packages / sites.relay / "local" / "smc_dp"
    shutil.copytree(places / sites.study.digest, places / other)
    code = job(sites, "code", "evil.Evil", sites.study.digest)
    (code / "app" / "custom").mkdir()
    (code / "app" / "custom" / "evil.py").write_text(EVIL)
    study = job(sites, "study", EXECUTOR, other)
    meta = json.loads((study / "meta.json").read_text())  # all would refuse it; FLARE wants the twin
    (study / "meta.json").write_text(json.dumps({**meta, "deploy_map": {"app": ["server", "site-1", TWIN]}}))
    return [code, job(sites, "class", NOT_LISTED, sites.study.digest), study]


def check_refusals(sites: FlareSites, hostile: list[Path]) -> None:
    """What code could do where it runs, at the twin, does not bring it another site's mail."""
    strict = [site for site in sites.names if site != TWIN]
    for made in hostile:
        sites.submit(made)
    left = sites.packages / TWIN / "was-here"
    until("code at the twin", left.exists, 60)
    until("a class refused", lambda: all("is not in allow_list" in sites.log(site) for site in strict), 60)
    refused = "refused: job.unknown_study"
    until("a study refused", lambda: any(refused in sites.log(site) for site in sites.names), 60)
    said = [meta.read_text() for meta in (sites.packages / sites.relay / "jobs").glob("*/meta")]
    assert sum(text.count("BYOC not permitted") for text in said) == len(strict)
    assert not any((sites.packages / site / "was-here").exists() for site in strict)
    assert "is not in allow_list" not in sites.log(TWIN)
    codes = json.loads(left.read_text())
    assert codes.pop(TWIN) == "ok"
    assert "ok" not in codes.values()
    assert "invalid auth token signature" in sites.log(sites.relay)
    assert sites.frames("north") == 0


def check_drop_out(sites: FlareSites) -> None:
    """The job of a site, and FLARE there, die in the session: the others release the same, and the job ends."""
    sites.submit(sites.kit / "job")
    # On a busy machine a look can come after the greetings, so the stage of a sum is as good.
    until("a session", lambda: bool(re.search(r"(greetings|sum\d): ", sites.details("site-2"))), 240, look=0.005)
    doomed = sites.all_of("site-2")
    until("a sum", lambda: "sum1: " in sites.details("site-2"), 120, look=0.005)  # before, nobody can be lost
    kill(*doomed)
    left = [site for site in sites.names if site != "site-2"]
    until("a release at the others", lambda: all(RELEASED in sites.log(site) for site in left), 90)
    until("the job's end", lambda: not sites.jobs_of(sites.relay), 60)
    for name in (RECORD, RELEASE):
        assert len({(sites.own(site) / "run" / name).read_bytes() for site in left}) == 1
    for number, site in ((0, "site-1"), (2, "site-3")):
        assert entries(sites.own(site) / f"{sites.study.parties[number]}.ledger") == CHARGED_ONCE
    record = map(json.loads, (sites.own("site-1") / "run" / RECORD).read_text().splitlines())
    assert {line["from"] for line in record if line.get("kind") == "Absent"} == {"so.uth"}
