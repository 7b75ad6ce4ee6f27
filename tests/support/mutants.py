"""Mutants of an honest run, each with the checks that must catch it; and audits by command for the other suites."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from broken import pathak_mutants
from broken.liars import Lie, swapped

from protocols.comparison.messages import Differences
from protocols.crypto.identity import Identity
from protocols.pathak2010.messages import (
    Blinded,
    Half,
    Indicator,
    Masked,
    Match,
    PublishedShare,
    Relay,
    Reshare,
    Selected,
    Slot,
)
from protocols.programs import PROTOCOLS
from protocols.runtime.envelope import HELLO, STAGE_END
from protocols.runtime.session import Program
from protocols.runtime.view import RecordedView
from smc_dp.audit.run import checks
from smc_dp.audit.run.check import Check
from smc_dp.cli.main import main
from smc_dp.run import agreement
from smc_dp.run.release import RELEASE, TRANSCRIPT
from support import forgeries
from support.audited import Folders, long_term, toy_run
from support.forgeries import Change, Record, alter, drop, duplicate, flip, resize, splice, swap

# These cite shipped results, the same whatever the run is: they have tests of their own (`test_code_checks.py`).
OF_THE_CODE = ("distribution", "limitations-true")
OF_THE_RUN: tuple[Check, ...] = tuple(check for check in checks.CHECKS if check.name not in OF_THE_CODE)


class Verdict(NamedTuple):
    """What a command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


def audit(*arguments: str, of: Sequence[Check] = OF_THE_RUN) -> Verdict:
    """`smc-dp audit` with these arguments and checks, in this process; whatever it raises goes through."""
    return command("audit", *arguments, of=of)


def command(*arguments: str, of: Sequence[Check] = OF_THE_RUN) -> Verdict:
    """`smc-dp` with these arguments."""
    out, err = io.StringIO(), io.StringIO()
    with patch.object(checks, "CHECKS", tuple(of)), redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
    return Verdict(code, out.getvalue(), err.getvalue())


# Mutants of one honest run.


@dataclass(frozen=True)
class Bench:
    """What mutants are made of: an honest run with its views, another one of the same participants, their keys."""

    honest: Folders
    other: Folders
    identities: Mapping[str, Identity]


@dataclass(frozen=True)
class Mutant:
    """A run that is not as it should be. `make` writes it below a folder, `caught_by` are the checks that must fail.

    `views`: whether the auditor is given them. A participant who lies and signs its lies leaves a record that is in
    order, so that only its own view, or that of a reader, can tell: these are the ones with `liar`, whose record alone
    must pass.
    """

    make: Callable[[Bench, Path], Folders]
    caught_by: tuple[str, ...]
    views: bool = False
    liar: bool = False


SEALED = (
    *("PaillierKey", "ComparisonKey", "SharedKey", "Commitment", "Opening", "Relay", "Slot", "Blinded", "Half"),
    *("Match", "Bits", "Differences", "Indicator", "Selected", "Masked", "Reshare", "Ready"),
)
SIGNED = (HELLO, STAGE_END, "PublishedShare")
KINDS = (*SEALED, *SIGNED)


def forged(*changes: Callable[[Bench, Record], Change]) -> Callable[[Bench, Path], Folders]:
    """A forged record beside the honest views; each change may look at the bench and at the record so far."""

    def make(bench: Bench, folder: Path) -> Folders:
        steps = [_late(bench, change) for change in changes]
        return Folders(forgeries.forge(bench.honest.run, folder / "run", *steps), bench.honest.views)

    return make


def _late(bench: Bench, change: Callable[[Bench, Record], Change]) -> Change:
    return lambda record: change(bench, record)(record)


def at(where: str, change: Callable[..., Change], *more: Any, **fields: Any) -> Any:
    """The change at the first envelope of a kind."""
    return lambda bench, record: change(record.place(where), *more, **fields)


def always(change: Change) -> Any:
    """A change that needs to look at nothing."""
    return lambda bench, record: change


LINKED = always(forgeries.linked)


def by_owners(bench: Bench, record: Record) -> Change:
    """Every signature made anew by its owner: all participants lie together."""
    return forgeries.resigned(bench.identities)


def view(role: str, change: Callable[[RecordedView], RecordedView], only: bool = False) -> Any:
    """One view changed, the record as it was; `only`: the auditor gets no other."""

    def make(bench: Bench, folder: Path) -> Folders:
        evidence = bench.honest.evidence()
        (folder / "views").mkdir(parents=True)
        for number, (name, found) in enumerate(evidence.views.items()):
            if name == role or not only:
                found = change(found) if name == role else found
                (folder / "views" / f"{number}.view").write_bytes(found.dumps(evidence.session))
        return Folders(bench.honest.run, folder / "views")

    return make


def mine(**fields: Callable[[Any], Any]) -> Callable[[RecordedView], RecordedView]:
    """Other private input in a view."""

    def change(found: RecordedView) -> RecordedView:
        p, private = found.inputs
        changed = {name: value(getattr(private, name)) for name, value in fields.items()}
        return replace(found, inputs=(p, replace(private, **changed)))

    return change


def mail(change: Callable[[list[Any]], Any]) -> Callable[[RecordedView], RecordedView]:
    """Other mail in a view."""

    def changed(found: RecordedView) -> RecordedView:
        items = list(found.messages)
        change(items)
        return replace(found, messages=tuple(items))

    return changed


def played(program: Program) -> Callable[[Bench, Path], Folders]:
    """A run in which participants follow another program than the one that its record names."""

    def make(bench: Bench, folder: Path) -> Folders:
        protocols = {**PROTOCOLS, program.name: replace(PROTOCOLS[program.name], program=program)}
        with patch.object(agreement, "PROTOCOLS", protocols):
            return toy_run(
                folder, SIZES, DIMENSION, seed=5, identities=dict(bench.identities), key_bits=MUTANT_KEY_BITS
            )

    return make


def lying(who: str, kind: type[Any], twist: Any) -> Callable[[Bench, Path], Folders]:
    """A run in which one participant lies in the content of one message, and nobody notices or wants to."""
    return played(replace(Lie(who, kind, twist, "").programmed(), broken_commitment=None))


def another_cipher(field: str, m: int) -> Any:
    """The last ciphertext of a field replaced by an encryption of m."""

    def twist(me: Any, to: str, found: Any) -> Any:
        old = getattr(found, field)
        last = old[-1] if isinstance(old, tuple) else old
        key = next(key for key in me._engine.keys.values() if key.n == last.n)
        new = type(last)(key.n, key.encrypt(m, me.rng).value)  # of the type that the codec wants there
        return replace(found, **{field: (*old[:-1], new) if isinstance(old, tuple) else new})

    return twist


def bench(folder: Path) -> Bench:
    """Two honest runs of three parties."""
    names = tuple(f"north-{j}" for j in range(len(SIZES)))
    identities = long_term(names)
    honest, other = (
        toy_run(folder / str(seed), SIZES, DIMENSION, seed=seed, identities=identities, key_bits=MUTANT_KEY_BITS)
        for seed in (3, 4)
    )
    pinned = {name: identity.public.hex() for name, identity in identities.items()}
    (folder / "identities.json").write_text(json.dumps(pinned))
    return Bench(honest, other, identities)


def _last_and_next(kind: str, record: Record) -> tuple[int, int]:
    """The places of the last message of this kind, by the sender of the first one, and of what it sends next."""
    sender = record.envelopes[record.place(kind)].sender
    own = [i for i, e in enumerate(record.envelopes) if e.sender == sender]
    last = max(k for k, i in enumerate(own) if record.envelopes[i].kind == kind)
    return own[last], own[last + 1]


SIZES, DIMENSION, MUTANT_KEY_BITS = (12, 8, 20), 1, 256


def of_kind(kind: str) -> dict[str, Mutant]:
    """The mutants that a message of any kind has."""
    signed = ("signatures",) if kind in SIGNED else ("sender-chain",)
    own = ("signatures",) if kind == "PublishedShare" else ("sender-chain",)  # nothing of its sender comes after it
    dropped = ("completeness",) if kind == "PublishedShare" else ("sender-chain",)
    found = {
        "flipped byte": Mutant(forged(at(kind, flip)), signed),
        "flipped byte, chains made anew": Mutant(forged(at(kind, flip), LINKED), ("signatures",)),
        "dropped": Mutant(forged(at(kind, drop)), dropped),
        "dropped, all signed anew": Mutant(forged(at(kind, drop), by_owners), ("completeness",)),
        "twice": Mutant(forged(at(kind, duplicate), by_owners), ("order",)),
        "longer": Mutant(forged(at(kind, resize, 1), LINKED), ("sizes",)),
        "shorter": Mutant(forged(at(kind, resize, -1), LINKED), ("sizes",)),
        "from an old session": Mutant(forged(lambda bench, record: splice(bench.other.run, record.place(kind))), own),
        "renamed": Mutant(forged(at(kind, alter, kind="Pickle"), by_owners), ("routes",)),
        "swapped sender": Mutant(
            forged(lambda bench, record: alter(record.place(kind), sender=_third(kind, record))), ("sender-chain",)
        ),
    }
    if kind != "PublishedShare":
        after = forged(lambda bench, record: swap(*_last_and_next(kind, record)), by_owners)
        found["after the next one of its sender"] = Mutant(after, ("order",))
    return {f"{kind}: {name}": mutant for name, mutant in found.items()}


def _third(kind: str, record: Record) -> str:
    """A participant who is at neither end of the first message of this kind."""
    e = record.envelopes[record.place(kind)]
    return next(name for name in record.head["identities"] if name not in (e.sender, e.to))


RECORDS: dict[str, Mutant] = {name: mutant for kind in KINDS for name, mutant in of_kind(kind).items()}


def _with_another_weight(bench: Bench, folder: Path) -> Folders:
    change = lambda release: release["weights"].__setitem__(0, release["weights"][0] + 2**-20)  # noqa: E731
    return Folders(forgeries.edited(bench.honest.run, folder / "run", RELEASE, change), bench.honest.views)


def _with_another_digest(bench: Bench, folder: Path) -> Folders:
    shutil.copytree(bench.honest.run, folder / "run")
    path = folder / "run" / TRANSCRIPT
    path.write_text(path.read_text() + "\n")
    return Folders(folder / "run", bench.honest.views)


# Other changes of records and files have tests of their own: `test_conformity.py`, `conformity/test_publication.py`.
RECORDS |= {
    "a weight": Mutant(_with_another_weight, ("release",)),
    "another digest of the record": Mutant(_with_another_digest, ("files",)),
}
VIEWS: dict[str, Mutant] = {
    f"{kind}: sealed anew by a liar": Mutant(
        forged(at(kind, flip), by_owners), ("dispute", "messages-recomputed"), views=True, liar=True
    )
    for kind in SEALED
}
VIEWS |= {
    "another key in a greeting": Mutant(forged(at(HELLO, flip), by_owners), ("nonces", "view-agrees"), views=True),
    "a view with another seed": Mutant(
        view("north-1", lambda v: replace(v, seed=bytes(32))), ("view-agrees", "messages-recomputed"), views=True
    ),
    "a view with another size": Mutant(view("north-1", mine(n=lambda n: n + 1)), ("messages-recomputed",), views=True),
    "a view with other weights": Mutant(
        view("north-1", mine(w=lambda w: ((w[0] + 1) % 2**64,))), ("messages-recomputed",), views=True
    ),
    "a view with other noise": Mutant(
        view("north-1", mine(eta=lambda eta: ((eta[0] + 1) % 2**64,))), ("messages-recomputed",), views=True
    ),
    "a view with hardly any noise": Mutant(view("north-2", mine(eta=lambda eta: (0,))), ("noise",), views=True),
    "a view with enormous noise": Mutant(view("north-2", mine(eta=lambda eta: (2**62,))), ("noise",), views=True),
    "a view without its last mail": Mutant(view("north-0", mail(lambda m: m.pop())), ("view-agrees",), views=True),
    "a view with other mail": Mutant(
        view("charlie", mail(lambda m: m.__setitem__(3, (*m[3][:-1], bytes(len(m[3][-1])))))),
        ("view-agrees",),
        views=True,
    ),
    "a view with mail of another number": Mutant(
        view("charlie", mail(lambda m: m.__setitem__(0, (m[0][0], m[0][1] + 1, *m[0][2:])))),
        ("view-agrees",),
        views=True,
    ),
    "a view with mail exchanged": Mutant(
        view("north-0", mail(lambda m: m.insert(0, m.pop(1)))), ("view-agrees",), views=True
    ),
    "a view of somebody else": Mutant(
        view("north-1", lambda v: replace(v, role="north-2"), only=True), ("view-agrees",), views=True
    ),
    "a mark that its reader does not have": Mutant(
        forged(always(forgeries.miss("north-0", "north-1", "Relay", "stage1"))), ("view-agrees",), views=True
    ),
    "a view with a mark": Mutant(
        view("north-0", lambda v: replace(v, marks=(("north-1", "Relay", "stage1", 9),))), ("view-agrees",), views=True
    ),
    "a view that hides its seed": Mutant(
        view("charlie", lambda v: replace(v, insecure=False)), ("insecure-markers",), views=True
    ),
}
SENT = "messages-recomputed"
# Each leaves a record that is in order.
LIARS: dict[str, tuple[Callable[[Bench, Path], Folders], *tuple[str, ...]]] = {
    "no tie bits": (played(pathak_mutants.NO_TIE_BITS), SENT),
    "integer shares": (played(pathak_mutants.INTEGER_SHARES), SENT),
    "sizes unshared": (played(pathak_mutants.SIZES_UNSHARED), SENT),
    "short blinding": (played(pathak_mutants.SHORT_BLINDING), SENT, "masks"),
    "short mask": (played(pathak_mutants.SHORT_MASK), SENT, "masks"),
    "no mask": (played(pathak_mutants.NO_MASK), SENT, "masks"),
    "weights unshared": (played(pathak_mutants.WEIGHTS_UNSHARED), SENT),
    "stale blinding": (played(pathak_mutants.STALE_BLINDING), SENT, "freshness"),
    "stale selection": (played(pathak_mutants.STALE_SELECTION), SENT),
    "no noise selected": (played(pathak_mutants.NOTHING_SELECTED), SENT, "result"),
    "a half changed": (lying("north-1", Half, swapped("a_tilde", lambda m: m.a_tilde ^ 1)), SENT),
    "a relay changed": (lying("north-1", Relay, swapped("a", lambda m: m.a ^ 1)), SENT),
    "a slot changed": (lying("north-1", Slot, another_cipher("a", 1)), SENT),
    "a blinded half changed": (lying("charlie", Blinded, another_cipher("a", 1)), SENT),
    "a match turned round": (
        lying("charlie", Match, lambda me, to, m: replace(m, left=m.right, right=m.left)), SENT,
    ),
    "an answer turned round": (lying("north-0", Differences, swapped("delta", lambda m: 1 - m.delta)), SENT),
    "an indicator of nobody": (lying("charlie", Indicator, another_cipher("u", 0)), SENT),
    "other noise contributed": (lying("north-1", Selected, another_cipher("psi", 5)), SENT, "result"),
    "the noise taken away": (lying("north-0", Masked, another_cipher("psi", 0)), SENT, "result"),
    "a share of nothing": (
        lying("north-1", Reshare, swapped("x", lambda m: tuple(x ^ 1 for x in m.x))), SENT, "result",
    ),
    "another share published": (
        lying("north-1", PublishedShare, swapped("y", lambda m: tuple(y ^ 1 for y in m.y))), SENT, "result",
    ),
}  # fmt: skip
VIEWS |= {name: Mutant(make, tuple(checks), views=True, liar=True) for name, (make, *checks) in LIARS.items()}

ALL: Mapping[str, Mutant] = {**RECORDS, **VIEWS}
