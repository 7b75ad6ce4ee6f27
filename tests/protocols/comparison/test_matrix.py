"""The comparison as a protocol of its own: its matrix, twins that must change it, and the law of its real runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from broken import comparison_twins as twins
from broken.comparison_twins import planted, planted_inside
from support.exact import MORE, Box, Branch, Coin, Factor, Player, Tape, every_input, view
from support.exact import matrix as compute
from support.repetitions import with_slow

from protocols import comparison
from protocols.arithmetic.rng import Stream
from protocols.comparison import PROGRAM, ideal
from protocols.comparison.messages import Differences
from protocols.comparison.parameters import Comparisons
from protocols.comparison.signs import CHOOSER, HOLDER
from protocols.programs import PROTOCOLS
from protocols.runtime.claims import Inputs
from protocols.runtime.session import Program
from smc_dp.cli.main import main
from smc_dp.core.version import __version__
from smc_dp.leakage import distributions as law_of_runs
from smc_dp.leakage import role_code
from smc_dp.leakage.limitations import try_attacks
from smc_dp.leakage.matrix import Cell
from smc_dp.leakage.matrix import coalition_matrix as linear_matrix
from smc_dp.leakage.matrix_text import format_table
from smc_dp.leakage.two_samples import compare_samples

COMPARISON = PROTOCOLS[PROGRAM.name]
Rows = Mapping[tuple[str, ...], Mapping[str, Cell]]
# One comparison in which bits have others above them, and two, which must have nothing in common; short and long keys.
SMALL = tuple(Comparisons(*size, bits) for size in ((1, 3), (2, 2)) for bits in (ideal.DRY_RUN_KEY_BITS, 3072))
CHECKED_IN = Path(comparison.__file__).parent / "matrix.txt"
SHORT, ONE, TWO = Comparisons(1, 2, 3072), Comparisons(1, 3, 3072), Comparisons(2, 2, 512)


def matrix(program: Program, *sizes: Comparisons, inputs: Any = every_input) -> Rows:
    """The matrix of the comparison by these roles, tried at these sizes."""
    return compute(program, *((p, inputs(p)) for p in sizes))


def one_offer(p: Comparisons) -> Iterator[Inputs]:
    """All shares of the chooser, and those of the holder that are one less than half of the ring."""
    shares = product(range(p.ring.modulus), repeat=p.comparisons)
    held = (p.ring.modulus // 2 - 1,) * p.comparisons
    return ({CHOOSER: (p, chosen), HOLDER: (p, held)} for chosen in shares)


def one_choice(p: Comparisons) -> Iterator[Inputs]:
    """The same the other way round."""
    swapped = {CHOOSER: HOLDER, HOLDER: CHOOSER}
    return ({swapped[name]: own for name, own in inputs.items()} for inputs in one_offer(p))


def beyond(found: Rows) -> set[tuple[str, str]]:
    return {(members[0], secret) for members, row in found.items() for secret, cell in row.items() if cell.beyond}


# The matrix.


def test_the_shipped_table_is_the_computed_one() -> None:
    """Not slow, so that everyday tests notice a change of the comparison."""
    found, shipped = matrix(PROGRAM, *SMALL), CHECKED_IN.read_text(encoding="utf-8")
    assert beyond(found) == set()
    columns = tuple(found[HOLDER,])
    rows = [
        (" and ".join(who), ["-" if c.level == "nothing" else c.level for c in row.values()])
        for who, row in found.items()
    ]
    assert shipped.split("\n\n")[2] == "\n".join(format_table(columns, rows))
    sizes = "; ".join(", ".join(f"{name} {value}" for name, value in p.as_dict().items()) for p in SMALL)
    assert shipped.endswith(f"Tried on {sum(len(list(every_input(p))) for p in SMALL)} inputs: {sizes}.\n")


def test_the_command_prints_the_shipped_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "matrix", "comparison"]) == 0
    printed, shipped = capsys.readouterr().out, CHECKED_IN.read_text(encoding="utf-8")
    said = f"smc-dp {__version__} ships this table; its tests compute it, and this command does not."
    assert printed.split() == (shipped + said).split()  # prose is folded
    assert printed.split("\n\n")[2] == shipped.split("\n\n")[2]


def test_the_command_prints_no_table_for_other_role_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(role_code, "code_digest", lambda protocol: "00" * 32)
    assert main(["lab", "matrix", "comparison"]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("other",), ", ".join(PROTOCOLS)),
        *(
            (("comparison", *option), f"{option[0]}: not with comparison")
            for option in (("--parties", "3"), ("--json",))
        ),
    ],
)
def test_the_command_says_what_there_is(
    args: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", "matrix", *args]) == 2
    assert message in capsys.readouterr().err


SIZES = {  # those of two comparisons, and of what takes long
    "the same coins in every comparison": TWO,
    "terms with old exponents": SHORT,
    "factors of half the range": SHORT,
}


@pytest.mark.parametrize("name", twins.BLIND)
def test_a_twin_tells_the_holder_more_than_signs(name: str) -> None:
    with planted(name) as program:
        found = matrix(program, SIZES.get(name, ONE), inputs=one_offer)
    assert (HOLDER, MORE) in beyond(found)
    assert {who for who, _ in beyond(found)} == {HOLDER}


@pytest.mark.parametrize("name", twins.LOUD)
def test_a_twin_tells_the_chooser_something(name: str) -> None:
    with planted(name) as program:
        found = matrix(program, ONE, inputs=one_choice)
    assert beyond(found) >= {(CHOOSER, MORE), (CHOOSER, "numbers of holder")}
    assert {who for who, _ in beyond(found)} == {CHOOSER}


@pytest.mark.parametrize("name", twins.HARMLESS)
def test_other_code_that_is_as_good_raises_no_alarm(name: str) -> None:
    with planted(name) as program:
        assert beyond(matrix(program, ONE, inputs=one_offer)) == set()


def test_a_wrong_result_is_noticed() -> None:
    with planted(twins.WRONG) as program, pytest.raises(ValueError, match="another result"):
        matrix(program, ONE)


def test_a_leak_under_long_keys_alone_is_not_seen_under_short_ones() -> None:
    """Why both are among the samples."""
    with planted("no factors under long keys") as program:
        assert beyond(matrix(program, replace(ONE, key_bits=512), inputs=one_offer)) == set()
    assert {p.key_bits for p in SMALL} == {ideal.DRY_RUN_KEY_BITS, 3072}


# What is inside.


def test_branches_are_all_runs_and_each_as_likely_as_it_says() -> None:
    branches = list(Player(PROGRAM, TWO).branches(next(one_offer(TWO))))
    assert sum(branch.probability for branch in branches) == 1
    assert len({tuple(branch.tape.fixed.items()) for branch in branches}) == len(branches) == 16  # masks, permutations


def test_a_factor_hides_a_number_and_not_its_relation_to_another_under_the_same_factor() -> None:
    tape = Tape({}, owners={f"r{i}": CHOOSER for i in range(4)})
    one, other = (Factor(Coin(tape, name, 10)) for name in ("one", "other"))
    sent = [(2, one), (6, one), (0, one), (6, other)]
    boxes = [Box(11, content, frozenset([f"r{i}"])).times(factor) for i, (content, factor) in enumerate(sent)]
    message: Any = Differences(tuple(boxes), False)  # type: ignore[arg-type]
    run = Branch(Fraction(1), tape, ((CHOOSER, HOLDER, message),), {})
    assert view(run, (HOLDER,))[1][1:] == (1, 3, 0, 1, False)
    assert view(run, (CHOOSER,))[1] == ((CHOOSER, HOLDER, "Differences"),)


# Inside of the curator protocol the comparison is one block, none of whose answers is a constant.

TELLING = {  # who learns of it, and what
    "the flip": ("charlie", "another sum"),
    "the mask": ("charlie", "another sum"),
    "no mask": ("charlie", "another sum"),
    "the answer": ("P1", "n_2"),
}


def inside(name: str, who: str) -> set[str]:
    with planted_inside(name) as program:
        found = linear_matrix(replace(PROTOCOLS["pathak2010"], program=program), 2, chosen=((who,),))
    return {secret for row in found.rows for secret, cell in row.cells.items() if cell.beyond}


@pytest.mark.parametrize("name", with_slow(TELLING, "the flip", "the mask", "no mask"))
def test_what_stays_between_the_two_roles_shows_when_it_is_sent(name: str) -> None:
    who, secret = TELLING[name]
    assert secret in inside(name, who)


def test_a_bit_that_is_always_zero_shows_nothing() -> None:
    assert inside("nothing", "charlie") == set()


# Real runs.

TRIALS = ideal.CLAIM.trials
assert TRIALS is not None
TRIED = TRIALS.small(ONE)


def sampled(program: Program, runs: int) -> float:
    """The smaller p-value of what the holder reads in either world, against the simulator."""
    who = law_of_runs.claimed_coalitions(TRIALS, TRIED, (CHOOSER, HOLDER))
    rng = Stream.insecure_from_seed("law of twins")
    made = law_of_runs.simulate_readings(TRIALS, TRIED, rng.fork("simulated"), who, 200)
    found = (
        law_of_runs.real_readings(program, TRIALS, TRIED, world, rng.fork(str(world)), who, runs) for world in range(2)
    )
    return min(compare_samples(read[c], made[c]).p_value for read in found for c in who if c == (HOLDER,))


def test_both_worlds_give_the_same_signs() -> None:
    given = [ideal.gives(TRIED, world) for world in TRIALS.worlds(TRIED)]
    assert given[0] == given[1]
    assert set(given[0][HOLDER] or ()) == {0, 1}


def test_readings_without_factors_are_not_those_of_the_simulator() -> None:
    assert sampled(PROGRAM, 12) > 1e-6
    with planted("differences without factors") as program:
        assert sampled(program, 12) < 1e-12


@pytest.mark.slow
def test_the_law_of_terms_in_order_is_another_one() -> None:
    """It is hardest to see, and shows in long samples only; the matrix shows it as well."""
    rng = Stream.insecure_from_seed("terms in order")
    with planted("terms in order") as program:
        assert law_of_runs.check_distributions(program, TRIALS, TRIED, rng).p_value < law_of_runs.SIGNIFICANCE


def test_what_is_not_claimed_is_really_found() -> None:
    shown = try_attacks(COMPARISON, TRIED, Stream.insecure_from_seed("limitations"), runs=4)
    assert [(one.found, one.tries, one.mistaken) for one in shown] == [(4, 4, 0)] * 2
    with planted("the result told to the chooser") as program:
        loud = replace(COMPARISON, program=program)
        assert try_attacks(loud, TRIED, Stream.insecure_from_seed("limitations"), runs=2)[0].found == 2
