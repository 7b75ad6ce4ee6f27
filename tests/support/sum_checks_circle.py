"""Checks of the role code of the secure sum where parties stand in a circle and share masks with neighbours alone."""

from __future__ import annotations

from functools import partial
from itertools import combinations, product
from typing import Any
from unittest.mock import patch

from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.errors import PeerError
from protocols.runtime.simulate import Run
from support.role_code import Code
from support.sessions import Setup, names, start
from support.sum_checks import hold

K, DEGREE = 8, 4


def standing(code: Code, t: int = 1, D: int = 1) -> Any:
    """Eight parties with four neighbours each."""
    return code.parameters.Parameters(names(K), t, D, ((code.parameters.Block(2, "none"),),), 16, degree=DEGREE)


def session(code: Code, D: int = 1) -> Setup:
    p, rng = standing(code, D=D), Stream.insecure_from_seed("circle")
    mine = [p.ring.random_vector(2, rng) for _ in range(2 * K)]
    inputs = {name: (p, code.values.Addends((mine[j],), (mine[K + j],))) for j, name in enumerate(p.parties)}
    return start(code.PROGRAM, p, inputs | {CURATOR_NAME: (p,)})


def refused(setup: Setup, culprit: str, code: str) -> bool:
    """Return whether the run ends because of this participant, with a fault of this code."""
    try:
        setup.simulate()
    except PeerError as error:
        return (error.culprit, error.broken.code) == (culprit, code)
    return False


def the_order_is_made_of_all_coins(code: Code) -> None:
    """36. Charlie takes a root over another greeting of P2, or over another coin, with paths that lead to it."""

    async def drawn(at: int, me: Any, p: Any, greetings: Any) -> bytes:
        coins = [opened.coin for opened in await me.gather(p.parties, code.messages.Coin)]
        said = [[greetings[name].digest, coin] for name, coin in zip(p.parties, coins, strict=True)]
        said[1][at] = bytes(32)
        tree = code.dealing.merkle_tree([code.graph.greeting_leaf(i, *both) for i, both in enumerate(said)])
        root = code.dealing.merkle_root(tree)
        for i, name in enumerate(p.parties):
            me.send(name, code.messages.Circle(root, code.dealing.merkle_path(tree, i)))
        return bytes(root)

    fault = "circle.without_a_greeting"
    for at, D in product((0, 1), repeat=2):
        with patch.object(code.neighbour_graph, "_drawn", partial(drawn, at)):
            hold(refused(session(code, D), CURATOR_NAME, fault), "the order of the circle is Charlie's")


def coins_are_committed_to(code: Code) -> None:
    """37. A party opens a coin that it has chosen since."""
    seated = code.neighbour_graph._seated

    async def other(me: Any, p: Any, own: Any, coin: bytes) -> Any:
        return await seated(me, p, own, bytes(32) if me.name == "P2" else coin)

    with patch.object(code.neighbour_graph, "_seated", other):
        for D in (0, 1):
            hold(refused(session(code, D), "P2", "coin.not_as_committed"), "a coin was chosen after the greetings")


def vaults(code: Code, setup: Setup) -> tuple[dict[str, Any], Run]:
    """What set-up leaves to every party, and the run."""
    kept: dict[str, Any] = {}
    party = code.neighbour_graph.party

    async def keeping(me: Any, p: Any) -> Any:
        kept[me.name] = await party(me, p)
        return kept[me.name]

    keeping.__module__ = party.__module__
    with patch.object(code.neighbour_graph, "party", keeping):
        return kept, setup.simulate()


def shares_lie_with_neighbours(code: Code) -> None:
    """38. Who holds shares of a party stands at most two places from it, and holds those that it dealt."""
    setup = session(code)
    kept, _ = vaults(code, setup)
    p = setup.session.parameters
    order = code.graph.draw_order(setup.session.id, kept["P1"].roster, K)
    for name, vault in kept.items():
        place = order.index(p.parties.index(name))
        apart = [min((order.index(i) - place) % K, (place - order.index(i)) % K) for i in vault.near]
        hold(sorted(apart) == [1, 1, 2, 2], "somebody who is no neighbour holds shares")
        for at, i in enumerate(vault.near):
            dealt = code.dealing.deal_seeds(p, setup.seeds[p.parties[i]].fork("greeting"))
            hold(dealt.shares[DEGREE - 1 - at][0] == vault.secrets[0].held[at], "a share went astray")


def one_share_opens_nothing(code: Code) -> None:
    """39. Nobody is Charlie's, so that no threshold would be too low for the colluders."""
    p = standing(code, 0)
    dealt = code.dealing.deal_seeds(p, Stream.insecure_from_seed("dealer"))
    for few in (set_ for size in range(1, p.T) for set_ in combinations(range(DEGREE), size)):
        hold(
            code.dealing.seed_of_shares({i: dealt.shares[i][0].b for i in few}) != dealt.b[0],
            "too few shares open a seed",
        )
    hold(p.T >= 2, "one neighbour opens a seed by itself")


def one_kind_leaves(code: Code) -> None:
    """40. Of no party do both shares stand in what a holder shows."""
    shown: list[tuple[Any, Any]] = []
    unmask = code.unmasking.shares_to_unmask

    def noting(p: Any, vault: Any, r: int, U: Any) -> Any:
        made = unmask(p, vault, r, U)
        shown.append((vault.of(r).held, made))
        return made

    with patch.object(code.unmasking, "shares_to_unmask", noting):
        session(code).simulate(drop_outs={"P3": 3})
    hold(len(shown) == K - 1, "somebody did not answer")
    for held, made in shown:
        said = {*made.shares, *made.siblings, *made.paths}
        hold(not any({h.b, h.s} <= said for h in held), "both shares of one party were opened")
