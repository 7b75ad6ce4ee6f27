"""What a store refuses, and that nobody opens its state without the identity and the passphrase."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from smc_dp.deploy.store import KeptState, Seal, SiteStore, StateNumber, StoreError
from tests.support.refusals import refused

NORTH, SOUTH = (Identity.generate(Stream.insecure_from_seed(name)) for name in ("north", "south"))
SALT, KEY = bytes(32), bytes(32)


def opened(folder: Path, participant: str = "north") -> SiteStore:
    return SiteStore(folder / "state", folder / "counters", {"participant": participant}, NORTH)


def kept(number: int) -> Callable[[], KeptState]:
    return lambda: KeptState(number, b"secret")


def test_a_state_follows_the_newest_and_no_other(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as store:
        store.commit(state=kept(1))
        for wrong in (1, 3):
            with refused("state.does_not_follow", error=StoreError, counter=wrong, newest=1):
                store.commit(state=kept(wrong))
        assert store.newest() == KeptState(1, b"secret")


def test_a_state_that_is_replaced_is_overwritten(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as store:
        store.commit(state=lambda: KeptState(1, bytes(20_000)))
        (sealed,) = store._connection.execute("SELECT sealed FROM state").fetchone()
        assert sealed[-64:] in store.path.read_bytes()
        store.commit(state=kept(2))
        parts = {sealed[at : at + 64] for at in range(0, len(sealed) - 64, 512)}
        assert not [part for part in parts if part in store.path.read_bytes()]


def test_who_commits_after_another_stops_even_where_no_lock_was_between_them(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as store:
        with closing(sqlite3.connect(store.path)) as other:
            other.execute("INSERT INTO state VALUES (1, 1, x'00')")
            other.commit()
        with refused("state.in_use", error=StoreError):
            store.commit(facts={"stage": "setup"})


def test_a_second_process_and_another_purpose_are_refused(tmp_path: Path) -> None:
    with closing(opened(tmp_path)), refused("state.in_use", error=StoreError):
        opened(tmp_path)
    with refused("state.of_another", error=StoreError):
        opened(tmp_path, "south")


def test_a_number_that_is_one_behind_is_brought_up_when_the_store_is_opened(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as store:
        (counter,) = (tmp_path / "counters").iterdir()
        before = counter.read_text()
        store.commit(state=kept(1))
    (counter,) = (tmp_path / "counters").iterdir()
    written = counter.read_text()
    counter.write_text(before)
    with closing(opened(tmp_path)) as store:
        assert store.newest() == KeptState(1, b"secret")
    assert counter.read_text().split()[:2] == written.split()[:2]


class PublicHalf:
    """Somebody who knows the identity's public half, and signs with a key of its own."""

    public = NORTH.public

    def sign(self, message: bytes) -> bytes:
        return SOUTH.sign(message)


def test_only_the_same_identity_and_passphrase_open_a_state() -> None:
    seal = Seal(NORTH, SALT, "typed")
    made = seal.seal(b"secret", b"bound", KEY)
    assert seal.open(made, b"bound", KEY) == b"secret"
    for signer, passphrase in ((SOUTH, "typed"), (PublicHalf(), "typed"), (NORTH, "other"), (NORTH, None)):
        with refused("state.does_not_open"):
            Seal(signer, SALT, passphrase).open(made, b"bound", KEY)


def test_a_passphrase_is_the_one_it_began_with_before_there_is_anything_to_open(tmp_path: Path) -> None:
    """Else a mistyped one would seal what follows, and the right one open nothing any more."""

    def began(passphrase: str | None) -> SiteStore:
        return SiteStore(tmp_path / "state", tmp_path / "counters", {"participant": "north"}, NORTH, passphrase)

    began("typed").close()
    for other in ("tpyed", None):
        with refused("state.does_not_open", error=StoreError):
            began(other)
    began("typed").close()


def numbered(folder: Path) -> StateNumber:
    """What stands in the folder of counters, where nothing else lies."""
    (path,) = (folder / "counters").iterdir()
    return StateNumber.read(path)


def test_each_state_has_a_key_of_its_own(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as store:
        found = [numbered(tmp_path)]
        for number in (1, 2, 3):
            store.commit(state=kept(number))
            found.append(numbered(tmp_path))
    assert [one.key for one in found[1:]] == [one.following for one in found[:-1]]
    assert len({one.following for one in found}) == len(found)
    assert found[0].key == b""


@pytest.mark.parametrize("end", ["released", "aborted", "deadline", "ended", "abandoned"])
def test_an_end_erases_the_state_and_its_keys(end: str, tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as store:
        store.commit(state=kept(1))
        store.commit(state=kept(2), facts={"end": end})
        assert (store.newest(), numbered(tmp_path)) == (KeptState(2, b""), StateNumber(2))
        store.commit(facts={"end": end})
    with closing(opened(tmp_path)) as store:
        assert (store.counter, store.facts()["end"]) == (2, end)


def test_killed_in_the_middle_of_erasing_a_site_erases_when_it_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(opened(tmp_path)) as store:
        store.commit(state=kept(1))
        with monkeypatch.context() as killed:
            killed.setattr(SiteStore, "_write", lambda self, number: None)
            store.commit(facts={"end": "aborted"})
    assert numbered(tmp_path).key
    (tmp_path / "counters" / "north.00.partial").write_text("a key that was half written")
    opened(tmp_path).close()
    assert numbered(tmp_path) == StateNumber(2)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1", "state.of_an_old_format"),
        ("", "state.no_counter"),
        ("1 - xx", "state.no_counter"),
        ("a - -", "state.no_counter"),
    ],
)
def test_a_number_without_keys_is_of_an_earlier_version_and_refused(text: str, code: str, tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as store:
        store.commit(state=kept(1))
    (path,) = (tmp_path / "counters").iterdir()
    path.write_text(text)
    with refused(code, error=StoreError):
        opened(tmp_path)
