"""Site policy: the studies that a site takes part in. It never leaves the site, and nobody can push it there.

The site itself refuses a study beyond its policy, whatever anybody else has approved.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from pydantic import Field, PrivateAttr

from protocols.crypto.identity import Signer
from smc_dp.core.documents import Document, read_document
from smc_dp.core.errors import Fault, FieldValue, InputError, InputFault
from smc_dp.core.kinds import OneLine, PositiveRatio, Ratio
from smc_dp.core.private_text import Hear
from smc_dp.data.bounds import Bounds
from smc_dp.data.file_format import FileFormat
from smc_dp.data.format_sections import FileFormatDocument
from smc_dp.deploy.fields import Count
from smc_dp.deploy.study import JointStudy
from smc_dp.deploy.witnesses import WitnessSection
from smc_dp.privacy.ledger.numbers import delta_rounded_up, digits_rounded_up
from smc_dp.privacy.statement import Adjacency, round_up
from smc_dp.run.agreement import Agreement
from smc_dp.run.budget_charge import charge_of_run


class SiteLimits(Document):
    """Limits of a site. A list allows what it holds; a missing list allows anything.

    An epsilon means less where neighbours differ by less: `adjacency` says of which kind the site's figures are.
    """

    max_epsilon: PositiveRatio
    max_delta: Ratio
    min_parties: Count = 2
    min_colluders: Count = 0
    adjacency: list[Adjacency] | None = None
    columns: list[str] | None = None
    purposes: list[OneLine] | None = None
    insecure: bool = False


class RelaySection(Document):
    """Credentials of the site at the relay."""

    credentials: str | None = None


class OwnFormatDocument(FileFormatDocument):
    """Own file of a site where only the format of its data is read; the limits may be missing."""

    data: str | None = None
    limits: SiteLimits | None = None
    relay: RelaySection = Field(default_factory=RelaySection)
    witnesses: WitnessSection | None = None


def read_own_format(path: Path) -> FileFormat:
    """Read the format of a site's data from its own file, which needs no limits for that."""
    return read_document(OwnFormatDocument, path, "site policy").form


class SitePolicy(OwnFormatDocument):
    """Policy of a site: its data, their file format, its texts for levels, its limits, and witnesses of its ledger.

    Paths are relative to the file's folder.
    """

    limits: SiteLimits
    _folder: Path = PrivateAttr(default=Path())

    @classmethod
    def read(cls, path: Path) -> SitePolicy:
        """Read a policy from a TOML file. An `UnfitError` lists every fault."""
        found = read_document(cls, path, "site policy")
        found._folder = path.parent
        return found

    @property
    def data_path(self) -> Path | None:
        """Path of the rows, if the policy names one."""
        return None if self.data is None else self._folder / self.data

    @property
    def credentials_path(self) -> Path | None:
        """Folder of the site's credentials, if the policy names one."""
        return None if self.relay.credentials is None else self._folder / self.relay.credentials

    def ask_witnesses(
        self, study: JointStudy, ledger: Path | None, signer: Signer, hear: Hear, *, over: bool = False
    ) -> None:
        """Ask the witnesses of the ledger that have an address to cosign it for a study; see `WitnessSection.ask`."""
        if self.witnesses is not None and self.witnesses.urls and ledger is not None:
            self.witnesses.ask(self._folder, ledger, signer, study.digest, hear, over)

    def check_witnesses(self, study: JointStudy, name: str, ledger: Path, begun: bool = False) -> None:
        """Raise InputError unless witnesses of the ledger have cosigned it for a study, if the policy names any.

        A site that has `begun` had their cosignatures. Its ledger has to extend all heads that are there now.
        """
        if self.witnesses is not None:
            digest = None if begun else study.digest
            self.witnesses.check(self._folder, ledger, study.identities[name], digest)

    def faults(self, study: JointStudy, agreement: Agreement) -> list[Fault]:
        """Return every limit that the study, of which this is the agreement, passes."""
        return [InputFault(code, fields, "site policy: ") for code, fields in self._faults(study, agreement)]

    def _faults(self, study: JointStudy, agreement: Agreement) -> Iterator[tuple[str, dict[str, FieldValue]]]:
        limits, statement = self.limits, agreement.statement
        try:
            found = charge_of_run(agreement)
        except InputError:
            yield "terms.no_guarantee", {"most": limits.max_epsilon}
        else:
            if found.epsilon > Fraction(limits.max_epsilon):
                yield "terms.max_epsilon", {"most": limits.max_epsilon, "got": digits_rounded_up(found.epsilon)}
            if found.delta > round_up(Fraction(limits.max_delta)):  # a statement's delta is a float, rounded up
                yield "terms.max_delta", {"most": limits.max_delta, "got": delta_rounded_up(found.delta)}
        if limits.adjacency is not None and statement.adjacency not in limits.adjacency:
            yield "terms.adjacency", {"wanted": " or ".join(limits.adjacency) or "none", "got": statement.adjacency}
        yield from self._faults_of_company(agreement)
        for column in [] if limits.columns is None else columns_read(study.bounds):
            if column not in (limits.columns or ()):
                yield "terms.columns", {"column": column}
        if limits.purposes is not None and study.purpose not in limits.purposes:
            yield "terms.purposes", {"purpose": study.purpose}
        if agreement.marks and not limits.insecure:
            yield "terms.insecure", {"marks": agreement.marks}

    def _faults_of_company(self, agreement: Agreement) -> Iterator[tuple[str, dict[str, FieldValue]]]:
        limits, among = self.limits, agreement.threat_model
        if among.remaining < limits.min_parties:
            yield "terms.min_parties", {"wanted": limits.min_parties, "got": among.remaining}
        withstands = "colluders" in agreement.parameters and not among.has_sparse_graph
        if (among.colluders if withstands else 0) < limits.min_colluders:
            held = f"tolerates {among.colluders}" if withstands else "needs participants who follow the protocol"
            yield "terms.min_colluders", {"wanted": limits.min_colluders, "protocol": agreement.protocol, "held": held}


def columns_read(bounds: Bounds) -> list[str]:
    """Return all columns of a site's table that a study reads, with that of the classes."""
    return [*([] if bounds.label is None else [bounds.label]), *(column.name for column in bounds.columns)]
