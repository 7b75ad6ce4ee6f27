"""120 attempts to make honest participants look like liars: no text and no field names one as the one to blame.

A few dozen are tried every day, all of them with `-m slow`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from support.audits import OF_THE_RUN
from support.blaming import blaming
from support.framing import FAMILIES, NAMES, PARTIES, STRANGER, Attempt, Scene, attempt, scene

from protocols.errors import LocalError
from smc_dp.audit.run.blame import Culprit
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.audit.run.report import audit_evidence
from smc_dp.audit.run.report_blocks import blocks
from smc_dp.core.errors import InputError, InputFault
from smc_dp.pages.text import block_lines
from tests.support.refusals import refused

AUDITS, EVERY_DAY = 120, 28


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return scene(tmp_path_factory.mktemp("framing"))


@pytest.fixture(scope="module")
def attempts(made: Scene) -> Callable[[int], Attempt]:
    return cache(lambda number: attempt(made, number))


@pytest.fixture(scope="module")
def audited(attempts: Callable[[int], Attempt]) -> Callable[[int], tuple[Attempt, str, str, bool]]:
    return cache(lambda number: (attempts(number), *heard(attempts(number))))


def heard(tried: Attempt) -> tuple[str, str, bool]:
    """What an audit says, as text and as JSON, and whether it found anything."""
    try:
        evidence = load_evidence(tried.folders.run, tried.identities, tried.folders.views)
        report = audit_evidence(evidence, OF_THE_RUN)
    except InputError as error:
        return str(error), "{}", True
    return "\n".join(block_lines(blocks(report), 100_000, 100_000)), json.dumps(report.as_dict()), not report.passed


def accusations(text: str, as_json: str, honest: tuple[str, ...]) -> list[str]:
    """Fields that name an honest participant, and sentences that blame one."""
    findings = json.loads(as_json).get("findings", [])
    named = [f"{x['check']}: {x['party']}" for x in findings if any(name in (x["party"] or "") for name in honest)]
    return named + blaming("\n".join([text, *(x["detail"] for x in findings)]), honest)


def framed(tries: Iterable[tuple[Attempt, str, str, bool]]) -> Iterator[tuple[str, list[str]]]:
    """The attempts that succeed, with what is said."""
    for tried, text, as_json, _ in tries:
        if said := accusations(text, as_json, tried.honest):
            yield tried.said, said


@pytest.mark.parametrize(
    "numbers", [range(EVERY_DAY), pytest.param(range(EVERY_DAY, AUDITS), marks=pytest.mark.slow)], ids=str
)
def test_no_honest_participant_is_named(audited: Callable[[int], Any], numbers: range) -> None:
    assert list(framed(map(audited, numbers))) == []


def test_what_was_done_is_found_and_who_did_it_is_often_named(audited: Callable[[int], Any]) -> None:
    """The liar among the participants, by its own signatures; plainly only where its identity is known."""
    found, named = 0, []
    for number in range(EVERY_DAY):
        tried, text, as_json, failed = audited(number)
        found += failed
        named += [(tried, text, x) for x in json.loads(as_json).get("findings", []) if x["pinned"] is not None]
    assert found >= EVERY_DAY - 4, "a few change nothing that anybody could know"
    assert len({tried.said for tried, _, _ in named}) >= EVERY_DAY // len(FAMILIES) // 3
    for tried, text, finding in named:
        liar, known = next(name for name in NAMES if name not in tried.honest), tried.identities is not None
        holder = f"the holder of the key that line 0 states for {liar!r}"
        assert finding["party"] == (liar if known else None)
        assert finding["pinned"] == known == (f"[{liar}]" in text)
        assert (holder in finding["detail"]) != known


def test_a_culprit_is_made_by_a_signature_alone(made: Scene) -> None:
    evidence, names = made.evidence, list(made.identities)
    message = b"I did it"
    assert Culprit(names[0], evidence, message, made.identities[names[0]].sign(message)).name == names[0]
    for signature in (made.identities[names[1]].sign(message), STRANGER.sign(message), bytes(64), b""):
        with refused("culprit.no_signature", error=LocalError):
            Culprit(names[0], evidence, message, signature)
    with refused("culprit.no_signature", error=LocalError):
        Culprit("nobody", evidence, message, STRANGER.sign(message))


UNSIGNED = {"no signature": b"", "somebody's signature": bytes(64)}


@pytest.mark.parametrize("how", UNSIGNED)
def test_the_verdict_says_why_nobody_is_named(how: str, made: Scene) -> None:
    """The same false view, once as its owner hands it over, and once as anybody could have made it."""
    p, mine = made.evidence.views[PARTIES[0]].inputs
    false = replace(made.evidence.views[PARTIES[0]], inputs=(p, replace(mine, n=mine.n + 1)))
    for view, named in (
        (false.signed(made.evidence.session, made.identities[PARTIES[0]]), True),
        (replace(false, signature=UNSIGNED[how]), False),
    ):
        evidence = replace(made.evidence, views={PARTIES[0]: view}, pinned=made.evidence.session.identities)
        found = {f.check.name: f.outcome for f in audit_evidence(evidence, OF_THE_RUN).findings}
        outcome = found["messages-recomputed"]
        assert outcome.fault.place == "this view and the transcript differ: "
        assert outcome.party == (PARTIES[0] if named else None)
        code = {"no signature": "view.not_signed", "somebody's signature": "view.signed_by_another"}[how]
        assert outcome.why_nobody == (None if named else InputFault(code, {"name": repr(PARTIES[0])}))
