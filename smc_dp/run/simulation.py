"""Simulation of a run in one process: parties contribute, the protocol runs, the release is written and compared.

One process holds everybody's rows, which only a simulation does; the comparisons at the end need that. Parties that
drop out before anybody is charged are left out of a new session, with new noise and an agreement of the others.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, TypeAlias, TypedDict, Unpack

import numpy as np

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.curator import CURATOR_NAME
from protocols.errors import StoppedError
from protocols.runtime.actor import Actor, Greetings
from protocols.runtime.observer import Observer
from protocols.runtime.simulate import DropOutAfter, MakeActors, Setting, SpendingListener
from smc_dp.core.errors import InputError, InputFault, shown
from smc_dp.core.threads import one_thread
from smc_dp.core.writing import open_scratch, refuse_existing
from smc_dp.data.federation import Federation, Rows, check_labelled_rows
from smc_dp.data.partition import check_names
from smc_dp.data.sources import PreparedData
from smc_dp.methods.functionality import ideal
from smc_dp.methods.method import HasSignal, require_model
from smc_dp.methods.model import LinearModel, ReleasedModel, Weights, choose_classes, scores
from smc_dp.methods.nonprivate import BASELINE_LAMBDA, accuracy_alone, majority_accuracy
from smc_dp.privacy.ledger.ledger import RELEASED, run_key
from smc_dp.privacy.ledger.numbers import delta_rounded_up, digits_rounded_up
from smc_dp.run import folder as run_folder
from smc_dp.run.agreement import SEEDED, Agreement
from smc_dp.run.budget_charge import charge_of_run, charge_together
from smc_dp.run.ledgers import ABORTS, Ledgers, Reservations, accounted
from smc_dp.run.metrics import has_probabilities, measure_release, released_probabilities
from smc_dp.run.one_class import one_class_faults
from smc_dp.run.party import LocalParty
from smc_dp.run.personal_comparison import compare_personalised
from smc_dp.run.protocols import execution
from smc_dp.run.protocols.cost import Outcome
from smc_dp.run.protocols.execution import NoResultError, SimulatedSession
from smc_dp.run.regression_metrics import (
    RegressionComparison,
    decode_outcomes,
    least_squares_error,
    measure_regression,
)
from smc_dp.run.release import RELEASE
from smc_dp.run.report import Comparison, Presence, Report
from smc_dp.run.site_process import SiteActor, SiteInputs, SiteRandomness
from smc_dp.run.threshold import HALF, Threshold

_LOG = logging.getLogger(__name__)
HearProgress: TypeAlias = Callable[[str, int, int], None]
"""Function that is called with what goes on, how much of it is done, and of how much; the next part begins anew."""


class SimulationOptions(TypedDict, total=False):
    """Options of a simulation, on which no party agrees.

    `link`, `topology`: "none" and "mesh" unless given. `identities`: long-term identities, else new ones are made.
    `views`: folder for the secret views. `ledgers`: checked before anybody trains, and charged before the first
    message, under a key of the session.
    """

    link: str
    topology: str
    identities: Mapping[str, Identity] | None
    views: Path | None
    ledgers: Ledgers | None


def simulate_run(
    data: PreparedData,
    agreement: Agreement,
    rng: Stream,
    folder: Path,
    progress: HearProgress | None = None,
    *,
    drop_out: Mapping[str, int] = MappingProxyType({}),
    **how: Unpack[SimulationOptions],
) -> Report:
    """Simulate a run and write the run folder, and the secret views into the folder `views` if one is named.

    `drop_out`: the party of this name drops out before its n-th envelope; the greeting and every sealed message count
    one. `how`: see `SimulationOptions`. Raises InputError before any message where inputs do not fit, a folder exists,
    or a party's budget would be passed. Errors of the protocol pass through; then nothing was written but in ledgers,
    and with `ledgers` a note says who was charged.
    """
    run = _Run(data, agreement, rng, folder, drop_out, **how)
    run.check()
    while True:
        charged: set[str] = set()
        try:
            return run.once(charged, progress)
        except NoResultError as error:
            if charged or not error.dropped_out:
                if run.left_out:
                    error.add_note(f"{', '.join(run.left_out)} had dropped out before anybody was charged")
                raise
            run = run.without(error)


def simulate_each(
    data: PreparedData,
    agreements: Mapping[Path, Agreement],
    rng: Stream,
    progress: HearProgress | None = None,
    **how: Unpack[SimulationOptions],
) -> list[Report]:
    """Simulate several runs on the same rows, each written to the folder of its agreement; return their reports.

    Every party is charged for all of them before the first begins. An error in one refunds those that have not begun.
    The rest is as in `simulate_run`; `views` receives a folder for each run, called as the run's own.
    """
    runs, views = [], how.get("views")
    for folder, agreement in agreements.items():
        own: SimulationOptions = {**how, "views": None if views is None else views / folder.name}
        runs.append(_Run(data, agreement, rng.fork(f"run {folder.name}"), folder, {}, **own))
        runs[-1].check()
    reports: list[Report] = []
    with one_thread(), ExitStack() as all_charged:
        try:
            for go in [all_charged.enter_context(run.charged(set(), progress)) for run in runs]:
                reports.append(go())
        except BaseException as error:
            if isinstance(error, InputError) and error.code.startswith("budget."):
                epsilon, delta = charge_together(agreements.values())
                need = f"epsilon {digits_rounded_up(epsilon)} and delta {delta_rounded_up(delta)}"
                error.add_note(f"the {len(runs)} runs together need {need}")
            for report in reports:
                cost = "" if how.get("ledgers") is None else ", and stays charged"
                error.add_note(f"the release in {report.run_dir} was made before{cost}")
            raise
    return reports


@dataclass(frozen=True)
class _Run:
    """Sessions of a run, one after another until one ends; `left_out`: dropped out before anybody was charged."""

    data: PreparedData
    agreement: Agreement
    rng: Stream
    folder: Path
    drop_out: Mapping[str, int]
    link: str = "none"
    topology: str = "mesh"
    identities: Mapping[str, Identity] | None = None
    views: Path | None = None
    ledgers: Ledgers | None = None
    left_out: tuple[str, ...] = ()

    @property
    def simulated(self) -> Mapping[str, str]:
        """Topology and link, as the session is bound to them."""
        return {"topology": self.topology, "link": self.link}

    def check(self) -> None:
        """Raise an InputError for inputs that do not fit together, before anything is written."""
        wanted = [self.folder] if self.views is None else [self.folder, self.views]
        for new in wanted:
            refuse_existing(new)
        _check(self.data, self.agreement, self.rng, wanted)
        _check_drop_outs(self.drop_out, self.agreement)
        if self.topology == "star" and CURATOR_NAME not in self.agreement.participants:
            raise InputError("topology.no_curator")

    def once(self, charged: set[str], progress: HearProgress | None) -> Report:
        """Run one session and return its report; `charged` receives the names of charged parties."""
        with one_thread(), self.charged(charged, progress) as go:
            return go()

    @contextmanager
    def charged(self, charged: set[str], progress: HearProgress | None) -> Iterator[Callable[[], Report]]:
        """Train and charge; yield the function that runs the session. An error before it is called refunds."""
        agreement, data = self.agreement, self.data
        run_folder.check_readable(agreement, self.simulated)
        parties = local_parties(data, agreement, self.rng)
        check_parties(parties)
        charge = charge_of_run(agreement) if self.ledgers else None
        if self.ledgers and charge:
            self.ledgers.check(data.as_read, charge)
        _LOG.info("method %s by %s among %d parties", agreement.method.name, agreement.protocol, len(parties))
        contributions = _contributions(parties, progress)
        own = self.rng.fork("protocol")
        opened = agreement.session(own, self.identities, self.simulated)
        with open_scratch(self.folder) as transcript:
            reserved = None
            if self.ledgers and charge:
                key = run_key(opened.session.id, RELEASED)
                reserved = self.ledgers.reserve(data.as_read, agreement.mechanism, charge, key)
            make_actors = _actor_maker(opened, parties, own, keeps_seed=self.views is not None)
            setting = self._setting(transcript, reserved, charged, make_actors)
            begun = []

            def go() -> Report:
                begun.append(opened.session.id)
                with accounted(reserved, harmless=ABORTS):
                    outcome = execution.run_session(
                        agreement.functionality, contributions, opened, rng=own, setting=setting, progress=progress,
                    )  # fmt: skip
                with accounted(reserved):
                    return self._released(outcome, reserved)

            try:
                yield go
            except BaseException:
                if begun:
                    raise
                unbegun = f"{self.folder} had not begun"
                with accounted(reserved, harmless=(BaseException,), run=unbegun):  # nothing has left anybody
                    raise

    def _released(self, outcome: Outcome, reserved: Reservations | None) -> Report:
        """Write the folders and the outcomes in ledgers, and return the report."""
        agreement, data, folder, execution = self.agreement, self.data, self.folder, outcome.execution
        if execution is None:
            raise RuntimeError("the protocol left nothing to publish")
        published = run_folder.make_release(outcome, agreement, self.simulated)
        run_folder.write_run(folder, published, execution)
        _LOG.info("the release is in %s; in it: %s", folder, ", ".join(execution.members))
        if self.views is not None:
            run_folder.write_views(self.views, execution)
            _LOG.info("the secret views are in %s", self.views)
        standings = reserved.released(folder / RELEASE, execution.members) if reserved else {}
        described = published.description
        plain = self.rng.fork("no noise")
        compared = tested = None
        threshold = HALF if data.threshold is None else Threshold(data.threshold)
        if agreement.bounds.outcome is not None and not described:
            tested = _regression_comparison(data, agreement, published.weights)
        elif not described:
            compared = _comparison(data, agreement, published.weights, threshold, plain)
        left = [InputFault("run.parties_left_out", {"names": self.left_out, "others": len(agreement.parties)})]
        late = [
            InputFault("run.stayed_to_the_end", {"name": name, "number": number})
            for name, number in self.drop_out.items()
            if name not in execution.dropped_out
        ]
        remarks = (
            *(left if self.left_out else ()),
            *late,
            *one_class_faults(published, threshold),
            *(reserved.remarks if reserved else ()),
        )
        present = Presence(execution.members, execution.dropped_out, self.left_out)
        spec = agreement.spec
        signal = spec.signal(int(data.federation.sizes.sum())) if isinstance(spec, HasSignal) else None
        planned = agreement.expected_accuracy(data.federation.sizes.tolist())
        return Report(
            agreement, self.simulated, compared, execution.cost, folder, standings, remarks, present, signal, planned,
            described, published.inference, tested,
        )  # fmt: skip

    def without(self, stopped: NoResultError) -> _Run:
        """Return the next session, without drop-outs and with new randomness; raise where the others cannot go on."""
        dropped_out = ", ".join(stopped.dropped_out)
        _LOG.info("%s dropped out before anybody was charged: a new session of the others", dropped_out)
        federation = self.data.federation
        left = {name: rows for name, rows in federation.by_name.items() if name not in stopped.dropped_out}
        tables = {name: table for name, table in self.data.tables.items() if name in left}
        try:
            check_names(list(left))
            terms = self.agreement.terms.without(stopped.dropped_out)
            agreement = replace(self.agreement, parties=tuple(left), terms=terms)
        except InputError as error:
            raise _no_other_session((*self.left_out, *stopped.dropped_out), stopped, error) from None
        some = replace(federation, parties=tuple(left.values()), names=tuple(left))
        later = {name: n - stopped.sent.get(name, 0) for name, n in self.drop_out.items() if name in left}
        return replace(
            self,
            data=replace(self.data, federation=some, tables=tables),
            agreement=agreement,
            rng=self.rng.fork(f"without {' '.join(sorted(stopped.dropped_out))}"),
            drop_out={name: max(n, 1) for name, n in later.items()},
            left_out=(*self.left_out, *stopped.dropped_out),
        )

    def _setting(
        self, transcript: IO[bytes], reserved: Reservations | None, charged: set[str], make_actors: MakeActors
    ) -> Setting:
        def charge(name: str, label: str) -> None:
            charged.add(name)
            if reserved:
                reserved.leaving(name, label)

        def refund(name: str, label: str) -> None:
            if reserved:
                reserved.disowned(name, label)

        return Setting(
            self.topology,
            self.link,
            drop_outs={name: DropOutAfter(n - 1) for name, n in self.drop_out.items()},
            marks=self.agreement.marks,
            views=self.views is not None,
            record=transcript,
            released=partial(reserved.leaving, label=RELEASED) if reserved else None,
            charge=charge,
            refund=refund,
            make_actors=make_actors,
        )


def _actor_maker(
    opened: SimulatedSession, parties: Sequence[LocalParty], rng: Stream, *, keeps_seed: bool
) -> MakeActors:
    """Return a function that makes everybody's actor as a site makes its own; `keeps_seed`: for views."""
    session, own = opened.session, {party.name: party for party in parties}

    def local_inputs(name: str) -> SiteInputs:
        if name not in own:  # the curator
            return SiteInputs(lambda randomness: (session.parameters,))
        party = own[name]
        return SiteInputs(
            lambda randomness: party.inputs(session),
            lambda randomness, inputs: party.answers(session, inputs),
            party.draws,
        )

    def make(
        greetings: Greetings, observer: Observer, charge: SpendingListener, refund: SpendingListener
    ) -> Mapping[str, Actor]:
        made = {
            name: SiteActor(
                session, name, opened.identities[name], local_inputs(name), greetings,
                randomness=SiteRandomness(rng.fork(f"seed {name}"), rng.fork(f"home {name}")),
                keeps_seed=keeps_seed,
                charge=partial(charge, name) if charge else None,
                refund=partial(refund, name) if refund else None,
                observer=observer,
            )
            for name in session.names
        }  # fmt: skip
        return {name: own_actor.actor for name, own_actor in made.items()}

    return make


def _no_other_session(dropped_out: Sequence[str], stopped: NoResultError, why: InputError) -> StoppedError:
    """Return the error of a session that cannot be repeated without its drop-outs, with the notes of its cost."""
    error = StoppedError("session.none_of_others", dropped_out=dropped_out, why=str(why))
    for note in getattr(stopped, "__notes__", ()):
        error.add_note(note)
    return error


def local_parties(data: PreparedData, agreement: Agreement, rng: Stream) -> list[LocalParty]:
    """Return the parties with their rows and their randomness."""
    return [
        LocalParty(name, rows, agreement, rng.fork(f"party {name}"), data.tables.get(name))
        for name, rows in data.federation.by_name.items()
    ]


def check_parties(every: Sequence[LocalParty]) -> None:
    """Raise an InputError, which names the party, where one cannot take part; nothing is trained."""
    for own_part in every:
        own_part.agreement.check_room(len(own_part.rows), own_part.table)
        own_part.check()
    every[0].agreement.check_count(sum(len(own_part.rows) for own_part in every))


def _check_drop_outs(drop_out: Mapping[str, int], agreement: Agreement) -> None:
    """Raise an InputError for simulated drop-outs that the protocol cannot have."""
    if drop_out and not agreement.terms.tolerates_dropouts:
        raise InputError("drop_out.not_possible", protocol=agreement.protocol)
    for name, number in drop_out.items():
        if name not in agreement.parties:
            raise InputError("drop_out.unknown_party", parties=agreement.parties, got=shown(name))
        if type(number) is not int or number < 1:
            raise InputError("drop_out.no_number", name=name, got=shown(number))


def _check(data: PreparedData, agreement: Agreement, rng: Stream, folders: list[Path]) -> None:
    """Raise an InputError unless the agreement is of this data and randomness, and the folders lie apart."""
    federation = data.federation
    classes = agreement.bounds.class_count
    if federation.names != agreement.parties or data.bounds != agreement.bounds or federation.classes != classes:
        raise InputError("agreement.of_other_data")
    if federation.dimension != agreement.bounds.dimension:
        wanted = agreement.bounds.dimension
        raise InputError("rows.other_features", wanted=wanted, got=federation.dimension)
    if data.test is not None:
        check_labelled_rows(data.test, federation.classes, (federation.dimension,), "the rows to test on")
    if rng.insecure != (SEEDED in agreement.marks):
        came = "a seed" if rng.insecure else "the system"
        raise InputError("randomness.wrong_mark", mark=SEEDED, source=came)
    places = [folder.resolve() for folder in folders]
    for one, other in permutations(places, 2):
        if one == other or other in one.parents:
            raise InputError("folder.not_apart", one=str(one), other=str(other))


def _contributions(every: Sequence[LocalParty], progress: HearProgress | None) -> list[Any]:
    contributions = []
    hear = progress or (lambda stage, done, total: None)
    for j, own in enumerate(every):
        hear("local training", j, len(every))
        _LOG.debug("%s makes its part", own.name)
        contributions.append(own.contribution)
    hear("local training", len(every), len(every))
    return contributions


def _comparison(
    data: PreparedData, agreement: Agreement, weights: Weights, threshold: Threshold, rng: Stream
) -> Comparison | None:
    federation, test = data.federation, data.test
    if test is None:
        return None
    own: float | None = getattr(agreement.method, "lam", None)
    lam, classes = BASELINE_LAMBDA if own is None else own, federation.classes
    of_rows = scores(weights, test.X, agreement.features)
    sure = released_probabilities(agreement.spec, of_rows)
    plain = replace(federation, parties=tuple(replace(rows, weights=None) for rows in federation.parties))
    return Comparison(
        accuracy=float(np.mean(choose_classes(of_rows) == test.y)),
        individual={name: accuracy_alone(rows, lam, test, classes) for name, rows in plain.by_name.items()},
        pooled=accuracy_alone(plain.pooled(), lam, test, classes),
        majority=majority_accuracy(federation, test),
        smallest_rows=min(len(rows) for rows in federation.parties) if agreement.spec.smallest_sets_noise else None,
        baseline_lambda=lam if own is None else None,
        without_noise=_without_noise(federation, agreement, rng).accuracy(test),
        rows=len(test),
        metrics=measure_release(test.y, of_rows, sure, agreement.bounds.classes, threshold),
        weighted=federation.weighted,
        personalised=compare_personalised(
            federation,
            LinearModel.from_weights(weights),
            test,
            features=agreement.features,
            fits_length=not has_probabilities(agreement.spec),
        ),
    )


def _regression_comparison(data: PreparedData, agreement: Agreement, weights: Weights) -> RegressionComparison | None:
    federation, test, bounds = data.federation, data.test, agreement.bounds
    if test is None:
        return None
    outcomes = decode_outcomes(test.y, bounds)

    def error(rows: Rows) -> float:
        return least_squares_error(rows.X, decode_outcomes(rows.y, bounds), test.X, outcomes)

    return RegressionComparison(
        metrics=measure_regression(outcomes, scores(weights, test.X)),
        pooled=error(federation.pooled()),
        alone={name: error(rows) for name, rows in federation.by_name.items()},
    )


def _without_noise(federation: Federation, agreement: Agreement, rng: Stream) -> ReleasedModel:
    """Return the model of the same method and rows without noise, which nobody releases."""
    target = replace(agreement.target, epsilon=None)
    spec = agreement.terms.spec(agreement.method, agreement.public, target)
    parts = [spec.part(rows, rng.fork(f"part {j}")) for j, rows in enumerate(federation.parties)]
    return require_model(spec.model(ideal(spec.functionality, parts, rng)))
