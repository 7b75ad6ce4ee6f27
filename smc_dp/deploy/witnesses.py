"""Witnesses of a site's ledger that cosign its head for a study by hand, such as one outside of the study.

The other sites of the study need nothing of this (`ledger_heads`). A site names its witnesses in its own file. Before
it approves a study, and before it sends anything in it, its ledger has to extend every head that they have cosigned,
and enough of them have to have cosigned one that names this study. A ledger that was put back to an older copy has no
such head: a witness that has seen more does not cosign it.

A witness has seen what was charged before the head, so the charge of a study is seen with the head after the study, and
`join` asks its owner for it. A copy from before the charge that is put back before that is not found. Nobody asks a
witness here: an older copy is found if the newest head of a witness that saw more is in the folder, or if such a
witness is asked for this study after the copy was put back.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import AfterValidator

from smc_dp.core.documents import Document
from smc_dp.core.errors import InputError
from smc_dp.deploy.fields import Count
from smc_dp.privacy.ledger.head import HeadRequest, check_cosigned, verify_head
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.privacy.ledger.signed_note import COSIGNATURE, SignedNote, VerifierKey

COSIGNED = ".cosigned"


def _vkey(text: str) -> str:
    return VerifierKey.read(text).text


WitnessKeyText: TypeAlias = Annotated[str, AfterValidator(_vkey)]


class WitnessSection(Document):
    """Public keys of the witnesses, the folder of the heads that they cosigned, and how many a study needs.

    `needed`: all of them by default, as one that has seen less does not notice an older copy.
    """

    keys: list[WitnessKeyText]
    heads: str
    needed: Count | None = None

    def check(self, folder: Path, ledger: Path, owner: bytes, study: str) -> None:
        """Raise InputError unless the ledger extends all cosigned heads, and enough witnesses cosigned one for a study.

        folder: what `heads` is relative to. owner: the public key of the site. study: the digest of the study.
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
                seen = check_cosigned(history, notes, owner, witness, study)
            except InputError as error:
                raise error.within(f"ledger {ledger}") from None
            if seen is None:
                silent.append(witness.name)
        if (got := len(witnesses) - len(silent)) < needed:
            raise InputError("witnesses.too_few", needed=needed, got=got, names=silent, folder=str(place))


def _cosigned_heads(folder: Path, owner: bytes) -> Iterator[SignedNote]:
    for path in sorted(folder.glob(f"*{COSIGNED}")):
        note = HeadRequest.read_file(path).note
        try:
            verify_head(note, owner)
        except InputError as error:
            raise error.within(f"head {path}") from None
        yield note
