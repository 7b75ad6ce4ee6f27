"""That a site does not take part as things stand, the others hear while they wait for its approval."""

from __future__ import annotations

from pathlib import Path

from support import sites
from support.sites import Sites

from protocols.runtime.session import PUBLIC_NAME
from smc_dp.deploy.frame import Frame
from smc_dp.run.status_message import Notice


def test_a_refusal_is_heard_before_there_is_a_session(fast_path: Path) -> None:
    study = Sites(sites.joint(sites.few_sums(colluders=1, dropouts=0)), fast_path)
    digest = study.study.digest
    for number, signer in enumerate(("P2", "P3")):  # the second is signed by somebody else
        notice = Notice.made(digest, b"", "P2", "refused", b"", sites.identity(signer))
        study.relay.put(Frame(digest, "P2", PUBLIC_NAME, "refusal", number, notice.encode()))
    study.away.add("P2")
    study.begin("P1")
    study.turn("P1")
    assert study.said["P1"].count("status of P2: refused") == 1
    assert study.said["P1"].count("ignored a malformed status message of 'P2'") == 1
    assert study.facts("P1")["waiting"] == ["P2", "P3", "charlie"]
    study.away.clear()
    assert sites.ends(study.run()) == ["released"] * 4  # it has thought again
    study.close()
