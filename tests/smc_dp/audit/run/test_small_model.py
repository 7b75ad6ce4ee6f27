"""A small model, to the end: whoever lies in one message, one notice or one line, honest sites and audits agree.

Shown for each lie: no two honest sites accept different releases; the same bytes get the same verdict of everybody; a
false release fails an audit that has the view of one honest party; nobody honest is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from support.small_model import (
    Lie,
    Model,
    count_of,
    diagonal,
    failed,
    false_notices,
    false_transcripts,
    honest,
    named,
    schedules_kept,
    with_message,
    written,
)

from protocols.curator import CURATOR_NAME
from protocols.errors import ProtocolError


def subsets(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for size in range(len(names) + 1):
        yield from combinations(names, size)


def look_at(model: Model, lie: Lie, folder: Path, views: list[tuple[str, ...]]) -> None:
    """Ask everybody about what is in the transcript after this lie."""
    made = model.made
    sites = [name for name in made.session.parties if name != lie.liar]
    truth = model.true_weights
    try:
        content = lie.made.content
    except ProtocolError:  # such a transcript cannot even be made, and sites are sent none
        return
    accepted = {(o.weights, o.members) for name in sites if not (o := model.at_site(name, content)).code}
    assert len(accepted) <= 1, lie.what
    assert all(weights == truth for weights, _ in accepted), lie.what
    folders = written(lie, folder)
    if folders is None:
        assert not accepted
        return
    code = model.in_one_way(folders)
    assert not (code and accepted), (lie.what, code)
    is_false = "another" in lie.what
    for some, found in zip(views, model.audits_of(folders, views), strict=True):
        assert named(found) <= {lie.liar}, (lie.what, some, named(found))
        if is_false and set(some) - {lie.liar, CURATOR_NAME}:
            assert failed(found), (lie.what, some)


@pytest.fixture(scope="module")
def model() -> Model:
    return Model(honest(3))


def lies_of(model: Model, step: int = 1) -> list[Lie]:
    every = [lie for name in model.made.session.names for lie in false_notices(model.made, name)]
    return [*diagonal(every, step), *diagonal(false_transcripts(model.made), step)]


def test_honest_sites_accept_one_release_and_audits_pass(model: Model, tmp_path: Path) -> None:
    lie = Lie("nobody", "nothing", model.made)
    found = {model.at_site(name, model.made.content) for name in model.made.session.parties}
    assert len(found) == 1
    assert not next(iter(found)).code
    folders = written(lie, tmp_path)
    assert folders is not None
    assert model.in_one_way(folders) == ""
    for some in subsets(model.made.session.names):
        assert failed(model.audits(folders, *some)) == {}


def test_whoever_is_told_another_sum_says_so(model: Model) -> None:
    """All that Charlie can publish beside what he told: each site refuses, and names the code."""
    (other,) = [lie for lie in false_transcripts(model.made) if lie.what == "published another sum"]
    codes = {model.at_site(name, other.made.content).code for name in model.made.session.parties}
    assert codes == {"record.lacks_message"}, "sites have what he published before; who has not holds his signed result"


def test_a_sample_of_lies_about_notices_and_transcripts(model: Model, tmp_path: Path) -> None:
    for n, lie in enumerate(lies_of(model, 9)):
        look_at(model, lie, tmp_path / str(n), [(), (model.made.session.parties[n % 3],)])


def test_what_is_found_once_is_what_each_audit_finds(model: Model, tmp_path: Path) -> None:
    every = list(subsets(model.made.session.names))
    for n, lie in enumerate(lies_of(model, 90)):
        folders = written(lie, tmp_path / str(n))
        if folders is not None:
            with schedules_kept():
                found = list(model.audits_of(folders, every))
            assert found == [model.audits(folders, *some) for some in every], lie.what


@pytest.mark.slow
@pytest.mark.parametrize("parties", [3, 4])
def test_every_lie_about_notices_and_transcripts_beside_any_views(parties: int, tmp_path: Path) -> None:
    small = Model(honest(parties))
    every = list(subsets(small.made.session.names))
    with schedules_kept():
        for n, lie in enumerate(lies_of(small)):
            look_at(small, lie, tmp_path / str(n), every)


def of_messages(parties: int, step: int, folder: Path, patch: pytest.MonkeyPatch) -> int:
    """Each single message of each participant is another one; how many of these sessions came to a release. Where none
    is passed over, audits are given every subset of views.
    """
    base, released, whole = honest(parties), 0, step == 1
    places = [(name, i) for name in base.session.names for i in range(count_of(base, name))]
    for n, (liar, i) in enumerate(diagonal(places, step)):
        made = with_message(parties, liar, i, patch)
        if made is None:
            continue
        small = Model(made)
        outcomes = [small.at_site(name, made.content) for name in made.session.parties if name != liar]
        accepted = {(o.weights, o.members) for o in outcomes if not o.code}
        assert len(accepted) <= 1, (liar, i)
        released += bool(accepted)
        folders = written(Lie(liar, "a message", made), folder / str(n))
        if folders is None:
            assert not accepted
            continue
        small.in_one_way(folders)
        other = next(name for name in made.session.parties if name != liar)
        some = list(subsets(made.session.names)) if whole else [(), (other,)]
        for views, found in zip(some, small.audits_of(folders, some), strict=True):
            assert named(found) <= {liar}, (liar, i, views)
    return released


def test_a_sample_of_lies_in_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_messages(3, 6, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("parties", [3, 4])
def test_every_lie_in_a_message_beside_any_views(parties: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with schedules_kept():
        assert of_messages(parties, 1, tmp_path, monkeypatch) > 0
