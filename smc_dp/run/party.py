"""One party's whole part of a run: look at the own rows, train, draw the noise, put all of it on the grid.

Nothing here sees another party's rows. What depends on the party's rows leaves it only as the input of its role.
"""

from __future__ import annotations

from typing import Any, cast

from protocols.arithmetic.rng import Stream
from smc_dp.data.federation import Rows, plain_name
from smc_dp.data.preprocess import check_two_classes
from smc_dp.data.tables import Table
from smc_dp.errors import InputError
from smc_dp.methods.method import SecureMethod
from smc_dp.run.agreement import Agreement


def check(name: str, rows: Rows, agreement: Agreement) -> None:
    """Raises InputError when the party has too many rows, or when all parts together could exceed the ring.

    This depends on public figures and on the party's own number of rows, not on what the rows say.
    """
    try:
        agreement.form.check(len(rows))
    except InputError as error:
        raise InputError(f"party {plain_name(name)}: {error}") from None


def check_labels(table: Table, rows: Rows, agreement: Agreement) -> None:
    """Raises InputError when the party's table has rows of one class only, and the method of the run needs two.

    This depends on what the rows say, as no other check here: the statement of such a method tells so.
    """
    if cast(SecureMethod, agreement.method).needs_two_classes:
        check_two_classes(table, rows, agreement.bounds)


def part(name: str, rows: Rows, agreement: Agreement, rng: Stream) -> Any:
    """What the party enters; raises InputError as `check` does."""
    check(name, rows, agreement)
    return agreement.form.part(rows, rng)
