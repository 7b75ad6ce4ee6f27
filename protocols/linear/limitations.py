"""Limitations of the claim, the worst first; each attack of a coalition outside of it succeeds in every run.

The claim of `ideal.py` would be timid if these failed; `LIMITATIONS` is part of it. An attack is given the public
parameters p, the views of the coalition's members, and the published messages; nothing else. All members follow the
protocol. Attacks that need nothing but own inputs and the sum are in `pathak2010/noisy_sum_claims.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from protocols.arithmetic import halves
from protocols.arithmetic.ring import Vector
from protocols.crypto import encapsulation
from protocols.curator import CURATOR_NAME
from protocols.linear import masks
from protocols.linear.messages import PublishedShare, Share, Submit
from protocols.linear.parameters import Parameters
from protocols.linear.values import CuratorKeys, Masks, OpenedRow, Submitted
from protocols.pathak2010.noisy_sum_claims import (
    BY_ALL_BUT_ONE,
    BY_SMALLEST,
    SCALE_OF_THE_NOISE,
    Coalitions,
    exact_sum,
    exact_sum_of_smallest,
    input_of,
    own_input,
    published_sum,
    sum_for_smallest,
)
from protocols.runtime.claims import Attack, Inputs, Limitation, View, first_instance, message_from, stage_result


@dataclass(frozen=True, repr=False)
class Everything:
    """Sizes, noises, and the sum of all weights without noise."""

    sizes: tuple[int, ...]
    noises: tuple[Vector, ...]
    exact: Vector


def everything_of_hubs(p: Parameters, charlie: View, first: View, S: Vector) -> Everything:
    """Return all of it from the views of Charlie and P_1: halves meet, the box key opens rows, and P_1 took s off."""
    mine, box = own_input(first), stage_result(charlie, CuratorKeys).box
    sizes, noises = [mine.n], [mine.eta]
    for name in p.parties[1:]:
        submit = message_from(first, name, Submit)
        sizes.append(halves.join(submit.a, message_from(charlie, name, Share).b))
        noises.append(masks.unmask_row(p, submit.row, encapsulation.opened(box, submit.epk, charlie.session)))
    s = p.weights.subtract_vectors(mine.w, first.results[_SELECTION])
    eta = p.weights.subtract_vectors(stage_result(charlie, OpenedRow).summand, s)
    return Everything(tuple(sizes), tuple(noises), p.weights.subtract_vectors(S, eta))


_SELECTION = 2  # the place of P_1's third stage among what its stages left: a plain vector


def weights_behind_a_cut(p: Parameters, views: Sequence[View], published: Mapping[str, PublishedShare]) -> Vector:
    """Return w_i of the party whose ring neighbours are all members, with P_1 and Charlie: they know all its masks."""
    here = {view.name: view for view in views}
    i = _encircled(p)
    name = p.parties[i]
    first, charlie = (
        message_from(here[p.parties[0]], name, Submit).seed,
        message_from(here[CURATOR_NAME], name, Share).seed,
    )
    edges = {j: _seed(p, here[p.parties[j]], i) for j in (*p.before(i), *p.after(i))}
    plus = (*(seed for j, seed in edges.items() if j > i), charlie)
    minus = (first, *(seed for j, seed in edges.items() if j < i))
    return masks.masked_share(p, published[name].y, Masks(minus, plus))


def exact_sum_of_the_named(p: Parameters, charlie: View, party: View, S: Vector) -> Vector:
    """Return the exact sum, if the row that Charlie opened is this party's by its epk; raise `ValueError` otherwise."""
    if stage_result(charlie, OpenedRow).epk != _submitted(party).epk:
        raise ValueError(f"the row that opened is not that of {party.name}")
    return exact_sum_of_smallest(p, party, S)


def _seed(p: Parameters, view: View, i: int) -> bytes:
    """Return the seed of the edge to party i: a party's masks stand in the order of its edges."""
    j = p.parties.index(view.name)
    places = [k for k in (*p.after(j), *p.before(j)) if (k > j) == (i > j)]
    edges = _submitted(view).masks
    return edges.plus[places.index(i)] if i > j else edges.minus[1 + places.index(i)]


def _submitted(view: View) -> Submitted:
    """Return the result of a party's first stage; that of P_1 has more beside it."""
    every = [part for result in view.results for part in (result if isinstance(result, tuple) else (result,))]
    return first_instance(every, Submitted, view.name)


# The same attacks, in the form in which a claim is tried. Where sizes are equal, randomness decides, and there is
# nothing to find.


def _encircled(p: Parameters) -> int:
    """Return the place of a party in the middle of its neighbours on the ring."""
    return 1 + p.ring_degree // 2


def _cutting(p: Parameters) -> Coalitions:
    """Return Charlie, P_1 and all neighbours of one party, where these are not all."""
    if not p.has_ring:
        return ()
    i = _encircled(p)
    around = sorted({*p.before(i), *p.after(i)})
    return ((CURATOR_NAME, p.parties[0], *(p.parties[j] for j in around)),)


def _with_charlie(p: Parameters) -> Coalitions:
    return tuple((CURATOR_NAME, party) for party in p.parties[1:])


def _everything(p: Parameters, inputs: Inputs, names: tuple[str, ...]) -> Everything:
    mine = [input_of(inputs, party) for party in p.parties]
    return Everything(tuple(x.n for x in mine), tuple(x.eta for x in mine), exact_sum(p, inputs))


LIMITATIONS = (
    Limitation(
        "Charlie together with P_1 learns every size and every noise, and so the exact sum of all weights.",
        Attack(
            lambda p: ((CURATOR_NAME, p.parties[0]),),
            lambda p, views, published: everything_of_hubs(p, views[0], views[1], published_sum(p, published)),
            _everything,
        ),
    ),
    Limitation(
        "Charlie and P_1, with as many further parties as each party has neighbours, can cut the ring. They then "
        "learn the sums of the weights on either side of the cut. With all neighbours of one party they learn its "
        "weights.",
        Attack(_cutting, weights_behind_a_cut, lambda p, inputs, names: input_of(inputs, p.parties[_encircled(p)]).w),
    ),
    Limitation(
        "The party with the smallest data set knows its own noise: it obtains the exact sum of all weights. The "
        "protocol does not tell the party that it is the smallest, but the result often shows it.",
        BY_SMALLEST,
    ),
    Limitation(
        "All parties but one, with the smallest among them, together obtain the weights of the last one exactly, with "
        "or without Charlie. Of two parties, the smaller one obtains the other's.",
        BY_ALL_BUT_ONE,
    ),
    Limitation(
        "Charlie together with the party that has the smallest data set learns that it is the smallest. So they "
        "are sure that the sum without this party's noise is exact.",
        Attack(
            _with_charlie,
            lambda p, views, published: exact_sum_of_the_named(p, views[0], views[1], published_sum(p, published)),
            sum_for_smallest,
        ),
    ),
    Limitation(
        "Charlie together with parties learns in each session whether one of them is the smallest, and so whether the "
        "smallest size of the rest is below theirs. If a member's size changes from session to session, they find "
        "the smallest size of the rest. If sizes are equal, several sessions show how many are. Noise prevents none "
        "of this, because it protects records and not sizes."
    ),
    Limitation(
        "A malicious P_1 can put noise that it knows, or none, into the result and so learn the exact sum. In each "
        "session it can also let a function of all sizes, in place of the search for the smallest, decide which of K "
        "rows opens or that none does, and so learn one of K+1 values. Nobody notices, unless no row opens and "
        "Charlie refuses."
    ),
    Limitation(
        "A malicious Charlie can change which party is selected. If he works with that party, he learns the "
        "exact sum. Together they can also compare the size of any party with a number of their choice, once a "
        "session."
    ),
    Limitation(
        "If Charlie sends an inconsistent Extension, he needs about 2^65 guesses to find Delta, each of some hashes (a "
        "thousand for 1,000 parties). With Delta he learns all sizes and, with one known noise, every noise and the "
        "exact sum. The check of Keller, Orsini and Scholl would prevent this."
    ),
    Limitation(
        "The order of equal sizes is drawn anew in each session. If Charlie works with one of the parties that have "
        "the smallest size, he can stop sessions until that party is selected. He then learns the exact sum. "
        "Investigate a refused session; do not simply repeat it."
    ),
    Limitation(
        "A party that sends a key which does not fit its row spoils the sum if it has the smallest data set, and so "
        "learns that it has. A party that enters few rows and no noise removes the noise for everybody."
    ),
    Limitation("Each participant can spoil the sum, or stop it, and nobody sees who spoilt it."),
    Limitation(
        "Keys of links are kept until a participant's own part is over. An adversary that obtains the states of both "
        "Charlie and P_1 before then can open the messages that they received in the session."
    ),
    Limitation("The last participant to publish learns the sum first and can withhold its share."),
    SCALE_OF_THE_NOISE,
)
