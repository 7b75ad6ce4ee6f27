"""The settings of a secure sum: who may collude or vanish, where masked inputs go, how many rows a party may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args

from protocols.secure_sum.parameters import MOST_PARTIES, Block, Parameters, most_dropouts
from smc_dp.data.federation import Public
from smc_dp.errors import InputError, shown
from smc_dp.files import reading
from smc_dp.methods.method import SecureForm
from smc_dp.methods.sums.among import Among
from smc_dp.methods.sums.secure_sum import RowCounts, SharedWeightedSum
from smc_dp.privacy.pathak2010 import LARGEST_N
from smc_dp.privacy.target import SHARED, NoiseName, Target
from smc_dp.run.terms.terms import one_of, whole

OutputName: TypeAlias = Literal["curator", "shares"]


@dataclass(frozen=True)
class SumTerms:
    """t parties may collude with Charlie and deviate at will, D may vanish; `most_rows` caps each party's rows.

    `left_out`: who was to take part and vanished from an earlier session before anybody paid.
    """

    colluders: int = 1
    dropouts: int = 0
    most_rows: int = LARGEST_N
    sizes: RowCounts = "released"
    verifiable: bool = False
    output: OutputName = "curator"
    left_out: tuple[str, ...] = ()
    can_lose_parties: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settings = _settings(self)
        whole("colluders", settings, MOST_PARTIES - 1, 0)
        whole("dropouts", settings, MOST_PARTIES - 1, 0)
        whole("most_rows", settings, LARGEST_N)
        one_of("sizes", settings, get_args(RowCounts))
        one_of("output", settings, get_args(OutputName))
        if type(self.left_out) is not tuple or not all(type(name) is str for name in self.left_out):
            raise InputError(f"left_out: wanted names, got {shown(self.left_out)}")
        if type(self.verifiable) is not bool:
            raise InputError(f"verifiable: wanted true or false, got {shown(self.verifiable)}")
        if self.output == "shares" and self.dropouts:
            raise InputError(f"output: shares are for `dropouts` 0, got {self.dropouts}; give `output` curator")
        if self.output == "shares" and self.verifiable:
            raise InputError("output: anybody adds up shares as they are, wanted them without `verifiable`")

    @classmethod
    def noise(cls, has_delta: bool) -> NoiseName:
        """As `Terms`."""
        return "ddg" if has_delta else "vg"

    @classmethod
    def preferred(cls, method: Any) -> Mapping[str, Any]:
        """Whether numbers of rows are released, unless somebody says so."""
        return {"sizes": method.sizes}

    @classmethod
    def from_dict(cls, stated: Mapping[str, Any]) -> Self:
        """As `Terms`."""
        given: dict[str, Any] = {field.name: stated.get(field.name) for field in fields(cls)}
        given["left_out"] = tuple(reading.texts("left_out", given["left_out"]))
        return cls(**given)  # which looks at each of them

    def as_dict(self, form: SecureForm) -> dict[str, Any]:
        """As `Terms`."""
        grid = form.grid
        settings = {**_settings(self), "left_out": list(self.left_out)}
        return {**settings, "ring_bits": grid.ring_bits, "fraction_bits": grid.fraction_bits}

    def check(self, protocol: str, method: Any, target: Target, *, test_keys: bool) -> None:
        """Refuses noise that is not drawn in shares, and noise as printed."""
        if target.calibration != "proven":
            raise InputError(f"calibration: {method.name} has proven, got {target.calibration}")
        if target.noise not in SHARED:
            raise InputError(f"noise: {method.name} by a protocol has {', '.join(SHARED)}, got {target.noise}")
        if test_keys:
            raise InputError(f"insecure_test_keys: {protocol} has no keys that could be too short")

    def weak(self, protocol: str) -> bool:
        """As `Terms`."""
        return False

    def form(self, method: Any, public: Public, target: Target) -> SharedWeightedSum:
        """As `Terms`."""
        check_crowd(public.parties, self.colluders, self.dropouts)
        by_curator = self.output == "curator"
        among = Among(public.parties, self.colluders, self.dropouts, self.verifiable, by_curator)
        made: SharedWeightedSum = method.shared(public, target, among, self.most_rows, self.sizes)
        return made

    def program_parameters(self, protocol: str, form: SecureForm, parties: tuple[str, ...], agreed: str) -> Any:
        """As `Terms`."""
        if not isinstance(form, SharedWeightedSum):
            raise InputError(f"method: wanted one that is a sum, which {protocol} computes")
        blocks = tuple(Block(length, noise) for length, noise in form.blocks)
        return Parameters(
            parties, self.colluders, self.dropouts, (blocks,), form.grid.ring_bits, self.verifiable, self.output, agreed
        )

    def without(self, names: Sequence[str]) -> Self:
        """As `Terms`."""
        return replace(self, left_out=(*self.left_out, *names))


def check_crowd(K: int, t: int, D: int) -> None:
    """Raises InputError, with the nearest that works, unless t of K parties may collude while D vanish."""
    if K > MOST_PARTIES:
        raise InputError(f"number of parties: wanted at most {MOST_PARTIES}, got {K}")
    if t >= K:
        raise InputError(f"colluders: wanted at most {K - 1} of {K} parties, got {t}: some must be honest")
    if most_dropouts(K, t) >= D:
        return
    ways = [f"at most {most_dropouts(K, t)}"]
    fewer = [s for s in range(t) if most_dropouts(K, s) >= D]
    if fewer:
        ways.append(f"`colluders` at most {fewer[-1]}")
    more = next((n for n in range(K + 1, MOST_PARTIES + 1) if most_dropouts(n, t) >= D), None)
    if more is not None:
        ways.append(f"{more} parties")
    wanted = ", or ".join(ways)
    raise InputError(f"dropouts: for {K} parties of whom {t} may collude wanted {wanted}, got {D}")


def _settings(terms: SumTerms) -> dict[str, Any]:
    return {field.name: getattr(terms, field.name) for field in fields(terms)}
