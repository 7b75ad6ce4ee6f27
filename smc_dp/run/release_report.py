"""Page of a release: what was released, what it guarantees and what not, how to use it and how to check it.

The page is made from the published files alone, after the release was verified. It holds no accuracy, no duration,
and no count of rows but that of a description.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from protocols.curator import CURATOR_NAME
from protocols.programs import PROTOCOLS
from protocols.runtime.network import LINK_MODELS
from protocols.runtime.transcript import ABSENT
from smc_dp.core.version import __version__
from smc_dp.data.bounds import Bounds
from smc_dp.data.report import column_table
from smc_dp.data.row_weights import RowWeights
from smc_dp.pages.blocks import Banner, Bullets, FactList, Page, PageBlock, PageTable, Prose, Section, Verbatim
from smc_dp.pages.shortening import first_texts, join_first, shorten
from smc_dp.privacy.statement import PrivacyStatement, short_delta, short_figure
from smc_dp.run.agreement import Agreement
from smc_dp.run.coefficient_intervals_table import interval_blocks
from smc_dp.run.coefficient_rows import NO_UNITS, UnitsByColumn, check_units_of_columns
from smc_dp.run.coefficients_table import coefficient_blocks
from smc_dp.run.description_table import description_blocks
from smc_dp.run.folder import read_content, read_listed_file, read_release_file, read_run_files
from smc_dp.run.methods_section import methods_section
from smc_dp.run.one_class import one_class_faults
from smc_dp.run.privacy_summary import summary_lines
from smc_dp.run.release import AUXILIARY, RELEASE, STUDY, TIMINGS, TRANSCRIPT, PublishedRelease
from smc_dp.run.settings import TITLES
from smc_dp.run.threshold import HALF, Threshold, stated_threshold
from smc_dp.run.verify_release import verify_release

_SIZE = re.compile(rb'"size":([0-9]{1,18})[,}]')
_NO_MESSAGE, _RELAYED = f'"kind":"{ABSENT}"'.encode(), b'"via":'


class TrafficTotals(NamedTuple):
    """Numbers of messages and bytes of a session; relayed messages count twice."""

    messages: int
    bytes: int


def count_traffic(lines: Iterable[bytes], overhead: int) -> TrafficTotals:
    """Count the messages on the lines of a transcript; `overhead`: bytes that the link adds to each message.

    The lines are not parsed. A mark with quotation marks cannot stand inside a JSON text, where they are escaped. Lines
    of no transcript count nothing.
    """
    messages = size = 0
    for number, line in enumerate(lines):
        found = _SIZE.search(line)
        if number and found and _NO_MESSAGE not in line:
            hops = 2 if _RELAYED in line else 1
            messages += hops
            size += hops * (int(found[1]) + overhead)
    return TrafficTotals(messages, size)


NO_PROOF = "An audit can show that a claim is false. It cannot prove that a claim is true."

PARAMETER_TITLES = TITLES | {
    "agreed": "Digest of all that was agreed on",
    "center": "Ranges of number columns mapped to [-1, 1]",
    "dimension": "How many numbers encode a row, the constant included",
    "learner": "What each party trained",
}
"""Titles of the parameters of a release: settings, and derived parameters."""

# A page has to fit into its 2 MB, whatever names there are.
_MOST_NAMES, _MOST_LEVELS = 200, 12
_KINDS = {
    "pure": "pure epsilon-differential privacy",
    "approx": "(epsilon, delta)-differential privacy",
    "zcdp": "zero-concentrated differential privacy, and an epsilon and a delta that follow from it",
    "none": "none",
}
_PREDICT = 'from smc_dp import predict\n\nprint(predict("FOLDER", "new.csv").labels)'
_AUDIT = 'from smc_dp import audit_run\n\nprint(audit_run("FOLDER").passed)'


def run_page(folder: Path, per: UnitsByColumn = NO_UNITS) -> Page:
    """Verify the release in a run folder, and return its page; the folder is read once.

    `per`: how many units of a column its coefficient with an interval is for. Raises InputError where a file
    is missing or malformed, or contradicts another one, for figures with intervals without a transcript, and for units
    of what is no column of numbers or dates.
    """
    files = read_run_files(folder)
    found, document = verify_release(files), read_release_file(files)
    if found.release.agreement.describes or found.release.agreement.infers or found.release.inference is not None:
        found.require_transcript()
    check_units_of_columns(per, found.release)
    digests = {RELEASE: hashlib.sha256(read_content(files, RELEASE)).hexdigest(), **document.digests.named}
    digests.pop(TIMINGS, None)
    sent = None
    if TRANSCRIPT not in found.missing:
        overhead = LINK_MODELS[found.release.parameters["link"]].overhead
        sent = count_traffic(BytesIO(read_listed_file(files, document, TRANSCRIPT)), overhead)
    return release_page(found.release, digests, sent, found.missing, stated_threshold(files), per)


def release_page(
    release: PublishedRelease,
    digests: Mapping[str, str],
    sent: TrafficTotals | None,
    missing: Collection[str] = (),
    threshold: Threshold = HALF,
    per: UnitsByColumn = NO_UNITS,
) -> Page:
    """Return the page of a verified release.

    `digests`: SHA-256 of each published file, by name. `sent`: None without a transcript. `missing`: files that were
    not there to verify the release with. `threshold`: the public one that was agreed on. `per`: as in `run_page`.
    """
    agreement = release.agreement
    return Page(
        title=f"A release by {join_first(agreement.parties, 3)}",
        notices=tuple(_notices(release, missing, at_sites=STUDY in digests)),
        sections=(
            Section("What was released", (*_released(release), *_one_class(release, threshold))),
            Section("Parties", tuple(_parties(release))),
            Section("What it guarantees", (FactList((("Example", agreement.statement.example),)),), details=True),
            Section("Privacy statement", (FactList(tuple(summary_lines(agreement))),), new_sheet=True),
            Section("Privacy statement in full", tuple(_guaranteed(agreement.statement)), details=True),
            Section("What it does not guarantee", tuple(_not_guaranteed(agreement)), details=True),
            Section("Columns and their public bounds", tuple(_columns(release))),
            *_description(release),
            *_coefficients(release, threshold),
            *_intervals(release, per),
            *_methods(release, at_sites=STUDY in digests),
            Section("How it was computed", tuple(_computed(release, sent))),
            Section("How to use it", tuple(_use(agreement, threshold))),
            Section("How to check it", tuple(_check(digests))),
        ),
        made=(f"Made by smc-dp {__version__} from the published files of the run alone.",),
    )


def _description(release: PublishedRelease) -> Iterator[Section]:
    if (found := release.description) is not None:
        yield Section("Description of the rows", tuple(description_blocks(found, release.bounds)))


def _coefficients(release: PublishedRelease, threshold: Threshold) -> Iterator[Section]:
    if release.coefficients is not None:  # a release of features has none
        blocks = coefficient_blocks(release.coefficients, release.bounds, threshold.score)
        yield Section("Coefficients", tuple(blocks))


def _intervals(release: PublishedRelease, per: UnitsByColumn) -> Iterator[Section]:
    if release.inference is not None:
        blocks = interval_blocks(release.inference, release.bounds, per)
        yield Section("Coefficients with intervals", tuple(blocks))


def _methods(release: PublishedRelease, *, at_sites: bool) -> Iterator[Section]:
    if blocks := tuple(methods_section(release, at_sites=at_sites)):
        yield Section("For the methods section of a paper", blocks)


def _notices(release: PublishedRelease, missing: Collection[str], *, at_sites: bool) -> Iterator[Banner]:
    if missing:
        yield Banner(f"Not verified against the transcript: the folder has no {' and no '.join(missing)}.", "failed")
    for reason in release.insecure:
        yield Banner(f"INSECURE: {reason}.", "insecure")
    if release.agreement.statement.kind == "none":
        yield Banner(release.agreement.statement.promise, "insecure")
    if at_sites and TRANSCRIPT in missing:
        yield Banner(f"The release states a study, {STUDY}. Approvals of it could not be verified.", "failed")
    elif at_sites:
        yield Banner(
            f"Run for a study that all participants approved of by signature, {STUDY}. No file shows that each ran its "
            "own role on its own machine."
        )
    else:
        yield Banner("A simulation: one process played all participants, and had the rows of all parties.")


def _released(release: PublishedRelease) -> Iterator[PageBlock]:
    agreement, bounds = release.agreement, release.bounds
    if agreement.describes:
        yield Prose(
            f"A description of the rows of {len(agreement.parties)} parties, with noise: {agreement.method.figures}. "
            "No file here contains a row of a party."
        )
        yield FactList((("Method", agreement.method.name), ("Protocol", agreement.protocol)))
        return
    several = f" for each of {len(bounds.classes)} classes" if len(bounds.classes) > 2 else ""
    kind, predicts = "classifier", f"one of {len(bounds.classes)} classes"
    if bounds.outcome is not None:
        kind, predicts = "regression", f"a number, {shorten(str(bounds.label))},"
    public = "" if agreement.auxiliary is None else f" The auxiliary rows are public ({AUXILIARY})."
    yield Prose(
        f"The weights of a linear {kind}{_of_features(agreement)}, trained on the rows of {len(agreement.parties)} "
        f"parties. It predicts {predicts} for a row. No file here contains a row of a party.{public}"
    )
    apart = f"{shorten(str(bounds.label))}: {bounds.label_range or join_first(bounds.classes, _MOST_NAMES)}"
    how = (("Method", agreement.method.name), ("Protocol", agreement.protocol))
    yield FactList(
        (("Outcome" if bounds.outcome else "Classes", apart), ("Weights", f"{agreement.weight_count}{several}"), *how)
    )


def _of_features(agreement: Agreement) -> str:
    return (
        "" if agreement.features is None else f" of rows with {agreement.features.count} public Fourier features each"
    )


def _one_class(release: PublishedRelease, threshold: Threshold) -> Iterator[Prose]:
    yield from (Prose(str(fault), fault.code) for fault in one_class_faults(release, threshold))


def _guaranteed(statement: PrivacyStatement) -> Iterator[PageBlock]:
    yield Prose(statement.promise)
    if statement.epsilon is not None:
        whose = "one record" if statement.unit == "record" else "all records of one party"
        figured = (("Epsilon", short_figure(statement.epsilon)), ("Delta", short_delta(statement.delta)))
        yield FactList((("Kind", _KINDS[statement.kind]), *figured, ("Protects", whose)))


def _not_guaranteed(agreement: Agreement) -> Iterator[PageBlock]:
    if agreement.statement.caveats:
        yield Prose("Limits of this release:")
        yield Bullets(agreement.statement.caveats)
    claim = PROTOCOLS[agreement.protocol].claim
    if claim is None:
        yield Prose("The protocol is kept for its flaws, and claims nothing against those who take part.")
    else:
        yield Prose(f"Limits of the protocol {agreement.protocol}, the worst first:")
        yield Bullets(claim.limitations_of(agreement.program_parameters("")))
    verb = "predicts" if agreement.bounds.outcome else "classifies"
    of_model = "" if agreement.describes else f" A release makes no promise about how well it {verb}."
    yield Prose(f"Several releases of the same rows add up.{of_model}")


def _parties(release: PublishedRelease) -> Iterator[PageBlock]:
    agreement = release.agreement
    may_vanish = len(agreement.parties) - agreement.threat_model.remaining
    yield Bullets(first_texts(agreement.parties, _MOST_NAMES))
    if CURATOR_NAME in agreement.participants:
        yield Prose(f"And {CURATOR_NAME}, the curator of the protocol, who has no rows.")
    if may_vanish:
        yield Prose(
            f"Up to {may_vanish} of the parties may have dropped out. Rows of a party that dropped out before its "
            "contribution arrived are not in the release. The transcript shows which parties these are."
        )


def _columns(release: PublishedRelease) -> Iterator[PageBlock]:
    bounds = release.bounds
    yield Prose(
        "The bounds are public, and were agreed on before the first message. Values beyond them are clipped. No file "
        "shows where the bounds come from. If somebody measured them on rows, they reveal something about those rows."
    )
    yield from column_table(bounds)
    if release.agreement.infers:  # bounds with which a row would be shortened are refused
        yield Prose(" ".join(("No row is shortened.", *_scaled(bounds))))
    elif not release.agreement.describes:
        shortened = (
            "Each row is encoded as a vector of numbers. A row with a Euclidean norm above "
            f"{bounds.clip:g} is scaled down to that norm."
        )
        yield Prose(" ".join((shortened, *_scaled(bounds))))
    if bounds.weights is not None:
        yield Prose(" ".join(_weights(bounds.weights, bounds.classes)))


def _scaled(bounds: Bounds) -> Iterator[str]:
    """Yield how encoded rows are put into the unit ball."""
    if bounds.clip != 1:
        yield f"Every row is then divided by {bounds.clip:g}."
    if bounds.bias:
        length = math.hypot(1, bounds.bias)
        yield f"The constant {bounds.bias:g} is appended, and the whole is divided by {length:.6g}."


def _weights(weights: RowWeights, classes: Sequence[str]) -> Iterator[str]:
    if weights.classes:
        each = [f"{shorten(name)} {weight:g}" for name, weight in zip(classes, weights.classes, strict=True)]
        yield f"Public weights of the classes: {join_first(each, _MOST_NAMES)}."
    if weights.column is not None:
        yield f"The column {shorten(weights.column)} has a private weight of each row, from 0 to {weights.most:g}."
    yield "The loss of a row is multiplied by its weight, in parts of the largest that a row may have."


def _computed(release: PublishedRelease, sent: TrafficTotals | None) -> Iterator[PageBlock]:
    known = sorted(set(release.parameters) - {"parties", "label"})  # a file that was read has them in another order
    rows = [(PARAMETER_TITLES.get(name, name), shorten(setting_text(release.parameters[name])), name) for name in known]
    yield PageTable("What was agreed on", ("setting", "value", "in release.json"), tuple(sorted(rows)))
    yield Prose("The keys of all messages depend on these settings: with another setting no message can be read.")
    if sent is not None:
        yield Prose(f"It took {sent.messages:,} messages and {sent.bytes:,} bytes in all, as the transcript shows.")


def setting_text(value: Any, most: int = _MOST_LEVELS) -> str:
    """Return the text of a setting's value, of a list its first entries."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (join_first(list(map(str, value)), most) or "none") if isinstance(value, list) else str(value)


def _use(agreement: Agreement, threshold: Threshold) -> Iterator[PageBlock]:
    if agreement.describes:
        yield Prose("The command smc-dp show prints the figures, or writes a table of them. release.json has them too.")
        return
    bounds = agreement.bounds
    classes = bounds.classes
    rule = "the class with the largest sum of weights times features"
    if len(classes) == 2:
        cut, first, second = f"{threshold.score:.4g}", *map(shorten, classes)
        rule = f"{second} where the sum of weights times features is above {cut}, else {first}"
    if bounds.outcome is not None:
        rule = f"given the sum of weights times features as the predicted value of {shorten(str(bounds.label))}"
    yield Prose(f"The command smc-dp predict encodes each row as the bounds say. A row is {rule}. In Python:")
    yield Verbatim(_PREDICT, "How to predict in Python")
    yield Prose(
        f"No file here says how well it {'predicts' if bounds.outcome else 'classifies'}. On rows of your own with "
        f"known {'outcomes' if bounds.outcome else 'classes'}, smc-dp predict does, and keeps the figures on your "
        "machine."
    )


def _check(digests: Mapping[str, str]) -> Iterator[PageBlock]:
    yield Prose(
        "The command smc-dp audit FOLDER compares the release with the transcript that the participants signed. It "
        f"needs only the folder. {NO_PROOF} In Python:"
    )
    yield Verbatim(_AUDIT, "How to audit in Python")
    yield PageTable("Files, with their digests (SHA-256)", ("file", "digest"), tuple(digests.items()))
