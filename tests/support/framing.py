"""Attempts to make honest participants look like liars: by strangers, by whoever carries mail, and by a dishonest peer.

An attempt gives a run folder and views, and says who of the participants did nothing wrong. What can be forged follows
from a stream, so that a number names an attempt:

* `a view`: one view is changed, and its signature is left, taken away, or made by somebody else's key.
* `a record`: what anybody can do to a record, with as much made anew as a stranger can.
* `strangers`: a whole run under the same names by strangers with keys of their own, who sign all they like.
* `a peer`: one participant tells its story anew, seals and signs it with its own keys, and hands over a view for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from protocols.arithmetic.rng import Stream
from protocols.crypto import sealing
from protocols.crypto.identity import Identity
from protocols.curator import CURATOR_NAME
from protocols.runtime.envelope import HELLO, START, Envelope, signed_payload
from protocols.runtime.view import RecordedView, recompute
from smc_dp.audit.run.evidence import Evidence
from support import forgeries as f
from support.audited import Folders, long_term, toy_run

SIZES, DIMENSION, KEY_BITS = (9, 5, 7), 1, 256
PARTIES = tuple(f"north-{j}" for j in range(len(SIZES)))
NAMES = (*PARTIES, CURATOR_NAME)
FAMILIES = ("a view", "a record", "strangers", "a peer")
STRANGER = Identity(bytes(31) + b"\x09")


@dataclass(frozen=True)
class Scene:
    """An honest run with its views, another one of the same participants, one of strangers, and everybody's keys."""

    folder: Path
    run: Folders
    other: Folders
    of_strangers: Folders
    identities: Mapping[str, Identity]
    strangers: Mapping[str, Identity]
    known: Path

    @cached_property
    def evidence(self) -> Evidence:
        return self.run.evidence()


class Attempt(NamedTuple):
    """What an auditor is given, and who did nothing wrong."""

    folders: Folders
    identities: Path | None
    honest: tuple[str, ...]
    said: str


def scene(folder: Path) -> Scene:
    """All of it from seeds."""
    own, strangers = long_term(PARTIES), long_term(PARTIES, seed=7)
    known = folder / "known.json"
    known.write_text(json.dumps({name: identity.public.hex() for name, identity in own.items()}))
    runs = [
        toy_run(folder / name, SIZES, DIMENSION, seed=seed, identities=keys, key_bits=KEY_BITS)
        for name, seed, keys in (("honest", 1, own), ("other", 2, own), ("strangers", 3, strangers))
    ]
    return Scene(folder, *runs, own, strangers, known)


def attempt(made: Scene, number: int) -> Attempt:
    """The attempt of this number: its family goes round, all else is drawn."""
    rng = Stream.insecure_from_seed(f"framing {number}")
    family = FAMILIES[number % len(FAMILIES)]
    folder = made.folder / f"attempt {number}"
    pinned = made.known if family == "strangers" or rng.bits(1) else None
    folders, honest, said = _MAKE[family](made, rng, folder)
    return Attempt(folders, pinned, honest, f"{number}, {family}: {said}")


def _one(rng: Stream, items: Any) -> Any:
    listed = list(items)
    return listed[rng.below(len(listed))]


def _handed_over(folder: Path, made: Evidence, views: Mapping[str, RecordedView], run: Path) -> Folders:
    views_folder = folder / "views"
    views_folder.mkdir(parents=True)
    for number, view in enumerate(views.values()):
        (views_folder / f"{number}.view").write_bytes(view.dumps(made.session))
    return Folders(run, views_folder)


# A view that its owner did not write.

ViewChange: TypeAlias = Callable[[Stream, RecordedView, Mapping[str, RecordedView]], RecordedView]


def _private(rng: Stream, view: RecordedView) -> RecordedView:
    if len(view.inputs) < 2:  # the curator has no input of its own
        return replace(view, seed=rng.bytes(32))
    p, mine = view.inputs
    value: Any = _one(rng, [{"n": mine.n + 1}, {"w": (mine.w[0] ^ 1,)}, {"eta": (mine.eta[0] ^ 1,)}, {"w": (1 << 50,)}])
    return replace(view, inputs=(p, replace(mine, **value)))


def _mail(rng: Stream, view: RecordedView, change: Callable[[list[Any], int], Any]) -> RecordedView:
    mail = list(view.messages)
    change(mail, rng.below(len(mail) - 1))
    return replace(view, messages=tuple(mail))


def _flip_payload(mail: list[Any], i: int) -> None:
    mail[i] = (*mail[i][:-1], mail[i][-1][:-1] + bytes([mail[i][-1][-1] ^ 1]))


def _exchange(mail: list[Any], i: int) -> None:
    mail[i], mail[i + 1] = mail[i + 1], mail[i]


def _restate(mail: list[Any], i: int) -> None:
    mail[i] = (*mail[i][:4], mail[i][4] + 1, mail[i][5])


def _greeted(rng: Stream, view: RecordedView, all_views: Mapping[str, RecordedView]) -> RecordedView:
    return replace(view, greetings=tuple((name, bytes(32)) for name, _ in view.greetings))


VIEW_CHANGES: dict[str, ViewChange] = {
    "another number": lambda rng, v, _: _private(rng, v),
    "no input": lambda rng, v, _: replace(v, inputs=v.inputs[:1]),
    "nonsense as input": lambda rng, v, _: replace(v, inputs=(v.inputs[0], rng.below(9))),
    "other coins": lambda rng, v, _: replace(v, seed=rng.bytes(32)),
    "somebody's coins": lambda rng, v, views: replace(v, seed=views[_one(rng, views.keys() - {v.role})].seed),
    "somebody's view": lambda rng, v, views: replace(views[_one(rng, views.keys() - {v.role})], role=v.role),
    "a letter altered": lambda rng, v, _: _mail(rng, v, _flip_payload),
    "letters exchanged": lambda rng, v, _: _mail(rng, v, _exchange),
    "a letter removed": lambda rng, v, _: _mail(rng, v, lambda mail, i: mail.pop(i)),
    "a letter twice": lambda rng, v, _: _mail(rng, v, lambda mail, i: mail.insert(i, mail[i])),
    "the last letters removed": lambda rng, v, _: _mail(rng, v, lambda mail, i: mail.__delitem__(slice(i, None))),
    "another round": lambda rng, v, _: _mail(rng, v, _restate),
    "somebody absent": lambda rng, v, views: replace(
        v, marks=((_one(rng, views.keys() - {v.role}), "Relay", "stage1", 0),)
    ),
    "other greetings": _greeted,
    "honest coins": lambda rng, v, _: replace(v, insecure=not v.insecure),
}


def _view(made: Scene, rng: Stream, folder: Path) -> tuple[Folders, tuple[str, ...], str]:
    views, session = dict(made.evidence.views), made.evidence.session
    name, how = _one(rng, NAMES), _one(rng, VIEW_CHANGES)
    view = VIEW_CHANGES[how](rng, views[name], views)
    other = _one(rng, [n for n in NAMES if n != name])
    hands: dict[str, Callable[[], RecordedView]] = {
        "its signature left": lambda: view,
        "unsigned": lambda: replace(view, signature=b""),
        "signed by a stranger": lambda: view.signed(session, STRANGER),
        "signed by a peer": lambda: view.signed(session, made.identities[other]),
    }
    hand = _one(rng, hands)
    given = {**views, name: hands[hand]()} if rng.bits(1) else {name: hands[hand]()}
    return _handed_over(folder, made.evidence, given, made.run.run), NAMES, f"{how} in the view of {name}, {hand}"


# A record that nobody sent.


def _record(made: Scene, rng: Stream, folder: Path) -> tuple[Folders, tuple[str, ...], str]:
    record = f.read_record(made.run.run)
    count = len(record.envelopes)
    i, j = rng.below(count), rng.below(count)
    of_old = min(i, len(f.read_record(made.other.run).envelopes) - 1)
    changes: dict[str, f.Change] = {
        "flipped": f.flip(i, rng.below(20)),
        "dropped": f.drop(i),
        "twice": f.duplicate(i),
        "exchanged": f.swap(i, j),
        "moved": f.move(i, j),
        "cut off": f.cut(max(1, i)),
        "longer": f.resize(i, 1),
        "shorter": f.resize(i, -1),
        "another sender": f.alter(i, sender=_one(rng, NAMES)),
        "another reader": f.alter(i, to=_one(rng, NAMES)),
        "another kind": f.alter(i, kind=record.envelopes[j].kind),
        "another stage": f.alter(i, stage=_one(rng, ("setup", "stage1", "stage2", "stage3"))),
        "another round": f.alter(i, round=rng.below(9)),
        "another number": f.alter(i, number=rng.below(9)),
        "another body": f.alter(i, body=record.envelopes[j].body),
        "of an old run": lambda r: f.splice(made.other.run, of_old)(r),
        "somebody absent": f.miss(_one(rng, NAMES), _one(rng, NAMES), "Relay", "stage1"),
        "greetings exchanged": f.swap(0, 1),
        "greetings with each other's bodies": lambda r: f.alter(0, body=r.envelopes[1].body)(r),
        "another topology": f.with_head(topology="star"),
        "another nonce": f.with_head(nonce=rng.bytes(32).hex()),
        "longer keys": f.with_parameters(key_bits=384),
        "a stranger's identity": f.with_identity(_one(rng, NAMES), STRANGER),
    }
    how = _one(rng, changes)
    signer = _one(rng, NAMES)
    anew: dict[str, list[f.Change]] = {
        "nothing anew": [],
        "chains anew": [f.linked],
        "signed by a stranger": [f.resigned({signer: STRANGER})],
    }
    more = _one(rng, anew)
    given = f.forge(made.run.run, folder / "run", changes[how], *anew[more])
    return Folders(given, made.run.views), NAMES, f"{how} at {i}, {more}"


# A whole run of strangers.


def _strangers(made: Scene, rng: Stream, folder: Path) -> tuple[Folders, tuple[str, ...], str]:
    evidence = made.of_strangers.evidence()
    record = f.read_record(made.of_strangers.run)
    i, j = rng.below(len(record.envelopes)), rng.below(len(record.envelopes))
    changes: dict[str, list[f.Change]] = {
        "as it was": [],
        "a letter spoilt": [f.flip(i), f.resigned(made.strangers)],
        "a letter longer": [f.resize(i, 1), f.resigned(made.strangers)],
        "a letter left out": [f.drop(i), f.resigned(made.strangers)],
        "another kind": [f.alter(i, kind=record.envelopes[j].kind), f.resigned(made.strangers)],
    }
    how, name, other = _one(rng, changes), _one(rng, NAMES), _one(rng, VIEW_CHANGES)
    run = f.forge(made.of_strangers.run, folder / "run", *changes[how])
    view = VIEW_CHANGES[other](rng, evidence.views[name], evidence.views)
    views = {**evidence.views, name: view.signed(evidence.session, made.strangers[name])}
    return _handed_over(folder, evidence, views, run), NAMES, f"{how} at {i}, and {other} in the view of {name}"


# A participant who tells its story anew.


@dataclass(frozen=True)
class Said:
    """What a liar sends in place of one envelope: its header, and what is in it before it is sealed or signed."""

    envelope: Envelope
    payload: bytes


Retelling: TypeAlias = Callable[[list[Said]], list[Said]]
"""What the liar sends in all, made from what it sent; None of the numbers and chains need be right."""


def retold(evidence: Evidence, view: RecordedView, signer: Identity, change: Retelling) -> f.Change:
    """The record in which the owner of a view has sent something else, sealed by the coins of `view` and signed anew.

    What it sent stays at its lines, and what is new comes after it.
    """
    name, record = view.role, evidence.envelopes
    opened = {letter.line: letter.payload for letter in evidence.recomputed[name].decrypted}
    links = recompute(evidence.session, view, record).links
    greeting = links.public
    mine = [n for n, e in record.items() if e.sender == name]

    def said(n: int) -> Said:
        e = record[n]
        payload = signed_payload(e) if e.is_public else opened[n] or b""
        return Said(e, greeting + payload[len(greeting) :] if e.kind == HELLO else payload)

    def envelopes() -> list[Envelope]:
        before, numbers, made = START, dict[str, int](), []
        for one in change([said(n) for n in mine]):
            number = numbers.get(one.envelope.to, 0)
            blank = replace(one.envelope, prev=before, number=number, body=b"")
            if blank.is_public:
                body = one.payload + signer.sign(blank.header + one.payload)
            else:
                body = sealing.seal(links.key(name, blank.to), number, blank.header, one.payload)
            made.append(replace(blank, body=body))
            before, numbers[blank.to] = made[-1].digest, number + 1
        return made

    def changed(whole: f.Record) -> f.Record:
        left, result = envelopes(), []
        for e in whole.envelopes:
            if e.sender != name:
                result.append(e)
            elif left:
                result.append(left.pop(0))
        return replace(whole, envelopes=(*result, *left))

    return changed


def _at(i: int, change: Callable[[Said], list[Said]]) -> Retelling:
    return lambda story: [*story[:i], *change(story[i]), *story[i + 1 :]]


def _bit(payload: bytes, at: int) -> bytes:
    body = bytearray(payload or b"\0")
    body[at % len(body)] ^= 1
    return bytes(body)


def _peer(made: Scene, rng: Stream, folder: Path) -> tuple[Folders, tuple[str, ...], str]:
    evidence, liar = made.evidence, _one(rng, NAMES)
    story = [e for e in evidence.envelopes.values() if e.sender == liar]
    sealed = [i for i, e in enumerate(story) if not e.is_public]
    i, later = _one(rng, sealed), _one(rng, range(1, len(story)))
    last = story[sealed[-1]]
    stories: dict[str, Retelling] = {
        "another content": _at(i, lambda s: [replace(s, payload=_bit(s.payload, rng.below(40)))]),
        "another round": _at(i, lambda s: [replace(s, envelope=replace(s.envelope, round=s.envelope.round + 1))]),
        "another stage": _at(i, lambda s: [replace(s, envelope=replace(s.envelope, stage="stage2"))]),
        "another kind": _at(i, lambda s: [replace(s, envelope=replace(s.envelope, kind="Ready"))]),
        "a letter left out": _at(i, lambda s: []),
        "a letter twice": _at(i, lambda s: [s, s]),
        "a letter too many": lambda all_said: [*all_said, Said(last, b"\x80")],
        "a letter too many before its last word": lambda all_said: [*all_said[:-1], Said(last, b"\x80"), all_said[-1]],
        "nothing from somewhere on": lambda all_said: all_said[:later],
        "as it was": lambda all_said: all_said,
    }
    how = _one(rng, stories)
    view = evidence.views[liar]
    if others := rng.bits(1):  # it greets with other coins, and seals by them
        view = replace(view, seed=rng.bytes(32))
    change = retold(evidence, view, made.identities[liar], stories[how])
    run = f.forge(made.run.run, folder / "run", change)
    its_own = view.signed(evidence.session, made.identities[liar])
    honest = tuple(name for name in NAMES if name != liar)
    given = {name: evidence.views[name] for name in _some(rng, honest)} | {liar: its_own}
    said = f"{liar}: {how} at {i}{', with other coins' if others else ''}, views of {', '.join(given)}"
    return _handed_over(folder, evidence, given, run), honest, said


def _some(rng: Stream, names: tuple[str, ...]) -> list[str]:
    return [name for name in names if rng.bits(1)]


_MAKE: dict[str, Callable[[Scene, Stream, Path], tuple[Folders, tuple[str, ...], str]]] = {
    "a view": _view,
    "a record": _record,
    "strangers": _strangers,
    "a peer": _peer,
}
