"""Public verification of a secure sum: a published opening, and dealers whose shares open nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from protocols.arithmetic.ring import Vector
from protocols.crypto import masking
from protocols.curator import CURATOR_NAME
from protocols.errors import Fault
from protocols.runtime.claims import DisclosedMessage, PublicVerification, RequiredMessage, Violation
from protocols.runtime.endpoint import Greeted
from protocols.secure_sum import dealing, opening, roster, unmasking
from protocols.secure_sum.messages import Ended, Masked, MaskKeys, PublishedOpening, Shares, Unmask
from protocols.secure_sum.opening import Attested
from protocols.secure_sum.parameters import Parameters, stage
from protocols.secure_sum.values import Held

_Greetings = Mapping[str, Greeted[MaskKeys]]
_SharesHeld = dict[tuple[int, int, bool], dict[int, bytes]]
"""By dealer, sum, and whether they are of its seed or of its mask key: the shares of its holders."""


def published_fault(
    p: Parameters, session: bytes, greetings: _Greetings, said: Mapping[str, Any], attested: Attested
) -> Violation | None:
    """Return what is wrong with the opening that Charlie published."""
    opened = said.get(CURATOR_NAME)
    if not isinstance(opened, PublishedOpening):
        missing = Fault("sum.not_published")
        return Violation(missing, None if opened is None else CURATOR_NAME)
    return opening.opening_fault(p, session, greetings, opened, attested)


def required_inputs(p: Parameters, said: Mapping[str, Any]) -> Iterator[RequiredMessage]:
    """Yield the masked input of each member of each published sum; raise `LocalError` for a list of strangers."""
    opened = said.get(CURATOR_NAME)
    for r, listed in enumerate(() if opened is None else opened.members):
        yield from (RequiredMessage(p.parties[i], CURATOR_NAME, Masked.__name__, stage(r)) for i in p.members(listed))


def contradicted_statement(
    p: Parameters,
    session: bytes,
    greetings: _Greetings,
    said: Mapping[str, Any],
    statements: Sequence[tuple[str, Any]],
) -> Violation | None:
    """Return the violation of Charlie if he signed another list or another result of a sum than he published."""
    opened = said.get(CURATOR_NAME)
    if opened is None:
        return None
    signed = [message for name, message in statements if name == CURATOR_NAME]
    if p.degree:  # contexts follow from the root of the circle, which greetings do not show
        return _signed_otherwise(p, opened, signed)
    g, query = roster.greetings_digest(p, greetings), roster.first_query(session)
    for r, (members, S) in enumerate(_published_sums(p, opened)):
        at, digest = roster.sum_context(session, g, r, query), masking.digest(S, p.width)
        for message in (message for message in signed if message.context == at):
            other = isinstance(message, Ended) and message.digest != digest
            if other or message.members != members:
                return Violation(Fault("sum.not_as_signed", {"sum": r}), CURATOR_NAME)
        query = roster.next_query(p, session, r, query, members, S)
    return None


def _signed_otherwise(p: Parameters, opened: Any, signed: Sequence[Any]) -> Violation | None:
    """Return the violation of Charlie if he signed a list or a result for more sums than he published it of."""
    published: Counter[tuple[int, bytes]] = Counter()
    for members, S in _published_sums(p, opened):
        published.update([(members, b""), (members, masking.digest(S, p.width))])
    said = {(x.context, x.members, x.digest if isinstance(x, Ended) else b"") for x in signed}
    other = Counter((members, digest) for _, members, digest in said) - published
    return Violation(Fault("sum.signed_otherwise"), CURATOR_NAME) if other else None


def _published_sums(p: Parameters, opened: Any) -> Iterator[tuple[int, Vector]]:
    """Yield the list and the result of each sum that was published."""
    start = 0
    for r, members in enumerate(opened.members):
        yield members, opened.S[start : start + p.length(r)]
        start += p.length(r)


def false_dealer(p: Parameters, greetings: _Greetings, messages: Sequence[DisclosedMessage]) -> Violation | None:
    """Return the dealer of T shares that it committed to and that do not open what it greeted with; None in a sparse
    graph, where greetings do not show who is whose neighbour.
    """
    if not p.D or p.degree:
        return None
    for (dealer, r, of_seed), shares in sorted(_dealt(p, greetings, messages).items()):
        for chosen in _enough(p, shares):
            if not _opens(greetings[p.parties[dealer]].message, dealer, r, of_seed, dealing.seed_of_shares(chosen)):
                name = p.parties[dealer]
                false_shares = Fault(
                    "sum.false_shares", {"name": name, "what": "seed" if of_seed else "mask key", "sum": r}
                )
                return Violation(false_shares, name)
    return None


def _dealt(p: Parameters, greetings: _Greetings, messages: Sequence[DisclosedMessage]) -> _SharesHeld:
    """Return the shares in these messages that their dealers committed to; for others nobody answers."""
    found: _SharesHeld = {}
    for disclosed in messages:
        for dealer, holder, r, held in (*_given(p, greetings, disclosed), *_shown(p, greetings, disclosed)):
            for of_seed, share in ((True, held.b), (False, held.s)):
                if share:
                    found.setdefault((dealer, r, of_seed), {})[holder] = share
    return found


def _given(p: Parameters, greetings: _Greetings, disclosed: DisclosedMessage) -> Iterator[tuple[int, int, int, Held]]:
    """Yield dealer, holder, sum and shares, as a dealer gave them."""
    if not isinstance(disclosed.message, Shares) or not {disclosed.sender, disclosed.to} <= set(p.parties):
        return
    dealer, holder = p.parties.index(disclosed.sender), p.parties.index(disclosed.to)
    held = [Held(b, s) for b, s in zip(disclosed.message.b, disclosed.message.s, strict=True)]
    if (
        dealing.merkle_root(dealing.share_tree(dealer, holder, held))
        == greetings[disclosed.sender].message.leaves[holder]
    ):
        yield from ((dealer, holder, r, of_sum) for r, of_sum in enumerate(held))


def _shown(p: Parameters, greetings: _Greetings, disclosed: DisclosedMessage) -> Iterator[tuple[int, int, int, Held]]:
    """Yield dealer, holder, sum and shares, as a holder showed them; of two shares only one."""
    if not isinstance(disclosed.message, Unmask) or disclosed.sender not in p.parties:
        return
    r = next((r for r in range(p.R) if stage(r) == disclosed.stage), None)
    if r is None:
        return
    holder, leaves = p.parties.index(disclosed.sender), tuple(greetings[name].message.leaves for name in p.parties)
    for dealer, share in enumerate(disclosed.message.shares):
        for survived in (True, False):
            if unmasking.is_committed_share(p, leaves, r, dealer, holder, survived, disclosed.message, dealer):
                yield dealer, holder, r, Held(share, b"") if survived else Held(b"", share)


def _enough(p: Parameters, shares: Mapping[int, bytes]) -> Iterator[dict[int, bytes]]:
    """Yield T shares at a time, so that each share is in some of these."""
    items = sorted(shares.items())
    for last in items[p.T - 1 :]:
        yield dict([*items[: p.T - 1], last])


def _opens(said: MaskKeys, dealer: int, r: int, of_seed: bool, opened: bytes) -> bool:
    return unmasking.is_promised(said.commitments[r], said.keys[r], dealer, r, of_seed, opened)


PUBLIC_VERIFICATION = PublicVerification(
    lambda p: p.verifiable, published_fault, false_dealer, required_inputs, contradicted_statement
)
