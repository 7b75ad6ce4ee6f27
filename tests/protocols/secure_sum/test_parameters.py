"""The inequalities, by brute force; and parameters of strangers are read as they were written, or refused."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.sums import parameters

from protocols.errors import LocalError
from protocols.runtime import message as messages
from protocols.secure_sum.messages import KINDS, STATEMENTS, MaskKeys
from protocols.secure_sum.parameters import MOST_CLOSED, Block, Parameters, most_dropouts, quorum, stage, widths
from tests.support.refusals import refused

# K, t, Q, largest D, H at the largest D, H at D = 0: the table of the design. With K = 2 there is nobody to spare.
TABLE = [
    *((50, 16, 34, 16, 18, 34), (50, 1, 26, 24, 25, 49), (50, 49, 50, 0, 1, 1), (5, 1, 4, 1, 3, 4)),
    *((3, 1, 3, 0, 2, 2), (3, 0, 2, 1, 2, 3), (2, 1, 2, 0, 1, 1), (2, 0, 2, 0, 2, 2)),
]


@pytest.mark.parametrize(("K", "t", "Q", "D", "H", "H_0"), TABLE)
def test_the_table(K: int, t: int, Q: int, D: int, H: int, H_0: int) -> None:
    assert (quorum(K, t), most_dropouts(K, t)) == (Q, D)
    largest, none = parameters(K, t, D), parameters(K, t, 0)
    assert (largest.H, none.H) == (H, H_0)
    assert (none.Q, none.T) == (0, 0)
    assert ((Q, Q) if D else (0, 0)) == (largest.Q, largest.T)


def crowd(K: int) -> tuple[str, ...]:
    return tuple(f"P{j}" for j in range(K))


def fits(K: int, t: int, D: int, Q: int, T: int) -> bool:
    """The three inequalities of the theorem; and with T = 1 every share would be the secret."""
    return K + t + 1 <= 2 * Q and t + 1 <= T <= Q and D <= K - Q and T >= 2


def test_the_quorum_is_the_least_by_brute_force() -> None:
    """For every K up to 60 and t, over every quorum and threshold; H is at least one, and what the theorem says."""
    for K in range(2, 61):
        for t in range(K):
            least = next(Q for Q in range(1, K + 1) if fits(K, t, 0, Q, Q))
            assert quorum(K, t) == least
            most = most_dropouts(K, t)
            assert all(fits(K, t, D, least, least) for D in range(most + 1))
            assert not any(fits(K, t, most + 1, Q, T) for Q in range(1, K + 1) for T in (t + 1, 2, Q))
            assert K - most - t >= least - t > (K - t) / 2 >= 0.5


@pytest.mark.parametrize("K", [2, 3, 4, 7, pytest.param(60, marks=pytest.mark.slow)])
def test_everything_possible_is_accepted_and_nothing_else(K: int) -> None:
    for t, D in product(range(-1, K + 2), repeat=2):
        possible = 0 <= t < K and (D == 0 or (D > 0 and any(fits(K, t, D, Q, Q) for Q in range(1, K + 1))))
        if possible:
            assert parameters(K, t, D).H == K - D - t >= 1
        else:
            with pytest.raises(LocalError) as caught:
                parameters(K, t, D)
            assert caught.value.code in ("colluders.outside", "dropouts.outside")


@pytest.mark.parametrize(
    ("change", "code", "fields"),
    [
        ({"parties": ("P1",)}, "secure_sum.parties_unusable", {"most": 200, "got": 1}),
        ({"parties": ("P1", "P2", "P1")}, "secure_sum.parties_unusable", {"most": 200, "got": 2}),
        ({"parties": crowd(1001), "dropouts": 0}, "secure_sum.parties_unusable", {"most": 1000, "got": 1001}),
        ({"parties": tuple(f"P{j}" for j in range(2001))}, "secure_sum.parties_unusable", {"most": 2000, "got": 2001}),
        (
            {"parties": tuple(f"P{j}" for j in range(300)), "colluders": 250, "dropouts": 40},
            "dropouts.outside",
            {"most": 21, "parties": 300, "colluders": 250, "got": 40},
        ),
        ({"degree": 3}, "degree.outside", {"least": 4, "most": 2, "got": 3}),
        (
            {"parties": ("P1", "P2", "P3", "P4", "P5", "P6"), "colluders": 3, "degree": 4},
            "degree.does_not_do",
            {"degree": 4, "parties": 6, "colluders": 3, "dropouts": 1},
        ),
        (
            {"parties": ("P1", "P2", "P3", "P4", "P5", "P6"), "degree": 4, "verifiable": True},
            "verifiable.with_neighbours",
            {"parties": 6},
        ),
        ({"colluders": 3}, "colluders.outside", {"most": 2, "parties": 3, "got": 3}),
        ({"dropouts": 2}, "dropouts.outside", {"most": 1, "parties": 3, "colluders": 0, "got": 2}),
        ({"colluders": 1}, "dropouts.outside", {"most": 0, "parties": 3, "colluders": 1, "got": 1}),
        ({"ring_bits": 12}, "ring_bits.outside", {"word": 8, "most": 1024, "got": 12}),
        ({"ring_bits": 0}, "ring_bits.outside", {"word": 8, "most": 1024, "got": 0}),
        ({"ring_bits": 1032}, "ring_bits.outside", {"word": 8, "most": 1024, "got": 1032}),
        ({"sums": ()}, "sums.empty", {}),
        ({"sums": ((),)}, "sums.empty", {}),
        ({"sums": ((Block(0, "none"),),)}, "sums.empty", {}),
        ({"sums": ((Block(1, "none"),),) * 349_526}, "sums.too_many", {"most": 349525, "parties": 3, "got": 349526}),
        ({"output": "file"}, "output.unknown", {"got": "file"}),
        ({"output": "shares"}, "output.shares_of_several", {}),
    ],
)
def test_impossible_ones_are_refused_in_one_line(change: dict[str, Any], code: str, fields: dict[str, object]) -> None:
    wanted = {"parties": ("P1", "P2", "P3"), "colluders": 0, "dropouts": 1, "sums": ((Block(1, "none"),),)}
    assert Parameters(**wanted).K == 3
    with refused(code, error=LocalError, **fields) as caught:
        Parameters(**wanted | change)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("K", "D"), [(200, 99), (201, 0), (1000, 0)])
def test_a_crowd_adds_up_together(K: int, D: int) -> None:
    """With drop-outs everybody deals shares to everybody, so there are fewer."""
    p = parameters(K, 0, D)
    assert Parameters.from_dict(p.as_dict()) == p
    assert p.layout()["members"] == (K + 7) // 8


@st.composite
def any_parameters(draw: st.DrawFn) -> Parameters:
    K = draw(st.integers(2, 9))
    t = draw(st.integers(0, K - 1))
    block = st.builds(Block, st.integers(1, 10**6), st.text(max_size=9))
    return Parameters(
        tuple(draw(st.lists(st.text(max_size=5), min_size=K, max_size=K, unique=True))),
        t,
        draw(st.integers(0, most_dropouts(K, t))),
        tuple(draw(st.lists(st.lists(block, min_size=1, max_size=3).map(tuple), min_size=1, max_size=3))),
        8 * draw(st.integers(1, 128)),
        draw(st.booleans()),
        "curator",
        draw(st.text(max_size=64)),
    )


@settings(max_examples=40)
@given(any_parameters())
def test_what_is_written_is_read_back(p: Parameters) -> None:
    assert Parameters.from_dict(json.loads(json.dumps(p.as_dict()))) == p


OTHERS = st.one_of(
    *(st.none(), st.booleans(), st.integers(-2, 9), st.floats(-1, 9).map(float), st.sampled_from([0.0, 1.0, 2.0, 3.0])),
    *(st.text(max_size=3), st.just([]), st.just({}), st.just([[[1, "none"]]]), st.just([[[True, "none"]]])),
)


def same(a: Any, b: Any) -> bool:
    """Equal, and of the same types: neither True nor 1.0 is 1."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


@given(any_parameters(), st.data())
def test_what_would_not_be_written_is_refused(p: Parameters, data: st.DataObject) -> None:
    """One or two places changed anywhere, taken away or added: refused, or it is what other parameters write."""
    stated: dict[str, Any] = copy.deepcopy(p.as_dict())
    for _ in range(data.draw(st.integers(1, 2))):
        change = data.draw(st.sampled_from(["set", "delete", "add"]))
        place: Any = stated
        keys = sorted(stated)
        at = data.draw(st.sampled_from(keys))
        if isinstance(stated[at], list) and stated[at] and data.draw(st.booleans()):
            place, at = stated[at], data.draw(st.integers(0, len(stated[at]) - 1))
        if change == "set":
            place[at] = data.draw(OTHERS)
        elif change == "delete":
            del place[at]
        else:
            stated["more"] = data.draw(OTHERS)
        if not stated:
            break
    with suppress(LocalError):
        assert same(Parameters.from_dict(stated).as_dict(), stated)


@pytest.mark.parametrize(
    "stated",
    [
        *({"degree": "0"}, {"degree": False}, {"degree": 0}, {"verifiable": 0}, {"colluders": 0.0}, {"agreed": 1}),
        *({"sums": wrong} for wrong in (None, [1], [[1]], [[[1.0, "none"]]], [[[True, "none"]]], [[[1, 2]]])),
        *({"parties": wrong} for wrong in (None, [1, 2, 3], "abc")),
        *({name: wrong} for name in ("quorum", "honest", "numbers") for wrong in (9, 2.0, None)),
    ],
)
def test_what_is_not_of_its_type_or_does_not_follow_is_refused(stated: dict[str, Any]) -> None:
    written = parameters(3, 0, 1).as_dict()
    with refused("parameters.not_as_written", error=LocalError, name=next(iter(stated))):
        Parameters.from_dict(written | stated)


def test_a_parameter_that_is_missing_or_unknown_is_named() -> None:
    written = parameters(3, 0, 1).as_dict()
    for name in written:
        with refused("parameters.not_as_written", error=LocalError, name=name):
            Parameters.from_dict({key: value for key, value in written.items() if key != name})
    with refused("parameters.not_as_written", error=LocalError, name="more"):
        Parameters.from_dict(written | {"more": 1})


# A list of survivors, and lengths.


@given(st.integers(2, MOST_CLOSED), st.data())
def test_a_list_of_survivors_has_one_encoding(K: int, data: st.DataObject) -> None:
    p = parameters(K, K - 1, 0)
    U = tuple(sorted(data.draw(st.sets(st.integers(0, K - 1)))))
    assert p.members(p.listed(U)) == p.listed(U).bit_count() * () + U
    spare = 8 * p.layout()["members"]
    for bit in range(K, spare):
        with refused("survivors.no_party", error=LocalError, party=bit + 1, parties=K):
            p.members(p.listed(U) | 1 << bit)
    assert p.members(p.everybody) == tuple(range(K))


@pytest.mark.parametrize("p", [parameters(3, 0, 1, (2, 5)), parameters(3, 2, 0, (2, 5), verifiable=True)])
def test_widths_are_there_for_every_message_and_differ_by_sum(p: Parameters) -> None:
    for r, d in enumerate((2, 5)):
        layout = {**p.layout(), **widths(p, stage(r))}
        assert layout["length"] == d
        assert all(messages.size(kind, layout) > 0 for kind in (*KINDS, *STATEMENTS, MaskKeys))
    for other in ("sum2", "sum", "sum00", "sum-1", "setup", "publishing", "sum" + "9" * 5000, "sum\u0661"):
        assert widths(p, other) == {}
