"""Messages of a sum in the order they are sent, and the statements that participants sign beside them.

With nobody who may drop out (D = 0) there are no shares and no survivors; or, beside mask keys, nothing but published
shares.
"""

from __future__ import annotations

from typing import Annotated

from protocols.arithmetic.ring import Vector
from protocols.runtime.message import CURATOR, PARTY, PUBLIC, Message, Times, masked, message, public


@message("0", PARTY >> PUBLIC)
class MaskKeys(Message):
    """Mask key of the sender for each sum, its commitments to its own seeds, and a digest of each holder's shares. In a
    sparse graph the last key is the one under which shares come, and the last commitment is to a coin.
    """

    keys: Annotated[tuple[bytes, ...], public("key"), Times("keys")]
    commitments: Annotated[tuple[bytes, ...], public("digest"), Times("commitments")]
    leaves: Annotated[tuple[bytes, ...], public("digest"), Times("held")]


@message("1", PARTY >> PARTY)
class Shares(Message):
    """For each sum, the receiver's share of the sender's seed, and its share of the sender's secret mask key."""

    b: Annotated[tuple[bytes, ...], masked("seed"), Times("sums")]
    s: Annotated[tuple[bytes, ...], masked("seed"), Times("sums")]


@message("1", PARTY >> CURATOR)
class Ready(Message):
    """Digest of all greetings, as the sender saw them.

    The sender is ready to mask. Where shares are dealt, there is also a signed list of the dealers that it accuses:
    their shares are not those that they committed to, or have not come.
    """

    roster: Annotated[bytes, public("digest")]
    accused: Annotated[Vector, public("members"), Times("complaints")]
    signature: Annotated[tuple[bytes, ...], public("signature"), Times("complaints")]


@message("1", CURATOR >> PARTY)
class Start(Message):
    """Start of the sums, with the digest of all greetings.

    All parties are ready and saw the same ones. From here on a sum is charged. If dealers are accused, it is not
    charged yet: complaints follow, or, where these have been answered, the answer of the one dealer that opened other
    shares.
    """

    roster: Annotated[bytes, public("digest")]
    accused: Annotated[Vector, public("members"), Times("complaints")]


@message("1", CURATOR >> PARTY)
class Accused(Message):
    """Dealers that each party accuses, and its signature."""

    accused: Annotated[Vector, public("members"), Times("complainers")]
    signatures: Annotated[tuple[bytes, ...], public("signature"), Times("complainers")]


@message("1", PARTY >> CURATOR | CURATOR >> PARTY)
class Disclosed(Message):
    """Shares of the sender for those who accuse it, for each sum, signed.

    They stand by holder, with zeros for the others. Charlie shows everybody the one that is wrong.
    """

    b: Annotated[tuple[bytes, ...], public("seed"), Times("disclosed")]
    s: Annotated[tuple[bytes, ...], public("seed"), Times("disclosed")]
    signature: Annotated[bytes, public("signature")]


@message("1", CURATOR >> PARTY)
class Replaced(Message):
    """Shares of the addressee for each sum, as the dealers that it accuses disclosed them.

    There are zeros for the other dealers.
    """

    b: Annotated[tuple[bytes, ...], public("seed"), Times("disclosed")]
    s: Annotated[tuple[bytes, ...], public("seed"), Times("disclosed")]


@message("1", PARTY >> CURATOR)
class Coin(Message):
    """Coin for the order of the circle, to which the sender committed in its greeting."""

    coin: Annotated[bytes, public("digest")]


@message("1", CURATOR >> PARTY)
class Circle(Message):
    """Root over all greetings and coins, and the path to it from those of the addressee."""

    root: Annotated[bytes, public("digest")]
    path: Annotated[tuple[bytes, ...], public("digest"), Times("steps")]


@message("1", PARTY >> CURATOR)
class Handed(Message):
    """Encrypted shares of the sender's seed and secret mask key for each neighbour, sum by sum.

    They are authenticated: nobody else can read or alter them.
    """

    shares: Annotated[tuple[bytes, ...], masked("covered"), Times("held")]


@message("1", CURATOR >> PARTY)
class Passed(Message):
    """Encrypted shares for the addressee, as each of its neighbours dealt them.

    Everybody has dealt, and from here on a sum is charged.
    """

    shares: Annotated[tuple[bytes, ...], masked("covered"), Times("held")]


@message("2", PARTY >> CURATOR)
class Masked(Message):
    """Numbers and noise of the sender under all its masks, signed as its only input to this sum."""

    context: Annotated[bytes, public("digest")]
    y: Annotated[Vector, masked("word"), Times("length")]
    signature: Annotated[bytes, public("signature")]


@message("3", CURATOR >> PARTY)
class Survivors(Message):
    """List of the parties whose masked inputs arrived. An empty list proposes to give up the sum."""

    context: Annotated[bytes, public("digest")]
    members: Annotated[int, public("members")]
    inputs: Annotated[bytes, public("digest")]
    signature: Annotated[bytes, public("signature")]


@message("4", PARTY >> CURATOR)
class Signed(Message):
    """Signature of the sender for the one list of survivors that it agrees to in this sum."""

    signature: Annotated[bytes, public("signature")]


@message("5", CURATOR >> PARTY)
class Certificate(Message):
    """Signatures of the survivors on their list.

    In a sparse graph they are those of the addressee's neighbours. A missing signature is zeros.
    """

    signatures: Annotated[tuple[bytes, ...], public("signature"), Times("signers")]


@message("6", PARTY >> CURATOR)
class Unmask(Message):
    """Share of each party's secret: of its seed if it survived, else of its mask key. A path links each share to the
    digest in that party's greeting.
    """

    shares: Annotated[tuple[bytes, ...], masked("seed"), Times("held")]
    siblings: Annotated[tuple[bytes, ...], public("digest"), Times("held")]
    paths: Annotated[tuple[bytes, ...], public("digest"), Times("path")]


@message("7", CURATOR >> PARTY)
class Result(Message):
    """Sum, with Charlie's signature."""

    S: Annotated[Vector, public("word"), Times("length")]
    signature: Annotated[bytes, public("signature")]


@message("7", CURATOR >> PUBLIC)
class PublishedSum(Message):
    """Sums of the session in one list S, with the members of each sum."""

    members: Annotated[Vector, public("members"), Times("sums")]
    S: Annotated[Vector, public("word"), Times("all")]


@message("7", CURATOR >> PUBLIC)
class PublishedOpening(Message):
    """Sums of the session, the members of each, and what Charlie added up.

    For each sum there are the masked inputs with their signatures, the signatures of the survivors, and the opened
    seeds, by party, with zeros where there is nothing.
    """

    members: Annotated[Vector, public("members"), Times("sums")]
    S: Annotated[Vector, public("word"), Times("all")]
    y: Annotated[Vector, public("word"), Times("masked")]
    inputs: Annotated[tuple[bytes, ...], public("signature"), Times("signed")]
    agreed: Annotated[tuple[bytes, ...], public("signature"), Times("agreed")]
    seeds: Annotated[tuple[bytes, ...], public("seed"), Times("agreed")]


@message("2", PARTY >> PUBLIC)
class PublishedShare(Message):
    """Masked input of the sender. It is an additive share of the sum: all of them add up to the sum."""

    y: Annotated[Vector, public("word"), Times("all")]


# What participants sign for third parties: one of a kind in each sum, or in set-up.


@message("1", PARTY >> PUBLIC)
class Complaint(Message):
    """Statement that the sender accuses these dealers, among those who greeted so: their shares are not those they
    committed to, or have not come.
    """

    roster: Annotated[bytes, public("digest")]
    accused: Annotated[int, public("members")]


@message("1", PARTY >> PUBLIC)
class Disclosure(Message):
    """Statement that the sender, among those who greeted so, answers these complaints with shares of this digest."""

    roster: Annotated[bytes, public("digest")]
    complaints: Annotated[bytes, public("digest")]
    digest: Annotated[bytes, public("digest")]


@message("2", PARTY >> PUBLIC)
class Input(Message):
    """Statement that the sender's masked input has this digest."""

    context: Annotated[bytes, public("digest")]
    digest: Annotated[bytes, public("digest")]


@message("3", CURATOR >> PUBLIC)
class Listed(Message):
    """Statement of the survivors, with inputs of this digest."""

    context: Annotated[bytes, public("digest")]
    members: Annotated[int, public("members")]
    inputs: Annotated[bytes, public("digest")]


@message("4", PARTY >> PUBLIC)
class Agreed(Message):
    """Statement that the sender agrees in the sum of this number to these survivors with these inputs, and to no
    others.
    """

    number: Annotated[int, public("number")]
    context: Annotated[bytes, public("digest")]
    members: Annotated[int, public("members")]
    inputs: Annotated[bytes, public("digest")]


@message("7", CURATOR >> PUBLIC)
class Ended(Message):
    """Statement that the sum over these survivors has this digest."""

    context: Annotated[bytes, public("digest")]
    members: Annotated[int, public("members")]
    digest: Annotated[bytes, public("digest")]


KINDS = (
    *(
        Shares,
        Ready,
        Start,
        Accused,
        Disclosed,
        Replaced,
        Coin,
        Circle,
        Handed,
        Passed,
        Masked,
        Survivors,
        Signed,
        Certificate,
        Unmask,
        Result,
    ),
    *(PublishedSum, PublishedOpening, PublishedShare),
)
"""Messages that are sent or published after the greeting, `MaskKeys`."""
STATEMENTS = (Complaint, Disclosure, Input, Listed, Agreed, Ended)
"""Statements that participants sign: a signature under one stands in a message."""
