"""Witnesses of a site's ledger that cosign its head for a study by hand or over HTTP, such as one outside of the study.

The other sites of the study need nothing of this (`ledger_heads`). A site names its witnesses in its own file. Before
it approves a study, and before it sends anything in it, its ledger has to extend every head that they have cosigned,
and enough of them have to have cosigned one that names this study. A ledger that was put back to an older copy has no
such head: a witness that has seen more does not cosign it.

A witness has seen what was charged before the head, so the charge of a study is seen with the head after the study, and
`join` asks its owner for it, or the witness itself. A copy from before the charge that is put back before that is not
found. An older copy is found if the newest head of a witness that saw more is in the folder, or if such a witness is
asked for this study after the copy was put back. `approve` and `join` ask those that have an address.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from protocols.crypto.identity import Signer
from smc_dp.core.documents import Document
from smc_dp.core.errors import FaultCollector, InputError, shown
from smc_dp.core.private_text import Hear, PrivateText
from smc_dp.core.writing import replace_file
from smc_dp.deploy.fields import Count
from smc_dp.deploy.outside_witness import NOT_COSIGNED, ask_witness, check_address
from smc_dp.privacy.ledger.head import HeadRequest, check_cosigned, verify_head
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.privacy.ledger.signed_note import COSIGNATURE, SignedNote, VerifierKey

COSIGNED = ".cosigned"


def _vkey(text: str) -> str:
    return VerifierKey.read(text).text


WitnessKeyText: TypeAlias = Annotated[str, AfterValidator(_vkey)]
WitnessAddress: TypeAlias = Annotated[str, AfterValidator(check_address)]


class WitnessSection(Document):
    """Public keys of the witnesses, the folder of the heads that they cosigned, and how many a study needs.

    `needed`: all of them by default, as one that has seen less does not notice an older copy. `urls`: addresses of
    witnesses over HTTP, by the names of their keys.
    """

    keys: list[WitnessKeyText]
    heads: str
    needed: Count | None = None
    urls: dict[str, WitnessAddress] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits_together(self) -> WitnessSection:
        names = {VerifierKey.read(key).name for key in self.keys}
        if missing := [name for name in self.urls if name not in names]:
            raise InputError("witnesses.url_without_key", names=[shown(name) for name in missing])
        return self

    def ask(self, folder: Path, ledger: Path, signer: Signer, study: str, hear: Hear, over: bool) -> None:
        """Ask the witnesses that have an address to cosign the head of the ledger for a study, and keep their answers.

        One that does not is heard of, and `check` counts it as missing. InputError for a ledger that some of them have
        seen further, or with other entries, when all have been asked. Of each witness the folder has one head for each
        study that is not `over`, and the one that it gave last when a study was: this extends those before it.
        """
        found, place = FaultCollector(), folder / self.heads
        for key in map(VerifierKey.read, self.keys):
            if key.name not in self.urls:
                continue
            with found.step():
                try:
                    note = ask_witness(self.urls[key.name], key, ledger, signer, study)
                except InputError as error:
                    if error.code not in NOT_COSIGNED:
                        raise
                    hear(PrivateText(str(error)))
                    continue
                going, last = (place / f"{part}{key.key_id.hex()}{COSIGNED}" for part in (f"{study[:16]}-", ""))
                _keep(note, last if over else going)
                if over:
                    going.unlink(missing_ok=True)
        found.require(f"ledger {ledger}")

    def check(self, folder: Path, ledger: Path, owner: bytes, study: str | None) -> None:
        """Raise InputError unless the ledger extends all cosigned heads, and enough witnesses cosigned one for a study.

        folder: what `heads` is relative to. owner: the public key of the site. study: the digest of the study; None
        where no head for one is needed.
        """
        with Ledger.open(ledger) as opened:
            history = opened.history()
        place, silent = folder / self.heads, list[str]()
        notes = list(_cosigned_heads(place, owner))
        # One key under two names is one witness.
        witnesses = {key.public: key for key in map(VerifierKey.read, self.keys)}.values()
        needed = len(witnesses) if self.needed is None else self.needed
        for witness in witnesses:
            if witness.public == owner or witness.kind != COSIGNATURE:
                raise InputError("witnesses.no_witness", name=witness.name)
            try:
                check_cosigned(history, notes, owner, witness)
                seen = study is None or check_cosigned(history, notes, owner, witness, study) is not None
            except InputError as error:
                raise error.within(f"ledger {ledger}") from None
            if not seen:
                silent.append(witness.name)
        if (got := len(witnesses) - len(silent)) < needed:
            raise InputError("witnesses.too_few", needed=needed, got=got, names=silent, folder=str(place))


def _keep(note: SignedNote, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("folder.not_written", why=error.strerror).within(str(path.parent)) from None
    replace_file(path, note.encode(), f"head {path}")


def _cosigned_heads(folder: Path, owner: bytes) -> Iterator[SignedNote]:
    for path in sorted(folder.glob(f"*{COSIGNED}")):
        note = HeadRequest.read_file(path).note
        try:
            verify_head(note, owner)
        except InputError as error:
            raise error.within(f"head {path}") from None
        yield note
