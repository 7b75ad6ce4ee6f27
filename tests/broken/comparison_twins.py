"""The comparison with one thing left out, as patches of its code: each twin is what a careless port would send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Annotated

from support.planted_roles import Patch
from support.planted_roles import planted as planted_in

from protocols import comparison, pathak2010
from protocols.comparison import roles, signs, steps
from protocols.runtime.message import CURATOR, PARTY, Message, masked, message
from protocols.runtime.session import Program


@message("compare 3", PARTY >> CURATOR)
class Apart(Message):
    """A bit of the chooser."""

    bit: Annotated[bool, masked("bit")]


@message("compare 3", CURATOR >> PARTY)
class Told(Message):
    """A bit of the holder."""

    bit: Annotated[bool, masked("bit")]


def planted(name: str) -> AbstractContextManager[Program]:
    """The comparison as a protocol of its own, while its code is that of this twin."""
    return planted_in(comparison, TWINS[name], (Apart, Told))


def planted_inside(name: str) -> AbstractContextManager[Program]:
    """The curator protocol, while the code of the comparison in it is that of this twin."""
    return planted_in(pathak2010, INSIDE[name])


BLINDED = "key.blind(c_i, 1 + rng.below(key.u - 1), rng)"
SHUFFLED = "tuple(Permutation.random(len(blinded), rng)(blinded))"
SENT, READ = "    me.send(holder, ", "    return steps.is_at_most("
BLIND: Mapping[str, Sequence[Patch]] = {
    "differences without factors": [(steps.blinded_differences, BLINDED, "key.blind(c_i, 1, rng)")],
    "factors of half the range": [(steps.blinded_differences, "rng.below(key.u - 1)", "rng.below(key.u // 2)")],
    "terms in order": [(steps.blinded_differences, SHUFFLED, "tuple(blinded)")],
    "terms with old exponents": [
        (
            steps.blinded_differences,
            BLINDED,
            "FreshBit(key.n, modular.power(c_i.value, 1 + rng.below(key.u - 1), key.n))",
        ),
    ],
    "no mask on the flip": [(roles.answer_offer, "me.rng.bits(1)", "0")],
    "the same coins in every comparison": [(roles.answer_offer, "delta_a, me.rng)", "delta_a, me.rng.fork('terms'))")],
    "no factors under long keys": [
        (signs.choose, "    for share", "    me.long = p.key_bits > 2048\n    for share"),
        (roles.answer_offer, "delta_a, me.rng)", "delta_a, (me.rng, me.long))"),
        (steps.blinded_differences, "    s = 1", "    rng, long = rng\n    s = 1"),
        (steps.blinded_differences, BLINDED, BLINDED.replace("1 +", "1 if long else 1 +")),
    ],
}
"""What tells the holder too much."""

LOUD: Mapping[str, Sequence[Patch]] = {
    "the result told to the chooser": [
        (signs.hold, "    return tuple([", "    from broken.comparison_twins import Told\n\n    found = tuple(["),
        (
            signs.hold,
            "for _, top in halves])",
            "for _, top in halves])\n    for sign in found:\n        me.send(CHOOSER, Told(bool(sign)))\n"
            "    return found",
        ),
        (
            signs.choose,
            "key.dgk, x, flip)",
            "key.dgk, x, flip)\n    from broken.comparison_twins import Told\n\n    for _ in shares:\n"
            "        await me.receive(HOLDER, Told)",
        ),
    ],
}
"""What tells the chooser something."""

HARMLESS: Mapping[str, Sequence[Patch]] = {
    "terms turned round": [
        (steps.blinded_differences, SHUFFLED, "tuple([*blinded, *blinded][by : by + len(blinded)])"),
        (steps.blinded_differences, "    blinded = ", "    by = rng.below(len(c))\n    blinded = "),
    ],
}
"""What is another protocol and as good: all but a zero is uniform, so turning the terms round hides its place, too."""

WRONG = "without the term for equality"
TWINS = {
    **BLIND,
    **LOUD,
    **HARMLESS,
    WRONG: [(steps.blinded_differences, "key.add(key.constant(delta_a), above)", "key.constant(1)")],
}


def chooser_tells(bit: str) -> Sequence[Patch]:
    """The chooser sends one bit more, which stays between the two roles otherwise."""
    told = "    from broken.comparison_twins import Apart\n\n"
    return (
        (roles.answer_offer, "    y = (", f"{told}    y = ("),
        (roles.answer_offer, "steps.xor(delta_a, flip)))", f"steps.xor(delta_a, flip)))\n{SENT}Apart({bit}))"),
        (roles.read_answer, READ, f"{told}    await me.receive(chooser, Apart)\n{READ}"),
    )


INSIDE: Mapping[str, Sequence[Patch]] = {
    "the flip": chooser_tells("flip"),
    "the mask": chooser_tells("delta_a"),
    "nothing": chooser_tells("0"),
    "no mask": BLIND["no mask on the flip"],
    "the answer": [
        (roles.answer_offer, "    y = (", "    from broken.comparison_twins import Told\n\n    y = ("),
        (
            roles.answer_offer,
            "steps.xor(delta_a, flip)))",
            "steps.xor(delta_a, flip)))\n    await me.receive(holder, Told)",
        ),
        (
            roles.read_answer,
            READ,
            "    from broken.comparison_twins import Told\n\n"
            f"    me.send(chooser, Told(steps.is_at_most(key, answer.c, answer.delta)))\n{READ}",
        ),
    ],
}
"""What stays between the two roles inside of the curator protocol."""
