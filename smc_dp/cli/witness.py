"""Commands with which sites witness each other's ledgers: `ledger head`, `witness`, `cosign` and `compare`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.identities import warn_exposed
from smc_dp.cli.study import OwnKey
from smc_dp.core.errors import InputError

if TYPE_CHECKING:
    from smc_dp.pages.blocks import Prose
    from smc_dp.privacy.ledger.history import History
    from smc_dp.privacy.ledger.signed_note import VerifierKey

_PARTY_HELP = "Public key of the ledger's owner, by `smc-dp identities new`."
Owner = Annotated[str | None, typer.Option(metavar="NAME.pub|NAME=PUBLICKEY", help=_PARTY_HELP)]
NamedOwner = Annotated[str, typer.Option(metavar="NAME.pub|NAME=PUBLICKEY", help=_PARTY_HELP)]
CosignedHeads = Annotated[
    list[Path] | None, typer.Option(metavar="FILE", help="A head that a witness has cosigned; repeat it.")
]
WitnessKeys = Annotated[
    list[str] | None,
    typer.Option(metavar="VKEY|FILE", help="Public key of a witness that must have cosigned a head; repeat it."),
]
StudyOfHeads = Annotated[
    Path | None,
    typer.Option("--study", metavar="STUDY", help="A study of this site: check the heads that it has of it."),
]
StateOfHeads = Annotated[
    Path | None,
    typer.Option("--state", metavar="DIR", help="SECRET: folder of the study's state [default: <study>.<name>.state]."),
]
WitnessFile = Annotated[
    Path, typer.Option(metavar="FILE", help="SECRET: file that makes this site a witness, by `smc-dp ledger witness`.")
]
HeadFile = Annotated[
    Path, typer.Argument(metavar="HEAD", help="Signed digest of a ledger's entries, by `smc-dp ledger head`.")
]


def sign_head(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The ledger, or a JSON export of it.")],
    key: OwnKey,
    out: Annotated[Path, typer.Option(metavar="HEAD", help="File to write, for a witness.")],
    old: Annotated[
        int, typer.Option(min=0, metavar="SIZE", help="Number of entries that the witness has seen [default: 0].")
    ] = 0,
    study: Annotated[
        Path | None, typer.Option(metavar="STUDY", help="Study that the head is for; its digest stands in the head.")
    ] = None,
) -> None:
    """Sign the head of a ledger for a witness. Its proof says that it extends what this witness has seen.

    The head shows the number of entries and of charges, and nothing else of them. Have only one
    ledger witnessed for each identity.

    \b
    Examples:
      smc-dp ledger head north.ledger --key north.key --out north.head
      smc-dp ledger head north.ledger --key north.key --old 3 --out north-2.head
      smc-dp ledger head north.ledger --key north.key --old 5 --study study.toml --out north-3.head
    """
    from smc_dp.core.writing import write_new
    from smc_dp.deploy.study import JointStudy
    from smc_dp.privacy.ledger.export import read_history
    from smc_dp.privacy.ledger.head import HeadRequest, key_of
    from smc_dp.run import identities

    identity = identities.read_identity(key)
    warn_exposed([key])
    digest = "" if study is None else JointStudy.read(study).digest
    made = HeadRequest.make(read_history(file), identity, old, digest)
    write_new(out, made.encode(), f"head {out}")
    print(f"Written: {out}. Hand it to a witness, which runs `smc-dp ledger cosign`.")
    public = key_of(identity.public, made.head.origin).text
    print(f"A witness that is a web service needs this public key of the ledger: {public}")


def keep_witness(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="SECRET: the witness, a file.")],
    new: Annotated[str | None, typer.Option(metavar="NAME", help="Make the witness, under this name.")] = None,
    party: Owner = None,
    every: Annotated[
        bool,
        typer.Option(
            "--all", help="With --party: print all heads with their proofs, for an owner that has lost the ledger."
        ),
    ] = False,
) -> None:
    """Make a witness, or print its public key. With --party: the last head that it cosigned for this party.

    A witness keeps all heads that it cosigned, and a key of its own. Never put an older copy of the file back: it has
    forgotten what the witness saw. Make a new witness, and hand over its key.

    \b
    Examples:
      smc-dp ledger witness south.witness --new south > south.vkey
      smc-dp ledger witness south.witness
      smc-dp ledger witness south.witness --party north.pub
      smc-dp ledger witness south.witness --party north.pub --all > south.seen
    """
    from smc_dp.privacy.ledger.witness import Witness

    with Witness.open(file) if new is None else Witness.create(file, new) as witness:
        if party is None:
            print(witness.key.text)
            return
        heads = witness.heads(_public(party))
    if not heads:
        raise InputError("witness.never_seen", party=party)
    shown = heads if every else [heads[-1].note]
    print("\n".join(head.encode().decode() for head in shown), end="")


def recover_ledger(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An older copy of the ledger, or a new ledger.")],
    party: NamedOwner,
    seen: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Heads that a witness keeps, by `smc-dp ledger witness --all`; repeat it."),
    ] = None,
    study: Annotated[
        list[Path] | None, typer.Option(metavar="STUDY", help="A study that the heads name; repeat it.")
    ] = None,
) -> None:
    """Replace a lost ledger by an older copy or a new one, and charge what the witnesses have seen.

    If the heads of one witness explain every charge since the copy, each of these sessions is charged in full. In every
    other case, and without --seen, the whole budget is charged. Keep a copy of the file: nothing takes that back.

    Ask all witnesses of all studies first.

    \b
    Examples:
      smc-dp ledger recover north.ledger --party north.pub --seen south.seen --seen west.seen --study study.toml
      smc-dp ledger recover north.ledger --party north.pub
    """
    from smc_dp.core import reading
    from smc_dp.deploy.study import JointStudy
    from smc_dp.pages.blocks import coded_prose
    from smc_dp.privacy.ledger import report
    from smc_dp.privacy.ledger.head import HeadRequest, LedgerRecovery, verify_head
    from smc_dp.privacy.ledger.ledger import Ledger
    from smc_dp.privacy.ledger.recovery import lost_charges
    from smc_dp.privacy.ledger.storage import MOST_LEDGER_BYTES
    from smc_dp.run.budget_charge import charge_of_run

    owner, chains = _public(party), list[list[HeadRequest]]()
    for path in seen or ():
        try:
            chains.append(HeadRequest.read_all(reading.read_file(path, MOST_LEDGER_BYTES)))
            for request in chains[-1]:
                verify_head(request.note, owner)
        except InputError as error:
            raise error.within(f"heads {path}") from None
    studies = [JointStudy.read(path) for path in study or ()]
    costs = {agreed.digest: charge_of_run(agreed.agreement()) for agreed in studies}
    with Ledger.open(file) as ledger:
        history = ledger.recover(lambda found: lost_charges(found, chains, costs))
    code = "recovery.whole_budget" if LedgerRecovery.of(history).charges is None else "recovery.studies"
    screen.print_blocks([coded_prose(code), *report.recovery_blocks(history)])


def cosign_head(
    head: HeadFile,
    witness: WitnessFile,
    party: NamedOwner,
    out: Annotated[Path, typer.Option(metavar="FILE", help="File to write: the head with the cosignature.")],
) -> None:
    """Cosign the head of another site's ledger. It must extend the last one that this witness cosigned.

    A head with fewer entries is refused: that ledger is an older copy. Hand the written file back to its owner.

    \b
    Example:
      smc-dp ledger cosign north.head --witness south.witness --party north.pub --out north.cosigned
    """
    from smc_dp.core.writing import refuse_existing, write_new
    from smc_dp.privacy.ledger.head import HeadRequest
    from smc_dp.privacy.ledger.witness import Witness

    refuse_existing(out)  # before the witness keeps the head
    request = HeadRequest.read_file(head)
    with Witness.open(witness) as opened:
        try:
            found = opened.cosign(request, _public(party))
        except InputError as error:
            raise error.within(f"head {head}") from None
    write_new(out, found.encode(), f"cosigned head {out}")
    print(f"Written: {out}. Hand it back to the owner of the ledger.")


def compare_heads(first: HeadFile, second: HeadFile, party: NamedOwner) -> int:
    """Compare two heads of a ledger that its owner signed.

    Exit code 1: the larger one is not shown to extend the other.

    Two heads of one size with different entries are evidence against the owner, for anybody who has the public key.

    \b
    Example:
      smc-dp ledger compare north.head north-2.head --party north.pub
    """
    from smc_dp.pages.blocks import coded_prose
    from smc_dp.privacy.ledger.head import EXTENDS, HeadRequest, relate

    relation = relate(HeadRequest.read_file(first), HeadRequest.read_file(second), _public(party))
    screen.print_blocks([coded_prose(relation)])
    return 0 if relation in EXTENDS else 1


def witnessed(
    history: History, party: str | None, cosigned: Sequence[Path] | None, witnesses: Sequence[str] | None
) -> tuple[list[Prose], bool]:
    """Return a line on each witness of this ledger, and whether the ledger extends what all of them have seen."""
    given = {"party": party, "cosigned": cosigned, "witness": witnesses}
    missing = [name for name, value in given.items() if not value]
    if missing and len(missing) < len(given):
        raise InputError("options.witness_together", missing=missing[0])

    from smc_dp.pages.blocks import Prose
    from smc_dp.privacy.ledger import report
    from smc_dp.privacy.ledger.head import HeadRequest, check_cosigned

    notes, lines, holds = [HeadRequest.read_file(path).note for path in cosigned or ()], list[Prose](), True
    for key in map(_witness_key, witnesses or ()):
        try:
            seen = check_cosigned(history, notes, _public(party or ""), key)
            lines.append(report.witness_block(history, key.name, seen))
            holds = holds and seen is not None
        except InputError as error:
            lines.append(Prose(f"FAILED: {error}", error.code))
            holds = False
    return lines, holds


def witnessed_in_study(history: History, study_file: Path | None, state: Path | None) -> tuple[list[Prose], bool]:
    """Return a line on the witnesses of a study, and whether enough of them have cosigned this ledger.

    A witness that has seen more makes the ledger fail, whatever the others have seen.
    """
    if study_file is None:
        return [], True

    from smc_dp.deploy import paths
    from smc_dp.deploy.ledger_heads import OwnHeads
    from smc_dp.deploy.status import site_status
    from smc_dp.deploy.study import JointStudy
    from smc_dp.pages.blocks import Prose, coded_prose

    study = JointStudy.read(study_file)
    folder = state or next(paths.states(study_file), None)
    if folder is None:
        raise InputError("state.none_beside_study", study_file=str(study_file))
    own = OwnHeads.read(study, site_status(study, folder).name, folder)
    try:
        own.check(history)
    except InputError as error:
        return [Prose(f"FAILED: {error}", error.code)], False
    names, needed = own.cosigned, study.witnesses_needed
    if len(names) < needed:
        return [coded_prose("witness.too_few", needed=needed, got=len(names))], False
    return [coded_prose("witness.enough", names=names)], True


def _public(party: str) -> bytes:
    from smc_dp.run import identities

    return identities.parse_pinned(party)[1]


def _witness_key(text: str) -> VerifierKey:
    from smc_dp.core import reading
    from smc_dp.privacy.ledger.signed_note import VerifierKey

    said = text if "+" in text else reading.read_file(Path(text), 1 << 10).decode(errors="replace").removesuffix("\n")
    return VerifierKey.read(said)
