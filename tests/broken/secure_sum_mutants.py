"""The secure sum with one thing wrong in it, forty times: each mutant is a patch of the role code, and names the
check that catches it and the sentence with which it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from support import sum_checks, sum_checks_circle, sum_checks_course, sum_checks_secrets
from support.role_code import Code, Patch, copied

from protocols.crypto.identity import Signer
from protocols.runtime import replay
from protocols.runtime.actor import Actor
from protocols.runtime.attestation import encode_statement, signing_input
from protocols.runtime.inbox import Inbox
from protocols.secure_sum import dealing

Runtime = Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Mutant:
    """One of them. `runtime` patches what roles run on; `note` says where it had to differ from its one line in the
    list, or what else stands in its way.
    """

    number: int
    name: str
    patches: tuple[Patch, ...]
    check: Callable[[Code], None]
    why: str
    note: str = ""
    runtime: Runtime = nullcontext

    @contextmanager
    def applied(self) -> Iterator[Code]:
        """The role code with the patches, while what it runs on is patched as well."""
        with self.runtime():
            yield copied(*self.patches)


# What roles run on.


def _link_key_for_masks() -> AbstractContextManager[Any]:
    made = Actor.__init__

    def init(self: Actor, session: Any, name: str, signer: Signer, seed: Any, *rest: Any, **more: Any) -> None:
        made(self, session, name, signer, seed, *rest, **more)
        if name in session.parties:
            self.channel.secret = dealing.deal_seeds(session.parameters, seed.fork("greeting")).s[0]

    return patch.object(Actor, "__init__", init)


def _signing_again() -> AbstractContextManager[Any]:
    def attest(self: Any, message: Any) -> bytes:
        payload = encode_statement(self.session, self.name, message, self.keys)
        signature: bytes = self._signer.sign(signing_input(self.session.id, self.name, type(message).__name__, payload))
        return signature

    return patch.object(Actor, "attest", attest)


def _nothing_is_late() -> AbstractContextManager[Any]:
    return patch.object(Inbox, "_is_late", lambda self, mail, stage: False)


def _without_marks() -> AbstractContextManager[Any]:
    restored = replay._restored

    def forgetful(*args: Any) -> Actor:
        actor = restored(*args)
        actor.inbox.marks = set()
        return actor

    return patch.object(replay, "_restored", forgetful)


# Patches of the text of roles.

QUORUM = Patch("parameters", "(K + t) // 2 + 1)", "(K + t) // 2)")
EQUAL_KEYS = Patch("roster", "for key in greetings[name].message.keys:", "for key in ():")
LABEL = Patch("masking", "+ context + _place(low) + _place(high) + agreed", "+ context + agreed")
UNBOUND = Patch(
    "roster", 'hashlib.sha256(b"".join(greetings[name].digest for name in p.parties)).digest()', "bytes(32)"
)
PARTIAL = (
    Patch("setup", "async def party(", "SHOWN = {}\n\n\nasync def party("),
    Patch(
        "setup",
        "greetings = await me.greetings(MaskKeys)\n",
        "greetings = await me.greetings(MaskKeys)\n"
        "    greetings = {name: said for name, said in greetings.items() if name in SHOWN[me.name]}\n",
    ),
    Patch("setup", "for other in me.others:", "for other in (name for name in me.others if name in greetings):"),
    Patch("setup", "disputes.receive_shares(me, p, dealt)", "disputes.receive_shares(me, p, dealt, greetings)"),
    Patch(
        "disputes",
        "async def receive_shares(me: Endpoint, p: Parameters, dealt: dealing.Seeds)",
        "async def receive_shares(me, p, dealt, shown)",
    ),
    Patch("disputes", "others = me.others", "others = [name for name in me.others if name in shown]"),
    Patch("complaints", "every.get(name, ())", "every.get(name, (NOTHING_HELD,) * p.R)"),
    Patch("complaints", "if i != holder and", "if p.parties[i] in greetings and i != holder and"),
    Patch(
        "roster",
        "said = [greetings[name].message.keys for",
        'said = [greetings[name].message.keys if name in greetings else (b"",) * p.R for',
    ),
    Patch("masks", "if other != index]", "if other != index and keys[other]]"),
    UNBOUND,
)
THRESHOLD = Patch("parameters", "        return self.Q\n", "        return self.t + 1\n")
NO_SELF_MASK = Patch("masks", "if b is not None:", "if False:")
SIGNATURES = 'signatures: Annotated[tuple[bytes, ...], public("signature"), Times("signers")]'
ONE_KEY = (
    Patch(
        "dealing",
        "    s = tuple(rng.bytes(SEED_BYTES) for _ in range(p.R))\n",
        "    s = (rng.bytes(SEED_BYTES),) * p.R\n",
    ),
    Patch("roster", "if owners.get(agreed) == name:", "if False:"),
    Patch("roster", "if agreed in owners:", "if owners.get(agreed, name) != name:"),
)
STREAMED = Patch(
    "masks",
    "masking.pair_mask(context, index, other, agreed, length, p.width)",
    "masking.closed_mask(context, masking.ClosedPairs(index, {other: agreed}), other, length, p.width)",
)

MUTANTS = (
    Mutant(1, "Q := (K+t)//2", (QUORUM,), sum_checks.one_certificate, "two lists of one sum were certified"),
    Mutant(
        2,
        "T := t",
        (Patch("parameters", "        return self.Q\n", "        return self.t\n"),),
        sum_checks_secrets.members_open_nothing,
        "t parties opened a seed by themselves",
    ),
    Mutant(
        3,
        "a signer who is not in U counts",
        (Patch("sums", "U or range(p.K)))", "range(p.K)))"),),
        sum_checks.signers_are_members,
        "a signer who is not on the list was counted",
    ),
    Mutant(
        4,
        "one signer counts twice",
        (
            Patch(
                "sums",
                "if me.attested(p.parties[i], agreed, signatures[i]))",
                "if any(me.attested(name, agreed, signatures[i]) for name in p.parties))",
            ),
        ),
        sum_checks.signers_are_distinct,
        "one signer was counted more than once",
    ),
    Mutant(
        5,
        "U is not held against the own roster, greetings may be partial, T = t+1",
        (*PARTIAL, THRESHOLD),
        sum_checks_secrets.all_greetings_are_needed,
        "what a single party added was read",
        note="the list of all parties is the roster, for all greetings are needed; and their digest is in the context: "
        "the mutant takes both away",
    ),
    Mutant(
        6,
        "no |U| >= K-D",
        (Patch("sums", "0 < len(U) < p.fewest", "False"),),
        sum_checks.sums_are_large,
        "a sum over 3 of 5 parties was opened, wanted 4",
    ),
    Mutant(
        7,
        "no 'I am in U'",
        (Patch("sums", "if not U or me.index in U:", "if True:"),),
        sum_checks.outsiders_sign_nothing,
        "a party signed a list without itself",
    ),
    Mutant(
        8,
        "the kind of share is taken from Charlie's request",
        (
            Patch(
                "messages",
                SIGNATURES,
                SIGNATURES + '\n    members: Annotated[int, public("members")]',
            ),
            Patch("sums", "Certificate(signatures))", "Certificate(signatures, agreed.members))"),
            Patch(
                "sums",
                "unmasking.shares_to_unmask(p, vault, r, U)",
                "unmasking.shares_to_unmask(p, vault, r, p.members(held.members))",
            ),
        ),
        sum_checks.one_kind_is_shown,
        "both kinds of share of one party were shown",
        note="no message of the protocol has a place for such a request: the mutant gives the certificate one",
    ),
    Mutant(
        9,
        "Unmask without a certificate",
        (Patch("sums", "if len(_signers(me, p, agreed, signatures, U or range(p.K))) < p.Q:", "if False:"),),
        sum_checks.nothing_opens_without_a_certificate,
        "seeds were opened without a certificate",
    ),
    Mutant(
        10,
        "Unmask twice",
        (
            Patch(
                "sums",
                "        me.send(me.curator, unmasking.shares_to_unmask(p, vault, r, U))\n",
                "        me.send(me.curator, unmasking.shares_to_unmask(p, vault, r, U))\n"
                "        again = await me.receive(me.curator, Survivors)\n"
                "        me.send(me.curator, unmasking.shares_to_unmask(p, vault, r, p.members(again.members)))\n",
            ),
        ),
        sum_checks.nothing_opens_twice,
        "seeds were opened twice in one sum",
    ),
    Mutant(
        11,
        "the context has no r",
        (
            Patch("roster", "+ session + roster + _number(r) + query).digest()", "+ session + roster).digest()"),
            Patch("sums", "agreed = Agreed(r, at,", "agreed = Agreed(0, at,"),
        ),
        sum_checks.signatures_are_of_one_sum,
        "the signatures of sum 0 opened sum 1",
        note="r stands in the context, in what follows from the query, and in the signed list: the mutant takes all "
        "three away, for any one is enough",
    ),
    Mutant(
        12,
        "the context has no g",
        (Patch("roster", "+ session + roster + _number(r)", "+ session + _number(r)"),),
        sum_checks.one_list_of_greetings,
        "parties that saw different greetings opened a sum",
    ),
    Mutant(
        13,
        "the context has no q",
        (Patch("roster", "+ roster + _number(r) + query)", "+ roster + _number(r))"),),
        sum_checks.one_query,
        "parties that were asked different things have a sum",
    ),
    Mutant(
        14,
        "the label of pair masks has no names",
        (LABEL,),
        sum_checks_secrets.copies_do_not_cancel,
        "a copied mask key takes the masks off",
        note="in a whole session the check of equal keys stands in its way as well: attack A3 takes both away",
    ),
    Mutant(
        15,
        "one mask key for the session",
        ONE_KEY,
        sum_checks_secrets.one_sum_opens_no_other,
        "who vanished in sum 1 has shown what it added to sum 0",
        note="the check of equal keys would find it first: the mutant lets a party greet with one key twice",
    ),
    Mutant(
        16,
        "one seed b for all sums",
        (
            Patch(
                "dealing",
                "    b = tuple(rng.bytes(SEED_BYTES) for _ in range(p.R))\n",
                "    b = (rng.bytes(SEED_BYTES),) * p.R\n",
            ),
        ),
        sum_checks_secrets.seeds_are_fresh,
        "the self masks of two sums come from one seed",
        note="the masks themselves differ, for r is in the context: it shows in that a seed opened in one sum opens a "
        "late input to the next",
    ),
    Mutant(
        17,
        "no self mask",
        (NO_SELF_MASK,),
        sum_checks_secrets.late_inputs_stay_masked,
        "a masked input that came late was read with the mask key",
    ),
    Mutant(
        18,
        "the link key is the mask key",
        (),
        sum_checks_secrets.mail_stays_sealed,
        "an opened mask key opens its owner's mail",
        runtime=_link_key_for_masks,
        note="roles never have the key of a link: the mutant is one of what they run on",
    ),
    Mutant(
        19,
        "noise is drawn once a session",
        (
            Patch("steps", "mine.noise[r]", "mine.noise[0]"),
            Patch("values", "return Addends((*spent,", "return self if over else Addends((*spent,"),
        ),
        sum_checks_secrets.noise_is_fresh,
        "the noise of sum 0 is in sum 1 again",
        note="noise is drawn outside and handed in for each sum: the mutant keeps that of sum 0 and takes it for all",
    ),
    Mutant(
        20,
        "charged after sending",
        (
            Patch("steps", "    me.spend(charge_label(r))\n", ""),
            Patch(
                "sums",
                "    steps.send_masked(me, p, at, steps.masked_input(me, p, vault, mine, r, at))\n",
                "    steps.send_masked(me, p, at, steps.masked_input(me, p, vault, mine, r, at))\n"
                "    me.spend(steps.charge_label(r))\n",
            ),
        ),
        sum_checks_course.charged_first,
        "a masked input left before it was charged",
    ),
    Mutant(
        21,
        "a timeout voids the charge",
        (
            Patch(
                "sums",
                "    listed = await me.receive(me.curator, Survivors)\n",
                "    try:\n        listed = await me.receive(me.curator, Survivors)\n"
                "    except StoppedError:\n        me.refund(steps.charge_label(r))\n        raise\n",
            ),
            Patch("sums", "import Fault, LocalError\n", "import Fault, LocalError, StoppedError\n"),
        ),
        sum_checks_course.who_is_in_pays,
        "who is in the sum has not paid for it",
    ),
    Mutant(
        22,
        "spare bits of a list are ignored",
        (Patch("parameters", "if listed >> self.K:", "if False:"),),
        sum_checks.lists_have_one_form,
        "a list with a bit that stands for nobody was signed",
    ),
    Mutant(
        23,
        "an opened mask key is not held against the greeting",
        (Patch("unmasking", "if of_seed else masking.public_key(opened) == key", "if of_seed else True"),),
        sum_checks_course.opened_keys_are_checked,
        "a sum came out that has masks in it",
    ),
    Mutant(
        24,
        "a bad share is not dropped",
        (Patch("sums", "            if i not in wrong:\n", "            if True:\n"),),
        sum_checks_course.wrong_shares_are_dropped,
        "dealers are noted for shares that they did not deal",
    ),
    Mutant(
        25,
        "the sign of a mask goes by names at one end, by places at the other",
        (
            Patch(
                "masks",
                "(plus if index < other else minus)",
                "(plus if index < other and p.parties[index] < p.parties[other] else minus)",
            ),
            Patch(
                "masks",
                "later = (pair for pair in others if pair[1] > pairs.index)\n"
                "    earlier = (pair for pair in others if pair[1] < pairs.index)",
                "later = [x for x in others if x[1] > pairs.index and p.parties[x[1]] > p.parties[pairs.index]]\n"
                "    earlier = [x for x in others if x not in later and x[1] != pairs.index]",
            ),
        ),
        sum_checks_course.masks_cancel,
        "masks do not cancel",
    ),
    Mutant(
        26,
        "mask words have m-1 bits",
        (
            Patch(
                "masking",
                "return hashlib.shake_256(label).digest(length * width)",
                "words = hashlib.shake_256(label).digest(length * width)\n"
                "    return bytes(x if i % width else x & 127 for i, x in enumerate(words))",
            ),
        ),
        sum_checks_secrets.masks_are_uniform,
        "the top bit of a mask is not uniform",
    ),
    Mutant(
        27,
        "attest signs again with other bytes",
        (),
        sum_checks.one_statement_a_sum,
        "two lists were signed in one sum",
        runtime=_signing_again,
    ),
    Mutant(
        28,
        "a late masked input is read in the next sum",
        (),
        sum_checks_course.late_mail_is_dropped,
        "a late masked input stood for that of the next sum",
        runtime=_nothing_is_late,
        note="its context gives it away, so that the sum is right, and lacks a party that is there",
    ),
    Mutant(
        29,
        "a replay ignores marks of absence",
        (),
        sum_checks_course.marks_outlive_a_crash,
        "a replay without the mark sends other bytes",
        runtime=_without_marks,
    ),
    Mutant(
        30,
        "noise of the corrupted counts in H",
        (Patch("parameters", "        return self.K - self.D - self.t\n", "        return self.K - self.D\n"),),
        sum_checks_course.only_honest_noise_counts,
        "the noise of corrupted parties is counted as honest",
    ),
    Mutant(
        31,
        "the owner has no share of its own seeds",
        (Patch("complaints", "own.shares[holder]}", "(NOTHING_HELD,) * p.R}"),),
        sum_checks_course.owners_hold_a_share,
        "no sum came out of K = 3 although two were there",
    ),
    Mutant(
        32,
        "a threshold of 1 is accepted",
        (Patch("parameters", "if made.as_dict() != plain:", "if False:"),),
        sum_checks_course.no_threshold_of_one,
        "a threshold of 1 was accepted",
        note="the threshold is no option, follows from K and t, and is never below 2; only a record can state another",
    ),
    Mutant(
        33,
        "a mask key of small order, or equal to another, is accepted",
        (EQUAL_KEYS,),
        sum_checks_secrets.keys_are_usable,
        "shares were dealt although a mask key cannot be used",
    ),
    Mutant(
        34,
        "results keep old shares",
        (
            Patch(
                "__init__",
                "await me.stage(one, p, vault, mine, r, name=stage(r), replaces=True)",
                "await me.stage(one, p, vault, mine, r, name=stage(r))",
            ),
        ),
        sum_checks_secrets.old_shares_are_gone,
        "the state holds secrets of a sum that is over",
    ),
    Mutant(
        35,
        "the stream cipher makes masks whose seeds may be opened",
        (STREAMED,),
        sum_checks_secrets.masks_can_be_programmed,
        "a seed that may be opened is expanded otherwise",
        note="sums come out right: what is lost is the proof, which programs the expansion",
    ),
    Mutant(
        36,
        "the order of the circle is made of Charlie's coin",
        (
            Patch(
                "neighbour_graph",
                "if dealing.climb_path(graph.greeting_leaf(me.index, own.digest, coin), me.index, got.path) "
                "!= got.root:",
                "if False:",
            ),
        ),
        sum_checks_circle.the_order_is_made_of_all_coins,
        "the order of the circle is Charlie's",
    ),
    Mutant(
        37,
        "coins are not committed to",
        (Patch("neighbour_graph", "if dealing.coin_commitment(i, opened[i]) != ", "if False and opened[i] != "),),
        sum_checks_circle.coins_are_committed_to,
        "a coin was chosen after the greetings",
    ),
    Mutant(
        38,
        "a share goes to who is no neighbour",
        (
            Patch(
                "graph",
                "(*range(place - reach, place), *range(place + 1, place + reach + 1))",
                "(*range(place - 2 * reach + 1, place, 2), *range(place + 1, place + 2 * reach, 2))",
            ),
        ),
        sum_checks_circle.shares_lie_with_neighbours,
        "somebody who is no neighbour holds shares",
        note="sums come out right: every second place is left out, on either side",
    ),
    Mutant(
        39,
        "a local threshold of one",
        (Patch("graph", "LEAST_THRESHOLD = 2", "LEAST_THRESHOLD = 1"),),
        sum_checks_circle.one_share_opens_nothing,
        "one neighbour opens a seed by itself",
    ),
    Mutant(
        40,
        "both shares of one party are opened",
        (Patch("unmasking", "tuple(dealing.share_digest(share) for share in hidden)", "hidden"),),
        sum_checks_circle.one_kind_leaves,
        "both shares of one party were opened",
    ),
)
