"""Named attacks: each wins and loses where it should, guesses win nowhere, and outcomes follow from counts."""

from __future__ import annotations

import cProfile
import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import CodeType, MappingProxyType, ModuleType
from typing import Any

import pytest
import scipy.stats
from broken.curator_twins import planted
from support.repetitions import with_slow

from protocols import pathak2010
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.crypto.paillier import Ciphertext
from protocols.pathak2010.messages import Blinded, Selected, Slot
from protocols.pathak2010.values import Halves, PartyKeys
from protocols.runtime.claims import message_from, stage_result
from smc_dp import attacks
from smc_dp.attacks import (
    average_uploads,
    charlie_and_one,
    extract_randomiser,
    infer_min_size,
    link_sender,
    ofpa_record_recovery,
    recover_exponent,
    residues_mod_k,
    sessions,
    strip_noise,
    vote_flip,
)
from smc_dp.attacks.attack import CONFIDENCE, LEAST_TRIALS, AttackOutcome, AttackResult, MeasuredAttack, Variant
from smc_dp.attacks.report import AttackReport
from smc_dp.attacks.report_blocks import describe_power
from smc_dp.audit.epsilon.bounds import clopper_pearson
from smc_dp.cli.main import main
from tests.support.refusals import refused


def run_through(work: Callable[[], object]) -> frozenset[CodeType]:
    """The code of all functions that are called meanwhile, on this thread."""
    profile = cProfile.Profile(builtins=False)
    profile.runcall(work)
    return frozenset(entry.code for entry in profile.getstats() if isinstance(entry.code, CodeType))


def idle(shown: Iterable[Callable[..., object]], seen: frozenset[CodeType]) -> list[str]:
    """The names of those that were not called."""
    return [function.__qualname__ for function in shown if inspect.unwrap(function).__code__ not in seen]  # type: ignore[attr-defined]


def forget(module: ModuleType) -> None:
    """Empty what the module keeps from an earlier trial, so that the next one calls all that it needs."""
    for kept in vars(module).values():
        if getattr(kept, "__module__", None) == module.__name__ and hasattr(kept, "cache_clear"):
            kept.cache_clear()


MODULES: dict[str, ModuleType] = {
    module.ATTACK.name: module
    for module in (importlib.import_module(m.name) for m in pkgutil.iter_modules(attacks.__path__, "smc_dp.attacks."))
    if hasattr(module, "ATTACK")
}
PAIRS = [(name, variant.name) for name, attack in attacks.ATTACKS.items() for variant in attack.variants]
# Every day the first and the last variant of each attack are tried: one succeeds, and one fails.
BETWEEN = [(name, variant.name) for name, attack in attacks.ATTACKS.items() for variant in attack.variants[1:-1]]
# What is quick enough for as many trials as it takes to decide; the rest is decided in a slow test.
QUICK = {("strip-noise", "trusted centre"), ("infer-min-size", "trusted centre")}
QUICK |= {pair for pair in PAIRS if pair[0] in ("ofpa-record-recovery", "vote-flip")}
RARER = [("vote-flip", name) for name in ("soft_ss, own noise", "soft, own noise", "vote, noise of soft")]
RARER += [("infer-min-size", "trusted centre")]
LONG = {("infer-min-size", "secure sum")}  # one trial says nothing where a guess wins one of seven


BITS = 256  # shorter than anybody may choose: no attack depends on it, and time does
FEW = 4  # trials of what a guess does not win
CHEAP = ("ofpa-record-recovery", "vote-flip")


def enough(name: str, variant: Variant) -> int:
    """As many trials as decide: where no guess wins and every trial goes alike, the fewest do."""
    return LEAST_TRIALS if variant.trials == 20 and attacks.ATTACKS[name].chance < 0.1 else variant.trials


def seeded(label: object) -> Stream:
    return Stream.insecure_from_seed(f"attacks {label}")


# Counts, intervals, outcomes.


@pytest.mark.parametrize("trials", [1, 2, 16, 20, 40, 1000])
def test_the_interval_is_that_of_scipy(trials: int) -> None:
    for successes in {0, 1, trials // 3, trials // 2, trials - 1, trials}:
        exact = scipy.stats.binomtest(successes, trials).proportion_ci(0.95, method="exact")
        assert clopper_pearson(successes, trials, CONFIDENCE) == pytest.approx((exact.low, exact.high), abs=1e-12)


@pytest.mark.parametrize(("successes", "trials"), [(-1, 3), (4, 3), (0, 0)])
def test_an_impossible_count_has_no_interval(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match="successes"):
        clopper_pearson(successes, trials, CONFIDENCE)


def measured(
    successes: int, trials: int, chance: float = 0.0, expected: AttackOutcome = "succeeds", known: bool = False
) -> AttackResult:
    return AttackResult("a", "v", successes, trials, chance, expected, known)


@pytest.mark.parametrize(
    ("successes", "trials", "chance", "outcome"),
    [
        (20, 20, 0.0, "succeeds"),
        (16, 16, 0.0, "succeeds"),
        (10, 20, 0.0, "undecided"),
        (0, LEAST_TRIALS, 0.0, "fails"),
        (0, 12, 0.0, "undecided"),
        (520, 1000, 0.5, "fails"),
        (700, 1000, 0.5, "undecided"),
        (1000, 1000, 0.5, "succeeds"),
        (20, 20, 0.9, "undecided"),  # hardly more than a guess
    ],
)
def test_the_outcome_follows_from_the_interval_and_the_chance(
    successes: int, trials: int, chance: float, outcome: str
) -> None:
    assert measured(successes, trials, chance).outcome == outcome


@pytest.mark.parametrize(("trials", "chance", "most"), [(16, 0.0, 0), (20, 0.0, 1), (100, 0.14, 25), (4, 0.0, -1)])
def test_how_seldom_a_real_advantage_passes_for_a_failure_is_that_of_the_binomial_law(
    trials: int, chance: float, most: int
) -> None:
    """`most` successes still fail, and one more does not; a quarter passes in one of forty measurements at most."""
    assert [measured(k, trials, chance).outcome == "fails" for k in (max(0, most), most + 1)] == [most >= 0, False]
    for real in (0.25, 0.5):
        exact = scipy.stats.binom(trials, chance + real * (1 - chance)).cdf(most)
        assert measured(0, trials, chance).missed(real) == pytest.approx(exact)
    assert measured(0, trials, chance).missed(0.25) <= 0.025
    assert measured(0, trials, chance).missed(0.5) <= 2.1e-5


@pytest.mark.parametrize("name", ["link-sender", "extract-randomiser"])
def test_lucky_guesses_of_a_permutation_hardly_ever_undo_a_failure(name: str) -> None:
    attack = attacks.ATTACKS[name]
    for trials in (attacks.LEAST_TRIALS, *(variant.trials for variant in attack.fixed)):
        failing = [k for k in range(trials) if measured(k, trials, attack.chance).outcome == "fails"]
        assert scipy.stats.binom(trials, attack.chance).sf(max(failing)) < 5e-3


def test_what_failed_comes_with_its_power() -> None:
    attack = attacks.ATTACKS["strip-noise"]
    (said,) = describe_power([AttackReport(attack, (measured(20, 20), measured(0, 20)), 512)])
    assert " 20 " in said
    assert " 0.024 " in said
    assert describe_power([AttackReport(attack, (measured(20, 20),), 512)]) == []
    figures = measured(0, 20).as_dict()["missed"]
    assert figures == {"0.25": pytest.approx(0.0243, abs=1e-4), "0.5": pytest.approx(2e-5, rel=0.01)}


# Every attack.


def test_every_attack_is_there_and_tells_its_story() -> None:
    assert {name: module.ATTACK for name, module in MODULES.items()} == dict(attacks.ATTACKS)
    assert residues_mod_k.ATTACK.chance == pytest.approx(1 / 3**8)
    assert len(MODULES) >= 10
    for attack in attacks.ATTACKS.values():
        names = [variant.name for variant in attack.variants]
        assert len(set(names)) == len(names) >= 2
        assert "succeeds" in {variant.expected for variant in attack.variants}
        assert all(variant.expected == "succeeds" or not variant.no_fix_yet for variant in attack.variants)
        assert len(attack.steps) >= 3


def test_attackers_are_given_what_they_have_and_no_run() -> None:
    for module, function in (
        (strip_noise, "strip_own_noise"), (strip_noise, "subtract_noise"), (link_sender, "guess_pi1"),
        (link_sender, "guess_smallest"), (charlie_and_one, "unmask_inputs"), (charlie_and_one, "read_sum_sizes"),
        (recover_exponent, "recover_noise"), (extract_randomiser, "guess_pi2"), (residues_mod_k, "read_residues"),
        (charlie_and_one, "read_sizes_as_published"), (charlie_and_one, "sizes_of_charlie_and_party"),
        (infer_min_size, "estimate_size"), (average_uploads, "average_model"), (vote_flip, "guess_side"),
        (ofpa_record_recovery, "recover_record"),
    ):  # fmt: skip
        hints = [str(p.annotation) for p in inspect.signature(getattr(module, function)).parameters.values()]
        assert not any(secret in hint for hint in hints for secret in ("FinishedRun", "Secret", "dict[str, View]")), (
            function
        )


@pytest.mark.parametrize(("name", "variant"), with_slow(sorted(QUICK), *RARER), ids=str)
def test_outcomes_are_those_on_record(name: str, variant: str) -> None:
    found = attacks.measure(name, variant, None, seeded("quick"))
    assert found.as_expected, found


def test_every_attack_on_a_printed_step_has_the_code_of_both_sides() -> None:
    for attack in attacks.ATTACKS.values():
        assert attack.is_of_publication == ("linear" not in attack.paper), attack.name
        assert attack.fixed or not attack.is_of_publication, attack.name


@pytest.mark.parametrize(("name", "variant"), with_slow(PAIRS, *BETWEEN), ids=str)
def test_a_trial_goes_as_on_record_and_runs_the_code_that_is_shown(name: str, variant: str) -> None:
    known = next(v for v in attacks.ATTACKS[name].variants if v.name == variant)
    forget(MODULES[name])
    won: list[bool] = []
    seen = run_through(lambda: won.append(known.trial(seeded(f"{name} {variant} 0"), BITS)))
    assert (name, variant) in QUICK | LONG or won == [known.expected == "succeeds"]
    assert idle(known.code, seen) == []
    assert idle((*known.code, main), seen) == ["main"]  # twin: a step that is not run


# Guessing wins nothing: with the attacker's own function replaced the printed forms hold as well.


def other_permutation(first: Any, second: Any, *rest: Any) -> Permutation:
    return Permutation.random(7, rest[-1])


GUESSES: dict[str, tuple[str, Callable[..., Any]]] = {
    "remove-noise": ("without_rows_and_noise", lambda own: own),
    "strip-noise": ("strip_own_noise", lambda S, w, noise, parts: [s + e for s, e in zip(S, noise, strict=True)]),
    "link-sender": ("guess_pi1", other_permutation),
    "recover-exponent": ("recover_noise", lambda view, victim, kind: 1234567),
    "extract-randomiser": ("guess_pi2", other_permutation),
    "residues-mod-k": ("read_residues", lambda released, parties: [1] * len(released)),
    "infer-min-size": ("estimate_size", lambda released, one_row: 50.0),
    "charlie-and-one": ("read_sizes_as_published", lambda p, charlie, party: charlie_and_one.Sizes((1, 2, 3), 0)),
    "charlie-and-first": ("read_everything", lambda p, charlie, party, S: None),
    "known-noise": ("repeat_own_row", lambda p, gathered: gathered),
    "selective-failure": ("join_refusals", lambda refusals: 0),
    "inconsistent-extension": ("search_delta", lambda p, loot, told: told | loot.inside),
    "ofpa-record-recovery": ("recover_record", lambda known, uploads: (known.X.mean(axis=0), 1)),
    "average-uploads": ("average_model", lambda uploads: uploads[0]),
    "vote-flip": ("guess_side", lambda released, u: 1),
}


def test_every_attack_has_a_guess() -> None:
    assert GUESSES.keys() == attacks.ATTACKS.keys()


@pytest.mark.parametrize("name", [n if n in CHEAP else pytest.param(n, marks=pytest.mark.slow) for n in MODULES])
def test_a_guess_fails_by_the_rule(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, guess = GUESSES[name]
    monkeypatch.setattr(MODULES[name], function, guess)
    monkeypatch.setattr(attacks, "SHORTEST_KEY_BITS", BITS)
    printed = attacks.ATTACKS[name].variants[0]
    assert printed.expected == "succeeds"
    if attacks.ATTACKS[name].chance < 0.1:  # so seldom that none of a few may win
        won = [printed.trial(seeded(f"a guess {i}"), BITS) for i in range(FEW)]
        assert won == [False] * FEW
    else:
        found = attacks.measure(name, printed.name, printed.trials, seeded("guess"), key_bits=BITS)
        assert found.outcome == "fails", found


# The attacks lose against what is hardened for the reason that they should, and for no other.


def test_the_search_finds_plain_and_wrapped_noise_at_the_ends_of_its_range() -> None:
    n = 1_000_003 * 1_000_033
    limit, M = 1 << recover_exponent.RANGE_BITS, 1 << recover_exponent.RING_BITS
    for e in (limit, -limit, 0, 1, -1, 12_345):
        for exponent in (e, e % M):
            assert recover_exponent.search_exponent(Ciphertext(n, 5), Ciphertext(n, pow(5, exponent, n**2))) == e
    assert recover_exponent.search_exponent(Ciphertext(n, 5), Ciphertext(n, pow(5, 3 * limit, n**2))) is None


def test_without_new_randomness_in_the_product_the_hardened_protocol_loses_the_noise() -> None:
    eta = -271_828
    secrets = [sessions.PartySecret(n, [1], [e]) for n, e in ((3, 5), (1, -6), (2, eta))]
    with planted("psi_j is called fresh") as program:
        stale = sessions.run_program(program, secrets, 512, seeded("stale"))
    assert stale.lifted == [3 + -6]
    assert recover_exponent.recover_noise(stale.party(0), "P3", Selected) == eta
    honest = sessions.run_program(pathak2010.PROGRAM, secrets, 512, seeded("stale"))
    assert recover_exponent.recover_noise(honest.party(0), "P3", Selected) is None


def test_without_new_randomness_in_the_blinding_the_hardened_protocol_loses_pi_2() -> None:
    secrets = [sessions.PartySecret(n, [1], [2]) for n in range(1, 8)]
    with planted("r is added without new randomness") as program:
        seen = sessions.run_program(program, secrets, 512, seeded("stale"))
    xi = stage_result(seen.party(0), PartyKeys).xi
    sent = [message_from(seen.charlie, name, Slot).a for name in seen.parameters.parties]
    returned = [message_from(seen.views[name], "charlie", Blinded).a for name in seen.parameters.parties]
    pi2 = stage_result(seen.charlie, Halves).pi2
    assert extract_randomiser.guess_pi2(xi, sent, returned, seeded("guess")) == pi2


# The interface and the command.


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("nothing", "as published", 20), "attack.unknown"),
        (("link-sender", "nothing", 20), "variant.unknown"),
        (("link-sender", "as published", 15), "trials.too_few"),
    ],
)
def test_bad_arguments_are_refused(arguments: tuple[str, str, int], code: str) -> None:
    with refused(code):
        attacks.measure(*arguments, seeded(0))


@pytest.mark.parametrize("bits", [256, 520, 8192])
def test_keys_have_a_usable_length(bits: int) -> None:
    with refused("key_bits.not_possible", shortest_key_bits=512, longest_key_bits=4096, got=bits):
        attacks.measure("link-sender", "as published", 16, seeded(0), key_bits=bits)


def test_progress_is_told() -> None:
    heard: list[tuple[int, int]] = []
    hear = lambda done, total: heard.append((done, total))  # noqa: E731
    attacks.measure("strip-noise", "trusted centre", 16, seeded(0), hear=hear)
    assert heard == [(i, 16) for i in range(1, 17)]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], "options.no_attack"),
        (["strip-noise", "--all"], "options.no_attack"),
        (["--list", "--all"], "options.no_attack"),
        (["--list", "--trials", "20"], "option.list_runs_nothing"),
        (["vote-flip", "--key-bits", "512"], "option.attack_without_keys"),
        (["--all", "--trials", "3"], "option.too_small"),
        (["--all", "--trials", "many"], "option.not_whole"),
        (["--all", "--insecure-seed", "x"], "option.not_whole"),
    ],
)
def test_bad_options_are_one_fault_and_exit_code_2(
    options: list[str], code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", "attack", *options, "--json"]) == 2
    out, err = capsys.readouterr()
    assert len(err.splitlines()) == 1
    assert json.loads(out)["error"]["code"] == code


def test_one_attack_is_measured_and_as_json_it_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["lab", "attack", "ofpa-record-recovery", "--insecure-seed", "1", "--trials", "16"]
    assert main([*given, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    found = json.loads(out)
    assert found["as_expected"]
    assert (found["key_bits"], found["chance"]) == (None, 0.0)
    outcomes = [(v["variant"], v["outcome"], v["successes"], v["trials"]) for v in found["variants"]]
    assert outcomes == [("as published", "succeeds", 16, 16), ("proven", "fails", 0, 16)]
    proven = found["variants"][1]
    assert (proven["interval"], proven["confidence"]) == ([0.0, pytest.approx(0.205907, abs=1e-6)], 0.95)


def test_the_list_names_every_attack_and_runs_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(attacks, "measure", None)
    assert main(["lab", "attack", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split()[0] for line in lines] == [*attacks.ATTACKS]
    assert main(["lab", "attack", "--list", "--json"]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)["attacks"]] == [*attacks.ATTACKS]
    with pytest.raises(TypeError):  # twin: what runs them all
        main(["lab", "attack", "--all"])


def test_an_outcome_that_is_not_expected_is_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    variants = tuple(
        Variant(name, "t", "about", "succeeds", lambda rng, bits, won=won: won, no_fix_yet=True)
        for name, won in (("won", True), ("lost", False))
    )
    fake = MeasuredAttack("fake", "paper", "step", "flaw.", "who", "what", "then", "always", ("one.",), variants, 0.25)
    monkeypatch.setattr(attacks, "ATTACKS", MappingProxyType({"fake": fake}))
    assert main(["lab", "attack", "--all", "--insecure-seed", "1", "--trials", "16"]) == 1
    out = capsys.readouterr().out
    assert out.count("NOT AS EXPECTED") == 1
    assert out.count("succeeds, not fixed in this protocol") == 1
    assert re.search(r" 16 of 16 +0\.794 to 1\.000 +0\.25\n", out)
    assert main(["lab", "attack", "--all", "--trials", "16", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert not found["as_expected"]
    assert [one["attack"] for one in found["attacks"]] == ["fake"]


@pytest.mark.slow
def test_the_list_is_measured_and_as_on_record(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """But the quick ones, which have a test with as many trials as is the default, and those that go as others do."""
    left = [pair for pair in PAIRS if pair not in {*QUICK, *BETWEEN} - LONG]
    few = {
        name: replace(attack, variants=tuple(replace(v, trials=enough(name, v)) for v in variants))
        for name, attack in attacks.ATTACKS.items()
        if (variants := [v for v in attack.variants if (name, v.name) in left])
    }
    monkeypatch.setattr(attacks, "ATTACKS", MappingProxyType(few))
    monkeypatch.setattr(attacks, "SHORTEST_KEY_BITS", BITS)
    assert main(["lab", "attack", "--all", "--insecure-seed", "7", "--key-bits", str(BITS)]) == 0
    out, err = capsys.readouterr()
    assert err.count(" against ") == len(left)
    for name, attack in few.items():
        for variant in attack.variants:
            (row,) = [
                line
                for line in out.splitlines()
                if line.strip().startswith(f"{name} ") and f", {variant.name}  " in line
            ]
            assert f"  {variant.expected}{',' if variant.no_fix_yet else ' '}" in row
