"""What was done against the risks, and what was checked of it: sentences about measures."""

from __future__ import annotations

from smc_dp.audit.run.words import NO_PROOF
from smc_dp.dossier.facts import ApprovedStudy, AssuranceReached, LedgerCost, LetterCount, NoiseBy
from smc_dp.dossier.processing import counted
from smc_dp.privacy.statement import PrivacyStatement


def noise_added(noise: str, noise_by: NoiseBy, calibration: str) -> str:
    """The noise."""
    where = {
        "the smallest party": "drawn by every party, and the protocol adds that of the smallest",
        "shares of all": "drawn in shares, one by each party, and added up with the sums",
        "each party by itself": "drawn by each party for its own model",
    }[noise_by]
    scale = "as large as the proof asks" if calibration == "proven" else "as large as the paper prints"
    return (
        f"By what was agreed on, noise of law {noise} is {where}; it is to be {scale}, which follows again from the "
        "public parameters. Whether it was drawn so, the record does not show."
    )


def guaranteed(guarantee: PrivacyStatement) -> str:
    """The figures."""
    if guarantee.epsilon is None:
        return f"There is no guarantee of differential privacy for one {guarantee.unit}."
    delta = f", delta = {guarantee.delta:.6g}" if guarantee.delta else ", delta = 0"
    return (
        f"The release states that it is differentially private with epsilon = {guarantee.epsilon:.6g}{delta}, for one "
        f"{guarantee.unit} (neighbours by {guarantee.adjacency}); the audit derived the same figures from the "
        "parameters."
    )


def sealed(letters: LetterCount, vanished: tuple[str, ...], key_bits: int | None) -> str:
    """Encryption."""
    paillier = f" What is computed under encryption is under Paillier keys of {key_bits:,} bits." if key_bits else ""
    late = " but for the last letters of those who vanished" if vanished else ""
    return (
        f"Each of the {letters.sealed:,} letters is encrypted for its reader (X25519, ChaCha20-Poly1305), and "
        f"everything that anybody sent is under its signature (Ed25519){late}.{paillier}"
    )


def held_against(parties: tuple[str, ...], colluders: int | None, dropouts: int | None) -> str | None:
    """How many may break the rules."""
    if colluders is None:
        return None
    return (
        f"The protocol was set up for {colluders} of {len(parties)} parties who work together with Charlie, while up "
        f"to {dropouts} vanish; against whom that holds, the guarantee says."
    )


def keeping_to_the_rules(protocol: str, colluders: int | None) -> str | None:
    """Whom everybody has to trust, where the protocol takes rules to be kept."""
    if colluders is not None:
        return None
    return f"Protocol {protocol} takes all who take part to keep to its rules; who breaks them can remove all noise."


def budget(charged: LedgerCost | None, parties: tuple[str, ...]) -> str:
    """What each ledger is charged."""
    if charged is None:
        return (
            f"No budget can be kept of it: a ledger of any of the {len(parties)} parties refuses what guarantees "
            "nothing."
        )
    return (
        f"Where a party keeps a ledger, this release is charged there as epsilon {charged.epsilon}, delta "
        f"{charged.delta}; whether the {len(parties)} parties keep ledgers does not show in the record."
    )


def approved(study: ApprovedStudy | None, parties: tuple[str, ...]) -> str:
    """Approvals."""
    if study is None:
        return f"None of the {len(parties)} parties signed an approval of what was to be computed."
    return (
        f"All {len(parties)} parties signed an approval of method, columns, ranges and guarantee before anything was "
        "sent."
    )


def audited(checks_passed: tuple[str, ...], checks_open: tuple[str, ...]) -> str:
    """What an audit found."""
    return (
        f"An audit made {len(checks_passed)} checks of the run, and none failed; {len(checks_open)} more could not be "
        f"made. {NO_PROOF}"
    )


def open_checks(checks_open: tuple[str, ...]) -> str | None:
    """Which checks were not made."""
    return f"Not made, and so nothing is known of them: {', '.join(checks_open)}." if checks_open else None


def assured(assurance: AssuranceReached) -> str:
    """How far the audit came."""
    if not assurance.number:
        return "The run reached none of three levels of assurance."
    return f"Of three levels of assurance it reached the level {assurance.number}: {assurance.name}. {assurance.words}"


def not_assured(assurance: AssuranceReached) -> str | None:
    """What is missing for the next level."""
    if not assurance.next:
        return None
    return f"For the next level, {assurance.next}, there was missing: {'; '.join(assurance.missing)}."


def authentic(pinned: int) -> str:
    """Whether it is known whose keys signed."""
    if not pinned:
        return (
            "That the signatures are those of the parties that are named is not known: no public keys were given from "
            "elsewhere."
        )
    return f"Signatures were held against {counted(pinned, 'public key')} known from elsewhere, and are theirs."


def replayed(views: int, parties: tuple[str, ...]) -> str:
    """Whether messages were computed again."""
    if not views:
        return f"What the {len(parties)} parties did at home was not looked at: no views were given."
    return f"What {views} of those who took part say they did and saw was computed again, and agrees with the record."


def which_release(release_digest: str) -> str:
    """What all of it is about."""
    return f"All of this is about the release.json with SHA-256 {release_digest}."


def which_session(session: str) -> str:
    """In which session it was made."""
    return f"Everybody who took part signed its messages in session {session}."
