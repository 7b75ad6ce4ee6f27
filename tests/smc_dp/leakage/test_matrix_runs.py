"""The linear cells of the coalition matrix, decided again without a single symbol: from real runs of the protocol.

The secret permutations and who is smallest are held fixed; keys, shares, masks, coins, sizes, weights and noise are
fresh in each run. A coalition's numbers of a run make a row, and the secret is in its span exactly when its lowest bit
is a fixed combination of their lowest bits mod 2. With 40 rows more than unknowns, bits that have nothing to do with
each other pass for a combination with probability below 2^-40; and whatever is a combination with odd denominators in
the ring is one mod 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate, repeat

import pytest
from support.pathak import Trial, trial

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.crypto.paillier import Ciphertext
from protocols.pathak2010 import PROGRAM, as_published, setup, stage1
from protocols.pathak2010.as_published import PrintedSelected
from protocols.pathak2010.messages import Indicator
from protocols.programs import PROTOCOLS
from protocols.runtime.claims import View, readings
from protocols.runtime.simulate import Run, Setting
from smc_dp.leakage.matrix import Cell, Matrix, coalition_matrix

K, SPARE, RUNS = 3, 40, 110
PI_1, PI_2 = Permutation((1, 2, 0)), Permutation((0, 2, 1))
NOISE_BITS = 5  # of the printed protocol, so that a reader of psi_j can try all exponents
COALITIONS = (("charlie",), ("P2",), ("P1", "P3"), ("P2", "charlie"), ("P1", "charlie"))
Features = dict[str, int]


class _Fixed:
    """In the place of `Permutation` in stage 1."""

    @staticmethod
    def random(size: int, rng: Stream) -> Permutation:
        return PI_2


@pytest.fixture
def fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    """pi_1 and pi_2 are the same in every run."""
    monkeypatch.setattr(setup, "permutation", lambda seeds, size: PI_1)
    for module in (stage1, as_published):
        monkeypatch.setattr(module, "Permutation", _Fixed)


def one(seed: int, smallest: str, printed: bool) -> tuple[Trial, Run]:
    """A run in which this party is smallest; everything else is drawn."""
    rng = Stream.insecure_from_seed(f"matrix from runs {seed}")
    sizes = [1000 + rng.below(1 << 20) for _ in range(K)]
    sizes[int(smallest[1]) - 1] = rng.below(1000)
    bits = NOISE_BITS if printed else 40
    noise = [[rng.bits(bits + 1) - (1 << bits)] for _ in sizes]
    made = trial(sizes, 1, seed, printed=printed, noise=noise)
    return made, made.run(Setting(views=True))


def features(made: Trial, run: Run, members: Sequence[str]) -> Features:
    """Every number of the coalition: what it reads and sends, its inputs, what is published, noise found by trying."""
    views = [run.views[name] for name in members]
    found = {f"{place} {i}": x for place, xs in numbers(views).items() for i, x in enumerate(xs)}
    found |= {f"sent {i}": x for i, x in enumerate(sent(run, members))}
    for name in set(members) & set(made.parameters.parties):
        mine = made.inputs[made.parameters.parties.index(name)]
        found |= {f"{name} {letter}": x for letter, x in (("n", mine.n), ("w", mine.w[0]), ("eta", mine.eta[0]))}
    found |= {f"y of {name}": message.y[0] for name, message in run.published.items()}
    return found | {f"tried {x}": e for view in views for x, e in tried(view).items()} | {"one": 1}


def numbers(views: Sequence[View]) -> Mapping[str, list[int]]:
    """What is read, but of comparisons only what is bit 0 of a number: their other bits are no numbers of a ring."""
    found = readings(*views)
    found.pop("Differences.c", None)
    if "Bits.y" in found:
        found["Bits.y"] = found["Bits.y"][:: len(found["Bits.y"]) // (K - 1)]
    return found


def sent(run: Run, members: Sequence[str]) -> list[int]:
    """The numbers that members sent in the clear: what they drew themselves follows from these."""
    kinds = ("Relay", "Half", "PrintedShare", "PrintedCuratorShare", "Reshare")
    mail = [m for _, view in sorted(run.views.items()) for sender, m in view.messages if sender in members]
    values = [getattr(m, slot.name) for m in mail if type(m).__name__ in kinds for slot in m.slots]
    return [x for value in values for x in (value if isinstance(value, tuple) else (value,)) if isinstance(x, int)]


def tried(view: View) -> Features:
    """As printed: the exponent of each psi_j, by trying all."""
    pi_1 = PI_1.inverse
    u = next((m.u for sender, m in view.messages if isinstance(m, Indicator)), ())
    parties = view.inputs[0].parties
    sent = [(sender, m.psi[0]) for sender, m in view.messages if isinstance(m, PrintedSelected)]
    return {sender: exponent(pi_1(u)[parties.index(sender)], psi) for sender, psi in sent}


def exponent(base: Ciphertext, power: Ciphertext) -> int:
    modulus, least = base.n**2, -(1 << NOISE_BITS)
    first = pow(base.value, least, modulus)
    powers = accumulate(repeat(base.value), lambda x, y: x * y % modulus, initial=first)
    return next(e for e, x in zip(range(least, -least), powers, strict=False) if x == power.value)


def secrets(made: Trial) -> Features:
    """Sizes with their tie bits, for these are what is shared; weights, noise, and the sum of all weights."""
    found: Features = {"exact sum(1)": sum(x.w[0] for x in made.inputs)}
    ties = made.ties if made.program is PROGRAM else [0] * K
    for j, (mine, tie) in enumerate(zip(made.inputs, ties, strict=True), start=1):
        whole = (mine.n << made.parameters.tie_bits) | tie if made.program is PROGRAM else mine.n
        found |= {f"n_{j}": whole, f"w_{j}(1)": mine.w[0], f"eta_{j}(1)": mine.eta[0]}
    return found


def is_combination(rows: Sequence[Features], values: Sequence[int]) -> bool:
    """Whether the lowest bit of the value is one and the same sum mod 2 of lowest bits in all rows."""
    columns = [sum((row[name] & 1) << i for i, row in enumerate(rows)) for name in rows[0]]
    assert len(rows) >= len(columns) + SPARE
    target = sum((value & 1) << i for i, value in enumerate(values))
    pivots: dict[int, int] = {}
    for vector in columns:
        reduced = eliminated(vector, pivots)
        if reduced:
            pivots[reduced.bit_length()] = reduced
    return eliminated(target, pivots) == 0


def eliminated(vector: int, pivots: Mapping[int, int]) -> int:
    """What is left of a vector over GF(2), lowest bit for the first run, without the leading bits of pivots."""
    rest, kept = vector, 0
    while rest:
        top = rest.bit_length()
        if top in pivots:
            rest ^= pivots[top]
        else:
            kept |= 1 << (top - 1)
            rest ^= 1 << (top - 1)
    return kept


@cache
def played(smallest: str, printed: bool, count: int) -> list[tuple[Trial, Run]]:
    return [one(seed, smallest, printed) for seed in range(count)]


@cache
def computed(printed: bool) -> Matrix:
    return coalition_matrix(PROTOCOLS[as_published.PROGRAM.name if printed else PROGRAM.name], K, chosen=COALITIONS)


def cells(members: tuple[str, ...], smallest: str, printed: bool) -> Mapping[str, Cell]:
    """The matrix, with the selected noise under the name of its party."""
    found = next(r.cells for r in computed(printed).rows if (r.members, r.smallest) == (members, smallest))
    return {**found, f"eta_{smallest[1]}(1)": found["selected noise(1)"]}


@pytest.mark.slow
@pytest.mark.parametrize("printed", [False, True], ids=["hardened", "printed"])
@pytest.mark.parametrize("smallest", ["P2", "P3"])
@pytest.mark.usefixtures("fixed")
def test_runs_and_matrix_agree(smallest: str, printed: bool) -> None:
    decided = 0
    runs = played(smallest, printed, RUNS)
    for members in COALITIONS:
        rows = [features(made, run, members) for made, run in runs]
        stated = cells(members, smallest, printed)
        for secret in secrets(runs[0][0]):
            if stated[secret].level != "own":
                here = is_combination(rows, [secrets(made)[secret] for made, _ in runs])
                assert here == (stated[secret].level in ("all", "listed")), (members, secret, stated[secret])
                decided += 1
    assert decided >= 30


def test_elimination_finds_sums_and_nothing_else() -> None:
    rng = Stream.insecure_from_seed("elimination")
    rows = [{name: rng.bits(64) for name in "abcd"} for _ in range(60)]
    assert is_combination(rows, [r["a"] + 3 * r["b"] - r["d"] for r in rows])
    assert not is_combination(rows, [rng.bits(64) for _ in rows])
    assert not is_combination(rows, [r["a"] * r["b"] for r in rows])
