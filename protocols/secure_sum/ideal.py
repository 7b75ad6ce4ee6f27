"""Ideal functionality of the sums, simulators, and a model for audits. The theorem is in NOTES.md.

Theorem. Let Charlie and any t parties be malicious, statically. Their view of R sums can be made from: for each sum
at most one pair of a query and a set U of at least K-D parties, chosen by them before they get the sum over the honest
members of U of what these add, noise included; and at least H = K-D-t honest parties are in it. There is no statistical
term. Complaints about shares open fewer than T of a secret, those of the coalition included. Honest parties output what
Charlie says, or nothing: neither a right sum nor any sum is promised. In a sparse graph (`graph.py`) all of this is
against a semi-honest Charlie and t semi-honest parties, and but for the probability that the graph does not do
(`distance`).

Where nobody may drop out nothing is ever opened: masks come from a stream cipher, every t up to K-1 will do, and the
proof programs nothing. In a sparse graph, for which somebody has to ask, t is bounded by its degree.

The simulators follow the proof: seeds, keys and shares are real, and the masked inputs of the honest hide any numbers
that add up to the honest sum. They are tried for semi-honest coalitions; the proof, and the tests of this folder, are
about malicious ones.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.crypto import masking
from protocols.curator import CURATOR_NAME
from protocols.runtime.claims import (
    Claim,
    Detour,
    DropOutTrials,
    Hygiene,
    Inputs,
    Mask,
    Model,
    Readings,
    Trials,
    Unknown,
    numbered,
)
from protocols.runtime.message import Message
from protocols.secure_sum import complaints, dealing, graph, leakage_model, masks
from protocols.secure_sum.limitations import LIMITATIONS
from protocols.secure_sum.messages import Accused, Shares
from protocols.secure_sum.parameters import SHARES, Block, Parameters
from protocols.secure_sum.values import Addends, Held, join_addends

_STRENGTH = (
    "no party goes back to an old state",
    "X25519 (gap Diffie-Hellman), Ed25519 and ChaCha20-Poly1305 are as strong as they are held to be",
    "SHA-256 and SHAKE-256 are like random oracles",
    "the randomness of the operating system and its expansion (ChaCha20, HMAC-SHA-256) cannot be told from true "
    "randomness",
    "if nobody may drop out, the masks by ChaCha20 cannot be told from true randomness either",
)
ASSUMPTIONS = numbered("the corrupted participants are fixed from the start", *_STRENGTH)


def assumptions(p: Parameters) -> str:
    """Return what is assumed under these parameters."""
    if not p.degree:
        return ASSUMPTIONS
    if not p.D:
        return numbered(
            "Charlie and these parties are semi-honest",
            "the choice of these parties was fixed before the randomness of the sparse graph and does not depend on it "
            f"(in this graph each party shares masks with {p.degree} neighbours)",
            *_STRENGTH,
        )
    return numbered(
        "Charlie and these parties are semi-honest",
        "the choice of these parties, and of those that drop out, was fixed before the randomness of the sparse graph "
        f"and does not depend on it (in this graph each party shares masks with {p.degree} neighbours, {p.T} of whom "
        "can open its seeds)",
        "AES-256-CCM is secure authenticated encryption",
        *_STRENGTH,
    )


def distance(p: Parameters) -> Fraction | None:
    """Return the probability that a sparse graph does not do; otherwise there is no statistical term."""
    return p.failure


def is_semi_honest(p: Parameters) -> bool:
    """Return whether the claim is about semi-honest coalitions alone: it is in a sparse graph."""
    return bool(p.degree)


def functionality(p: Parameters, inputs: Mapping[str, Addends], r: int, members: Collection[int]) -> Vector:
    """Return S_r: the sum of these parties' contributions, noise included."""
    mine = [inputs[p.parties[i]] for i in members]
    return p.ring.add_vectors(*(x.numbers[r] for x in mine), *(x.noise[r] for x in mine))


def claimed(p: Parameters, names: Sequence[str]) -> bool:
    """Return whether a coalition is claimed: Charlie with at most t parties; without Charlie any parties, but fewer
    than T where masked inputs are public.
    """
    parties = [name for name in names if name != CURATOR_NAME]
    if CURATOR_NAME in names:
        return len(parties) <= p.t
    return bool(parties) and not (p.D and p.verifiable and len(parties) >= p.T)


def simulate_with_charlie(
    p: Parameters,
    members: Collection[int],
    own: Mapping[int, Addends],
    honest: Sequence[Vector],
    rng: Stream,
    dropped_out: Collection[int] = (),
) -> Readings:
    """Simulate what Charlie and these parties read, from their own inputs and the sums of the honest who have not
    dropped out; those in `dropped_out` drop out when they have dealt.
    """
    survivors = [i for i in range(p.K) if i not in dropped_out]
    if not p.D:
        return _simulate_closed(p, members, own, honest, rng)
    dealt = _dealt(p, rng)
    near = _seats(p, rng)
    covers = _Covers(p, members, dealt, near, rng)
    found = simulate_parties(p, members, rng, covers)
    y: list[int] = []
    opened: list[bytes] = []
    for r, S in enumerate(honest):
        numbers = _dummies(p, [i for i in survivors if i not in members], S, rng)
        numbers |= {i: _added(p, own[i], r) for i in members}
        context = rng.bytes(masking.DIGEST_BYTES)
        keys = [_public_key(of.s[r]) for of in dealt]
        for i in survivors:
            seats = near[i] if near else ()
            y += masks.mask_openly(p, numbers[i], context, i, dealt[i].b[r], dealt[i].s[r], keys, seats)
        for holder in survivors:
            opened += [of[r].b if i in survivors else of[r].s for i, of in covers.held(holder)]
    every = [x for i in range(p.K) for x in covers.dealt_by(i)]
    return {"Masked.y": y, **_numbers({"Unmask.shares": opened, "Handed.shares": every}), **found}


def _simulate_closed(
    p: Parameters, members: Collection[int], own: Mapping[int, Addends], honest: Sequence[Vector], rng: Stream
) -> Readings:
    """Simulate the same view where nobody may drop out, and nothing is opened."""
    secrets = [dealing.closed_secret(rng.fork(f"dealer {i}")) for i in range(p.K)]
    keys = [masking.closed_key(secret) for secret in secrets]
    near = _seats(p, rng) or (tuple(range(p.K)),) * p.K
    pairs = [masking.closed_pairs(secret, i, [keys[j] for j in near[i]]) for i, secret in enumerate(secrets)]
    y: list[int] = []
    for r, S in enumerate(honest):
        numbers = _dummies(p, [i for i in range(p.K) if i not in members], S, rng)
        numbers |= {i: _added(p, own[i], r) for i in members}
        context = rng.bytes(masking.DIGEST_BYTES)
        y += [x for i in range(p.K) for x in masks.mask_closed(p, numbers[i], context, pairs[i], near[i])]
        pairs = [masking.closed_after(of_one) for of_one in pairs]
    return {"Masked.y": y}


def simulate_parties(p: Parameters, members: Collection[int], rng: Stream, larger: _Covers | None = None) -> Readings:
    """Simulate what these parties read without Charlie: shares of seeds, and nothing else. What is dealt is drawn here,
    unless the simulator of a larger coalition has drawn it.
    """
    if not p.D:
        return {}
    if larger is None:
        dealt = _dealt(p, rng)
        larger = _Covers(p, members, dealt, _seats(p, rng), rng)
    if p.degree:
        return _numbers({"Passed.shares": [x for j in members for x in larger.passed_to(j)]})
    read = [held for j in members for i, of in larger.held(j) if i != j for held in of]
    return _numbers({"Shares.b": [held.b for held in read], "Shares.s": [held.s for held in read]})


# All coalitions of one execution share what is dealt, for a fork does not depend on what was drawn.
@lru_cache(maxsize=1)
def _dealt(p: Parameters, rng: Stream) -> tuple[dealing.Seeds, ...]:
    return tuple(dealing.deal_seeds(p, rng.fork(f"dealer {i}")) for i in range(p.K))


@lru_cache(maxsize=64)
def _public_key(secret: bytes) -> bytes:
    return masking.public_key(secret)


@lru_cache(maxsize=64)
def _agree(secret: bytes, peer: bytes) -> bytes:
    return masking.agree(secret, peer)


def _seats(p: Parameters, rng: Stream) -> tuple[tuple[int, ...], ...]:
    """Draw everybody's neighbours in a sparse graph, in an order of its own."""
    return (
        graph.all_neighbours(p.degree, graph.draw_order(b"", rng.bytes(masking.DIGEST_BYTES), p.K)) if p.degree else ()
    )


class _Covers:
    """Simulated shares, and in a sparse graph their encryptions: real towards a member and from one, any bytes between
    honest parties.
    """

    def __init__(
        self,
        p: Parameters,
        members: Collection[int],
        dealt: Sequence[dealing.Seeds],
        near: Sequence[Sequence[int]],
        rng: Stream,
    ) -> None:
        self._p, self._members, self._dealt, self._near, self._rng = p, members, dealt, near, rng
        self._context = rng.bytes(masking.DIGEST_BYTES)
        self._made = {i: self._covered(i) for i in range(p.K)} if p.degree else {}

    def held(self, holder: int) -> list[tuple[int, tuple[Held, ...]]]:
        """Return the dealers whose shares a party holds, with these."""
        if not self._near:
            return [(i, of.shares[holder]) for i, of in enumerate(self._dealt)]
        at_each = enumerate(self._near[holder])
        return [(i, self._dealt[i].shares[graph.share_number(self._p.degree, at)]) for at, i in at_each]

    def dealt_by(self, dealer: int) -> Sequence[bytes]:
        """Return what a party sends to Charlie for its neighbours; nothing in the complete graph."""
        return self._made.get(dealer, ())

    def passed_to(self, holder: int) -> Sequence[bytes]:
        """Return what Charlie passes on to a party."""
        return dealing.shares_passed_on(self._p, self._near[holder], [self._made[i] for i in range(self._p.K)])

    def _covered(self, dealer: int) -> tuple[bytes, ...]:
        beside = self._near[dealer]
        agreed = {i: _agree(self._dealt[dealer].box, _public_key(self._dealt[i].box)) for i in beside}
        real = dealing.encrypt_shares(self._context, dealer, agreed, self._dealt[dealer])
        open_to = [i in self._members or dealer in self._members for i in beside]
        return tuple(x if known else self._rng.bytes(len(x)) for x, known in zip(real, open_to, strict=True))


def _dummies(p: Parameters, honest: Sequence[int], S: Vector, rng: Stream) -> dict[int, Vector]:
    """Draw numbers of the honest parties that add up to S."""
    return dict(zip(honest, p.ring.split_vector(S, len(honest), rng), strict=True)) if honest else {}


def _added(p: Parameters, mine: Addends, r: int) -> Vector:
    return p.ring.add_vectors(mine.numbers[r], mine.noise[r])


def _numbers(found: Mapping[str, Sequence[bytes]]) -> Readings:
    return {place: [int.from_bytes(x, "big") for x in values] for place, values in found.items() if values}


# A model for audits.


def dry_run_parameters(p: Parameters) -> Parameters:
    """Return parameters of the same names and sums with one number in each block."""
    return replace(p, sums=tuple(tuple(Block(1, b.noise) for b in blocks) for blocks in p.sums))


def inputs(p: Parameters, unknown: Unknown) -> dict[str, tuple[Any, ...]]:
    """Return the numbers x_j and the noise E_j of each party, in each sum."""
    given: dict[str, tuple[Any, ...]] = {
        name: (p, Addends(_unknowns(p, f"x_{j}", unknown), _unknowns(p, f"E_{j}", unknown)))
        for j, name in enumerate(p.parties, start=1)
    }
    return given if p.output == SHARES else {**given, CURATOR_NAME: (p,)}


def split_answers(p: Parameters, given: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Split a party's inputs: it knows its addends of the first sum, and queries its addends of the others."""
    if len(given) < 2:
        return given, ()
    each = zip(given[1].numbers, given[1].noise, strict=True)
    first, *others = (Addends((numbers,), (noise,)) for numbers, noise in each)
    return (given[0], first), tuple(others)


def _unknowns(p: Parameters, name: str, unknown: Unknown) -> tuple[Vector, ...]:
    """Return one vector a sum; the number of a coordinate goes on over all sums."""
    found, start = [], 1
    for r in range(p.R):
        found.append(tuple(unknown(f"{name}({i})", p.ring_bits) for i in range(start, start + p.length(r))))
        start += p.length(r)
    return tuple(found)


def functionality_values(
    p: Parameters, inputs: Inputs, said: Sequence[tuple[str, Message]], members: Collection[str]
) -> Mapping[str, int]:
    """Return what the functionality gives a coalition, coordinate by coordinate over all sums that were reached."""
    addends = {name: inputs[name][1] for name in p.parties}
    sums = (
        functionality(p, addends, r, parties)
        for r, parties in enumerate(leakage_model.members_of_sums(p, said, members))
    )
    return {f"S({i})": x for i, x in enumerate((x for S in sums for x in S), start=1)}


def hygiene_masks(p: Parameters) -> tuple[Mask, ...]:
    """Return every field that hides something from its reader, always mod a power of two."""
    seed = 8 * masking.SECRET_BYTES
    return (
        Mask("Masked.y", p.ring_bits),
        *(Mask(place, seed) for place in ("Shares.b", "Shares.s", "Unmask.shares")),
        *(Mask(place, 8 * p.covered) for place in ("Handed.shares", "Passed.shares")),
    )


def join_inputs(p: Parameters, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Join what a party knew and the answers to its queries as one input; Charlie has none."""
    return given if len(given) < 2 else (given[0], join_addends(p, *given[1:]))


def agrees(p: Parameters, given: Inputs, published: Mapping[str, Any]) -> bool:
    """Return whether the published sums are those of their members' contributions."""
    addends = {name: join_addends(p, *given[name][1:]) for name in p.parties}
    if p.output == SHARES:
        total = p.ring.add_vectors(*(share.y for share in published.values()))
        return total == functionality(p, addends, 0, range(p.K))
    (said,) = published.values()
    every = (x for r in range(p.R) for x in functionality(p, addends, r, p.members(said.members[r])))
    return bool(tuple(every) == said.S)


MODEL = Model(
    dry_run_parameters,
    inputs,
    (),
    lambda p: (),
    leakage_model.sample_session,
    leakage_model.addend_outcomes,
    Hygiene(
        8 * masking.SECRET_BYTES,
        hygiene_masks,
        (),
        lambda p: (p.ring_bits, 0),
        agrees,
        lambda p: p.ring_bits,
        lambda p: p.output != SHARES,
        join_inputs,
    ),
    drop_outs=leakage_model.possible_dropouts,
    given=functionality_values,
    profiles=leakage_model.profiles,
    split_answers=split_answers,
    detour=Detour(Accused, Shares, complaints.wrong_shares),
)

# Trials of the claim.

_RING_BITS = 16


def small(p: Parameters) -> Parameters:
    """Return a session of four parties, of whom one may be corrupted and one may drop out if any may in p; six parties
    in a sparse graph. Its ring is the same for every `ring_bits`: no branch of a role depends on it, and masks are
    uniform.
    """
    if p.degree:
        degree = graph.LEAST_DEGREE if p.D else graph.LEAST_CLOSED_DEGREE
        return Parameters(_names(6), 1, min(p.D, 1), ((Block(2, "none"),),), _RING_BITS, degree=degree)
    names = _names(4)
    return Parameters(names, 1, min(p.D, 1), ((Block(2, "none"),),), _RING_BITS, p.verifiable, p.output)


def _names(K: int) -> tuple[str, ...]:
    return tuple(f"P{j}" for j in range(1, K + 1))


_SUM = Parameters(_names(3), 0, 0, ((Block(1, "none"),),))
_MANY = Parameters(_names(graph.LEAST_DEGREE + 1), 0, 1, _SUM.sums, degree=graph.LEAST_DEGREE)
_MANY_STAY = replace(_SUM, degree=graph.LEAST_CLOSED_DEGREE)
TRIAL_SESSIONS = (
    *(small(replace(_SUM, dropouts=D, verifiable=verifiable)) for D in (0, 1) for verifiable in (False, True)),
    small(replace(_SUM, output=SHARES)),
    small(_MANY),
    small(_MANY_STAY),
)
"""Parameters of the small sessions in which the claim is tried: one of every kind in use."""


def worlds(p: Parameters) -> tuple[Inputs, Inputs]:
    """Return two worlds with the same sums: everybody adds the same as numbers without noise, or as noise alone."""
    M = p.ring.modulus
    z = [tuple(tuple((M // p.K * i + 3) % M for _ in range(p.length(r))) for r in range(p.R)) for i in range(p.K)]
    nothing = tuple((0,) * p.length(r) for r in range(p.R))
    one, other = inputs(p, lambda name, bits: 0), inputs(p, lambda name, bits: 0)
    for name, mine in zip(p.parties, z, strict=True):
        one[name], other[name] = (p, Addends(mine, nothing)), (p, Addends(nothing, mine))
    return one, other


def simulation(p: Parameters, rng: Stream, dropped_out: Collection[int] = ()) -> Callable[[tuple[str, ...]], Readings]:
    """Return the simulators for one execution in either world."""
    world, _ = worlds(p)
    given = {name: world[name][1] for name in p.parties}

    def simulated(names: tuple[str, ...]) -> Readings:
        members = [p.parties.index(name) for name in names if name != CURATOR_NAME]
        if CURATOR_NAME not in names:
            return simulate_parties(p, members, rng)
        honest = [i for i in range(p.K) if i not in members and i not in dropped_out]
        sums = [functionality(p, given, r, honest) for r in range(p.R)]
        return simulate_with_charlie(p, members, {i: given[p.parties[i]] for i in members}, sums, rng, dropped_out)

    return simulated


def dropout_points(p: Parameters) -> Mapping[str, int]:
    """Return how many messages the last party sends before it drops out: its greeting, its shares and `Ready`; in a
    sparse graph its greeting, its coin and the shares.
    """
    return {p.parties[-1]: 3 if p.degree else p.K + 1} if p.D else {}


def simulation_of_the_rest(p: Parameters, rng: Stream) -> Callable[[tuple[str, ...]], Readings]:
    """Return the simulators for one execution without the last party."""
    return simulation(p, rng, (p.K - 1,))


CLAIM = Claim(
    simulators={"Charlie and at most t parties": simulate_with_charlie, "parties without Charlie": simulate_parties},
    limitations=LIMITATIONS,
    trials=Trials(
        claimed,
        simulation,
        small,
        worlds,
        lambda p, found: found,
        drop_out_trials=DropOutTrials(dropout_points, simulation_of_the_rest),
        sessions=TRIAL_SESSIONS,
    ),
    assumptions=ASSUMPTIONS,
    assumed=assumptions,
    distance=distance,
    keeps=is_semi_honest,
)
