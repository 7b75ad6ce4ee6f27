"""The attacks in a walkthrough: those on its protocol, measured while there is time, and no other numbers."""

from __future__ import annotations

import re
from typing import Any

import pytest

from protocols.arithmetic.rng import Stream
from protocols.programs import PROTOCOLS
from smc_dp.attacks import ATTACKS
from smc_dp.attacks.attack import LEAST_TRIALS, AttackResult
from smc_dp.pages.blocks import Page, Section
from smc_dp.pages.html import html
from smc_dp.walkthrough import attacks_on

ON = {
    "pathak2010": 8,
    "pathak2010-as-printed-insecure": 8,
    "comparison": 0,
    "linear": 4,
    "secure_sum": 3,
}


def names(sections: tuple[Section, ...]) -> list[str]:
    return [section.heading.partition(":")[0] for section in sections]


def text(sections: tuple[Section, ...]) -> str:
    return html(Page("x", sections))


def test_each_protocol_has_the_attacks_on_its_code() -> None:
    assert {name: len(attacks_on.attacks_on_protocol(name)) for name in PROTOCOLS} == ON
    assert names(attacks_on.attack_sections("linear", seconds=0)) == [
        name for name, a in ATTACKS.items() if "linear" in a.paper
    ]
    assert names(attacks_on.attack_sections("pathak2010", seconds=0))[:4] == [
        *("link-sender", "recover-exponent", "extract-randomiser", "residues-mod-k"),
    ]


def test_an_attack_on_another_protocol_begins_with_why_it_is_there() -> None:
    found = {name: text(attacks_on.attack_sections(name, seconds=0)).count("breaks another protocol") for name in ON}
    assert found == {**dict.fromkeys(ON, 0), "secure_sum": ON["secure_sum"]}


def test_without_time_nothing_is_measured_and_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attacks_on, "measure", None)
    told = text(sections := attacks_on.attack_sections("secure_sum", seconds=0))
    assert not any(isinstance(b, Section) and b.details for s in sections for b in s.blocks)  # the other's notes
    assert len(unmeasured := re.findall("measure it: smc-dp lab attack ([a-z-]+)", told)) == 3
    assert "strip-noise" in unmeasured
    assert "succeeded in" not in told
    with pytest.raises(TypeError):  # twin: what measures
        attacks_on.attack_sections("secure_sum", seconds=100)


def test_while_there_is_time_the_forms_that_are_shown_are_tried_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[tuple[str, str, int]] = []

    def measured(name: str, variant: str, trials: int, rng: Stream, **_: Any) -> AttackResult:
        tried.append((name, variant, trials))
        won = trials * (next(v for v in ATTACKS[name].variants if v.name == variant).expected == "succeeds")
        return AttackResult(name, variant, won, trials, 0.0, "succeeds" if won else "fails", False)

    monkeypatch.setattr(attacks_on, "measure", measured)
    heard: list[str] = []
    told = text(attacks_on.attack_sections("pathak2010", progress=heard.append))
    wanted = [
        (a.name, v.name, LEAST_TRIALS)
        for a in attacks_on.attacks_on_protocol("pathak2010")
        for v in (*a.attacked, *a.fixed)
    ]
    assert tried == [one for one in wanted if one[0] != "infer-min-size"]
    assert heard == [f"{name} against {variant}" for name, variant, _ in tried]
    assert re.findall("measure it: smc-dp lab attack ([a-z-]+)", told) == ["infer-min-size"]
    assert told.count("Outcome of the attack: succeeds") == 7
    assert told.count("the hardened protocol and the linear protocol as well") == 3  # remove, strip, infer
    assert told.count("the hardened protocol as well") == 1  # charlie-and-one, which linear prevents
