"""More checks of the role code of the secure sum: masks, seeds, mask keys, noise, and what is kept of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from protocols.crypto import sealing
from protocols.crypto.sealing import KEY_BYTES
from protocols.errors import DecodeError
from protocols.runtime import replay
from protocols.runtime.envelope import signed_payload
from support.coalition import Coalition, session
from support.role_code import Code
from support.sum_checks import ALL, HONEST, five, hold, over


def members_open_nothing(code: Code) -> None:
    """2."""
    c = five(code)
    hold(not any(c.opened(0, name, kind) for name in HONEST for kind in "bs"), "t parties opened a seed by themselves")


def partitioned(code: Code) -> Coalition:
    """A1: Charlie lets some greetings through to some. P1 shares masks with P2 and P5 alone, P2 is left out, and P5 is
    Charlie's. The code is one that goes on with what it was shown.
    """
    shown = {"P1": {"P1", "P2", "P5"}, "P2": set(ALL), "P3": set(ALL[1:]), "P4": set(ALL[1:])}
    c = session(code, 5, 1, 1)
    code.setup.SHOWN = shown
    c.strangers = [{"P1", "P3"}, {"P1", "P4"}]
    c.seat()
    c.lead(0, ("P1", "P3", "P4", "P5"), ("P1", "P3", "P4"))
    return c


def withheld(code: Code) -> Coalition:
    """The same against code that knows its greetings from the board."""
    c = session(code, 5, 1, 1)
    c.greet()
    for name, stranger in (("P1", "P3"), ("P1", "P4"), ("P3", "P1"), ("P4", "P1")):
        del c.boards[name][stranger]
    c.pump()
    return c


def all_greetings_are_needed(code: Code) -> None:
    """5."""
    c = partitioned(code) if hasattr(code.setup, "SHOWN") else withheld(code)
    lone = [read for read in c.readable(0) if read.of == {"P1"} and read.value == c.added("P1", 0)]
    hold(not lone, "what a single party added was read")


def copies_do_not_cancel(code: Code) -> None:
    """14. A3: the masks of the second party with the first, and with a third that has a copy of the first one's key."""
    c = session(code, 3, 1, 0)
    keys = [code.masking.public_key(bytes([j]) * 32) for j in (1, 2, 1)]
    z = c.added("P2", 0)
    y = code.masks.mask_openly(c.p, z, bytes(32), 1, None, bytes([2]) * 32, keys)
    hold(y != z, "a copied mask key takes the masks off")
    secret = code.masking.ClosedSecret(bytes([2]) * 32)
    y = code.masks.mask_closed(c.p, z, bytes(32), code.masking.closed_pairs(secret, 1, keys))
    hold(y != z, "a copied mask key takes the masks off")


def one_sum_opens_no_other(code: Code) -> None:
    """15. A2: the first party is in sum 0, and gone in sum 1."""
    c = five(code, (1, 1))
    over(c)
    c.lead(1, ALL[1:], HONEST)
    hold([read.of for read in c.readable(0)] == [set(HONEST)], "who vanished in sum 1 has shown what it added to sum 0")


def seeds_are_fresh(code: Code) -> None:
    """16. The same, for sum 1: its own masked input came too late."""
    c = five(code, (1, 1))
    over(c)
    c.lead(1, ALL[1:], HONEST)
    hold([read.of for read in c.readable(1)] == [set(ALL[1:4])], "the self masks of two sums come from one seed")


def late_inputs_stay_masked(code: Code) -> None:
    """17."""
    c = five(code)
    c.lead(0, ALL[1:], HONEST)
    late, keys = c.to_charlie("Masked")["P1"], [c.dealt(name).s[0] for name in ALL]
    s = c.opened(0, "P1", "s")
    public = [code.masking.public_key(key) for key in keys]
    pairs = code.masks.mask_openly(c.p, (0,) * c.p.length(0), late.context, 0, None, s, public)
    read = c.p.ring.subtract_vectors(late.y, pairs)
    hold(read != c.added("P1", 0), "a masked input that came late was read with the mask key")


def mail_stays_sealed(code: Code) -> None:
    """18."""
    c = five(code)
    c.lead(0, ALL[1:], HONEST)
    s = c.opened(0, "P1", "s")
    (sealed,) = [e for e in c.wire if (e.sender, e.to, e.kind) == ("P2", "P1", "Shares")]
    link = signed_payload(c.boards["charlie"]["P2"])[:KEY_BYTES]
    keys = sealing.link_keys(s or b"", link, c.session.id, "P1", "P2")
    try:
        sealing.unseal(keys.incoming, sealed.number, sealed.header, sealed.body)
    except DecodeError:
        return
    hold(False, "an opened mask key opens its owner's mail")


def noise_is_fresh(code: Code) -> None:
    """19."""
    c = five(code, (1, 1))
    over(c)
    c.lead(1, ALL, HONEST)
    (read,) = c.readable(1)
    numbers = [c.addends[name].numbers[1] for name in HONEST]
    noise = c.p.ring.subtract_vectors(read.value, c.p.ring.add_vectors(*numbers))
    stale = c.p.ring.add_vectors(*(c.addends[name].noise[0] for name in HONEST))
    hold(noise != stale, "the noise of sum 0 is in sum 1 again")


def masks_are_uniform(code: Code) -> None:
    """26. Of 4,096 words about half have their top bit set: five standard deviations are 160."""
    size = (4096, 8)
    for mask in (
        code.masking.self_mask(bytes(32), 0, bytes(32), *size),
        code.masking.pair_mask(bytes(32), 0, 1, bytes(32), *size),
    ):
        hold(abs(sum(byte >> 7 for byte in mask[::8]) - 2048) <= 160, "the top bit of a mask is not uniform")


def masks_can_be_programmed(code: Code) -> None:
    """35. Where seeds may be opened, all that hides a number is SHAKE-256 of it, of its places and of its context."""
    c = five(code)
    for name, masked in c.to_charlie("Masked").items():
        hold(masked.y == _by_shake_256(c, name, masked.context), "a seed that may be opened is expanded otherwise")


def _by_shake_256(c: Coalition, name: str, context: bytes) -> tuple[int, ...]:
    """What a party sends, by hashlib alone."""
    i, length, width = c.p.parties.index(name), c.p.length(0), c.p.width
    y = list(c.added(name, 0))
    labels = [(1, b"smc-dp sum self\0" + context + i.to_bytes(2, "big") + c.dealt(name).b[0])]
    for j, other in enumerate(c.p.parties):
        agreed = c.code.masking.agree(c.dealt(name).s[0], c.mask_key(other))
        places = b"".join(place.to_bytes(2, "big") for place in sorted((i, j)))
        if j != i:
            labels.append((1 if i < j else -1, b"smc-dp sum pair\0" + context + places + agreed))
    for sign, label in labels:
        raw = hashlib.shake_256(label).digest(length * width)
        for place in range(length):
            y[place] += sign * int.from_bytes(raw[place * width : (place + 1) * width], "big")
    return c.p.ring.vector(y)


def greeted_with(code: Code, change: Callable[[Coalition, Any], Any]) -> Coalition:
    """A session whose last party greets otherwise, seeing what the others greet with."""
    c = session(code, 5, 1, 1)
    c.greet()
    hello = c.greeting("P5", lambda said: change(c, said))
    for board in c.boards.values():
        board["P5"] = hello
    c.pump()
    return c


def copied_key(c: Coalition, said: Any) -> Any:
    """P1's mask key."""
    return replace(said, keys=(c.mask_key("P1"),))


def copied_with_top_bit(c: Coalition, said: Any) -> Any:
    """The same key in other bytes: the top bit means nothing."""
    key = copied_key(c, said).keys[0]
    return replace(said, keys=(key[:-1] + bytes([key[-1] | 0x80]),))


def copied_with_torsion(c: Coalition, said: Any) -> Any:
    """P1's mask key with the point of order two added, at u = 0: everybody agrees on the same with it."""
    prime = 2**255 - 19
    u = int.from_bytes(copied_key(c, said).keys[0], "little")
    return replace(said, keys=(pow(u, -1, prime).to_bytes(32, "little"),))


def small_order(c: Coalition, said: Any) -> Any:
    """A key with which everybody agrees on zero."""
    return replace(said, keys=(bytes(32),))


def keys_are_usable(code: Code) -> None:
    """33."""
    for change in (copied_key, copied_with_top_bit, copied_with_torsion, small_order):
        c = greeted_with(code, change)
        hold(not any(x.to == "P5" for x in c.letters), "shares were dealt although a mask key cannot be used")


def old_shares_are_gone(code: Code) -> None:
    """34."""
    c = five(code, (1, 1))
    over(c)
    state = replay.save(c.honest["P1"])
    secrets = [c.dealt("P1").b[0], c.dealt("P1").s[0], *(c.dealt(name).shares[0][0].s for name in ALL)]
    hold(not any(secret in state for secret in secrets), "the state holds secrets of a sum that is over")
    hold(c.dealt("P1").s[1] in state, "the state does not hold what the next sum needs")
