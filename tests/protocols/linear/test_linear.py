"""The linear path as a whole: the right sum, the declared messages, one behaviour under every driver, and refusals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from support.linear_path import linear
from support.repetitions import with_slow
from support.sessions import Setup, by_link, names, play, with_roles
from support.toy import ACCEPT, REJECT, uniformity

from protocols.arithmetic.ring import Vector
from protocols.crypto import garbling
from protocols.curator import CURATOR_NAME
from protocols.errors import LocalError, PeerError
from protocols.linear import PROGRAM, party, publication, selection, setup, submission
from protocols.linear.messages import LockedRows, Neighbour, PublishedShare, Share, Submit
from protocols.linear.parameters import Parameters
from protocols.linear.public_verification import PUBLIC_VERIFICATION
from protocols.linear.values import Announced, PartyInput
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.envelope import HELLO, STAGE_END
from protocols.runtime.simulate import Run
from tests.support.refusals import refused


def released(run: Run, p: Parameters) -> Vector:
    return p.weights.add_vectors(*(share.y for share in run.published.values()))


def winner(given: Setup, run: Run) -> int:
    """Whose noise is in the sum: the only party for which it comes out."""
    p = given.session.parameters
    mine: list[PartyInput] = [given.inputs[name][1] for name in p.parties]
    exact = p.weights.add_vectors(*(x.w for x in mine))
    found = [j for j, x in enumerate(mine) if p.weights.add_vectors(exact, x.eta) == released(run, p)]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("K", with_slow([2, 3, 4, 5, 8, 9], 4, 8, 9))
def test_the_sum_has_the_noise_of_the_smallest(K: int) -> None:
    for least in {0, K // 2, K - 1}:
        sizes = [100 + (7 * j) % K for j in range(K)]
        sizes[least] = 3
        given = linear(sizes, seed=f"{K} {least}")
        assert winner(given, given.simulate()) == least


@pytest.mark.parametrize("bits", [8, 24, 72])
def test_any_ring_of_whole_bytes_will_do(bits: int) -> None:
    given = linear((5, 4, 9), 3, ring_bits=bits)
    p, run = given.session.parameters, given.simulate()
    mine: list[PartyInput] = [given.inputs[name][1] for name in p.parties]
    assert released(run, p) == p.weights.add_vectors(*(x.w for x in mine), mine[1].eta)


def test_sizes_at_both_ends_of_their_range() -> None:
    most = (1 << 32) - 1
    for sizes, least in (((most, most - 1, most), 1), ((0, 1, most), 0), ((most, 0), 1)):
        given = linear(sizes)
        assert winner(given, given.simulate()) == least


@pytest.mark.slow
@pytest.mark.parametrize("tied", [(0, 2), (0, 1, 2)])
def test_of_equal_parties_each_wins_as_often(tied: tuple[int, ...]) -> None:
    sizes = [4 if j in tied else 9 for j in range(3)]
    found = [winner(given, given.simulate()) for given in (linear(sizes, 1, f"{tied} {n}") for n in range(60))]
    assert uniformity(found, tied) > ACCEPT
    assert uniformity([tied[0]] * 60, tied) < REJECT  # twin: the first of equals always wins


def test_both_hubs_draw_an_order_of_equal_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """So neither of them alone says who wins."""
    orders, bits = set(), set()
    garble, chosen = garbling.garble, garbling.chosen

    def garbled(session: bytes, choice: Any, u: bytes, a: Any, rho: tuple[int, ...], width: int) -> Any:
        orders.add(rho)
        return garble(session, choice, u, a, rho, width)

    def chose(b: Any, c: int, width: int) -> Any:
        bits.add(c)
        return chosen(b, c, width)

    monkeypatch.setattr(garbling, "garble", garbled)
    monkeypatch.setattr(garbling, "chosen", chose)
    for seed in range(4):
        linear((4, 4, 4), 1, seed).simulate()
    assert len(orders) > 1
    assert len(bits) > 1


def test_charlie_opens_a_masked_row_and_no_two_edges_have_one_seed() -> None:
    given = linear((4, 5, 6, 7))
    run = given.simulate(views=True)
    assert given.inputs["P1"][1].eta != run.views[CURATOR_NAME].results[2].summand
    messages = [message for view in run.views.values() for _, message in view.messages]
    seeds = [message.seed for message in messages if isinstance(message, (Submit, Share, Neighbour))]
    assert len(set(seeds)) == len(seeds) == 3 + 4 + 3


def test_every_share_is_uniform_by_itself_and_the_run_has_six_rounds() -> None:
    shares = [x for n in range(2) for x in linear((4, 5, 6), 128, n).simulate().published["P2"].y]
    assert uniformity([x >> 62 for x in shares], range(4)) > ACCEPT
    assert max(e.round for e in linear((4, 5, 6)).simulate().transcript.envelopes) == 1 + 6  # greetings are first


@pytest.mark.parametrize(("K", "k"), [(2, 8), (3, 2), (6, 2), (10, 8), (12, 4), (30, 8)])
def test_the_letters_are_those_of_the_formula(K: int, k: int) -> None:
    given = linear([5 + j for j in range(K)], 1)
    p = replace(given.session.parameters, ring_degree=k)
    changed = {name: (p, *rest) for name, (_, *rest) in given.inputs.items()}
    run = Setup(replace(given.session, parameters=p), given.identities, given.seeds, changed).simulate()
    letters = Counter(e.kind for e in run.transcript.envelopes if e.kind not in (HELLO, STAGE_END))
    ring = (K - 1) * (K - 2) // 2 if k >= K - 2 else k // 2 * (K - 1)
    expected = {"BoxKey": K, "OtKey": 1, "Submit": K - 1, "Share": K, "Choices": 1, "Extension": 1}
    expected |= {"Neighbour": ring, "Tables": 1, "LockedRows": 1, "Ready": K, "Go": K, "PublishedShare": K + 1}
    assert letters == {kind: count for kind, count in expected.items() if count}
    if (K, k) == (30, 8):
        assert letters.total() == 10 * K + 1
    links = {frozenset((e.sender, e.to)) for e in run.transcript.envelopes if not e.is_public}
    assert len(links) == 2 * K - 1 + ring


def test_the_same_bytes_under_every_driver() -> None:
    given = linear((8, 3, 3, 5))
    run, played = given.simulate(), play(given, batch=1)
    assert by_link(played.envelopes) == by_link(run.transcript.envelopes)
    assert played.results == run.results


def test_bulk_travels_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protocols.comparison.garbled.LONGEST_PART", 1000)
    given = linear((8, 3, 4, 5), 30)
    p, run = given.session.parameters, given.simulate()
    kinds = Counter(e.kind for e in run.transcript.envelopes)
    assert (kinds["Tables"], kinds["LockedRows"]) == (p.table_parts, p.row_parts) == (6, 2)
    assert winner(given, run) == 1


# What a participant that breaks the rules does instead, and what the others then say.


def _posting(change: Callable[[Any], Any], kind: type[Any]) -> Callable[[Endpoint, str, Any], None]:
    send = Endpoint.send

    def changed(me: Endpoint, to: str, message: Any) -> None:
        send(me, to, change(message) if isinstance(message, kind) else message)

    return changed


CHANGES: dict[str, tuple[type[Any], Callable[[Any], Any], str]] = {
    "rows of zeros": (LockedRows, lambda m: replace(m, part=bytes(len(m.part))), ("search.opens_no_row", "P1")),
    "tables of zeros": (
        selection.Tables,
        lambda m: replace(m, part=bytes(len(m.part))),
        ("search.opens_no_row", "P1"),
    ),
    "another row": (
        LockedRows,
        lambda m: replace(m, part=bytes(x ^ 1 for x in m.part)),
        ("search.opens_no_row", "P1"),
    ),
    "points that are none": (
        submission.Choices,
        lambda m: replace(m, R=(b"\1" + bytes(31), *m.R[1:])),
        ("point.unusable", "P1"),
    ),
    "a point that is none": (
        setup.OtKey,
        lambda m: replace(m, A=b"\1" + bytes(31)),
        ("point.unusable", "charlie"),
    ),
    "a box key of small order": (
        setup.BoxKey,
        lambda m: replace(m, box=bytes(32)),
        ("box_key.unusable", "charlie"),
    ),
    "an epk of small order": (Submit, lambda m: replace(m, epk=bytes(32)), ("row_key.unusable", "P2")),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_cannot_be_used_is_refused_and_nothing_published(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, change, (code, culprit) = CHANGES[name]
    monkeypatch.setattr(Endpoint, "send", _posting(change, kind))
    with refused(code, error=PeerError) as caught:
        linear((8, 3, 4, 5)).simulate()
    assert caught.value.culprit == culprit


def test_where_box_keys_differ_everybody_stops_and_nobody_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Either Charlie told two keys, or a party says so: the first party cannot tell which."""
    monkeypatch.setattr(Endpoint, "send", _posting(lambda m: replace(m, box=bytes(32)), Submit))
    run = linear((8, 3, 4, 5)).simulate()
    assert (run.ends["P1"], run.published) == ("stopped", {})
    assert (run.why["P1"].code, run.why["P1"].fields["party"]) == ("box_key.not_alike", "P2")


@pytest.mark.parametrize("place", [0, 15, 31])
def test_every_byte_of_a_box_digest_counts(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def other(message: Submit) -> Submit:
        box = bytearray(message.box)
        box[place] ^= 1
        return replace(message, box=bytes(box))

    monkeypatch.setattr(Endpoint, "send", _posting(other, Submit))
    run = linear((8, 3, 4)).simulate()
    assert (run.ends["P1"], run.published) == ("stopped", {})


# Publication.


def test_go_and_commitments_are_bound_to_each_of_their_arguments() -> None:
    session, everybody, commitments = bytes(32), ("P1", "P2"), (bytes([1]) * 32, bytes([2]) * 32)
    said = {
        publication.go_digest(session, everybody, commitments),
        publication.go_digest(bytes([1]) * 32, everybody, commitments),
        publication.go_digest(session, ("P1", "P3"), commitments),
        publication.go_digest(session, everybody[::-1], commitments),
        publication.go_digest(session, everybody, commitments[::-1]),
    }
    assert len(said) == 5
    share = PublishedShare((1, 2), bytes(16), bytes(32))
    made = {
        publication._committed(session, "P1", share),
        publication._committed(bytes([1]) * 32, "P1", share),
        publication._committed(session, "P2", share),
        publication._committed(session, "P1", replace(share, y=(2, 1))),
        publication._committed(session, "P1", replace(share, opening=bytes([1]) * 16)),
    }
    assert len(made) == 5


async def _another_share(me: Endpoint, p: Parameters, mine: PartyInput) -> Announced:
    publish = me.publish

    def changed(message: PublishedShare) -> None:
        publish(replace(message, y=tuple(p.weights.add(x, 1) for x in message.y)))

    if me.name == "P2":
        me.publish = changed  # type: ignore[method-assign, assignment]
    return await party(me, p, mine)


def test_a_share_that_was_not_committed_to_is_refused_by_charlie_and_by_whoever_adds() -> None:
    with refused("share.not_as_announced", error=PeerError) as caught:
        linear((8, 3, 4), program=with_roles(PROGRAM, party=_another_share)).simulate()
    assert caught.value.culprit == "P2"
    given = linear((8, 3, 4))
    shares, everybody = given.simulate().published, given.session.names
    assert publication.unlike_go(given.session.id, everybody, shares) is None
    y = tuple(x ^ 1 for x in shares["P2"].y)
    for change in ({"y": y}, {"opening": bytes(32)}, {"go": bytes(32)}):
        changed = {**shares, "P2": replace(shares["P2"], **change)}
        unlike = publication.unlike_go(given.session.id, everybody, changed)
        assert unlike.code == "shares.not_committed_to"
    swapped = {**shares, "P2": shares["P3"], "P3": shares["P2"]}
    assert publication.unlike_go(given.session.id, everybody, swapped)
    assert publication.unlike_go(bytes(32), everybody, shares)


def test_anybody_verifies_the_shares_of_all_together() -> None:
    given = linear((8, 3, 4))
    shares = given.simulate().published
    fewer = {name: share for name, share in shares.items() if name != "P2"}
    cases: dict[str | None, dict[str, Any]] = {
        None: shares,
        "shares.not_of_everybody": fewer,
        "shares.not_committed_to": {**shares, "P2": shares["P3"]},
    }
    for code, said in cases.items():
        found = PUBLIC_VERIFICATION.verify_publication(
            given.session.parameters, given.session.id, {}, said, lambda *_: False
        )
        assert (found and (found.fault.code, found.name)) == (code and (code, None))
    assert PUBLIC_VERIFICATION.opens(given.session.parameters)


def test_a_party_sees_whether_others_were_told_of_other_commitments() -> None:
    given = linear((8, 3, 4))
    shares, everybody = given.simulate().published, given.session.names
    mine = Announced(shares["P1"].y, shares["P1"].go)
    told = publication.broken_commitment(given.session.id, everybody, mine, shares)
    assert told is None
    other = {**shares, "P3": replace(shares["P3"], go=bytes(32))}
    culprit, fault = publication.broken_commitment(given.session.id, everybody, mine, other) or pytest.fail(
        "nobody named"
    )
    assert (culprit, fault.code) == ("charlie or P3", "go.of_other_commitments")
    assert publication.broken_commitment(given.session.id, everybody, mine, {}) is None  # an absence names nobody
    charlies = replace(mine, commitments=(bytes(32),))  # he knows what he told
    assert publication.broken_commitment(given.session.id, everybody, charlies, other) == ("P3", fault)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"parties": ("P1",)}, "parties.too_few_or_twice"),
        ({"parties": ("P1", "P1")}, "parties.too_few_or_twice"),
        ({"dimension": 0}, "vectors.no_dimension_or_ring"),
        ({"ring_bits": 12}, "vectors.no_dimension_or_ring"),
        ({"ring_degree": 0}, "ring_degree.not_even_or_too_small"),
        ({"ring_degree": 3}, "ring_degree.not_even_or_too_small"),
    ],
)
def test_parameters_that_cannot_be_run_are_refused(change: dict[str, Any], code: str) -> None:
    with refused(code, error=LocalError):
        replace(Parameters(names(3), 2), **change)


def test_parameters_are_read_back_and_no_others() -> None:
    p = Parameters(names(5), 3, 32, 4, "x")
    assert Parameters.from_dict(p.as_dict()) == p
    for change in ({"dimension": True}, {"parties": [1, 2]}, {"size_bits": 31}, {"more": 1}):
        with refused("parameters.not_as_written", error=LocalError, name=next(iter(change))):
            Parameters.from_dict({**p.as_dict(), **change})


def test_the_ring_joins_the_same_two_from_both_ends() -> None:
    for K, k in product(range(2, 14), (2, 4, 8)):
        p = Parameters(names(K), 1, ring_degree=k)
        sent = {(j, i) for j in range(K) for i in p.after(j)}
        assert sent == {(i, j) for j in range(K) for i in p.before(j)}
        assert len({frozenset(edge) for edge in sent}) == len(sent)
        degree = Counter(end for edge in sent for end in edge)
        assert set(degree.values()) <= {min(k, K - 2)}
        assert 0 not in degree
    assert CURATOR_NAME not in names(3)
