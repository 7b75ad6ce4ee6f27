"""The board takes each participant's next envelope, signed, and one publication of it."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from support.votes import Outcome, made

from protocols.errors import PeerError
from protocols.runtime import message as messages
from protocols.runtime.bulletin_board import BulletinBoard
from protocols.runtime.channel import Channel
from protocols.runtime.envelope import STAGE_END, Envelope
from tests.support.refusals import refused


class Scene(NamedTuple):
    """A board to which P1 has posted its greeting."""

    board: BulletinBoard
    channel: Channel

    def signed(self, kind: str, payload: bytes) -> Envelope:
        return self.channel.sign(kind, "confirming", payload)


@pytest.fixture
def scene() -> Scene:
    session, identities, seeds, _ = made()
    board = BulletinBoard(session)
    channel = Channel(session, "P1", identities["P1"], seeds["P1"], board.greetings)
    board.post(channel.greet(b""))
    return Scene(board, channel)


@pytest.fixture
def outcome(scene: Scene) -> bytes:
    return messages.encode(Outcome(6), scene.board.session.layout, {})


def test_a_participant_publishes_once(scene: Scene, outcome: bytes) -> None:
    scene.board.post(scene.signed(STAGE_END, b""))
    scene.board.post(scene.signed("Outcome", outcome))
    assert scene.board.published == {"P1": Outcome(6)}
    with refused("board.published_before", error=PeerError):
        scene.board.post(scene.signed("Outcome", outcome))


@pytest.mark.parametrize(
    ("kind", "code"), [(STAGE_END, "board.stage_end_carries_something"), ("Word", "board.not_public")]
)
def test_what_is_not_for_the_board_is_its_senders_fault(scene: Scene, outcome: bytes, kind: str, code: str) -> None:
    with refused(code, error=PeerError) as caught:
        scene.board.post(scene.signed(kind, outcome))
    assert caught.value.culprit == "P1"  # type: ignore[attr-defined]


def test_an_envelope_out_of_turn_is_nobodys_fault(scene: Scene, outcome: bytes) -> None:
    scene.signed(STAGE_END, b"")
    with refused("board.not_the_next", error=PeerError) as caught:
        scene.board.post(scene.signed("Outcome", outcome))
    assert caught.value.culprit != "P1"  # type: ignore[attr-defined]
