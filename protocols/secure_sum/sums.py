"""One sum with drop-outs, steps 2 to 7: masked inputs, the one list of survivors that enough of them sign, one kind of
share for each party, the sum.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import NoReturn

from protocols.crypto import masking
from protocols.crypto.identity import SIGNATURE_BYTES
from protocols.errors import Fault, LocalError
from protocols.runtime.endpoint import Endpoint
from protocols.secure_sum import graph, masks, roster, steps, unmasking
from protocols.secure_sum.messages import Agreed, Certificate, Listed, Masked, Signed, Survivors, Unmask
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import Addends, CuratorState, Opening, Vault

UNSIGNED = bytes(SIGNATURE_BYTES)


async def party(me: Endpoint, p: Parameters, vault: Vault, mine: Addends, r: int) -> Vault:
    """Run P_j, who learns S_r and who took part."""
    at = steps.own_context(me, vault, r)
    # 2. the masked input
    steps.send_masked(me, p, at, steps.masked_input(me, p, vault, mine, r, at))
    # 3., 4. one list of survivors, signed if it can be
    listed = await me.receive(me.curator, Survivors)
    U = _listed(me, p, listed)
    agreed = Agreed(r, at, listed.members, listed.inputs)
    if not U or me.index in U:  # else it came too late: it signs and opens nothing
        if listed.context != at or 0 < len(U) < p.fewest:
            me.refuse(me.curator, "survivors.not_to_be_signed")
        me.send(me.curator, Signed(me.attest(agreed)))
    # 5. enough of them have signed the same
    held = await me.receive(me.curator, Certificate)
    signatures = dict(zip(vault.near or range(p.K), held.signatures, strict=True))
    if len(_signers(me, p, agreed, signatures, U or range(p.K))) < p.Q:
        me.refuse(me.curator, "survivors.too_few_signatures")
    if me.index not in U:
        me.refund(steps.charge_label(r))
    if not U:
        me.stop("sum.given_up", sum=r)
    # 6. one kind of share for each party, by the list that I have signed
    if me.index in U:
        me.send(me.curator, unmasking.shares_to_unmask(p, vault, r, U))
    # 7.
    return await steps.receive_result(me, p, vault, r, at, listed.members)


async def curator(me: Endpoint, p: Parameters, state: CuratorState, r: int) -> CuratorState:
    """Run Charlie, who learns S_r and who took part."""
    at = steps.own_context(me, state.vault, r)
    # 2.
    inputs = steps.admit_inputs(me, p, at, await me.collect(p.parties, Masked))
    U = tuple(sorted(inputs))
    if len(U) < p.fewest:
        await _given_up(me, p, state, r, at, len(U))
    # 3.
    listed = _propose(me, p, at, U, inputs)
    # 4., 5.
    signatures = await _certified(me, p, state, Agreed(r, at, listed.members, listed.inputs), U)
    # 6.
    opened = await me.collect(_names(p, U), Unmask)
    seeds = _opened(me, p, state, r, U, opened)
    # 7.
    S = masks.unmask_sum(p, at, {i: inputs[i].y for i in U}, seeds, state.vault.keys[r], state.near)
    return steps.announce_result(me, p, state, r, listed.members, S, _opening(p, r, inputs, signatures, seeds))


# What a party does.


def _listed(me: Endpoint, p: Parameters, listed: Survivors) -> tuple[int, ...]:
    """Return the survivors, as Charlie says and signs."""
    if not me.attested(me.curator, Listed(listed.context, listed.members, listed.inputs), listed.signature):
        me.refuse(me.curator, "survivors.not_signed")
    try:
        return p.members(listed.members)
    except LocalError as error:
        me.refuse(me.curator, error.fault)


def _signers(
    me: Endpoint, p: Parameters, agreed: Agreed, signatures: Mapping[int, bytes], among: Collection[int]
) -> tuple[int, ...]:
    """Return which of these parties have signed, each counted once; as many as are wanted, and no more."""
    inside = frozenset(among)
    shown = [i for i in signatures if i in inside]
    return tuple(islice((i for i in shown if me.attested(p.parties[i], agreed, signatures[i])), p.Q))


# What Charlie does.


def _propose(me: Endpoint, p: Parameters, at: bytes, U: Sequence[int], inputs: Mapping[int, Masked]) -> Listed:
    """Send the one list of survivors of this sum to all (step 3)."""
    masked = {i: (masking.digest(m.y, p.width), m.signature) for i, m in inputs.items()}
    listed = Listed(at, p.listed(U), roster.inputs_digest(masked))
    me.broadcast(p.parties, Survivors(at, listed.members, listed.inputs, me.attest(listed)))
    return listed


async def _certified(
    me: Endpoint, p: Parameters, state: CuratorState, agreed: Agreed, among: Sequence[int], why: str = ""
) -> tuple[bytes, ...]:
    """Return the signatures of enough of these parties, and send them to all, in a sparse graph to each those of its
    neighbours (steps 4, 5); `why` there is nothing else to sign.
    """
    valid: dict[str, bytes] = {}
    for name, signed in (await me.collect(_names(p, among), Signed)).items():
        if me.attested(name, agreed, signed.signature):
            valid[name] = signed.signature
        else:
            me.doubt(name, "survivors.signed_others")
    if (fewest := _fewest(p, state, valid)) < p.Q:
        who = f"of the {p.degree} neighbours of a party" if state.near else f"of {p.K} parties"
        me.stop("sum.too_few_signed", why=why, got=fewest, who=who, sum=agreed.number, wanted=p.Q)
    signatures = tuple(valid.get(name, UNSIGNED) for name in p.parties)
    if not state.near:
        me.broadcast(p.parties, Certificate(signatures))
    for i, beside in enumerate(state.near):
        me.send(p.parties[i], Certificate(tuple(signatures[j] for j in beside)))
    return signatures


def _fewest(p: Parameters, state: CuratorState, signed: Collection[str]) -> int:
    """Return the number that have signed, or that number among the neighbours of the party where it is the least."""
    if not state.near:
        return len(signed)
    return min(sum(p.parties[j] in signed for j in beside) for beside in state.near)


async def _given_up(me: Endpoint, p: Parameters, state: CuratorState, r: int, at: bytes, count: int) -> NoReturn:
    """Have it signed that this sum is nobody's, for too few are there, so that nobody pays for it, and stop."""
    few = Fault("sum.too_few_took_part", {"got": count, "parties": p.K, "sum": r, "wanted": p.fewest})
    listed = _propose(me, p, at, (), {})
    await _certified(me, p, state, Agreed(r, at, listed.members, listed.inputs), range(p.K), f"{few}, and ")
    me.stop(few)


def _opened(
    me: Endpoint, p: Parameters, state: CuratorState, r: int, U: Sequence[int], got: Mapping[str, Unmask]
) -> dict[int, bytes]:
    """Return for every party the secret that T shares open; shares that its dealer did not commit to are dropped (step
    6).
    """
    good: dict[int, dict[int, bytes]] = {i: {} for i in range(p.K)}
    for name, unmask in got.items():
        holder = p.parties.index(name)
        wrong = unmasking.dealers_of_other_shares(p, state, r, holder, U, unmask)
        if wrong:
            me.doubt(name, "shares.not_dealt_to_holder", dealers=_names(p, wrong))
        for at, i in enumerate(state.dealers(holder)):
            if i not in wrong:
                good[i][graph.share_number(p.degree, at) if state.near else holder] = unmask.shares[at]
    return {i: _secret(me, p, state, r, i, i in U, shares) for i, shares in good.items()}


def _secret(
    me: Endpoint, p: Parameters, state: CuratorState, r: int, dealer: int, survived: bool, shares: Mapping[int, bytes]
) -> bytes:
    name, what = p.parties[dealer], "seed" if survived else "mask key"
    if len(shares) < p.T:
        me.stop("sum.too_few_shares", got=len(shares), what=what, dealer=name, sum=r, wanted=p.T)
    opened, at_once = unmasking.open_secret(p, state, r, dealer, survived, shares, me.rng)
    if opened is None:
        me.stop("sum.shares_of_another_secret", dealer=name, what=what)
    if not at_once:
        me.note(name, "sum.some_shares_of_another_secret", what=what, sum=r)
    return opened


def _opening(
    p: Parameters, r: int, inputs: Mapping[int, Masked], signatures: tuple[bytes, ...], seeds: Mapping[int, bytes]
) -> Opening:
    nothing = Masked(b"", p.ring.vector([0 for _ in range(p.length(r))]), UNSIGNED)
    every = [inputs.get(i, nothing) for i in range(p.K)]
    return Opening(
        tuple(masked.y for masked in every),
        tuple(masked.signature for masked in every),
        signatures,
        tuple(seeds[i] for i in range(p.K)),
    )


def _names(p: Parameters, indices: Collection[int]) -> tuple[str, ...]:
    return tuple(p.parties[i] for i in indices)
