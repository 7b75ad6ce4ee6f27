"""More checks of the role code of the secure sum: its course, with an honest Charlie; charges; parameters."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

from protocols.curator import CURATOR_NAME
from protocols.errors import LocalError, ReplayError
from protocols.runtime import message as messages
from protocols.runtime import replay
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.envelope import Envelope
from protocols.runtime.message import PARTY
from support.coalition import Coalition, session
from support.role_code import Code
from support.sessions import names
from support.sum_checks import ALL, five, hold


def charged_first(code: Code) -> None:
    """20. The ledger is told while the masked input is still at home."""
    early: list[bool] = []

    def charge(name: str, label: str) -> None:
        early.append(any(envelope.kind == "Masked" for envelope in c.honest[name].out))

    c = session(code, 5, 1, 1, charge=charge)
    c.seat()
    hold(not any(early), "a masked input left before it was charged")
    hold(len(early) == 4, "somebody was not charged")


def unanswered(code: Code) -> Coalition:
    """A7: P1 hears nothing after its masked input, and the others open the sum with P1 in it."""
    c = five(code)
    c.miss("P1")
    c.lead(0, ALL, ("P2", "P3", "P4"))
    hold([read.of for read in c.readable(0)] == [set(ALL[:4])], "the sum was not opened")
    return c


def who_is_in_pays(code: Code) -> None:
    """21."""
    c = unanswered(code)
    stands = ("P1", "sum 0") in c.charged and ("P1", "sum 0") not in c.voided
    hold(stands, "who is in the sum has not paid for it")


def opened_keys_are_checked(code: Code) -> None:
    """23. The last party greets with a mask key that its shares do not open, and vanishes; Charlie is honest."""
    c = _with_honest_charlie(code, 5, 1, lambda said: replace(said, keys=(code.masking.public_key(bytes(32)),)))
    c.miss(CURATOR_NAME, "P5")
    told = {c.honest[name].result.values[0] for name in ALL[:4] if c.honest[name].end == "done"}
    hold(told <= {c.total(ALL[:4], 0)}, "a sum came out that has masks in it")


def wrong_shares_are_dropped(code: Code) -> None:
    """24. P1 opens shares that were not dealt to it; T others are good."""

    class Spoiling(Endpoint):
        def __init__(self, me: Endpoint) -> None:
            self.__dict__.update(me.__dict__)

        def send(self, to: str, message: Any) -> None:
            if self.name == "P1" and isinstance(message, code.messages.Unmask):
                message = replace(message, shares=(bytes(32),) * 5)
            super().send(to, message)

    async def party(me: Endpoint, p: Any, mine: Any) -> Any:
        return await honest(Spoiling(me), p, mine)

    honest = code.PROGRAM.roles[PARTY]
    spoilt = replace(code.PROGRAM, roles={**code.PROGRAM.roles, PARTY: party})
    c = session(code.running(spoilt), 5, 1, 1, charlie=False, colluding=()).seat()
    hold(c.honest[CURATOR_NAME].end == "done", "no sum came out though T good shares are there")
    hold(c.honest[CURATOR_NAME].result.values[0] == c.total(ALL, 0), "another sum came out")
    noted = {note.sender for note in c.honest[CURATOR_NAME].notes}
    hold(noted == {"P1"}, "dealers are noted for shares that they did not deal")


def masks_cancel(code: Code) -> None:
    """25. The names are in another order than the parties."""
    c = session(code, 3, 0, 0, parties=("Zoe", "Ann", "Max"), colluding=()).seat()
    hold([read.value for read in c.readable(0)] == [c.total(c.p.parties, 0)], "masks do not cancel")


def late_mail_is_dropped(code: Code) -> None:
    """28. P1's masked input to sum 0 comes when Charlie waits for that to sum 1."""
    c = session(code, 5, 1, 1, sums=(1, 1), charlie=False, colluding=())
    c.withholds = lambda envelope: (envelope.sender, envelope.to) == ("P1", CURATOR_NAME) and envelope.stage != "setup"
    c.seat()
    c.miss(CURATOR_NAME, "P1")
    c.release()
    result = c.honest[CURATOR_NAME].result
    hold(result is not None and result.values[0] == c.total(ALL[1:], 0), "sum 0 did not come out without P1")
    hold(result.members[1] == c.listed(ALL), "a late masked input stood for that of the next sum")
    hold(result.values[1] == c.total(ALL, 1), "another sum came out")


def marks_outlive_a_crash(code: Code) -> None:
    """29. Charlie goes on without P5, crashes when he has sent the list, and P5's letter comes after that."""
    c = _with_honest_charlie(code, 5, 1)
    c.withholds = lambda envelope: envelope.to == CURATOR_NAME
    c.miss(CURATOR_NAME, "P5")
    charlie, board = c.honest[CURATOR_NAME], c.boards[CURATOR_NAME]
    state = replay.save(charlie)
    again = replay.resume(c.session, state, c.identities[CURATOR_NAME], charlie.counter, board)
    again.deliver(_late_input(c))
    try:
        out = again.advance()
    except (LocalError, ReplayError):  # what it signed, or what it sent, is not what it was
        hold(False, "a replay without the mark sends other bytes")
    hold(not out and again.waiting == charlie.waiting, "a resumed Charlie does not stand where he stood")


def only_honest_noise_counts(code: Code) -> None:
    """30. H against the fewest honest parties of any list that can be certified, whoever is corrupted."""
    for K, t, D in ((5, 1, 1), (4, 0, 1), (6, 2, 1), (7, 1, 2), (4, 3, 0)):
        p = session(code, K, t, D).p
        lists = (U for size in range(K - D, K + 1) for U in combinations(range(K), size))
        fewest = min(len(set(U) - set(C)) for U in lists for C in combinations(range(K), t))
        hold(fewest >= p.H, "the noise of corrupted parties is counted as honest")
        hold(fewest == p.H, "fewer honest shares of the noise are counted than there are")


def owners_hold_a_share(code: Code) -> None:
    """31. K = 3, t = 0: both who are left are needed to open, each one's own share included."""
    c = _with_honest_charlie(code, 3, 0)
    c.miss(CURATOR_NAME, "P3")
    hold(c.honest[CURATOR_NAME].end == "done", "no sum came out of K = 3 although two were there")


def no_threshold_of_one(code: Code) -> None:
    """32. The threshold follows from K and t; a record that states another is refused."""
    m = code.parameters
    stated = m.Parameters(names(3), 0, 1, ((m.Block(1, "none"),),)).as_dict()
    hold(stated["threshold"] == 2, "the threshold of K = 3, t = 0 is not 2")
    try:
        m.Parameters.from_dict(stated | {"threshold": 1})
    except LocalError:
        return
    hold(False, "a threshold of 1 was accepted")


def _late_input(c: Coalition) -> Envelope:
    """A masked input to sum 0 by the last party that is signed as it should be."""
    m, y = c.code.messages, (0,) * c.p.length(0)
    context = c.code.roster.sum_context(c.session.id, c.roster(), 0, c.code.roster.first_query(c.session.id))
    signature = c.sign("P5", m.Input(context, c.code.masking.digest(y, c.p.width)))
    payload = messages.encode(m.Masked(context, y, signature), c.session.layout_in("sum0"), {})
    return c.channels["P5"].seal(CURATOR_NAME, "Masked", "sum0", payload)


def _with_honest_charlie(code: Code, K: int, t: int, change: Any = lambda said: said) -> Coalition:
    """Set-up is over; the last party has dealt, is a member, and sends nothing more."""
    return session(code, K, t, 1, charlie=False, colluding=(K - 1,), said=lambda name, said: change(said)).seat()
