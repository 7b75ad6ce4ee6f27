"""Release, shares and cost against the record: an honest folder passes, an altered one fails the check that should."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import audits
from support import forgeries as f
from support.audited import Folders, toy_run
from support.audits import audit

from smc_dp.audit.run import conformity
from smc_dp.audit.run.check import CheckOutcome
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.run.release import RELEASE, SHARES, TIMINGS

SIZES, PARTIES = (12, 8, 20), ("north-0", "north-1", "north-2")
_, P2, P3 = PARTIES
Document = dict[str, Any]


def outcomes(run: Path) -> dict[str, CheckOutcome]:
    return audits.outcomes(load_evidence(run), conformity.PUBLICATION_CHECKS)


def failed(run: Path) -> set[str]:
    return set(audits.failed(outcomes(run)))


@pytest.mark.parametrize(
    "options",
    [{}, {"topology": "star", "link": "wan"}, {"as_printed": True}, {"comparison": "all-pairs", "link": "lan"}],
)
def test_an_honest_folder_passes_every_check(options: dict[str, Any], tmp_path: Path) -> None:
    found = outcomes(toy_run(tmp_path, SIZES, **options).run)
    assert {o.status for o in found.values() if not o.inapplicable} == {"passed"}, found
    assert found["shares"].fault.fields == {"shares": 4, "numbers": 2}


def test_without_timings_the_cost_cannot_be_checked(honest: Folders, tmp_path: Path) -> None:
    run = f.with_text(honest.run, tmp_path / "run", (honest.run / "transcript.jsonl").read_text())
    unmarked = f.edited(run, tmp_path / "earlier", TIMINGS, lambda d: d.pop("not_for_publication"))
    assert outcomes(unmarked)["cost"].status == "passed"  # earlier versions wrote none
    (run / TIMINGS).unlink()
    found = outcomes(run)
    assert found["cost"].status == "not possible"
    assert {o.status for name, o in found.items() if not o.inapplicable} == {"passed"}


def weight(document: Document) -> None:
    document["weights"][1] += 1.0


def coefficient(*path: str) -> Callable[[Document], None]:
    """A coefficient of the only score in which the last digits differ."""

    def change(document: Document) -> None:
        (place,) = document["coefficients"].values()
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = place[path[-1]] * (1 + 2**-50) + 2**-100

    return change


def parameter(**fields: Any) -> Callable[[Document], None]:
    return lambda document: document["parameters"].update(fields)


def put(**fields: Any) -> Callable[[Document], None]:
    return lambda document: document.update(fields)


def in_share(change: Callable[[list[str]], Any]) -> Callable[[Document], None]:
    return lambda document: change(document["shares"][P2])


def two_shares(document: Document) -> None:
    """Both move, so that their sum and the weights stay."""
    for name, step in ((P2, 1), (P3, -1)):
        share = document["shares"][name]
        share[0] = str((int(share[0]) + step) % int(document["modulus"]))


def swapped(document: Document) -> None:
    shares = document["shares"]
    shares[P2], shares[P3] = shares[P3], shares[P2]


FIGURES = ("messages", "bytes", "rounds")


def fewer(figure: str) -> Callable[[Document], Any]:
    return lambda document: document.update({figure: document[figure] - 1})


def moved(figure: str) -> Callable[[Document], Any]:
    """One from one stage to another, so that the sum stays."""

    def change(document: Document) -> None:
        stages = document["by_stage"]
        last = max(i for i, stage in enumerate(stages) if stage[figure])
        stages[0][figure] += 1
        stages[last][figure] -= 1

    return change


# file, change, whether release.json then states the new digest, the checks that fail: these and no others
MUTANTS: dict[str, tuple[str, Callable[[Document], Any], bool, set[str]]] = {
    "another weight": (RELEASE, weight, True, {"release", "agreed"}),
    "another slope": (RELEASE, coefficient("columns", "x0", "slope"), True, {"release"}),
    "coefficients of another class": (RELEASE, lambda d: d["coefficients"].update(x={}), True, {"release", "agreed"}),
    "unknown field": (RELEASE, put(note="x"), True, {"release", "agreed"}),
    "another digest": (RELEASE, lambda d: d["digests"].update({SHARES: "00" * 32}), False, {"files"}),
    "digest of a fourth file": (
        RELEASE, lambda d: d["digests"].update({"x": "00" * 32}), False, {"files", "release", "agreed"},
    ),
    "another share": (SHARES, in_share(lambda y: y.__setitem__(0, "1")), True, {"shares", "release", "agreed"}),
    "another share, old digest": (
        SHARES, in_share(lambda y: y.__setitem__(0, "1")), False, {"files", "shares", "release", "agreed"},
    ),
    "two shares with the same sum": (SHARES, two_shares, True, {"shares"}),
    "shares of two parties swapped": (SHARES, swapped, True, {"shares"}),
    "share of a stranger": (
        SHARES, lambda d: d["shares"].update(stranger=["0", "0"]), True, {"shares", "release", "agreed"},
    ),
    "no share of Charlie's": (SHARES, lambda d: d["shares"].pop("charlie"), True, {"shares", "release", "agreed"}),
    "another modulus": (SHARES, put(modulus=str(1 << 128)), True, {"shares", "release", "agreed"}),
    "another grid": (SHARES, put(fraction_bits=39), True, {"release", "agreed"}),
    "other timings": (TIMINGS, put(seconds=1.0), False, {"files"}),
    **{f"fewer {name}": (TIMINGS, fewer(name), True, {"cost"}) for name in FIGURES},
    **{f"{name} of another stage": (TIMINGS, moved(name), True, {"cost"}) for name in FIGURES},
    "stage renamed": (TIMINGS, lambda d: d["by_stage"][0].update(stage="x"), True, {"cost"}),
    "no stages": (TIMINGS, put(by_stage=[]), True, {"cost"}),
    "less than no seconds": (TIMINGS, put(seconds=-1.0), True, {"cost"}),
    "unknown figure": (TIMINGS, put(note="x"), True, {"cost"}),
    "another lambda": (RELEASE, parameter(**{"lambda": "1/5"}), True, {"agreed"}),
    "keys of another type": (RELEASE, parameter(key_bits=512.0), True, {"release", "agreed", "cost"}),
    "as printed": (RELEASE, parameter(protocol="pathak2010-as-printed-insecure"), True, {"release", "agreed"}),
    "another label": (RELEASE, parameter(label="income"), True, {"agreed"}),
    "classes the other way round": (RELEASE, lambda d: d["classes"].reverse(), True, {"release", "agreed"}),
    "no reasons": (RELEASE, lambda d: d.pop("insecure"), True, {"release", "agreed"}),
    "parties in another order": (RELEASE, lambda d: d["parameters"]["parties"].reverse(), True, {"agreed"}),
    "a link that is not there": (RELEASE, parameter(link="moon"), True, {"release", "agreed", "cost"}),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_an_altered_folder_fails_these_checks_and_no_others(name: str, honest: Folders, tmp_path: Path) -> None:
    file, change, redigest, wanted = MUTANTS[name]
    assert failed(f.edited(honest.run, tmp_path / "altered", file, change, redigest=redigest)) == wanted


def test_seconds_in_a_file_are_not_taken_for_the_option(honest: Folders, tmp_path: Path) -> None:
    file, change, redigest, _ = MUTANTS["less than no seconds"]
    verdict = audit(str(f.edited(honest.run, tmp_path / "altered", file, change, redigest=redigest)))
    assert verdict.code == 1
    said = " ".join(verdict.out.split())
    assert re.search(r"timings\.json: .*seconds: .*wanted a number of at least 0, got -1", said)
    assert "--seconds" not in said


def test_the_grid_and_the_weights_changed_together_are_noticed(honest: Folders, tmp_path: Path) -> None:
    """Shares and weights are consistent then, but there is one grid."""
    doubled = f.edited(honest.run, tmp_path / "grid", SHARES, put(fraction_bits=39))
    run = f.edited(doubled, tmp_path / "both", RELEASE, lambda d: d.update(weights=[2 * w for w in d["weights"]]))
    assert failed(run) == {"agreed", "release"}
    fault = outcomes(run)["release"].fault
    assert (fault.code, fault.fields) == ("agreement.other_fraction_bits", {"wanted": 40, "got": "39"})


def test_the_mark_of_a_seed_taken_off_everywhere_is_noticed(honest: Folders, tmp_path: Path) -> None:
    """Line 0 and the release agree then, and the statement follows; but the session was bound to the marks."""
    unmarked = f.forge(honest.run, tmp_path / "record", f.with_head(insecure=["insecure test keys"]))
    run = f.edited(unmarked, tmp_path / "both", RELEASE, lambda d: d["insecure"].pop(0))
    assert failed(run) == {"agreed"}
    assert outcomes(run)["agreed"].code == "session.bound_to_another"


def test_what_was_published_is_read_from_signed_messages_alone(honest: Folders, tmp_path: Path) -> None:
    record = f.read_record(honest.run)
    mutants = {
        "none": (f.drop(record.place("PublishedShare", P2)), "transcript.share_missing"),
        "short": (f.resize(record.place("PublishedShare", P2), -1), "transcript.no_share"),
        "kind": (f.alter(record.place("PublishedShare", P2), kind="Ready"), "transcript.no_share"),
        "number": (f.flip(record.place("PublishedShare", P2), 5), "release.other_shares"),
    }
    for name, (change, code) in mutants.items():
        found = outcomes(f.forge(honest.run, tmp_path / name, change))
        assert found["shares"].status == "failed"
        assert (found["shares"].code, found["shares"].fault.fields["name"]) == (code, P2)


def test_a_dropped_message_shows_in_the_cost(honest: Folders, tmp_path: Path) -> None:
    i = f.read_record(honest.run).place("Relay", P2)
    assert "cost" in failed(f.forge(honest.run, tmp_path / "forged", f.drop(i)))


def test_timings_are_read_inside_the_folder_only(honest: Folders, tmp_path: Path) -> None:
    run = f.altered_timings(honest.run, tmp_path / "run", redigest=True)
    assert failed(run) == set()
    (run / TIMINGS).rename(tmp_path / "elsewhere.json")
    (run / TIMINGS).symlink_to(tmp_path / "elsewhere.json")
    assert failed(run) == {"files", "cost"}
