"""Public parameters of a session of sums, checked once, with the inequalities that everything else relies on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from protocols.arithmetic.ring import Ring
from protocols.crypto import masking
from protocols.crypto.identity import SIGNATURE_BYTES
from protocols.errors import LocalError
from protocols.runtime.session import read_names, read_parameters
from protocols.secure_sum import graph
from protocols.secure_sum.graph import LEAST_THRESHOLD, Neighbourhood

MOST_CLOSED = 1_000  # where nobody may drop out, everybody agrees with everybody once: beyond that, this is the cost
MOST_COMPLETE = 200  # else everybody agrees with everybody, and deals shares to everybody, for each sum
MOST_PARTIES = 2_000  # on a circle, where each shares masks with its neighbours
MOST_INPUTS = 1 << 20  # masked inputs of all parties in all sums: an audit makes them all, at toy size, in its memory
CURATOR, SHARES = "curator", "shares"
OUTPUTS = (CURATOR, SHARES)
SETUP, STAGE = "setup", "sum"
LONGEST_RING = 1024
_WORD = 8


@dataclass(frozen=True)
class Block:
    """Numbers of one sum whose noise has one distribution.

    `noise` names this distribution in public ("none" for none): the protocol only binds the session to it.
    """

    length: int
    noise: str


Blocks = tuple[Block, ...]


@dataclass(frozen=True)
class Parameters:
    """Parameters of a session: K parties by name, t that may collude with Charlie and be malicious, D that may drop out
    in one sum; the sums, each in blocks, in Z_M with M = 2**ring_bits.

    Quorum Q of signatures and threshold T of shares: 2Q >= K+t+1, t+1 <= T <= Q, D <= K-Q, as the least Q, and T = Q.
    With D = 0 there are neither, and every t <= K-1 will do. `verifiable`: Charlie publishes what he added up, so that
    anybody can do it again. `output`: to whom a masked input goes; as published `shares` it is everybody's, and there
    is no Charlie. `agreed` is a digest of whatever else the parties agreed on before. Raises `LocalError` otherwise.

    `degree`: 0 where everybody shares masks with everybody; else with so many neighbours in a circle (`graph.py`). More
    than `MOST_COMPLETE` parties of whom some may drop out stand in a circle of the least degree that will do, if none
    is given. There Q and T are of the neighbours of one party, and Charlie and the t parties have to follow the
    protocol. With D = 0 they stand in a circle only if a degree is given.
    """

    parties: tuple[str, ...]
    colluders: int
    dropouts: int
    sums: tuple[Blocks, ...]
    ring_bits: int = 64
    verifiable: bool = False
    output: str = CURATOR
    agreed: str = ""
    degree: int = 0

    def __post_init__(self) -> None:
        K, t = self.K, self.t
        complete = MOST_COMPLETE if self.D else MOST_CLOSED
        most = MOST_PARTIES if self.degree or (self.D > 0 and K > MOST_COMPLETE) else complete
        if not 2 <= K <= most or len(set(self.parties)) != K:
            raise LocalError("secure_sum.parties_unusable", most=most, got=len(set(self.parties)))
        if not 0 <= t < K:
            raise LocalError("colluders.outside", most=K - 1, parties=K, got=t)
        self._check_graph()
        if self.ring_bits % _WORD or not _WORD <= self.ring_bits <= LONGEST_RING:
            raise LocalError("ring_bits.outside", word=_WORD, most=LONGEST_RING, got=self.ring_bits)
        if not self.sums or not all(blocks and all(b.length >= 1 for b in blocks) for blocks in self.sums):
            raise LocalError("sums.empty")
        if K * self.R > MOST_INPUTS:
            raise LocalError("sums.too_many", most=MOST_INPUTS // K, parties=K, got=self.R)
        if self.output not in OUTPUTS:
            raise LocalError("output.unknown", outputs=OUTPUTS, got=self.output)
        if self.output == SHARES and (self.D or self.R > 1 or self.verifiable or self.degree):
            raise LocalError("output.shares_of_several")
        if self.degree and self.verifiable:
            raise LocalError("verifiable.with_neighbours", parties=K)

    def _check_graph(self) -> None:
        """Check the complete graph, or set the degree of the sparse graph that D and the given degree ask for."""
        K, t, D, R = self.K, self.t, self.D, self.R
        if not self.degree and (K <= MOST_COMPLETE or D <= 0):
            if not 0 <= D <= most_dropouts(K, t):
                most = most_dropouts(K, t)
                raise LocalError("dropouts.outside", most=most, parties=K, colluders=t, got=D)
            return
        if not self.degree:
            found = graph.least_neighbourhood(K, t, D, R)
            if found is None:
                most = graph.most_dropouts(K, t, R)
                raise LocalError("dropouts.outside", most=most, parties=K, colluders=t, got=D)
            object.__setattr__(self, "degree", found.degree)
        least, most = graph.LEAST_DEGREE if D else graph.LEAST_CLOSED_DEGREE, min(graph.MOST_DEGREE, K - 1)
        if self.degree % 2 or not least <= self.degree <= most:
            raise LocalError("degree.outside", least=least, most=most, got=self.degree)
        if not 0 <= D < K or self._neighbourhood.failure > graph.MOST_FAILURE:
            raise LocalError("degree.does_not_do", degree=self.degree, parties=K, colluders=t, dropouts=D)

    @property
    def _neighbourhood(self) -> Neighbourhood:
        if not self.D:
            return graph.closed_neighbourhood(self.K, self.t, self.degree)
        return graph.best_neighbourhood(self.K, self.t, self.D, self.R, self.degree)

    @property
    def failure(self) -> Fraction | None:
        """Bound on the probability that a sparse graph does not do; None without one."""
        return self._neighbourhood.failure if self.degree else None

    @property
    def holders(self) -> int:
        """Number of holders of the shares of one seed: all parties, or the neighbours."""
        return self.degree or self.K

    @property
    def covered(self) -> int:
        """Bytes of all shares of one holder under authenticated encryption."""
        return 2 * self.R * masking.SECRET_BYTES + masking.TAG_BYTES

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Parameters:
        """Return the parameters that `as_dict` wrote; raise `LocalError` for anything that it would not write."""
        numbers = dict.fromkeys(("colluders", "dropouts", "ring_bits", "degree"), int)
        reads: dict[str, Callable[[Any], Any]] = {"parties": read_names, "sums": _read_sums, "verifiable": bool}
        reads |= {**numbers, "output": str, "agreed": str}
        return read_parameters(cls, plain, reads, degree=0)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for line 0 of a transcript."""
        return {
            "parties": list(self.parties),
            "colluders": self.colluders,
            "dropouts": self.dropouts,
            "quorum": self.Q,
            "threshold": self.T,
            "honest": self.H,
            "sums": [[[b.length, b.noise] for b in blocks] for blocks in self.sums],
            "numbers": self.numbers,
            "ring_bits": self.ring_bits,
            "verifiable": self.verifiable,
            "output": self.output,
            "agreed": self.agreed,
            **({"degree": self.degree} if self.degree else {}),
        }

    @property
    def K(self) -> int:  # noqa: N802
        """Number of parties."""
        return len(self.parties)

    @property
    def t(self) -> int:
        """Largest number of parties that collude with Charlie."""
        return self.colluders

    @property
    def D(self) -> int:  # noqa: N802
        """Largest number of drop-outs in one sum, from its masked input on."""
        return self.dropouts

    @property
    def Q(self) -> int:  # noqa: N802
        """Number of survivors that sign one list of them, in a sparse graph of each party's neighbours; 0 with D =
        0.
        """
        if self.degree:
            return self._neighbourhood.threshold
        return quorum(self.K, self.t) if self.D else 0

    @property
    def T(self) -> int:  # noqa: N802
        """Number of shares that open a seed; 0 where there are none."""
        return self.Q

    @property
    def may_accuse_silence(self) -> bool:
        """True where t > 0, and t false accusers with t corrupted holders are too few to open a seed.

        With t = 0 a silent dealer has dropped out or was held up: to open its shares would only give them away.
        """
        return 0 < 2 * self.t < self.T

    @property
    def most_accusers(self) -> int:
        """Largest number of holders to whom an honest dealer opens their shares in set-up.

        Where silence may be accused, a message that was only held up can make honest holders accuse: with these and the
        t corrupted ones fewer than T shares are known. Otherwise corrupted holders alone accuse an honest dealer.
        """
        return self.T - 1 - (self.t if self.may_accuse_silence else 0)

    @property
    def H(self) -> int:  # noqa: N802
        """Least number of honest parties in every sum: K - D - t, at least 1."""
        return self.K - self.D - self.t

    @property
    def fewest(self) -> int:
        """Least number of parties in a sum: K - D."""
        return self.K - self.D

    @property
    def R(self) -> int:  # noqa: N802
        """Number of sums."""
        return len(self.sums)

    @property
    def ring(self) -> Ring:
        """Ring Z_M of the vectors."""
        return Ring(self.ring_bits)

    @property
    def width(self) -> int:
        """Bytes of a number in Z_M."""
        return self.ring_bits // 8

    @property
    def everybody(self) -> int:
        """List of survivors that has every party."""
        return (1 << self.K) - 1

    def length(self, r: int) -> int:
        """Return the number of integers in sum r."""
        return sum(block.length for block in self.sums[r])

    def listed(self, members: Iterable[int]) -> int:
        """Return a list of survivors as a number: bit i stands for party i, counted from 0."""
        return sum(1 << i for i in set(members))

    def members(self, listed: int) -> tuple[int, ...]:
        """Return the parties on a list; raise `LocalError` for a bit that stands for nobody."""
        if listed >> self.K:
            raise LocalError("survivors.no_party", party=listed.bit_length(), parties=self.K)
        return tuple([i for i, bit in enumerate(reversed(f"{listed:b}")) if bit == "1"])

    def layout(self) -> dict[str, int]:
        """Return the widths in bytes and the counts that messages name; those of one sum are in `widths`."""
        keys, promised, held = (self.R, self.R, self.holders) if self.D else (1, 0, 0)
        coin = 1 if self.degree else 0
        box = coin if self.D else 0  # a key for shares
        complainers = self.K if self.D and not self.degree else 0
        opening = self.R * self.K if self.verifiable else 0
        return {
            **{"key": masking.KEY_BYTES, "seed": masking.SECRET_BYTES, "digest": masking.DIGEST_BYTES},
            **{"signature": SIGNATURE_BYTES, "word": self.width, "members": (self.K + 7) // 8, "number": 4},
            **{"keys": keys + box, "commitments": promised + coin, "held": held, "sums": self.R},
            **{"signers": self.holders, "covered": self.covered, "steps": (self.K - 1).bit_length()},
            **{"complaints": 1 if complainers else 0, "complainers": complainers, "disclosed": complainers * self.R},
            **{"path": held * (self.R - 1).bit_length(), "length": 0, "all": self.numbers},
            **{"masked": self.K * self.numbers if self.verifiable else 0, "signed": opening},
            **{"agreed": opening if self.D else 0},
        }

    @property
    def numbers(self) -> int:
        """Number of integers in all sums."""
        return sum(self.length(r) for r in range(self.R))


def quorum(K: int, t: int) -> int:
    """Return the least Q with 2Q >= K+t+1, and never below 2."""
    return max(LEAST_THRESHOLD, (K + t) // 2 + 1)


def most_dropouts(K: int, t: int) -> int:
    """Return the largest D for which there is a quorum."""
    return max(0, K - quorum(K, t))


def stage(r: int) -> str:
    """Return the name of the stage of sum r, counted from 0."""
    return f"{STAGE}{r}"


def widths(p: Parameters, name: str) -> dict[str, int]:
    """Return the counts that depend on the stage: the numbers of its masked input and result."""
    number = name.removeprefix(STAGE)
    r = int(number) if number.isdecimal() and len(number) <= len(str(p.R)) else p.R
    return {"length": p.length(r)} if r < p.R and name == stage(r) else {}


def _read_sums(plain: Any) -> tuple[Blocks, ...]:
    return tuple(tuple(Block(int(length), str(noise)) for length, noise in blocks) for blocks in plain)
