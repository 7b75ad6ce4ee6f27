"""The page beside a release, for whoever finds the folder: what it is, what it guarantees and what not, how to use it.

It is made of the release and of its record alone, and nothing else can stand on it: no accuracy, no row count, no
second. So it is the same to the byte wherever this version makes it, and an audit makes it again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any

from protocols.curator import CURATOR_NAME
from protocols.programs import PROTOCOLS
from protocols.runtime.network import LINKS
from smc_dp.data.columns import CATEGORY, INDICATOR, LEAVE_OUT, BinnedColumn, CategoricalColumn, Column, DateColumn
from smc_dp.pages.blocks import Banner, Bullets, FactList, Page, PageBlock, PageTable, Prose, Section, Verbatim
from smc_dp.pages.shortening import cut, first, some
from smc_dp.privacy.statement import PrivacyStatement, short_figure
from smc_dp.run.agreement import Agreement
from smc_dp.run.folder import AUXILIARY, PAGE, RELEASE, STUDY, TIMINGS, PublishedRelease
from smc_dp.run.sent import OnTheWire, of_record
from smc_dp.run.setting_words import WORDS
from smc_dp.version import __version__

# A page has to fit into its 2 MB, whatever names and columns there are.
_MOST_NAMES, _MOST_COLUMNS, _MOST_LEVELS = 200, 400, 12
PAGE_FORMAT = 1
"""Goes up with every change of what pages say or look like: a page is held against the one that is made again, and an
honest page of other words must not pass for a lie.
"""
MAKER = f"{__version__}+page.{PAGE_FORMAT}"
_MADE = re.compile(rb"Made by smc-dp ([0-9A-Za-z.+!-]{1,64}) of release\.json")
_RULES = {
    CATEGORY: "is a category of its own",
    INDICATOR: "counts as the middle of the range, and is marked",
    LEAVE_OUT: "leaves the row out",
}
_KINDS = {
    "pure": "pure epsilon-differential privacy",
    "approx": "(epsilon, delta)-differential privacy",
    "zcdp": "zero-concentrated differential privacy, and the epsilon at the delta that follows",
    "none": "none",
}
_PREDICT = """from smc_dp import predict

print(predict("FOLDER", "new.csv").labels)"""
_AUDIT = """from smc_dp import audit_run

print(audit_run("FOLDER").passed)"""


def content(release: PublishedRelease, file: bytes, stated: Mapping[str, str], sent: OnTheWire) -> bytes:
    """The page's file. `file`: that of the release; `stated`: the digests in it."""
    from smc_dp.pages.rendering import html

    digests = {RELEASE: hashlib.sha256(file).hexdigest()} | {n: d for n, d in stated.items() if n != TIMINGS}
    return html(page(release, digests, sent)).encode()


def sent_in(transcript: bytes, release: PublishedRelease) -> OnTheWire:
    """What a record shows that was sent, over the links of this release."""
    return of_record(BytesIO(transcript), LINKS[release.parameters["link"]].overhead)


def fault(content: bytes, made: bytes) -> str | None:
    """What is wrong with a page that lies beside a release, of which this version makes the page `made`.

    None for that page, and for one that says that another version made it: that cannot be made again here.
    """
    if content == made or is_of_another_version(content):
        return None
    return f"{PAGE} says something else than the release that it lies beside"


def is_of_another_version(content: bytes) -> bool:
    """Whether a page says so, which anybody can write."""
    return made_by(content) not in (None, MAKER)


def made_by(content: bytes) -> str | None:
    """The version that a page says it was made by; None for what says none."""
    found = _MADE.findall(content)
    return found[-1].decode() if found else None


def page(release: PublishedRelease, digests: Mapping[str, str], sent: OnTheWire) -> Page:
    """The page."""
    agreement = release.agreement
    return Page(
        title=f"A release by {some(agreement.parties, 3)}",
        notices=tuple(_notices(release, at_sites=STUDY in digests)),
        sections=(
            Section("What was released", tuple(_released(release))),
            Section("Parties", tuple(_parties(release))),
            Section("What it guarantees", tuple(_guaranteed(agreement.statement))),
            Section("What it does not guarantee", tuple(_not_guaranteed(agreement))),
            Section("Columns and their public bounds", tuple(_columns(release))),
            Section("How it was computed", tuple(_computed(release, sent))),
            Section("How to use it", tuple(_use(agreement))),
            Section("How to check it", tuple(_check(digests))),
        ),
        made=(
            f"Made by smc-dp {MAKER} of release.json and of the record beside it, and of nothing else: the same "
            "files give the same page, to the byte.",
        ),
    )


def _notices(release: PublishedRelease, *, at_sites: bool) -> Iterator[Banner]:
    for reason in release.insecure:
        yield Banner(f"INSECURE: {reason}.", "insecure")
    if release.agreement.statement.kind == "none":
        yield Banner(release.agreement.statement.promise, "insecure")
    if at_sites:
        yield Banner(
            f"Run for a study that all participants approved of by signature, {STUDY}. That each then ran its own part "
            "on its own machine, no file shows."
        )
    else:
        yield Banner("A simulation: one process played all participants, and had the rows of all parties.")


def _released(release: PublishedRelease) -> Iterator[PageBlock]:
    agreement, bounds = release.agreement, release.bounds
    several = len(bounds.classes) > 2
    public = "" if agreement.auxiliary is None else f" Rows that all of them had besides are public, in {AUXILIARY}."
    yield Prose(
        f"The weights of a linear classifier, made of the rows of {len(agreement.parties)} parties: it says of a row "
        f"in which of {len(bounds.classes)} classes it is. Rows of a party are in none of these files.{public}"
    )
    yield FactList(
        (
            ("What is told apart", f"{cut(str(bounds.label))}: {some(bounds.classes, _MOST_NAMES)}"),
            ("Weights", f"{bounds.dimension}{f' for each of {len(bounds.classes)} classes' if several else ''}"),
            ("Method", agreement.method.name),
            ("Protocol", agreement.protocol),
        )
    )


def _guaranteed(statement: PrivacyStatement) -> Iterator[PageBlock]:
    yield Prose(statement.promise)
    if statement.epsilon is not None:
        yield FactList(
            (
                ("Kind", _KINDS[statement.kind]),
                ("Epsilon", short_figure(statement.epsilon)),
                ("Delta", f"{statement.delta:g}"),
                ("Whose", "one record" if statement.unit == "record" else "all records of one party"),
                ("Against whom", statement.adversary),
            )
        )


def _not_guaranteed(agreement: Agreement) -> Iterator[PageBlock]:
    if agreement.statement.caveats:
        yield Prose("Of this release:")
        yield Bullets(agreement.statement.caveats)
    claim = PROTOCOLS[agreement.protocol].claim
    if claim is None:
        yield Prose("The protocol is kept for its flaws, and claims nothing against those who take part.")
    else:
        yield Prose(f"Of the protocol {agreement.protocol}, the worst first:")
        yield Bullets(tuple(said.sentence for said in claim.not_claimed))
    yield Prose("Several releases of the same rows add up. How well a release classifies is nothing that it promises.")


def _parties(release: PublishedRelease) -> Iterator[PageBlock]:
    agreement, may_vanish = release.agreement, release.parameters.get("dropouts")
    yield Bullets(first(agreement.parties, _MOST_NAMES))
    if CURATOR_NAME in agreement.participants:
        yield Prose(f"And {CURATOR_NAME}, the curator of the protocol, who has no rows.")
    if may_vanish:
        yield Prose(
            f"Up to {may_vanish} of the parties may have vanished, and their rows be left out: the record shows it."
        )


def _columns(release: PublishedRelease) -> Iterator[PageBlock]:
    bounds = release.bounds
    yield Prose(
        "Public, and agreed on before the first letter. Where they come from, no file shows: bounds that were measured "
        "on rows would tell of them. Values beyond are clipped."
    )
    shown = bounds.columns[:_MOST_COLUMNS]
    rows = tuple((cut(c.name), *map(cut, _bounds_of(c)), cut(_empty(c.missing))) for c in shown)
    yield PageTable("Columns", ("column", "what it is", "bounds", "an empty cell"), rows)
    if more := len(bounds.columns) - len(shown):
        yield Prose(f"And {more:,} more, which are in release.json.")
    constant = f"; a constant of {bounds.bias:g} is added to each" if bounds.bias else ""
    yield Prose(f"Rows are clipped to the norm {bounds.clip:g}{constant}.")


def _bounds_of(column: Column) -> tuple[str, str]:
    if isinstance(column, CategoricalColumn):
        return "one of several texts", some(column.categories, _MOST_LEVELS)
    if isinstance(column, DateColumn):
        return "a date", f"{column.first} to {column.last}"
    if isinstance(column, BinnedColumn):
        return "a number, by its bin", some([f"{edge:g}" for edge in column.edges], _MOST_LEVELS)
    return "a number", f"{column.low:g} to {column.high:g}"


def _empty(rule: float | str | None) -> str:
    if rule is None:
        return "is refused"
    return _RULES.get(str(rule), f"counts as {rule:g}" if isinstance(rule, float) else f"counts as {rule}")


def _computed(release: PublishedRelease, sent: OnTheWire) -> Iterator[PageBlock]:
    known = sorted(set(release.parameters) - {"parties", "label"})  # a file that was read has them in another order
    rows = [(WORDS.get(name, name), cut(_setting(release.parameters[name])), name) for name in known]
    yield PageTable("What was agreed on", ("setting", "value", "in release.json"), tuple(sorted(rows)))
    yield Prose("Whoever agreed on anything else could not have exchanged a message with the others.")
    yield Prose(f"It took {sent.messages:,} messages and {sent.bytes:,} bytes in all, as the record shows.")


def _setting(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (some(value, _MOST_LEVELS) or "none") if isinstance(value, list) else str(value)


def _use(agreement: Agreement) -> Iterator[PageBlock]:
    classes = agreement.bounds.classes
    rule = "the class with the largest sum of weights times features"
    if len(classes) == 2:
        rule = f"{cut(classes[1])} where the sum of weights times features is above 0, else {cut(classes[0])}"
    yield Prose(f"A row, encoded as the bounds say, is {rule}. The command smc-dp predict does that, or from Python:")
    yield Verbatim(_PREDICT, "How to predict in Python")


def _check(digests: Mapping[str, str]) -> Iterator[PageBlock]:
    yield Prose(
        "Anybody who has the folder can hold the release against the record that the participants signed, with smc-dp "
        "audit FOLDER, or from Python. An audit can refute what a run claims; it proves none of it."
    )
    yield Verbatim(_AUDIT, "How to audit in Python")
    yield PageTable("Files, with their digests (SHA-256)", ("file", "digest"), tuple(digests.items()))
