"""A small model, to the end: whoever lies in one message, one notice or one line, honest sites and audits agree.

Shown for each lie: no two honest sites accept different releases; the same bytes get the same verdict of everybody; a
false release fails an audit that has the view of one honest party; nobody honest is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from support.audits import failed
from support.repetitions import with_slow
from support.small_model import (
    PLACES,
    Case,
    Lie,
    Model,
    count_of,
    diagonal,
    false_notices,
    false_transcripts,
    named,
    with_message,
    written,
)

from protocols.errors import ProtocolError

WHOLE = ((Case(3), 1), (Case(4), 3))
"""Among three nothing is passed over, among four two of three lies."""
VERIFIABLE = Case(3, verifiable=True)
RARER = ((Case(4, 1), 73), (VERIFIABLE, 5))


def subsets(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for size in range(len(names) + 1):
        yield from combinations(names, size)


def in_turn(number: int, names: tuple[str, ...]) -> tuple[str, ...]:
    """One set of views after the other, but for the empty one, beside which every lie is audited."""
    some = list(subsets(names))[1:]
    return some[number % len(some)]


def look_at(model: Model, lie: Lie, folder: Path, views: tuple[str, ...]) -> bool:
    """Ask everybody about what is in the transcript after this lie; whether an honest site accepts a release.

    An audit gets no views, and these; beside a false release also that of each honest party.
    """
    sites = [name for name in model.made.session.parties if name != lie.liar]
    try:
        content = lie.made.content
    except ProtocolError:  # such a transcript cannot even be made, and sites are sent none
        return False
    outcomes = {name: model.at_site(name, content) for name in sites}
    accepted = {(o.weights, o.members) for o in outcomes.values() if not o.code}
    assert len(accepted) <= 1, lie.what
    if lie.made is not model.made:  # so whatever Charlie hands to whom, they accept no different releases
        assert accepted <= {model.true_release}, lie.what
    assert lie.spoils_sum or all(weights == model.weights_of(members) for weights, members in accepted), lie.what
    folders = written(lie, folder)
    if folders is None:
        assert not accepted
        return False
    code = model.in_one_way(folders)
    assert not (code and accepted), (lie.what, code)
    is_false = not lie.spoils_sum and model.is_false(folders)
    assert code or not (is_false and model.made.session.parameters.verifiable), lie.what
    for some in dict.fromkeys([(), views, *((name,) for name in sites if is_false)]):
        found = model.audits(folders, *some)
        refused = {name: outcomes[name].code for name in some if name in outcomes and outcomes[name].code}
        assert named(found) <= {lie.liar}, (lie.what, some, named(found))
        if code or refused or (is_false and {*some} & {*sites}):
            assert failed(found), (lie.what, some, code, refused)
    return bool(accepted)


@pytest.fixture(scope="module")
def model() -> Model:
    return Model(Case(3).honest())


def lies_of(model: Model, step: int = 1) -> list[Lie]:
    every = [lie for name in model.made.session.names for lie in false_notices(model.made, name)]
    return [*diagonal(every, step), *diagonal(false_transcripts(model.made), step)]


def test_honest_sites_accept_one_release_and_audits_pass(model: Model, tmp_path: Path) -> None:
    lie = Lie("nobody", "nothing", model.made)
    found = {model.at_site(name, model.made.content) for name in model.made.session.parties}
    assert len(found) == 1
    assert not next(iter(found)).code
    folders = written(lie, tmp_path)
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
        look_at(model, lie, tmp_path / str(n), (model.made.session.parties[n % 3],))


@pytest.mark.slow
@pytest.mark.parametrize(("case", "step"), WHOLE)
def test_every_lie_about_notices_and_transcripts_beside_any_views(case: Case, step: int, tmp_path: Path) -> None:
    small = Model(case.honest())
    for n, lie in enumerate(lies_of(small, step)):
        look_at(small, lie, tmp_path / str(n), in_turn(n, small.made.session.names))


def of_messages(case: Case, step: int, folder: Path, patch: pytest.MonkeyPatch) -> int:
    """Each single message of each participant is another one, in each place; how many of these sessions came to a
    release.
    """
    base, released = case.honest(), 0
    lies = [(name, i, at) for name in base.session.names for i in range(count_of(base, name)) for at in PLACES]
    for n, (liar, i, at) in enumerate(diagonal(lies, step)):
        lie = with_message(case, liar, i, at, patch)
        if lie is not None:
            released += look_at(Model(lie.made), lie, folder / str(n), in_turn(n, lie.made.session.names))
    return released


@pytest.mark.parametrize(("case", "step"), with_slow([(Case(3), 47), (VERIFIABLE, 47), *RARER], *RARER))
def test_a_sample_of_lies_in_messages(case: Case, step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_messages(case, step, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(("case", "step"), WHOLE)
def test_every_lie_in_a_message_beside_any_views(
    case: Case, step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert of_messages(case, step, tmp_path, monkeypatch) > 0
