"""Secrets of sites under way, and what somebody finds of them who has all files of a site and its identity key.

Private inputs are planted: each number of a party's gets a drawn one of 64 bits added, in such a way that these cancel
in what leaves the party, so that everything on the wire is as it was. All other secrets are taken from roles while they
run. They are looked for in all bytes of a site's folders and in whatever opens with what lies there, in several
spellings; and copies of the folders are kept at every commit, for whoever has the key of a later one.
"""

from __future__ import annotations

import base64
import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import cbor2
import pytest

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.arithmetic.words import Words
from protocols.crypto import dgk, oblivious, paillier
from protocols.crypto.identity import Signer
from protocols.crypto.masking import ClosedPairs
from protocols.errors import FaultError
from protocols.linear import values as linear
from protocols.pathak2010 import values as pathak
from protocols.runtime import state as states
from protocols.runtime.actor import Actor
from protocols.runtime.session import PUBLIC_NAME
from protocols.secure_sum import values as sums
from smc_dp.deploy.party_site import PartyBusiness
from smc_dp.deploy.store import DATABASE, Seal, SiteStore, StateNumber
from smc_dp.run.site_process import SiteActor, SiteInputs
from support.sites import AtHand, Sites, identity

_LEAST_BYTES = 6
_SIZE = 0x5EC1_0000  # with which a planted size begins
_KINDS: Mapping[str, tuple[type[Any], ...]] = {
    "shares and masks": (sums.Secrets, sums.Held, ClosedPairs, linear.Masks),
    "keys": (paillier.PrivateKey, dgk.DgkPrivateKey, linear.CuratorKeys, oblivious.Offer, oblivious.Choice),
    "rows and halves": (linear.Gathered, linear.Halves, pathak.Halves),
}
_PUBLIC = (paillier.PublicKey, dgk.DgkPublicKey)
_PUBLIC_FIELDS = frozenset({"epks", "points", "A", "index"})
Found = Mapping[str, set[bytes | int]]


def drawn(name: str, what: str, length: int, modulus: int) -> tuple[int, ...]:
    """What is added to numbers of this party."""
    rng = Stream.insecure_from_seed(f"planted: {what} of {name}")
    return tuple(rng.below(modulus) for _ in range(length))


def plant(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the inputs of all parties are distinctive."""
    begins = PartyBusiness.begins

    def planted(self: PartyBusiness, session: Any, *said: Any, **how: Any) -> SiteInputs:
        brings, name, p = begins(self, session, *said, **how), self.member.name, session.parameters

        def given(value: Any, number: int) -> Any:
            if isinstance(value, sums.Addends):
                return _addends(p, name, value, number)
            return _mean(p, name, value) if isinstance(value, pathak.PartyInput) else value

        def answers(coins: Any, inputs: Any) -> Any:
            home, asked = brings.answers(coins, inputs), iter(range(len(inputs), 1 << 20))
            return home and (lambda *said: given(home(*said), next(asked)))

        return replace(
            brings, inputs=lambda coins: tuple(map(given, brings.inputs(coins), range(1 << 20))), answers=answers
        )

    monkeypatch.setattr(PartyBusiness, "begins", planted)


def _addends(p: Any, name: str, given: sums.Addends, number: int) -> sums.Addends:
    """What is added to the numbers is taken off the noise."""
    added = [drawn(name, f"input {number} sum {r}", len(x), p.ring.modulus) for r, x in enumerate(given.numbers)]
    numbers = tuple(p.ring.add_vectors(x, a) for x, a in zip(given.numbers, added, strict=True))
    return sums.Addends(numbers, tuple(p.ring.subtract_vectors(e, a) for e, a in zip(given.noise, added, strict=True)))


def _mean(p: Any, name: str, given: pathak.PartyInput) -> pathak.PartyInput:
    """What is added to everybody's noise P1 takes off its weights; the other two cancel theirs."""
    first, noise = p.parties[0], drawn("all", "noise", p.dimension, p.weights.modulus)
    each = {other: drawn(other, "weights", p.dimension, p.weights.modulus) for other in p.parties[1:]}
    w = each[name] if name != first else p.weights.subtract_vectors((0,) * p.dimension, noise)
    if name == first:
        w = p.weights.subtract_vectors(w, p.weights.add_vectors(*each.values()))
    return replace(
        given,
        n=_SIZE + p.parties.index(name),
        w=p.weights.add_vectors(given.w, w),
        eta=p.weights.add_vectors(given.eta, noise),
    )


@dataclass
class Secrets:
    """What each role had that nobody may find, by participant and kind; and what its files were, at each commit."""

    by_name: dict[str, dict[str, set[bytes | int]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(set))
    )
    copies: dict[str, list[Mapping[str, bytes]]] = field(default_factory=lambda: defaultdict(list))

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Take note at every end of a stage, and whenever a state is made."""
        finish_stage, state = Actor.finish_stage, SiteActor.state

        def leaving(actor: Actor, result: Any) -> None:
            self._note(actor, result)
            finish_stage(actor, result)

        def made(own: SiteActor) -> bytes:
            self._note(own.actor)
            self.by_name[own.actor.name]["randomness"] |= {*own._home.left.values()}
            return state(own)

        monkeypatch.setattr(Actor, "finish_stage", leaving)
        monkeypatch.setattr(SiteActor, "state", made)

    def _note(self, actor: Actor, *more: Any) -> None:
        found = self.by_name[actor.name]
        if actor.forgotten:
            return
        found["inputs"] |= set(_leaves(actor.inputs[1:]))
        found["randomness"].add(actor.seed.key)
        if actor.channel.secret:
            found["keys of links"].add(actor.channel.secret)
        for link in actor.channel._links.values():
            found["keys of links"] |= {link.outgoing, link.incoming}
        held = (*actor.progress.results, *more, *actor.progress.once_values.values())
        found["made once"] |= set(_leaves(tuple(actor.progress.once_values.values())))
        for kind, classes in _KINDS.items():
            found[kind] |= {leaf for value in _instances(held, classes) for leaf in _leaves(value)}


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, list | tuple | Words):
        return value
    if is_dataclass(value) and not isinstance(value, _PUBLIC):
        return [getattr(value, f.name) for f in fields(value) if f.name not in _PUBLIC_FIELDS]
    return ()


def _instances(value: Any, classes: tuple[type[Any], ...]) -> Iterator[Any]:
    if isinstance(value, classes):
        yield value
    else:
        for part in _parts(value):
            yield from _instances(part, classes)


def _leaves(value: Any) -> Iterator[bytes | int]:
    """What of a value is long enough to be known again."""
    if isinstance(value, bytes):
        known = len(value) >= _LEAST_BYTES and any(value)
    else:
        known = type(value) is int and bool(value >> 30)
    if known:
        yield value
    elif not isinstance(value, Permutation):
        for part in _parts(value):
            yield from _leaves(part)


class WatchedStore(SiteStore):
    """Keeps a copy of its files in the middle of every commit, when the journal is there, and after it."""

    def __init__(self, secrets: Secrets, folder: Path, *said: Any) -> None:
        self._copies = secrets.copies[folder.parent.name]
        super().__init__(folder, *said)

    def _replace(self, *said: Any) -> None:
        super()._replace(*said)
        self._copies.append(files(self.path.parent))

    def commit(self, *said: Any, **named: Any) -> None:
        super().commit(*said, **named)
        self._copies.append(files(self.path.parent))


def files(folder: Path) -> dict[str, bytes]:
    """All files in a folder, by name."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def opened(here: AtHand, folder: Path, signer: Signer) -> Iterator[bytes]:
    """What opens of the sealed states in this folder with the identity and any key that the counter file has now."""
    keys = [b""]
    for path in (here.folder / "counters").glob("*.counter"):
        count = StateNumber.read(path)
        keys += [count.key, count.following]
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        (salt, _), rows = database.execute("SELECT * FROM seal").fetchone(), database.execute("SELECT * FROM state")
        kept = rows.fetchall()
    bound = json.dumps({"study": here.study.digest, "participant": here.name}, sort_keys=True).encode()
    for _, number, sealed in kept:
        for key in keys:
            try:
                yield Seal(signer, salt).open(sealed, bound + b" %d" % number, key)
            except FaultError:
                continue


def spellings(value: bytes | int) -> set[bytes]:
    """How a value may stand in a file."""
    if isinstance(value, int):
        length = (value.bit_length() + 7) // 8
        lengths = {length, length + (-length) % 8}
        raw = {value.to_bytes(n, order) for n in lengths for order in ("big", "little")}  # type: ignore[arg-type]
        raw |= {cbor2.dumps(value), states.dump_state(value, ())}
        texts = {str(value), f"{value:x}", f"{value:X}"}
    else:
        raw, texts = {value, value[::-1]}, {value.hex(), value.hex().upper()}
    texts |= {base64.b64encode(one).decode().rstrip("=") for one in raw}
    return {spelt for spelt in (*raw, *(text.encode() for text in texts)) if len(spelt) >= _LEAST_BYTES}


def found_in(contents: Iterable[bytes], secrets: Found) -> dict[str, int]:
    """Of each kind how many secrets stand in this."""
    whole = b"\0\0\0".join(contents)
    counts = {kind: sum(any(s in whole for s in spellings(v)) for v in values) for kind, values in secrets.items()}
    return {kind: count for kind, count in counts.items() if count}


def left_at(run: Sites, name: str, secrets: Secrets) -> dict[str, int]:
    """What all files of this site show of its secrets to whoever has its identity key as well.

    What everybody published is none: where sums can be verified, the seeds of those that are over.
    """
    here = run.at[name]
    contents = [*files(here.folder).values(), *opened(here, here.folder / "state", identity(name))]
    published = b"".join(p.body for p in run.frames() if p.to == PUBLIC_NAME and p.lane == "envelope")
    own = secrets.by_name[name].items()
    secret = {kind: {v for v in values if not (isinstance(v, bytes) and v in published)} for kind, values in own}
    return found_in(contents, secret)


def opened_copies(run: Sites, name: str, secrets: Secrets, scratch: Path) -> list[int]:
    """Which earlier copies of its state open with the identity and the keys that there are now."""
    found = []
    for number, copy in enumerate(secrets.copies[name]):
        scratch.mkdir(exist_ok=True)
        for path, content in copy.items():
            (scratch / path).write_bytes(content)
        if any(opened(run.at[name], scratch, identity(name))):
            found.append(number)
    return found
