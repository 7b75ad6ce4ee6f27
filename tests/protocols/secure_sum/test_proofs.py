"""Proofs of the secure sum: Coq accepts them, they assume nothing else, and say of parameters what the program says."""

from __future__ import annotations

import fcntl
import json
import re
import shutil
import subprocess
from fractions import Fraction
from math import comb
from pathlib import Path

import pytest

from protocols.arithmetic.permutation import bias
from protocols.secure_sum.graph import Neighbourhood, best_neighbourhood
from protocols.secure_sum.messages import KINDS, MaskKeys
from protocols.secure_sum.parameters import most_dropouts, quorum

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not there"),
]
PROOFS = Path(__file__).resolve().parents[3] / "protocols" / "secure_sum" / "proofs"
FILES = [  # each needs earlier ones
    *("lists", "shares", "masks", "decoding", "noise", "tails"),
    *("circle", "orders", "sparse", "parameters", "session", "theorem"),
]
PRINTED = "printed.json"
OPTIONS = ("-w", "-notation-overridden,-ambiguous-paths", "-test-mode")  # quiet of mathcomp, but it says what failed
STATEMENT = re.compile(r"^(?:Lemma|Theorem|Let) (\w+)", re.MULTILINE)
ADMITTED = re.compile(
    r"\b(Admitted|admit|Axioms?|Parameters?|Conjecture|Abort|bypass_check|type_in_type|Unset Guard)\b"
)
FAULTS = [  # a file, a condition and what stands there instead, and the lemma that cannot be proved any more
    (
        "lists",
        "one_list signers signers' U V :\n  K p + t p + 1 <=",
        "one_list signers signers' U V :\n  K p + t p <=",
        "one_list",
    ),
    ("lists", "signs j U -> signs j V -> U = V.\n\nDef", "signs j U -> signs j V -> True.\n\nDef", "one_list"),
    ("lists", "link signers U : t p + 1 <= Q p ->", "link signers U : t p <= Q p ->", "link"),
    ("lists", "#|accusers :\\: C| <= T p - 1 - t p ->", "#|accusers :\\: C| <= T p - t p ->", "few_are_known"),
    ("lists", "2 * Q p -> #|known| < T p ->", "2 * Q p -> #|known| <= T p ->", "other_kind_closed"),
    (
        "lists",
        "exists signers U, certificate signers U /\\ kind",
        "exists signers U : {set party}, True /\\ kind",
        "one_kind",
    ),
    (
        "lists",
        "  K p + t p + 1 <= 2 * Q p -> certificate signers U -> j",
        "  certificate signers U -> j",
        "refund_is_exclusive",
    ),
    ("shares", "injective point -> (forall i, point i != 0) ->", "injective point ->", "secret_is_hidden"),
    ("masks", "  (forall i, change i != 0 -> connect adjacent i root) -> \\sum_i", "  \\sum_i", "flow"),
    ("masks", "if key.2 \\in W then c.1 key else 0]", "c.1 key]", "same_view"),
    ("tails", "#|marked| <= marks -> marks <= #|others| ->", "marks <= #|others| ->", "more_marked"),
    ("circle", "[set on u l | l : 'I_reach]", "[set on u l | l : 'I_reach.+1]", "gap"),
    ("orders", "(fits : k <= K1)", "(fits : k <= K1.+1)", "small"),
    ("orders", "(threshold : T <= k)", "(threshold : T <= k.+1)", "missing_neighbours"),
    ("orders", "(corrupt : #|C| = t)", "(corrupt : #|C| <= t)", "corrupt_neighbours"),
    ("orders", "#|dropped r| <= D)", "#|dropped r| <= D.+1)", "missing_neighbours"),
    ("orders", "exists o', forall o, made o = N ->", "exists o', forall o, made o = N' ->", "uniform"),
    ("sparse", "r o) -> linked adjacent", "r 1%g) -> linked adjacent", "survivors_are_linked"),
    ("noise", "<= delta * (1 - margin) ->\n  exp_less", "<= delta ->\n  exp_less", "from_program"),
    (
        "noise",
        "factor ^+ 2 <= 1 + margin -> exp_less * (1 + margin) <= exp_epsilon -> found",
        "factor <= 1 + margin -> exp_less * (1 + margin) <= exp_epsilon -> found",
        "from_program",
    ),
    ("decoding", "S < 2 ^+ m.-1 ->", "S <= 2 ^+ m.-1 ->", "decoded"),
    (
        "session",
        "if masked_in (asked seen) r j is None then masked",
        "if true then masked",
        "nothing_without_one_context",
    ),
    ("session", "if signed before r j is Some U then Some U", "if false then None", "signed_stays"),
    ("session", "(K p - D p <= #|U|)%N", "(K p - D p - 1 <= #|U|)%N", "own_list"),
    ("session", "V == U, by_all \\subset U, (Q p", "V == U, (Q p", "certified_first"),
    ("session", "(Q p <= #|by_all|)%N &", "(t p <= #|by_all|)%N &", "certified_first"),
    ("session", "(T p <= #|known past j :|:", "(t p <= #|known past j :|:", "only_one_kind_is_open"),
    (
        "session",
        "Hypothesis known_grows : forall later past j, known past j \\subset known (later ++ past) j.\n",
        "",
        "open_stays",
    ),
    ("theorem", "(#|known past j| < T p)%N", "(#|known past j| <= T p)%N", "only_one_kind_is_open"),
    (
        "theorem",
        "& masked_in (asked seen) r i != masked_in (asked seen) r j]",
        "& i != j]",
        "nothing_without_one_context",
    ),
    (
        "theorem",
        "(masked_in (asked seen) r j == Some ctx)]] then",
        "true || (masked_in (asked seen) r j == Some ctx)]] then",
        "released_stays",
    ),
]


def attempts(name: str, folder: Path) -> str:
    """Return this file with an attempt at each place of a fault: to prove with it what follows, up to the lemma.

    Coq has to accept all before the lemma, and then refuse it: what an attempt asks for at last is nowhere.
    """
    whole = (folder / f"{name}.v").read_text(encoding="utf-8")
    after = (folder / "theorem.v").read_text(encoding="utf-8") if name == "session" else ""  # which only defines
    tried = []
    for number, (file, text, replacement, stops_in) in enumerate(FAULTS):
        if file == name:
            assert whole.count(text) == 1
            start = whole.rindex("\n\n", 0, whole.index(text)) + 1
            rest = re.sub(r"^(?:Require Import|Print Assumptions) .*", "", whole[start:] + after, flags=re.MULTILINE)
            rest = rest.replace(text, replacement, 1)
            (lemma,) = re.findall(rf"^(?:Lemma|Theorem|Let) {stops_in}\b.*?^Qed\.\n", rest, re.MULTILINE | re.DOTALL)
            (folder / f"refused{number}.v").write_text(lemma, encoding="utf-8")
            (folder / f"attempt{number}.v").write_text(
                f'{rest.partition(lemma)[0]}Fail Load "refused{number}".\nCheck refused_{number}.\n', encoding="utf-8"
            )
            tried.append((start, f'Fail Load "attempt{number}".\n'))
    for start, attempt in sorted(tried, reverse=True):
        whole = whole[:start] + attempt + whole[start:]
    return whole


@pytest.fixture(scope="session")
def said(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> dict[str, str]:
    """What Coq prints of each file: all are compiled once for all workers, with the attempts that it has to refuse."""
    own = tmp_path_factory.getbasetemp()
    made = (own if worker_id == "master" else own.parent) / "proofs"
    with made.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (made / PRINTED).exists():
            shutil.copytree(PROOFS, made, dirs_exist_ok=True)
            for name in FILES:
                (made / f"{name}.v").write_text(attempts(name, made), encoding="utf-8")
            command = ["coqc", *OPTIONS]
            found = {name: subprocess.run([*command, f"{name}.v"], cwd=made, capture_output=True) for name in FILES}
            assert {name: done.stderr for name, done in found.items() if done.returncode} == {}
            (made / PRINTED).write_text(json.dumps({name: done.stdout.decode() for name, done in found.items()}))
    printed: dict[str, str] = json.loads((made / PRINTED).read_text())
    return printed


def rows_of(printed: str) -> list[tuple[int, ...]]:
    """Return the tuples of numbers that Coq computed."""
    return [tuple(map(int, row.split(","))) for row in re.findall(r"\((\d[\d,]*)\)", re.sub(r"\s", "", printed))]


def test_there_is_no_other_file() -> None:
    assert {path.name for path in PROOFS.iterdir()} == {"README.md", "sum.pv", *(f"{name}.v" for name in FILES)}


def test_the_symbolic_model_has_the_messages_of_a_sum() -> None:
    """All that are sent with D > 0, but for the path of complaints, the sparse graph and what is published."""
    model = (PROOFS / "sum.pv").read_text(encoding="utf-8")
    (named,) = re.findall(r"^const ([\w, ]+): kind \[data\]\.", model, flags=re.MULTILINE)
    left_out = {"Accused", "Disclosed", "Replaced", "Coin", "Circle", "Handed", "Passed", "Result"}
    sent = {kind.__name__ for kind in (MaskKeys, *KINDS) if not kind.__name__.startswith("Published")}
    assert set(named.split(", ")) == sent - left_out
    assert all(f"({name}," in model or f"(={name}," in model for name in named.split(", "))


def test_the_theorems_assume_nothing_but_what_they_say(said: dict[str, str]) -> None:
    printed = set()
    for name, output in said.items():
        text = (PROOFS / f"{name}.v").read_text(encoding="utf-8")
        code = re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)
        assert ADMITTED.findall(code.replace("Record parameters := Parameters", "").replace("(Parameters ", "(")) == []
        asked = re.findall(r"^Print Assumptions (\w+)\.", code, flags=re.MULTILINE)
        assert asked
        assert output.count("Closed under the global context") == len(asked)
        assert "Axioms:" not in output
        assert set(asked) <= set(STATEMENT.findall(code))
        printed |= set(asked)
    page = (PROOFS / "README.md").read_text(encoding="utf-8")
    assert f"for name in {' '.join(FILES)};" in page
    assert {name for name in re.findall(r"`(\w+)`", page) if "_" in name} - {"test_proofs"} <= printed


def test_the_bound_of_the_sparse_graph_is_that_of_the_program(said: dict[str, str]) -> None:
    found = rows_of(said["orders"])
    assert found
    for K, t, D in {row[:3] for row in found}:
        by_threshold = [
            (Fraction(sides, comb(K - 1, 4)) + Fraction(apart, 2 * comb(K, 4)), T)
            for *of, T, sides, apart in found
            if of == [K, t, D]
        ]
        failure, threshold = min(by_threshold)
        expected = Neighbourhood(4, threshold, failure + bias(K) if failure else failure)
        assert best_neighbourhood(K, t, D, 1, 4) == expected


def test_parameters_are_those_of_the_program(said: dict[str, str]) -> None:
    assert rows_of(said["parameters"]) == [
        (K, t, quorum(K, t), most_dropouts(K, t), K - most_dropouts(K, t) - t) for K in range(2, 13) for t in range(K)
    ]


@pytest.mark.parametrize(("number", "name"), list(enumerate(name for name, *_ in FAULTS)))
def test_without_a_condition_nothing_is_proved(said: dict[str, str], number: int, name: str) -> None:
    """Coq stops in the lemma that needs the condition, and nowhere before."""
    assert f"The reference refused_{number} was not found" in " ".join(said[name].split())
