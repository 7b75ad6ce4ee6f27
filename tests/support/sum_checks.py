"""What the role code of the secure sum has to withstand: a check is given a version of the code, and raises
`AssertionError` with one fixed sentence when it does not hold.

This file: lists of survivors, their certificates, and what is opened on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from protocols.errors import LocalError
from support.coalition import Coalition, session
from support.role_code import Code

ALL = ("P1", "P2", "P3", "P4", "P5")
HONEST = ALL[:4]


def hold(condition: bool, why: str) -> None:
    """Raises `AssertionError` with this sentence unless the condition holds."""
    if not condition:
        raise AssertionError(why)


def five(code: Code, sums: Sequence[int] = (2,)) -> Coalition:
    """Five parties, the last of whom is Charlie's, one may vanish; all masked inputs of sum 0 are there."""
    return session(code, 5, 1, 1, sums=sums).seat()


def unopened(c: Coalition, why: str, r: int = 0) -> None:
    """No honest party has opened a share."""
    hold(not c.to_charlie("Unmask", r), why)


def over(c: Coalition, r: int = 0) -> None:
    """Sum r is opened and ends as it should, with everybody in it."""
    c.lead(r, ALL, HONEST)
    c.end(r, ALL, c.total(ALL, r), HONEST)


def split(code: Code) -> Coalition:
    """A4: K = 6, t = 2. As many as may vanish are left out, others towards each half of the honest parties."""
    c = session(code, 6, 2, code.parameters.most_dropouts(6, 2)).seat()
    halves = (("P1", "P2"), ("P3", "P4"))
    lists = [_without(c, ("P4", "P3")[: c.p.D]), _without(c, ("P1", "P2")[: c.p.D])]
    agreed = [c.propose(0, U, half) for U, half in zip(lists, halves, strict=True)]
    for said, half in zip(agreed, halves, strict=True):
        c.certify(c.signatures(said, 0), half)
    return c


def one_certificate(code: Code) -> None:
    """1."""
    answered = split(code).to_charlie("Unmask")
    halves = [any(name in answered for name in half) for half in (("P1", "P2"), ("P3", "P4"))]
    hold(not all(halves), "two lists of one sum were certified")


def signers_are_members(code: Code) -> None:
    """3."""
    c = five(code)
    agreed = c.propose(0, HONEST, HONEST)
    c.certify({name: s for name, s in c.signatures(agreed, 0).items() if name != "P4"}, HONEST)
    unopened(c, "a signer who is not on the list was counted")


def signers_are_distinct(code: Code) -> None:
    """4."""
    c = five(code)
    agreed = c.propose(0, ALL, HONEST)
    c.certify(dict.fromkeys(ALL, c.signatures(agreed, 0)["P1"]), HONEST)
    unopened(c, "one signer was counted more than once")


def sums_are_large(code: Code) -> None:
    """6."""
    c = session(code, 5, 0, 1).seat()
    c.lead(0, ALL[:3], ALL[:3])
    unopened(c, "a sum over 3 of 5 parties was opened, wanted 4")


def outsiders_sign_nothing(code: Code) -> None:
    """7."""
    c = five(code)
    c.propose(0, ALL[1:], ["P1"])
    hold("P1" not in c.to_charlie("Signed"), "a party signed a list without itself")


def one_kind_is_shown(code: Code) -> None:
    """8."""
    c = five(code)
    signatures = c.signatures(c.propose(0, ALL, HONEST), 0)
    for names, asked in ((ALL[:2], ALL), (ALL[2:4], ALL[1:])):
        c.certify(signatures, names, members=c.listed(asked))
    shown = [set(c.shares(0, "P1", kind)) - {4} for kind in "bs"]
    hold(not all(shown), "both kinds of share of one party were shown")


def nothing_opens_without_a_certificate(code: Code) -> None:
    """9."""
    c = five(code)
    c.propose(0, ALL, HONEST)
    c.certify({}, HONEST)
    unopened(c, "seeds were opened without a certificate")


def nothing_opens_twice(code: Code) -> None:
    """10."""
    c = five(code)
    c.lead(0, ALL, HONEST)
    c.propose(0, ALL[1:], ["P1"])
    answers = [x for x in c.letters if x.sender == "P1" and isinstance(x.message, code.messages.Unmask)]
    hold(len(answers) < 2, "seeds were opened twice in one sum")


def signatures_are_of_one_sum(code: Code) -> None:
    """11."""
    c = five(code, (2, 2))
    over(c)
    signatures = {name: signed.signature for name, signed in c.to_charlie("Signed", 0).items()}
    c.propose(1, ALL, HONEST)
    c.certify(signatures, HONEST)
    unopened(c, "the signatures of sum 0 opened sum 1", 1)


def one_list_of_greetings(code: Code) -> None:
    """12. The last party shows the first two a greeting with another commitment."""
    c = session(code, 5, 1, 1)
    c.greet()
    other = c.greeting("P5", lambda said: replace(said, commitments=(bytes(32),)))
    for name in ALL[:2]:
        c.boards[name]["P5"] = other
    c.pump()
    c.deal("P5")
    for name, ready in c.to_charlie("Ready").items():
        c.say("charlie", name, c.start_with(ready.roster))
    c.lead(0, ALL, HONEST)
    unopened(c, "parties that saw different greetings opened a sum")


def one_query(code: Code) -> None:
    """13. D = 0; the two honest parties are told different sums, so that they are asked different things next."""
    c = session(code, 3, 1, 0, sums=(1, 1)).seat()
    for name, S in (("P1", (1,)), ("P2", (2,))):
        c.end(0, c.p.parties, S, [name])
    hold(not c.readable(1), "parties that were asked different things have a sum")


def lists_have_one_form(code: Code) -> None:
    """22."""
    c = five(code)
    c.propose(0, ALL, ["P1"], listed=c.listed(ALL) | 1 << 5)
    hold("P1" not in c.to_charlie("Signed"), "a list with a bit that stands for nobody was signed")


def one_statement_a_sum(code: Code) -> None:
    """27."""
    actor, m = five(code).honest["P1"], code.messages
    actor.attest(m.Agreed(0, bytes(32), 31, bytes(32)))
    try:
        actor.attest(m.Agreed(0, bytes(32), 30, bytes(32)))
    except LocalError:
        return
    hold(False, "two lists were signed in one sum")


def _without(c: Coalition, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in c.p.parties if name not in names)
