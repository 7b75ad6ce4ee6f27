"""One party's whole part of a run: look at the own rows, train, draw the noise, put all of it on the grid, and answer
what its role asks while others add up.

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
from smc_dp.methods.method import AskedBetween, SecureMethod
from smc_dp.run.agreement import Agreement
from smc_dp.run.protocols import execution


@dataclass(frozen=True, eq=False, repr=False)
class LocalParty:
    """What one party does, with its rows and its coins; `table` is what the rows were read from, if they were.

    All of it follows from these, so that a party's program which begins anew with the same does the same. Where only
    `draws` are left of the coins, it can answer, and enters nothing again.
    """

    name: str
    rows: Rows
    agreement: Agreement
    rng: Stream | Forks
    table: Table | None = None

    def check(self) -> None:
        """Raises InputError when the party has too many rows, when all parts together could exceed the ring, or when
        its table has rows of one class only, and the method of the run needs two.

        The last depends on what the rows say, as nothing else here: the statement of such a method tells so. The others
        depend on public figures and on the party's own number of rows.
        """
        method = cast(SecureMethod, self.agreement.method)
        if self.table is not None and method.needs_two_classes:
            check_two_classes(self.table, self.rows, self.agreement.bounds)
        try:
            self.agreement.form.check(len(self.rows))
        except InputError as error:
            raise error.within(f"party {plain_name(self.name)}") from None

    @cached_property
    def part(self) -> Any:
        """What the party enters, made when it is first asked for; raises InputError as `check` does."""
        self.check()
        return self.agreement.form.part(self.rows, cast(Stream, self.rng))

    @property
    def draws(self) -> tuple[str, ...]:
        """Under which labels of its coins the party draws what it answers at home, in their order."""
        form = self.agreement.form
        return form.draws if isinstance(form, AskedBetween) else ()

    def inputs(self, session: Session) -> tuple[Any, ...]:
        """Of the party's role, at its start."""
        return execution.role_inputs(session, self.part)

    def at_home(self, session: Session, inputs: tuple[Any, ...]) -> LocalProgram | None:
        """Who answers the party's role when it asks, None where it does not.

        `inputs`: those that the role has by now. What was answered before stands there, and is not answered again: a
        role that is resumed brings them with it.
        """
        form = self.agreement.form
        if not isinstance(form, AskedBetween):
            return None
        answered = len(inputs) - len(self.inputs(session))
        part = form.part_after(self.rows, self.rng, answered) if answered else self.part
        return execution.role_answers(session, part)
