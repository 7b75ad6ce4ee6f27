"""Schemas of release.json, shares.json and timings.json: every field is there, and of its type.

`parameters` of release.json are the settings of the run (`smc_dp.run.settings`), with what follows from them. The users
of a document check whether its fields fit together, to other files, and to what a run can agree on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
    model_validator,
)

from protocols.runtime.network import LINK_MODELS, TOPOLOGIES
from smc_dp.core import reading
from smc_dp.core.documents import CHOICE, Document
from smc_dp.core.errors import InputError, shown
from smc_dp.core.kinds import (
    LARGEST_FINITE_NUMBER,
    DigestText,
    FiniteFigure,
    FiniteNumber,
    FiniteNumbers,
    OneOf,
    SettingValue,
    Texts,
    TwoNumbers,
    WholeNumberText,
    WholeNumberTexts,
    check_finite_number,
    check_line,
    limit_keys,
)
from smc_dp.data.bounds import Bounds
from smc_dp.data.bounds_file import WeightsSection
from smc_dp.data.columns import (
    Aliases,
    BinnedColumn,
    CategoricalColumn,
    Column,
    DateColumn,
    NumericColumn,
    parse_iso_date,
)
from smc_dp.data.partition import check_names
from smc_dp.methods.functionality import Vector, add_vectors
from smc_dp.methods.model import FourierFeatures, Weights
from smc_dp.methods.statistics.describe import DescribeSum
from smc_dp.methods.statistics.describe_result import DescribeResult
from smc_dp.privacy.statement import Adjacency, GuaranteeKind, PrivacyStatement, Unit
from smc_dp.run.agreement import REASONS, Agreement
from smc_dp.run.auxiliary import AuxiliaryRows

ReleaseFormat: TypeAlias = Literal["smc-dp release 3"]
RELEASE_FORMAT: ReleaseFormat = "smc-dp release 3"
SIMULATED = ("topology", "link")
"""Parameters of a release that say how it was simulated, on which no party agreed."""
_ADDED = {*SIMULATED, "agreed", "label", "center"}  # to the parameters that the parties agreed on
_MANY = 1 << 12  # columns, or participants: at least as many as there may be
_LEVELS = 1 << 17  # of all columns that have aliases


def _parties(names: list[str]) -> list[str]:
    check_names(names)
    return names


class StatedParameters(Document):
    """Agreed settings without bounds, grid and markers, and how the run was simulated; settings of method and protocol
    stand by their own names.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, SettingValue] = Field(init=False)
    method: str
    protocol: str
    parties: Annotated[Texts, AfterValidator(_parties)]
    dimension: int
    epsilon: str
    topology: Annotated[str, OneOf(TOPOLOGIES)]
    link: Annotated[str, OneOf(LINK_MODELS)]
    agreed: DigestText
    label: str | None
    center: bool

    @property
    def simulated(self) -> dict[str, str]:
        """Values of `SIMULATED`, by name."""
        return {name: getattr(self, name) for name in SIMULATED}


class StatedPrivacy(Document):
    """Privacy statement of the release."""

    kind: GuaranteeKind
    epsilon: FiniteFigure | None
    delta: FiniteFigure
    unit: Unit
    adjacency: Adjacency
    adversary: str
    caveats: Texts
    mu: FiniteFigure | None
    rho: FiniteFigure | None = None

    @model_validator(mode="after")
    def _is_one(self) -> StatedPrivacy:
        try:
            self.statement  # noqa: B018  its fields must fit together
        except (TypeError, ValueError) as error:
            raise InputError("privacy.unfit", why=str(error)[:200]) from None
        return self

    @property
    def statement(self) -> PrivacyStatement:
        """Privacy statement in these fields."""
        return PrivacyStatement(**{**dict(self), "caveats": tuple(self.caveats)})


class StatedDigests(Document):
    """SHA-256 of the files beside a release: shares.json if there are shares, auxiliary.json if there are public rows,
    and study.json if everybody approved of a study.
    """

    shares: DigestText = Field(alias="shares.json", default="")
    auxiliary: DigestText = Field(alias="auxiliary.json", default="")
    study: DigestText = Field(alias="study.json", default="")
    transcript: DigestText = Field(alias="transcript.jsonl")
    timings: DigestText = Field(alias="timings.json")

    @property
    def named(self) -> dict[str, str]:
        """Stated digests by the name of the file."""
        # The default stands for a file that is not there, which has no digest.
        found: dict[str, str] = self.model_dump(by_alias=True, exclude_unset=True)
        return found


def _empty_cell(value: object) -> Any:
    """Return the value that stands for an empty cell: a number, a level, a date or a rule."""
    return value if isinstance(value, str) else check_finite_number(value)


def _day(value: str) -> str:
    try:
        parse_iso_date(value)
    except ValueError:
        raise InputError("date.not_a_date", got=shown(value)) from None
    return value


EmptyCell: TypeAlias = Annotated[Any, BeforeValidator(_empty_cell), WithJsonSchema({"type": ["number", "string"]})]
DayText: TypeAlias = Annotated[
    str, AfterValidator(_day), Field(json_schema_extra={"format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"})
]
DatePair: TypeAlias = Annotated[list[DayText], Field(min_length=2, max_length=2)]


def _choice(value: object) -> str:
    """Return the tag of the type of weights: one row, or a row for each class."""
    each = value and isinstance(value, list) and isinstance(value[0], list)
    return f"{CHOICE}{'rows' if each else 'row'}"


StatedWeights: TypeAlias = Annotated[
    Annotated[FiniteNumbers, Field(min_length=1), Tag(f"{CHOICE}row")]
    | Annotated[list[FiniteNumbers], Field(min_length=1, fail_fast=True), Tag(f"{CHOICE}rows")],
    Discriminator(_choice),
]


class ColumnCoefficients(Document):
    """Coefficients of one column: a slope for numbers and dates, in the units of the column and standardised; else one
    for each level or bin; null stands for a number above 1e300.
    """

    slope: FiniteNumber | None = None
    standardised_slope: FiniteNumber | None = None
    levels: Annotated[dict[str, FiniteNumber | None], limit_keys(_LEVELS)] = Field(default_factory=dict)
    bins: Annotated[dict[str, FiniteNumber | None], limit_keys(_LEVELS)] = Field(default_factory=dict)
    empty: FiniteNumber | None = None
    standardised_empty: FiniteNumber | None = None


class ScoreCoefficients(Document):
    """Coefficients of the score of one class."""

    intercept: FiniteNumber | None
    standardised_intercept: FiniteNumber | None
    columns: Annotated[dict[str, ColumnCoefficients], limit_keys(_MANY)]


class TermInference(Document):
    """Inference on one coefficient; null where there is no interval."""

    kind: Annotated[str, OneOf(("intercept", "slope", "level", "bin", "empty"))]
    column: str
    cell: str
    estimate: FiniteNumber | None
    standard_error: FiniteNumber | None
    sampling_error: FiniteNumber | None
    privacy_error: FiniteNumber | None
    low: FiniteNumber | None
    high: FiniteNumber | None
    p_value: FiniteNumber | None


_CAUTIONS = (
    "dropped_out",
    "left_out",
    "perhaps_left_out",
    "ill_determined",
    "clipped_residuals",
    "far_cells",
    "small_cells",
)


class StatedInference(Document):
    """Coefficients with intervals, of a method that has them; `rows` and `left_out` contain noise of these errors.

    `residual_deviation`: of least squares, in the units of the outcome. `times_needed`: how many times as many rows, or
    times the epsilon, take all coefficients out of the noise; null where they are, and where nobody knows.
    """

    level: FiniteNumber
    rows: FiniteNumber
    rows_error: FiniteNumber
    left_out: FiniteNumber
    left_out_error: FiniteNumber
    last_step: FiniteNumber
    times_needed: FiniteNumber | None
    residual_deviation: FiniteNumber | None = None
    obstacles: Annotated[
        list[Annotated[str, OneOf(("far_start", "few_rows", "long_tail", "other_parties", "collinear"))]],
        Field(max_length=5, fail_fast=True),
    ]
    cautions: Annotated[list[Annotated[str, OneOf(_CAUTIONS)]], Field(max_length=5, fail_fast=True)]
    terms: Annotated[list[TermInference], Field(max_length=_LEVELS, fail_fast=True)]


class StatedEstimate(Document):
    """Estimate with the ends of its interval; null where the noise hides it."""

    estimate: FiniteNumber | None
    low: FiniteNumber
    high: FiniteNumber


class StatedColumn(Document):
    """Description of one column: counts of levels or bins, or a mean and a standard deviation in units of the column;
    null where too few cells are left. `quantiles`: of bins. `missing` counts empty cells that have a place of their
    own.
    """

    levels: Annotated[dict[str, StatedEstimate], limit_keys(_LEVELS)] = Field(default_factory=dict)
    quantiles: dict[str, StatedEstimate | None] = Field(default_factory=dict)
    mean: StatedEstimate | None = None
    standard_deviation: StatedEstimate | None = None
    missing: StatedEstimate | None = None


class StatedFigure(Document):
    """Figure of a group of rows; null where too few cells are left."""

    column: str
    level: str
    figure: str
    estimate: FiniteNumber | None
    low: FiniteNumber | None
    high: FiniteNumber | None


class StatedGroup(Document):
    """Description of one group of rows, whose number has noise; differences are from the first group."""

    group: str
    rows: StatedEstimate
    figures: Annotated[list[StatedFigure], Field(max_length=_LEVELS, fail_fast=True)]


class StatedTable(Document):
    """Counts of two columns: a list for each level of the first, with a count for each level of the second."""

    columns: Texts
    levels: Annotated[list[Texts], Field(max_length=2)]
    cells: Annotated[
        list[Annotated[list[StatedEstimate], Field(max_length=_LEVELS, fail_fast=True)]],
        Field(max_length=_LEVELS, fail_fast=True),
    ]


class StatedDescription(Document):
    """Description of the rows: it follows from the noisy `sums` and the numbers of rows and parties in them."""

    rows: Annotated[int, Field(ge=1)]
    parties: Annotated[int, Field(ge=1)]
    level: FiniteNumber
    sums: FiniteNumbers
    columns: Annotated[dict[str, StatedColumn], limit_keys(_MANY)]
    by: str | None = None
    groups: Annotated[list[StatedGroup], Field(max_length=_LEVELS, fail_fast=True)] = Field(default_factory=list)
    tables: Annotated[list[StatedTable], Field(max_length=_MANY, fail_fast=True)] = Field(default_factory=list)


def refuse_other_format(release: Mapping[str, Any]) -> None:
    """Raise an InputError for a release of another format, or of none, before anything else is said of it."""
    if (found := release.get("format")) != RELEASE_FORMAT:
        raise InputError("release.other_format", wanted=RELEASE_FORMAT, got="none" if found is None else shown(found))


class ReleaseFile(Document):
    """Schema of release.json: a release has weights, or a description."""

    format: ReleaseFormat
    weights_stated: Annotated[StatedWeights | None, Field(alias="weights")] = None
    coefficients: Annotated[dict[str, ScoreCoefficients], limit_keys(_MANY)] | None = None
    description: StatedDescription | None = None
    privacy: StatedPrivacy
    parameters: StatedParameters
    columns: Texts
    categories: Annotated[dict[str, Texts], limit_keys(_MANY)]
    ranges: Annotated[dict[str, TwoNumbers], limit_keys(_MANY), Field(alias="bounds")]
    clip: FiniteNumber
    bias: FiniteNumber
    classes: Texts
    digests: StatedDigests
    insecure: list[Annotated[str, OneOf(tuple(REASONS.values()), "a known reason")]] = Field(
        default_factory=list, fail_fast=True
    )
    dates: Annotated[dict[str, DatePair], limit_keys(_MANY)] = Field(default_factory=dict)
    bins: Annotated[dict[str, FiniteNumbers], limit_keys(_MANY)] = Field(default_factory=dict)
    missing: Annotated[dict[str, EmptyCell], limit_keys(_MANY)] = Field(default_factory=dict)
    aliases: Annotated[dict[str, dict[str, Texts]], limit_keys(_LEVELS, deep=True)] = Field(default_factory=dict)
    row_weights: WeightsSection | None = None
    outcome: TwoNumbers | None = None
    inference: StatedInference | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_today(cls, found: object) -> object:
        if isinstance(found, dict):
            refuse_other_format(found)
        return found

    @model_validator(mode="after")
    def _has_its_coefficients(self) -> ReleaseFile:
        if (self.weights_stated is None) == (self.description is None):
            raise InputError("release.weights_or_description")
        if (self.coefficients is None) != (self.description is not None or self.features is not None):
            raise InputError("release.coefficients_of_format", format=RELEASE_FORMAT)
        return self

    @property
    def features(self) -> FourierFeatures | None:
        """Features beside the rows that the weights belong to; None where they are of the rows alone."""
        stated = self.parameters.model_dump().get("features")
        return None if stated is None else FourierFeatures.of(check_line(stated))

    @property
    def stated_coefficients(self) -> dict[str, Any] | None:
        """Coefficients as plain values; None in an earlier release."""
        if self.coefficients is None:
            return None
        return {name: score.model_dump(exclude_unset=True) for name, score in self.coefficients.items()}

    @property
    def bounds(self) -> Bounds:
        """Public bounds of the columns; InputError where the fields do not fit together."""
        kinds, label = (self.categories, self.ranges, self.dates, self.bins), self.parameters.label
        if sorted(name for stated in kinds for name in stated) != sorted(self.columns):
            raise InputError("columns.not_once")
        for key, stated, listed in (
            ("missing", self.missing, [*self.columns, label]),
            ("aliases", self.aliases, [*self.categories, label]),
        ):
            if unknown := set(stated) - set(listed):
                raise InputError("columns.not_listed", key=key, unknown=shown(min(unknown)))
        columns = tuple(self._column(name) for name in self.columns)
        classes, aliases, missing = tuple(self.classes), self._aliases(label or ""), self.missing.get(label or "")
        weights = None if self.row_weights is None else self.row_weights.made
        outcome: Any = None if self.outcome is None else tuple(self.outcome)
        center = self.parameters.center
        return Bounds(columns, classes, label, self.clip, self.bias, center, aliases, missing, weights, outcome)

    def agreement(self, rows: AuxiliaryRows | None = None, fraction_bits: int | None = None) -> Agreement:
        """Return the agreement, with the public rows beside it and the grid of the shares, if there are any.

        Raises InputError for what no parties can agree on.
        """
        parameters = self.parameters.model_dump()
        marks = {reason: mark for mark, reason in REASONS.items()}
        settled = {
            "parameters": {name: value for name, value in parameters.items() if name not in _ADDED},
            **({} if fraction_bits is None else {"fraction_bits": fraction_bits}),
            "insecure": [marks[reason] for reason in self.insecure],
        }
        return Agreement.from_dict(settled, self.bounds, rows)

    def result(self, agreement: Agreement) -> Weights | DescribeResult:
        """Return the weights, or the description, that follow from what is stated; InputError for what does not fit."""
        stated, spec = self.description, agreement.spec
        if isinstance(spec, DescribeSum) != (stated is not None):
            raise InputError("release.other_result", name=agreement.method.name)
        if stated is None or not isinstance(spec, DescribeSum):
            return read_weights(self.weights_stated or [], agreement.bounds, agreement.features)
        if len(stated.sums) != spec.reach.dimension:
            raise InputError("description.other_length", wanted=spec.reach.dimension, got=len(stated.sums))
        most = len(agreement.parties)
        if stated.parties > most or stated.rows > most * spec.announced.most_rows:
            raise InputError("description.impossible_rows", rows=stated.rows, parties=stated.parties)
        found = spec.describe(stated.rows, stated.parties, tuple(stated.sums))
        if found.as_dict() != stated.model_dump(exclude_unset=True):
            raise InputError("description.other_figures")
        return found

    def _column(self, name: str) -> Column:
        missing = self.missing.get(name)
        if name in self.categories:
            return CategoricalColumn(name, tuple(self.categories[name]), missing, self._aliases(name))
        if name in self.dates:
            first, last = map(parse_iso_date, self.dates[name])
            return DateColumn(name, first, last, missing)
        if name in self.bins:
            return BinnedColumn(name, tuple(self.bins[name]), missing)
        low, high = self.ranges[name]
        return NumericColumn(name, low, high, missing)

    def _aliases(self, name: str) -> Aliases:
        return tuple((level, tuple(texts)) for level, texts in self.aliases.get(name, {}).items())


def read_weights(stated: list[Any], bounds: Bounds, features: FourierFeatures | None) -> Weights:
    """Return a number for each feature, of three or more classes a row for each class; InputError for others."""
    names, d = bounds.classes, bounds.dimension
    dimension = d if features is None else features.dimension(d)
    rows = list(zip(names, stated, strict=False)) if len(names) > 2 else [("", stated)]
    if len(names) > 2 and len(stated) != len(names):
        raise InputError("weights.other_classes", count=len(names), got=len(stated))
    found = tuple(_row(row, dimension, name and f" of class {shown(name)}") for name, row in rows)
    return found if len(names) > 2 else found[0]


def _row(row: Any, dimension: int, of: str) -> tuple[float, ...]:
    if not isinstance(row, list) or any(isinstance(number, list) for number in row):
        raise InputError("weights.not_numbers", of=of, got=shown(row))
    if len(row) != dimension:
        raise InputError("weights.other_length", wanted=dimension, of=of, got=len(row))
    return tuple(row)


class SharesFile(Document):
    """Schema of shares.json: every participant's share of the sum, numbers below the modulus."""

    modulus: WholeNumberText
    fraction_bits: int
    shares: Annotated[dict[str, WholeNumberTexts], limit_keys(_MANY)]

    def total(self, agreement: Agreement) -> Vector:
        """Return the sum of the shares, as integers nearest to zero; InputError unless they fit the agreement."""
        modulus, length = int(self.modulus), agreement.spec.length
        if modulus != 1 << agreement.grid.ring_bits:
            raise InputError("shares.other_modulus", ring_bits=agreement.grid.ring_bits, got=shown(modulus))
        reading.require_keys("shares", self.shares, set(agreement.participants))
        if any(len(share) != length for share in self.shares.values()):
            raise InputError("shares.other_length", wanted=agreement.bounds.dimension, length=length)
        shares = [list(map(int, share)) for share in self.shares.values()]
        if any(number >= modulus for share in shares for number in share):
            raise InputError("shares.above_modulus")
        half = modulus // 2
        return tuple((total + half) % modulus - half for total in add_vectors(shares))


Seconds: TypeAlias = Annotated[float, Field(ge=0, le=LARGEST_FINITE_NUMBER, allow_inf_nan=False)]


class StageTimings(Document):
    """Cost of one stage: messages, bytes and rounds, and seconds of each role that was in it."""

    stage: str
    messages: int
    bytes: int
    rounds: int
    seconds: Annotated[dict[str, Seconds], limit_keys(_MANY)]


class TimingsFile(Document):
    """Schema of timings.json: the cost of a run, in all and by stage; earlier versions lack `not_for_publication`."""

    not_for_publication: str = ""
    messages: int
    bytes: int
    rounds: int
    seconds: Seconds
    by_stage: Annotated[list[StageTimings], Field(max_length=1 << 16, fail_fast=True)]
