"""A site's ledger was witnessed for a study, or the site neither approves the study nor sends anything in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support import studies
from support.relay_carriers import InMemoryCarrier
from support.studies import IDENTITIES, SITE_POLICY, study, text

from smc_dp.cli.main import main
from smc_dp.core.errors import InputFault, UnfitError
from smc_dp.core.private_text import Hear, PrivateText
from smc_dp.deploy.join import Part, SiteFiles, take_part
from smc_dp.deploy.preflight import OwnFiles, preflight_of_files
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.site_policy import SitePolicy
from smc_dp.deploy.study import JointStudy
from smc_dp.deploy.witnesses import COSIGNED
from smc_dp.privacy.ledger.export import read_history
from smc_dp.privacy.ledger.head import HeadRequest
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.privacy.ledger.signed_note import COSIGNATURE, ED25519, SignedNote, VerifierKey
from smc_dp.privacy.ledger.witness import Witness
from tests.support.guarantees import charge
from tests.support.refusals import refused

NORTH, WITNESSES = IDENTITIES["north"], ("south", "west", "east")


class Home:
    """North at home: its ledger, the study, and witnesses that answer at once."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.files = folder, studies.site(folder)
        self.study, self.ledger, self.heads = folder / "study.toml", folder / "north.ledger", folder / "heads"
        self.study.write_text(text())
        self.heads.mkdir()
        Ledger.create(self.ledger, Fraction(1), Fraction(1, 10**4)).close()
        self.witnesses = {name: Witness.create(folder / f"{name}.witness", name) for name in WITNESSES}
        self.says(1, *WITNESSES)

    def says(self, needed: int, *names: str) -> None:
        """Write the site policy, with these witnesses, all of which are needed for 0."""
        self.names(needed, *(self.witnesses[name].key.text for name in names))

    def names(self, needed: int, *keys: str) -> None:
        said = f"needed = {needed}\n" if needed else ""
        own = f'{SITE_POLICY}[witnesses]\nkeys = {list(keys)}\nheads = "heads"\n{said}'
        self.files["policy"].write_text(own)

    def ask(self, name: str, old: int = 0, digest: str | None = None) -> Path:
        """Have a witness cosign the head, for the study unless said otherwise; return the file."""
        digest = study().digest if digest is None else digest
        request = HeadRequest.make(read_history(self.ledger), NORTH, old, digest)
        path = self.heads / f"{len(list(self.heads.iterdir()))}{COSIGNED}"
        path.write_bytes(self.witnesses[name].cosign(request, NORTH.public).encode())
        return path

    @property
    def faults(self) -> list[str]:
        files = OwnFiles(self.files["data"], self.ledger)
        found = preflight_of_files(JointStudy.read(self.study), self.files["key"], self.files["policy"], files)
        return [fault.code for fault in found.faults]

    @property
    def site_files(self) -> SiteFiles:
        named: dict[str, Any] = {name: self.files[name] for name in ("key", "policy", "data")}
        return SiteFiles(**named, ledger=self.ledger, state=self.folder / "state", counters=self.folder / "counters")

    def approve(self, *more: str) -> int:
        given = [f"--{name}={self.files[name]}" for name in ("key", "policy")]
        return main(["study", "approve", str(self.study), *given, *more])

    def join(self, relay: RelayStore, hear: Hear = lambda line: None) -> Part:
        """Take part in the study over this relay, and tell what is said there."""
        return take_part(
            self.study, self.site_files, hear, lambda *asked: InMemoryCarrier(relay, "north", asked[0].digest)
        )


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path)
    yield made
    for witness in made.witnesses.values():
        witness.close()


def test_enough_witnesses_have_to_have_seen_the_ledger_for_this_study(home: Home) -> None:
    assert home.faults == ["witnesses.too_few"]
    rows = home.files["data"].read_text()
    home.files["data"].write_text(f"{rows}not,a,row\n")
    assert home.faults[-1] == "witnesses.too_few" != home.faults[0]  # beside all other faults
    home.files["data"].write_text(rows)
    home.ask("south", digest="")
    home.ask("south", old=1, digest="a" * 64)  # for another study
    assert home.faults == ["witnesses.too_few"]
    home.ask("west")
    assert home.faults == []
    home.says(2, *WITNESSES)
    with refused("witnesses.too_few", needed=2, got=1, names=["south", "east"]):
        SitePolicy.read(home.files["policy"]).check_witnesses(study(), "north", home.ledger)
    home.says(2, "west", "west")  # one witness is not two
    assert home.faults == ["witnesses.too_few"]
    home.says(1, "south")  # the other's head counts for nobody
    assert home.faults == ["witnesses.too_few"]


def test_a_witness_that_has_seen_less_does_not_notice_an_older_copy_so_all_are_needed(home: Home) -> None:
    older, _ = Path(shutil.copy(home.ledger, home.folder / "older")), charge(home.ledger)
    home.ask("south").unlink()  # put back together with the ledger
    shutil.copy(older, home.ledger)
    home.ask("west")
    home.says(1, "south", "west")
    assert home.faults == []  # as the page says
    home.says(0, "south", "west")
    assert home.faults == ["witnesses.too_few"]
    with refused("witness.other_size", seen=2, old=0, entries=1):
        home.ask("south")


def test_a_key_is_one_witness_under_any_name_and_never_the_owner(home: Home) -> None:
    key = home.witnesses["south"].key
    path, other = home.ask("south"), VerifierKey("west", COSIGNATURE, key.public)
    note = SignedNote.read(path.read_bytes())
    renamed = replace(note.signatures[-1], name=other.name, key_id=other.key_id)  # anybody can do it
    path.write_bytes(note.signed(renamed).encode())
    home.names(2, key.text, other.text)
    assert home.faults == ["witnesses.too_few"]
    for other in (VerifierKey("x", COSIGNATURE, NORTH.public), VerifierKey("x", ED25519, key.public)):
        home.names(1, other.text)
        assert home.faults == ["witnesses.no_witness"]


def test_nobody_approves_with_a_ledger_that_no_witness_has_seen(home: Home) -> None:
    ledger = f"--ledger={home.ledger}"
    assert (home.approve(), home.approve(ledger)) == (2, 2)
    assert not list(home.folder.glob("*.approval"))
    request = home.folder / "request"
    said = ["ledger", "head", str(home.ledger), f"--key={home.files['key']}", f"--study={home.study}"]
    assert main([*said, f"--out={request}"]) == 0
    asked = HeadRequest.read(request.read_bytes())
    cosigned = home.witnesses["south"].cosign(asked, NORTH.public).encode()
    (home.heads / f"x{COSIGNED}").write_bytes(cosigned)
    assert (home.approve(), home.approve(ledger)) == (2, 0)
    assert list(home.folder.glob("*.approval"))


def test_an_older_ledger_with_the_heads_of_its_time_is_refused_for_a_new_study(home: Home) -> None:
    home.ask("south", digest="")
    shutil.copytree(home.folder, home.folder / "backup")
    charge(home.ledger)
    home.ask("south", old=1, digest="")
    shutil.copy(home.folder / "backup" / "north.ledger", home.ledger)
    shutil.rmtree(home.heads)
    shutil.copytree(home.folder / "backup" / "heads", home.heads)
    assert home.faults == ["witnesses.too_few"]
    with refused("witness.other_size", seen=2, entries=1):
        home.ask("south", old=1)


def test_a_ledger_that_was_put_back_sends_nothing_but_a_refusal(home: Home) -> None:
    copy = Path(shutil.copy(home.ledger, home.folder / "copy"))
    charge(home.ledger)
    home.ask("south")
    assert home.approve(f"--ledger={home.ledger}") == 0
    shutil.copy(copy, home.ledger)
    relay = RelayStore()
    with pytest.raises(UnfitError) as caught:
        home.join(relay)
    assert [fault.code for fault in caught.value.faults] == ["head.seen_further"]
    assert {frame.lane for _, frame in relay.since(0, "south", everything=True)} == {"refusal"}


def test_at_the_end_a_site_is_asked_to_have_its_ledger_witnessed_again(home: Home) -> None:
    home.study.write_text(text().replace('greetings = "7d"', 'greetings = "0.1s"'))
    home.ask("south", digest=JointStudy.read(home.study).digest)
    assert home.approve(f"--ledger={home.ledger}") == 0
    said: list[PrivateText] = []
    part = home.join(RelayStore(), said.append)
    assert part.code == "approvals.deadline"
    assert said[-1].on_screen() == str(InputFault("witnesses.ask_again"))


def test_a_head_for_another_study_is_compared_too(home: Home) -> None:
    home.ask("south")
    copy = Path(shutil.copy(home.ledger, home.folder / "copy"))
    charge(home.ledger)
    home.ask("south", old=1, digest="a" * 64)
    assert home.faults == []
    shutil.copy(copy, home.ledger)
    assert home.faults == ["head.seen_further"]


def test_heads_of_other_ledgers_and_other_files_are_named(home: Home) -> None:
    home.ask("south")
    (home.heads / f"z{COSIGNED}").write_text("no head")
    assert home.faults == ["note.malformed"]
    other = HeadRequest.make(read_history(home.ledger), IDENTITIES["south"], 0)
    (home.heads / f"z{COSIGNED}").write_bytes(other.encode())
    assert home.faults == ["head.of_another_ledger"]
    (home.heads / f"z{COSIGNED}").rename(home.heads / "z")
    assert home.faults == []
    home.files["policy"].write_text(f'{SITE_POLICY}[witnesses]\nkeys = ["south"]\nheads = "heads"\n')
    assert home.faults == ["vkey.malformed"]
