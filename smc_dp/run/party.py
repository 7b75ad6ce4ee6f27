"""One party of a run: it checks its rows, trains, draws noise, and answers what its role asks while others add up.

Nothing here sees another party's rows. What depends on the party's rows leaves it only as the input of its role.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from protocols.arithmetic.rng import Forks, Stream
from protocols.runtime.actor import LocalProgram
from protocols.runtime.session import Session
from smc_dp.core.errors import InputError, plain_name
from smc_dp.data.federation import Rows
from smc_dp.data.preprocess import check_two_classes
from smc_dp.data.table import Table
from smc_dp.methods.method import AdaptiveSpec, SecureMethod
from smc_dp.run.agreement import Agreement
from smc_dp.run.protocols import execution


@dataclass(frozen=True, eq=False, repr=False)
class LocalParty:
    """Party with its rows and its randomness; `table`: the table from which the rows were read, if there is one.

    All results follow from these, so a program that begins anew with the same does the same. Where only `draws` are
    left of the randomness, the party can answer, and cannot contribute again.
    """

    name: str
    rows: Rows
    agreement: Agreement
    rng: Stream | Forks
    table: Table | None = None

    def check(self) -> None:
        """Raise an InputError for too many rows, contributions that could exceed the ring, or a table of one class
        where the method needs two.

        Only the last depends on the content of rows, and the statement of such a method says so. The others depend on
        public figures and on the party's own number of rows.
        """
        method = cast(SecureMethod, self.agreement.method)
        if self.table is not None and method.needs_two_classes:
            check_two_classes(self.table, self.rows, self.agreement.bounds)
        try:
            self.agreement.spec.check(len(self.rows))
        except InputError as error:
            raise error.within(f"party {plain_name(self.name)}") from None

    @cached_property
    def contribution(self) -> Any:
        """Contribution of the party, made when it is first asked for; raises InputError as `check` does."""
        self.check()
        return self.agreement.spec.part(self.rows, cast(Stream, self.rng))

    @property
    def draws(self) -> tuple[str, ...]:
        """Labels of its randomness under which the party draws its answers, in their order."""
        spec = self.agreement.spec
        return spec.draws if isinstance(spec, AdaptiveSpec) else ()

    def inputs(self, session: Session) -> tuple[Any, ...]:
        """Return the inputs of the party's role at its start."""
        return execution.role_inputs(session, self.contribution)

    def answers(self, session: Session, inputs: tuple[Any, ...]) -> LocalProgram | None:
        """Return the function that answers the queries of the party's role; None where the role has none.

        `inputs`: those that the role has by now. Earlier answers are among them, and are not drawn again: a role that
        is resumed brings them along.
        """
        spec = self.agreement.spec
        if not isinstance(spec, AdaptiveSpec):
            return None
        answered = len(inputs) - len(self.inputs(session))
        part = spec.resume_part(self.rows, self.rng, answered) if answered else self.contribution
        return execution.role_answers(session, part)
