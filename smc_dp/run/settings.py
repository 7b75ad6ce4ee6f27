"""The settings of a run: one model of everything that somebody can choose.

**What a setting is.** One field with one sentence. It belongs to one of five sections: `method` (what is learned),
`target` (what the release guarantees), `protocol` (how it is computed, and who may be corrupted or drop out), `data`
(who brings which rows) and `simulation` (how a run is simulated, and where its files go). The parties of a run agree on
the first three (`RunSettings`); a simulation has all five (`RunRequest`). The fields of `protocol` are those that the
terms of the protocols declare (`smc_dp.run.protocols`).

**Where it comes from, and who may set it.**

| source | read by | says |
|---|---|---|
| options of `run`, `study new`, `plan` | `smc_dp.cli.setting_options` | what its user wants to differ from the usual |
| parameters of `run_protocol` and `plan` | `RunSettings.from_options` | the same, by the names of the options |
| a study, which all participants sign | `smc_dp.deploy.study` | every setting of the first three sections |
| a release, of which everybody may read | `SettledRun.from_parameters` | every setting that was agreed on |

**How it is settled.** The first two sources may leave anything out. `RunSettings.settle` takes what they say, then what
the method prefers, then what the protocol prefers, and returns a `SettledRun` (`smc_dp.run.agreement`), in which
nothing is left to a default. A study and a release are read into a `SettledRun` at once. With parties and bounds it
becomes an `Agreement`, whose digest enters the session: nobody can change a setting afterwards. Nothing here reads a
row, and no setting is computed from rows.

**Rules.**

1. Help texts, the published schema and reports share the sentence. `_setting` says what else a field may say.
2. `python tests/make_options.py` writes the options into `smc_dp/cli/setting_options.json`, so that help loads no
   model. A test compares the two.
3. Values are written as in a release: a number as its fraction, a word as it is.
4. The class that uses a setting (a method, `Target`, the terms of a protocol) checks its range, so every source has the
   same refusals. All faults are found in one pass and reported at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from fractions import Fraction
from functools import partial
from numbers import Real
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Self, TypeAlias, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, create_model
from pydantic.fields import FieldInfo

from protocols.runtime.network import TOPOLOGIES
from smc_dp.core.documents import Document, validate_document
from smc_dp.core.errors import FaultCollector, InputError, InputFault, refuse_all, shown
from smc_dp.core.kinds import OneLine, PositiveRatio, SettingValue, check_line, is_number, parse_ratio
from smc_dp.methods.method import Method
from smc_dp.privacy.statement import RecordAdjacency
from smc_dp.privacy.target import (
    CALIBRATION_HELP,
    DEFAULT_DELTA,
    EPSILON_HELP,
    NOISE_HELP,
    NOISES_AS_PUBLISHED,
    SHARED_NOISES,
    Calibration,
    Target,
    as_fraction,
)
from smc_dp.run import agreement as agreements
from smc_dp.run.agreement import PROTOCOLS_BY_NAME, WITH_DELTA, SettledRun
from smc_dp.run.protocols.registry import TERMS, find_terms, setting_names, settle_protocol
from smc_dp.run.protocols.settings import PLAN, RUN, STUDY


def _setting(
    sentence: str, metavar: str = "", kind: str = "", *, on: tuple[str, ...] = (RUN,), short: tuple[str, ...] = (),
    usual: str = "", variable: str = "", title: str = "", sentences: Mapping[str, str] = MappingProxyType({}),
    alias: str | None = None, default: Any = None,
) -> Any:  # fmt: skip
    """Return a field that may be left out.

    `kind`: how the option is read, see `smc_dp.cli.setting_options`, else as the metavar says. `on`: the commands that
    have it; `short`: those whose short help shows it. `usual`: the usual value, in words. `title`: its name in reports,
    else the sentence up to the first stop, without its subject. `sentences`: other sentences, by command.
    """
    read = kind or {"INTEGER": "integer", "NUMBER": "number", "FILE": "path", "DIR": "path"}.get(metavar, "text")
    extra: dict[str, Any] = {"kind": read, "metavar": metavar, "commands": [*on], "short": [*short], "usual": usual}
    extra |= {"variable": variable, "sentences": dict(sentences)}
    said: Any = {name: value for name, value in extra.items() if value}
    name = title or re.split("[.;]", re.sub("^[A-Za-z_, ]+: ", "", sentence))[0]
    name = name[0].upper() + name[1:]
    return Field(default=default, alias=alias, title=name, description=sentence, json_schema_extra=said)


_agreed, _planned = partial(_setting, on=(RUN, STUDY)), partial(_setting, on=(RUN, STUDY, PLAN))
_without_option = partial(_setting, on=())


def required_field(section: type[Document], name: str) -> Any:
    """Return the field of this name as one that must be given."""
    known = section.model_fields[name]
    return Field(title=known.title, description=known.description, json_schema_extra=known.json_schema_extra)


def _choices(kind: Any) -> str:
    return "|".join(get_args(kind))


def _method_setting(value: object) -> Any:
    return parse_ratio(value) if is_number(value) else check_line(value)


MethodSetting: TypeAlias = Annotated[
    str | None, BeforeValidator(_method_setting), WithJsonSchema({"type": ["string", "number"]})
]
"""Setting of a method as a release has it: a number as a fraction, a word as it is."""


class SettingsSection(Document):
    """Section of the settings of a run; keys that the method or the protocol does not have are refused later."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, SettingValue] = Field(init=False)

    def given(self) -> dict[str, Any]:
        """Return the given settings, called and written as in a release, without the section's name."""
        found = self.model_dump(by_alias=True, exclude_none=True)
        return {name: value for name, value in found.items() if name != "name"}


class MethodSettings(SettingsSection):
    """Section of what is learned: a method and the settings that it has."""

    __pydantic_extra__: dict[str, MethodSetting] = Field(init=False)

    name: OneLine | None = _planned(
        "What is learned. prr_mean: the mean of the parties' models; newton (recommended): one model of all rows; "
        "logistic: coefficients with intervals, for two classes; linear: the same for a label that is a number; "
        "describe: counts, means and standard deviations, no model.",
        "|".join(PROTOCOLS_BY_NAME), short=(RUN, STUDY, PLAN), title="Method",
        usual="prr_mean and newton on the built-in rows; else newton, or the one that fits your other options",
        sentences={
            PLAN: "Method that the plan is about [default: the recommended one].",
            STUDY: "What is learned [default: newton; if the other settings fit one method only, that one].",
        },
    )  # fmt: skip
    lam: MethodSetting = _planned(
        "Regularisation, for methods that use it.",
        "NUMBER",
        alias="lambda",
        title="Regularisation",
        usual="by a public rule of rows, columns and epsilon",
    )
    adjacency: MethodSetting = _agreed(
        "newton, gd, logistic, linear: what is hidden: that one record was replaced (replace), or that it is there "
        "(addremove).",
        _choices(RecordAdjacency), "choice", usual="replace", title="Record replaced, or added or removed (adjacency)",
    )  # fmt: skip
    features: OneLine | None = _agreed(
        "newton, gd: learn from this even number of public random Fourier features beside each row, for what is not "
        "linear in it; the bandwidth is in the units of encoded rows. Such as fourier:128, or fourier:128:0.5.",
        "fourier:D[:BANDWIDTH]", title="Fourier features",
    )  # fmt: skip
    by: OneLine | None = _planned(
        "describe: the column of levels or bins whose groups are described, too.", "COLUMN", title="Groups by"
    )
    tables: OneLine | None = _planned(
        'describe: pairs of columns of levels or bins whose contingency tables are released, as "sex*ward, ill*ward".',
        "PAIRS", title="Contingency tables",
    )  # fmt: skip
    rows: MethodSetting = _agreed(
        "gd: the number of all rows, which is public.", "INTEGER", "count", usual="in a simulation, all rows"
    )
    clip: MethodSetting = _agreed("avg_clip: the norm that models are clipped to.", "NUMBER", usual="10")
    rounds: MethodSetting = _without_option("ofpa, ofaa: rounds of learning.")
    reading: MethodSetting = _without_option("ofpa, ofaa: reading of the published step.")
    epochs: MethodSetting = _without_option("ofpa, ofaa: steps of gradient descent, as published.")
    trust: MethodSetting = _without_option("ofaa: one noise on the sum, or one for each party.")
    repair: MethodSetting = _without_option("ofaa: how a noisy polynomial is repaired.")
    lam_global: MethodSetting = _without_option("soft_ss: regularisation of the global model.")
    gamma: MethodSetting = _without_option("soft_ss: regularisation of directions that public rows lack.")


class TargetSettings(SettingsSection):
    """Section of what the release guarantees, or under calibration paper the published figure."""

    model_config = ConfigDict(extra="forbid")

    epsilon: PositiveRatio | None = _planned(
        EPSILON_HELP, "NUMBER", short=(RUN, STUDY, PLAN), usual="1",
        title="The epsilon that was asked for",
    )  # fmt: skip
    delta: PositiveRatio | None = _planned(
        "Delta for ddg, the noise of secure sums.", "NUMBER", "probability", usual="1e-5",
        title="The delta that was asked for",
    )  # fmt: skip
    noise: OneLine | None = _agreed(
        NOISE_HELP, "|".join((*NOISES_AS_PUBLISHED, *SHARED_NOISES)), "choice",
        usual="ddg for newton, gd, logistic, linear; other sums: ddg if `delta` is given, else vg; prr_mean: knorm",
    )  # fmt: skip
    calibration: OneLine | None = _agreed(
        CALIBRATION_HELP, _choices(Calibration), "choice",
        usual="proven", title="Scale of the noise, as proven here or as in the paper",
    )  # fmt: skip


class _NamedProtocol(SettingsSection):
    name: OneLine | None = _planned(
        "prr_mean: the paper's protocol, or one whose cost is linear in the number of parties.", "pathak2010|linear",
        usual="pathak2010; linear from 20 parties on, unless `key_bits`, `comparison` or `exponents` is given",
        title="Protocol", sentences={PLAN: "prr_mean: protocol that computes the method; give `method`, too."},
    )  # fmt: skip


_OF_PROTOCOLS: dict[str, Any] = {
    field.name: (SettingValue, _setting(**field.metadata["setting"]))
    for terms in TERMS.values()
    for field in fields(terms)
}


class ProtocolSettings(create_model("_SettingsOfProtocols", __base__=_NamedProtocol, **_OF_PROTOCOLS)):  # type: ignore[misc]
    """Section of how it is computed: a protocol, its settings, and the parties that may be corrupted or drop out."""

    fraction_bits: SettingValue = _without_option("Binary digits after the point.")


class DataRoles(Document):
    """Section of the rows of a simulation, their owners, columns and files."""

    study: Path | None = _setting(
        "Study file to simulate before anybody signs it. It contains all agreed settings.", "FILE", short=(RUN,)
    )
    party: list[str] | None = _setting(
        "CSV or Parquet file of one party; repeat the option.", "[NAME=]FILE", "texts", short=(RUN,)
    )
    parties_by: str | None = _setting(
        "Column that names the party of each row, where a single `party` file has the rows of all.", "COLUMN"
    )
    label: str | None = _setting(
        "The column to predict: classes, or a number for linear [default: the one that the bounds name].",
        "COLUMN",
        short=(RUN,),
    )
    bounds: Path | None = _setting("TOML file of public bounds, categories and classes.", "FILE", short=(RUN,))
    test: Path | None = _setting("CSV or Parquet file to measure the accuracy on.", "FILE", short=(RUN,))
    auxiliary: str | None = _setting(
        "Public rows without labels for soft_ss, in which the parties' models vote on each. Give a CSV or Parquet file "
        "with `party` or `study`, else a number of rows of the data set. These rows are published.",
        "FILE|INTEGER", title="Digest of the public rows",
    )  # fmt: skip
    strict_bounds: bool = _setting(
        "Refuse rows outside their bounds instead of clipping them.", kind="flag", default=False
    )
    dataset: str | None = _setting(
        "Data set that is partitioned among parties.",
        "breast_cancer|a9a|bank|credit_default|covtype|kdd99|mnist37|har|digits", short=(RUN,), usual="breast_cancer",
    )  # fmt: skip
    data_dir: Path | None = _setting("Folder with the papers' data sets.", "DIR", variable="SMC_DP_DATA")
    parties: int | None = _setting("Number of parties that share a data set.", "INTEGER", usual="5")
    split: str | None = _setting("Each party's percentage of a data set.", "15,20,...")


class Simulation(Document):
    """Section of how a run is simulated and where its files go, on which no party agrees."""

    drop_out: list[str] | None = _setting(
        "Secure sum: simulate a drop-out: NAME stops before its N-th message. Its greeting and its messages to single "
        "participants count. Repeat the option.",
        "NAME:N",
        "texts",
    )
    topology: str | None = _setting(
        "Direct links (mesh), or all messages through the curator (star).", "|".join(TOPOLOGIES), "choice", usual="mesh"
    )
    link: str | None = _setting("Network whose delays are simulated.", "lan|wan|none", "choice", usual="none")
    out: Path | None = _setting("Run folder to make.", "DIR", short=(RUN,), usual="a new one in runs/")
    metrics: Path | None = _setting(
        "New page of how well the release classifies the test rows. Only you can read it.", "FILE"
    )
    record_views: Path | None = _setting(
        "New folder for the view of each participant, for audits. The views are SECRET.", "DIR"
    )
    ledgers: Path | None = _setting(
        "Folder with each party's ledger; a run that would exceed a budget is refused.", "DIR"
    )
    budget: str | None = _setting(
        "With `ledgers`: epsilon limit of the ledgers that this run creates. The limit never changes.", "NUMBER", "text"
    )
    budget_delta: str | None = _setting(
        "With `budget`: delta limit.", "NUMBER", "text", usual="`delta` of this run if its noise has one, else 0"
    )
    most_cells: int | None = _setting(
        "Number of cells that a file may have here. Overrides most_cells in own.toml or in FILE.toml beside it.",
        "INTEGER", "count", usual="what the free memory allows",
    )  # fmt: skip
    identities: Path | None = _setting("Folder made by `smc-dp identities new`, with a key for each party.", "DIR")
    insecure_seed: int | None = _setting("Reproducible and INSECURE: take all randomness from this number.", "INTEGER")
    as_published_insecure: bool = _setting("INSECURE: the paper's steps with their leaks.", kind="flag", default=False)


SECTIONS: Mapping[str, type[SettingsSection]] = MappingProxyType(
    {"method": MethodSettings, "target": TargetSettings, "protocol": ProtocolSettings}
)


class RunSettings(Document):
    """Settings on which the parties of a run agree, as far as they are given; see the module."""

    method: MethodSettings = MethodSettings()
    target: TargetSettings = TargetSettings()
    protocol: ProtocolSettings = ProtocolSettings()
    insecure_test_keys: bool = _agreed("INSECURE: allow keys below 2048 bits.", kind="flag", default=False)

    @classmethod
    def from_options(cls, **said: Any) -> Self:
        """Return the settings in these parameters, by the names of options; None stands for a setting not given.

        A float that is an epsilon or a delta becomes the smaller of its decimal and its binary reading.
        """
        found: dict[str, dict[str, Any]] = {}
        for name, section in SECTIONS.items():
            for key in section.model_fields:
                value = said.pop(name if key == "name" else key, None)
                if value is not None:
                    alias = section.model_fields[key].alias or key
                    number = isinstance(value, Fraction) or (name == "target" and isinstance(value, Real))
                    found.setdefault(name, {})[alias] = str(as_fraction(key, value)) if number else value
        return validate_document(cls, {**found, **said}, "settings")

    def settle(
        self,
        parties: int,
        *,
        seeded: bool = False,
        as_published: bool = False,
        method: Method | None = None,
        target: Target | None = None,
    ) -> SettledRun:
        """Return what so many parties agree on, with the usual values of settings that are not given.

        `method` and `target` replace their sections. Raises `UnfitError` with every fault, or the one InputError.
        """
        named = (self.protocol.name, self.method.given(), self.protocol.given())
        name = (
            method.name if method else self.method.name or agreements.default_method(*named, as_published=as_published)
        )
        by = self._protocol(name, parties, as_published=as_published)
        agreements.secure_method(name, by)
        usual = method or agreements.make_method(name, by, {})
        found, wanted, agreed = FaultCollector(), target, None
        settled: Any = usual  # the protocol's settings are read beside a method with a fault, too
        with found.step():
            settled = method or self._method(usual, by)
        with found.step():
            wanted = target or self._target(settled, by, as_published=as_published)
        with found.step():
            terms = settle_protocol(by, settled, self.protocol.given())
            if wanted is not None:
                markers = agreements.insecure_markers(by, terms, seeded=seeded)
                by_rule = (
                    method is None
                    and "lambda" in agreements.required_settings(type(settled))
                    and "lambda" not in self.method.given()
                )
                agreed = SettledRun(settled, wanted, by, terms, markers, by_rule)
                agreed.check(test_keys=self.insecure_test_keys)
        return found.required(agreed)

    def restricted_to(self, method: str, protocol: str) -> RunSettings:
        """Return the settings without those that this method, by this protocol, does not have."""
        kind, terms = agreements.secure_method(method, protocol), find_terms(protocol)
        known = {"method": agreements.required_settings(kind), "protocol": setting_names(terms)}
        sections = {"method": {"name": method}, "protocol": {"name": protocol}, "target": self.target.given()}
        for section, names in known.items():
            given = getattr(self, section).given()
            sections[section] |= {name: value for name, value in given.items() if name in names}
        if terms.default_noise(kind, True) not in WITH_DELTA:
            sections["target"].pop("delta", None)
        return RunSettings.model_validate(sections)

    def _protocol(self, method: str, parties: int, *, as_published: bool) -> str:
        """Return the protocol that is given, or the usual one; "" for a method that none computes."""
        given, known = self.protocol.name, PROTOCOLS_BY_NAME.get(method, ())
        flawed = [name for name in known if agreements.is_as_published(name)]
        if as_published:
            if given not in (None, *flawed):
                raise InputError("protocol.with_printed_steps")
            if known and not flawed:
                raise InputError("method.not_printed", method=method)
            return flawed[0] if flawed else ""
        proper = [name for name in known if name not in flawed]
        if given is not None and known and given not in proper:
            raise InputError("protocol.not_of_method", known=proper, got=shown(given))
        return given or agreements.default_protocol(method, parties, self.protocol.given())

    def _method(self, usual: Any, protocol: str) -> Any:
        given, known = self.method.given(), agreements.required_settings(type(usual))
        others = [name for name in given if name not in known]
        refuse_all(InputFault("method.no_such_setting", {"setting": name, "method": usual.name}) for name in others)
        read = agreements.read_method_settings(given, type(usual), complete=False)
        return agreements.make_method(usual.name, protocol, read)

    def _target(self, method: Any, protocol: str, *, as_published: bool) -> Target:
        given, known = self.target, method.calibrations
        if given.calibration not in (None, *known):
            raise InputError("calibration.not_of_method", method=method.name, known=known, got=given.calibration)
        noise: Any = given.noise or find_terms(protocol).default_noise(method, given.delta is not None)
        if given.delta is not None and noise not in WITH_DELTA:
            raise InputError("delta.without_ddg", noise=noise)
        calibration: Any = given.calibration or ("paper" if as_published else "proven")
        return Target(Fraction(given.epsilon or 1), calibration, noise, Fraction(given.delta or DEFAULT_DELTA))


class RunRequest(RunSettings):
    """Settings of the command `run`."""

    data: DataRoles = DataRoles()
    simulation: Simulation = Simulation()


def setting_fields(model: type[BaseModel]) -> Iterator[tuple[str, str, FieldInfo]]:
    """Yield the section, the name and the field of every setting; "" for a setting outside all sections."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            for key, inner in kind.model_fields.items():
                yield name, name if key == "name" else inner.alias or key, inner
        else:
            yield "", name, field


TITLES = MappingProxyType({name: str(field.title) for _, name, field in setting_fields(RunRequest)})
"""Titles of settings in reports, by the names that stand in a release."""
