"""What a known-answer vector may ask of the secure sum: shares, masks, statements, whole runs, and why not."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from protocols.arithmetic import shamir
from protocols.crypto import masking
from protocols.crypto.identity import Identity
from protocols.curator import CURATOR_NAME
from protocols.runtime.attestation import encode_statement, is_attested, signing_input
from protocols.runtime.message import Message, encode
from protocols.runtime.session import Session
from protocols.runtime.simulate import DropOutAfter, Run, Setting, simulate
from protocols.secure_sum import PROGRAM, dealing, masks, opening, roster
from protocols.secure_sum.messages import STATEMENTS
from protocols.secure_sum.parameters import Block, Parameters
from protocols.secure_sum.values import Addends, Held
from support import sums
from support.vector_ops import OPS, Json, Shared, numbers, op, stream

STATEMENT = {kind.__name__: kind for kind in STATEMENTS}


def raw(value: Json) -> bytes:
    return bytes.fromhex(value)


def read(given: dict[str, Json]) -> Parameters:
    blocks = tuple(tuple(Block(*block) for block in of_one) for of_one in given["sums"])
    return Parameters(**given | {"parties": tuple(given["parties"]), "sums": blocks})


@op
def refused(shared: Shared, what: str, given: dict[str, Json]) -> Json:
    """Why this operation is refused."""
    try:
        OPS[what](shared, **given)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


# Shares and masks.


@op
def shamir_deal(shared: Shared, secret: str, threshold: int, count: int, seed: Json) -> Json:
    return shamir.deal(raw(secret), threshold, count, stream(seed))


@op
def shamir_combine(shared: Shared, shares: list[tuple[int, str]]) -> Json:
    return shamir.combine({x: raw(share) for x, share in shares})


@op
def mask_agree(shared: Shared, secret: str, peer: str) -> Json:
    return {"public": masking.public_key(raw(secret)), "agreed": masking.agree(raw(secret), raw(peer))}


@op
def self_mask(shared: Shared, context: str, index: int, seed: str, length: int, width: int) -> Json:
    return masking.self_mask(raw(context), index, raw(seed), length, width)


@op
def pair_mask(shared: Shared, context: str, one: int, other: int, agreed: str, length: int, width: int) -> Json:
    return masking.pair_mask(raw(context), one, other, raw(agreed), length, width)


@op
def expanded(shared: Shared, key: str, length: int, width: int) -> Json:
    return masking.expand(raw(key), length, width)


def closed(secret: str, index: int, keys: list[str], over: int) -> masking.ClosedPairs:
    """What a party has in common with each party after so many sums."""
    pairs = masking.closed_pairs(masking.ClosedSecret(raw(secret)), index, [raw(key) for key in keys])
    for _ in range(over):
        pairs = masking.closed_after(pairs)
    return pairs


@op
def closed_mask(
    shared: Shared,
    secret: str,
    index: int,
    keys: list[str],
    over: int,
    other: int,
    context: str,
    length: int,
    width: int,
) -> Json:
    pairs = closed(secret, index, keys, over)
    return {"agreed": pairs.agreed[other], "mask": masking.closed_mask(raw(context), pairs, other, length, width)}


@op
def covered(shared: Shared, z: list[Json], secret: str, index: int, keys: list[str], over: int, context: str) -> Json:
    p = read(shared["parameters"])
    return masks.mask_closed(p, tuple(numbers(z)), raw(context), closed(secret, index, keys, over))


@op
def combined_masks(shared: Shared, plus: list[str], minus: list[str], length: int, width: int) -> Json:
    return masking.combined([raw(x) for x in plus], [raw(x) for x in minus], length, width)


@op
def blinded(shared: Shared, z: list[Json], context: str, index: int, b: str | None, s: str, keys: list[str]) -> Json:
    p = read(shared["parameters"])
    seed = None if b is None else raw(b)
    return masks.mask_openly(p, tuple(numbers(z)), raw(context), index, seed, raw(s), [raw(key) for key in keys])


@op
def lifted(shared: Shared, context: str, y: list[tuple[int, list[Json]]], seeds: list[str], keys: list[str]) -> Json:
    p, given = read(shared["parameters"]), {i: tuple(numbers(of_one)) for i, of_one in y}
    opened = {i: raw(seed) for i, seed in enumerate(seeds)}
    return masks.unmask_sum(p, raw(context), given, opened, [raw(key) for key in keys])


# Greetings, digests, statements.


@op
def sum_parameters(shared: Shared, given: dict[str, Json]) -> Json:
    return read(given).as_dict()


@op
def sum_parameters_read(shared: Shared, stated: dict[str, Json]) -> Json:
    return Parameters.from_dict(stated).as_dict()


@op
def sum_members(shared: Shared, listed: Json) -> Json:
    return read(shared["parameters"]).members(numbers([listed])[0])


@op
def sum_greeting(shared: Shared, name: str, seed: Json) -> Json:
    """The encoded greeting of a party, and its secrets."""
    p = read(shared["parameters"])
    dealt = dealing.deal_seeds(p, stream(seed))
    said = encode(dealing.make_greeting(p, name, dealt), p.layout(), {})
    return {"greeting": said, "b": dealt.b, "s": dealt.s, "of P1": [[h.b, h.s] for h in dealt.shares[0]]}


@op
def share_path(shared: Shared, dealer: int, holder: int, r: int, held: list[tuple[str, str]]) -> Json:
    """The root of the shares of all sums, and what leads to it from those of sum r."""
    tree = dealing.share_tree(dealer, holder, [Held(raw(b), raw(s)) for b, s in held])
    leaves, root, path = tree[0], dealing.merkle_root(tree), dealing.merkle_path(tree, r)
    return {"leaves": leaves, "root": root, "path": path, "climbs": dealing.climb_path(leaves[r], r, path) == root}


@op
def sum_context(shared: Shared, session: str, greeted: str, r: int, query: str | None) -> Json:
    asked = roster.first_query(raw(session)) if query is None else raw(query)
    return {"query": asked, "context": roster.sum_context(raw(session), raw(greeted), r, asked)}


@op
def next_query(shared: Shared, session: str, r: int, query: str, members: int, S: list[Json]) -> Json:
    p = read(shared["parameters"])
    return roster.next_query(p, raw(session), r, raw(query), members, tuple(numbers(S)))


def stated(kind: str, content: dict[str, Json]) -> Message:
    values = {name: raw(x) if isinstance(x, str) else x for name, x in content.items()}
    made: Message = STATEMENT[kind](**values)
    return made


def session_of(given: dict[str, Json], seed: Json, nonce: str) -> tuple[Session, dict[str, Identity]]:
    p, root = read(given), stream(seed)
    names = PROGRAM.participants(p)
    identities = {name: Identity.generate(root.fork(f"identity {name}")) for name in names}
    public = {name: identity.public for name, identity in identities.items()}
    return Session(PROGRAM, p, public, raw(nonce)), identities


@op
def sum_statement(shared: Shared, name: str, kind: str, content: dict[str, Json], seed: Json, nonce: str) -> Json:
    """The bytes that are signed, who signs, and the signature."""
    session, identities = session_of(shared["parameters"], seed, nonce)
    signed = signing_input(session.id, name, kind, encode_statement(session, name, stated(kind, content), {}))
    return {"signed": signed, "public": identities[name].public, "signature": identities[name].sign(signed)}


@op
def sum_statement_holds(
    shared: Shared, name: str, kind: str, content: dict[str, Json], signature: str, seed: Json, nonce: str
) -> Json:
    session, _ = session_of(shared["parameters"], seed, nonce)
    return is_attested(session, name, stated(kind, content), {}, raw(signature))


# Whole runs.


def _simulated(
    given: dict[str, Json], seed: Json, nonce: str, z: list[list[list[Json]]], vanish: dict[str, int]
) -> tuple[sums.Setup, sums.Ledger, Run]:
    session, identities = session_of(given, seed, nonce)
    p, root, ledger = session.parameters, stream(seed), sums.Ledger()
    inputs: dict[str, tuple[Any, ...]] = {CURATOR_NAME: (p,)} if CURATOR_NAME in session.names else {}
    for name, of_one in zip(p.parties, z, strict=True):
        mine = tuple(p.ring.vector(numbers(x)) for x in of_one)
        inputs[name] = (p, Addends(mine, tuple((0,) * len(x) for x in mine)))
    seeds = {name: root.fork(f"seed {name}") for name in session.names}
    setup = sums.Setup(session, identities, seeds, inputs)
    letters = {name: DropOutAfter(number) for name, number in vanish.items()}
    setting = Setting(drop_outs=letters, charge=ledger.spend, refund=ledger.voided)
    return setup, ledger, simulate(*setup, setting)


@op
def sum_run(shared: Shared, given: dict[str, Json], vanish: dict[str, int], **how: Json) -> Json:
    """Digests of all envelopes link by link, what was published, how all ended, what was charged and is void."""
    setup, ledger, run = _simulated(given, vanish=vanish, **how)
    links: dict[str, list[bytes]] = {}
    for envelope in run.transcript.envelopes:
        links.setdefault(f"{envelope.sender} > {envelope.to}", []).append(envelope.digest)
    published = {name: {f.name: getattr(said, f.name) for f in fields(said)} for name, said in run.published.items()}
    paid = {"charged": sorted(map(list, ledger.charged)), "void": sorted(map(list, ledger.void))}
    return {"session": setup.session.id, "links": links, "published": published, "ends": run.ends, **paid}


@op
def sum_opening_fault(
    shared: Shared, given: dict[str, Json], vanish: dict[str, int], change: Json, **how: Json
) -> Json:
    """What anybody finds wrong with what was published when one place of one field is another."""
    setup, _, run = _simulated(given, vanish=vanish, **how)
    said, session = run.published[CURATOR_NAME], setup.session
    if change is not None:
        field, i, value = change
        old = getattr(said, field)
        new = raw(value) if isinstance(value, str) and isinstance(old[i], bytes) else numbers([value])[0]
        said = replace(said, **{field: (*old[:i], new, *old[i + 1 :])})

    def attested(name: str, message: Message, signature: bytes) -> bool:
        return is_attested(session, name, message, {}, signature)

    greeted = sums.greetings(setup, run.transcript.envelopes)
    found = opening.opening_fault(session.parameters, session.id, greeted, said, attested)
    return None if found is None else {"why": str(found.fault), "shows": found.shows}
