"""The search in one garbled circuit [N12]: results, letters, refusals, and what each side holds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from nacl import bindings as sodium
from support.pathak import Trial, trial
from support.sessions import setup, with_roles

from protocols import pathak2010
from protocols.comparison.garbled import Choices, Extension, OtKey, Tables, joined
from protocols.crypto import garbled_place, oblivious
from protocols.curator import CURATOR_NAME
from protocols.errors import LocalError, PeerError
from protocols.pathak2010 import as_printed, garbled, ideal, searching
from protocols.pathak2010 import setup as stage0
from protocols.pathak2010.messages import GARBLED
from protocols.pathak2010.values import CuratorKeys, PartyKeys
from protocols.runtime.claims import View, readings
from protocols.runtime.message import Message
from protocols.runtime.simulate import Setting

ORDER_TWO = (2**255 - 20).to_bytes(32, "little")
BY_PAIRS = {"ComparisonKey", "Match", "Bits", "Differences"}


def garbling(sizes: list[int], d: int = 2, seed: int = 0) -> Trial:
    return trial(sizes, d, seed, comparison="garbled")


@pytest.mark.parametrize("sizes", [[5, 3], [7, 7, 7, 9, 2**32 - 1]], ids=str)
def test_the_released_sum_is_that_of_the_functionality(sizes: list[int]) -> None:
    t = garbling(sizes)
    p = t.parameters
    published = t.run().published
    assert ideal.released(p, published) == ideal.functionality(p, t.inputs, t.ties)


def test_the_printed_steps_take_it_too() -> None:
    made = setup(4, 2, "garbled", sizes=[9, 4, 6, 8], program=as_printed.PROGRAM)
    published = made.simulate().published
    assert as_printed.agrees(made.session.parameters, made.inputs, published)
    p, mine = made.inputs["P2"]
    assert not as_printed.agrees(p, {**made.inputs, "P2": (p, replace(mine, n=7))}, published)


def test_letters_go_on_declared_routes_and_have_their_sizes() -> None:
    """Fewer than with comparisons, and as many for any sizes."""
    made = setup(3, 1, "garbled")
    used = defaultdict(set)
    for e in made.simulate().transcript.envelopes:
        used[e.kind].add((made.session.kind(e.sender), made.session.kind(e.to)))
    declared = {
        kind.__name__: set(kind.route.ends) for kind in pathak2010.PROGRAM.kinds if kind.__name__ not in BY_PAIRS
    }
    assert {kind: ends for kind, ends in used.items() if kind in declared} == declared
    assert not BY_PAIRS & set(used)
    shapes = [
        Counter((e.kind, e.size) for e in setup(3, 1, "garbled", sizes=sizes).simulate().transcript.envelopes)
        for sizes in ([1, 2, 3], [9, 9, 9])
    ]
    assert shapes[0] == shapes[1]
    assert sum(count for (kind, _), count in shapes[0].items() if kind in {k.__name__ for k in GARBLED}) == 4


def test_all_that_tells_labels_apart_stays_with_who_made_it() -> None:
    """Charlie's view holds Delta nowhere, nor P_1's the colours of his labels, and the parties' none of either."""
    views = garbling([5, 3, 6]).run(Setting(views=True)).views
    hidden(views)


def hidden(views: dict[str, View]) -> None:
    first, charlie = views["P1"], views[CURATOR_NAME]
    p = charlie.inputs[0]
    choice = next(x for x in first.results if isinstance(x, PartyKeys)).choice
    offer = next(x for x in charlie.results if isinstance(x, CuratorKeys)).offer
    assert choice is not None
    assert offer is not None
    points = next(m for _, m in charlie.mail if isinstance(m, Choices)).R
    b = next(x for x in charlie.results if hasattr(x, "b_tilde")).b_tilde
    made = oblivious.extend(charlie.session, offer, points, garbled_place.chosen(p.compared.vector(b), p.compared.bits))
    labels = {made.labels[i : i + 16] for i in range(0, len(made.labels), 16)}
    q = oblivious.zero_labels(choice, made.u, len(made.labels) // 16)
    assert {q[i : i + 16] for i in range(0, len(q), 16)} & labels  # they are labels: half of them are those of zero
    seen = {name: texts(view) for name, view in views.items()}
    assert not [key for key in (choice.delta, *choice.keys) if key in seen[CURATOR_NAME]]
    assert not [x for x in (offer.x, *labels) if x in seen["P1"]]
    colours = bytes(label[0] & 1 for label in [made.labels[i : i + 16] for i in range(0, len(made.labels), 16)])
    assert colours not in seen["P1"]
    for other in ("P2", "P3"):
        assert not [x for x in (choice.delta, offer.x, *labels) if x in seen[other]]


def texts(view: View) -> bytes:
    """All bytes that came to this role or that its stages left."""
    found = [getattr(m, s.name) for _, m in view.mail for s in m.slots]
    found += [value for x in view.results for value in getattr(x, "__dict__", {}).values()]
    found += [
        part for value in found if hasattr(value, "delta") or hasattr(value, "x") for part in vars(value).values()
    ]
    whole = [y for x in found for y in (x if isinstance(x, tuple) else (x,))]
    return b"\0".join(x for x in whole if isinstance(x, bytes))


# Whoever sends what no honest participant sends is named, and the other stops.


def torsioned(point: bytes) -> bytes:
    return sodium.crypto_core_ed25519_add(point, ORDER_TWO)


LIES: dict[str, tuple[type[Message], Callable[[Any], Any], str, str]] = {
    "a torsioned A": (OtKey, lambda m: OtKey(torsioned(m.A)), CURATOR_NAME, "sent an unusable point: the point A"),
    "an R of small order": (
        *(Choices, lambda m: Choices((ORDER_TWO, *m.R[1:])), "P1", "sent an unusable point: the point R_1"),
    ),
    "tables of zeros": (Tables, lambda m: Tables(bytes(len(m.part))), "P1", "garbled what tells no place: the labels"),
    "tables of another circuit": (
        *(Tables, lambda m: Tables(m.part[::-1]), "P1", "garbled what tells no place: the labels of the place"),
    ),
}


class Lying:
    """An endpoint that changes the messages of one kind on their way out."""

    def __init__(self, me: Any, kind: type[Message], change: Callable[[Any], Any]) -> None:
        self._me, self._kind, self._change = me, kind, change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._me, name)

    def send(self, to: str, message: Message) -> None:
        self._me.send(to, self._change(message) if isinstance(message, self._kind) else message)


@pytest.mark.parametrize("name", LIES)
def test_a_liar_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, change, who, rule = LIES[name]
    for module, part in ((stage0, "curator"), (garbled, "first")):
        honest = getattr(module, part)

        def lying(me: Any, *about: Any, honest: Any = honest) -> Any:
            return honest(Lying(me, kind, change), *about)

        monkeypatch.setattr(module, part, lying)
    monkeypatch.setattr(stage0.curator, "__name__", "curator", raising=False)
    with pytest.raises(PeerError, match=f"^{who}: {rule}") as caught:
        garbling([5, 3, 6]).run()
    assert caught.value.evidence


def test_keys_of_the_other_search_do_not_do() -> None:
    t, other = garbling([5, 3]), trial([5, 3])
    keys = [x for t in (t, other) for v in [t.run(Setting(views=True)).views] for x in v[CURATOR_NAME].results[:1]]
    assert [(k.dgk is None, k.offer is None) for k in keys] == [(True, False), (False, True)]


# What the claim says of it.


def test_statement_names_its_assumptions_and_bits() -> None:
    garbled_one, other = garbling([1] * 3).parameters, trial([1] * 3).parameters
    claim = ideal.CLAIM
    assert claim.assumed is not None
    assert "DGK" not in claim.assumed(garbled_one)
    assert "edwards25519" in claim.assumed(garbled_one)
    assert "DGK" in claim.assumed(other)
    assert "edwards25519" not in claim.assumed(other)
    bits = garbled_place.security_bits(3, garbled_one.compared.bits)
    assert f"worth {bits} bits, not 128" in claim.strength(garbled_one)
    assert claim.strength(other) == ""
    assert Fraction(0) < ideal.distance(garbled_one) < ideal.distance(other)


def test_what_is_looked_at_of_the_gates_is_there() -> None:
    """Gates at one end, hashes of the place at the other; and nothing of comparisons."""
    views = garbling([5, 3, 6]).run(Setting(views=True)).views
    p, charlie = views[CURATOR_NAME].inputs[0], views[CURATOR_NAME]
    found = searching.besides(p, (charlie,))
    tables = joined([m.part for _, m in charlie.mail if isinstance(m, Tables)], p.table_bytes)
    assert found["Tables.words"][-1] == int.from_bytes(tables[-16:], "big")
    assert searching.besides(p, (views["P1"],)) == {}
    assert "Extension.u" in readings(views["P1"])
    assert not {"Match.left", "Differences.c"} & {place for v in views.values() for place in readings(v)}


def test_delta_in_charlies_mail_is_seen_and_his_scalar_in_that_of_p1() -> None:
    views = garbling([5, 3, 6]).run(Setting(views=True)).views
    choice = next(x for x in views["P1"].results if isinstance(x, PartyKeys)).choice
    assert choice is not None
    told = replace(views[CURATOR_NAME], mail=(*views[CURATOR_NAME].mail, ("P1", Extension(choice.delta))))
    with pytest.raises(AssertionError):
        hidden(views | {CURATOR_NAME: told})
    offer = next(x for x in views[CURATOR_NAME].results if isinstance(x, CuratorKeys)).offer
    assert offer is not None
    told = replace(views["P1"], mail=(*views["P1"].mail, (CURATOR_NAME, Extension(offer.x))))
    with pytest.raises(AssertionError):
        hidden(views | {"P1": told})


def test_a_party_without_keys_for_it_does_not_search() -> None:
    async def keyless(me: Any, p: Any) -> Any:
        return replace(await stage0.party(me, p), choice=None)

    with pytest.raises(LocalError, match=r"^P1 garbles without having chosen in the base transfers$"):
        setup(2, 1, "garbled", program=with_roles(pathak2010.PROGRAM, party=_with(keyless))).simulate()


def _with(keys: Any) -> Any:
    async def party(me: Any, p: Any, mine: Any) -> Any:
        made = await me.stage(keys, p, name="setup")
        await me.stage(pathak2010.stage1.party, p, made, mine.n)

    return party
