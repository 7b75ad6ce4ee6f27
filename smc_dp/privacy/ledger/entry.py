"""Entry of a ledger: exact, linked to the entry before it, and read with suspicion."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

from smc_dp.core import reading
from smc_dp.core.errors import InputError, shown
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.numbers import from_text, to_text

EntryState: TypeAlias = Literal["limit", "reserved", "released", "refunded", "void"]
ChargeEnd: TypeAlias = Literal["released", "refunded"]
Value: TypeAlias = str | int | None

LONGEST_MECHANISM, LONGEST_PARTY = 100, 200
_DIGEST = ("64 hexadecimal digits", re.compile("[0-9a-f]{64}", re.ASCII))
_FORMS = {
    **dict.fromkeys(("dataset", "run", "previous", "digest", "approval"), _DIGEST),
    "date": ("one such as 2026-01-31T12:00:00Z", re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)),
    "mechanism": (f"up to {LONGEST_MECHANISM} printable characters", re.compile(f".{{1,{LONGEST_MECHANISM}}}")),
    "party": (f"up to {LONGEST_PARTY} printable characters", re.compile(f".{{1,{LONGEST_PARTY}}}")),
}
_NUMBERS = ("epsilon", "delta", "rho", "mu")
_SUBJECT = ("dataset", "unit", "adjacency", "mechanism", "kind", "epsilon", "delta")
_HOLDS: Mapping[str, tuple[str, ...]] = {
    "limit": ("epsilon", "delta"),
    "reserved": (*_SUBJECT, "run"),
    "released": ("refers", "run"),
    "refunded": ("refers",),
    "void": ("refers",),
}
# rho and mu are there for kind zcdp alone, which the guarantee sees to.
_MAY_HOLD: Mapping[str, tuple[str, ...]] = {"limit": ("party",), "reserved": ("rho", "mu", "approval")}
_REFUNDS = ("refunded", "void")  # ledgers of earlier versions say void, and the digest of an entry holds its state


@dataclass(frozen=True)
class Entry:
    """Entry in the order of a row's columns; a field that its state has no use for is None.

    `limit`: epsilon and delta that no account may pass; the first entry and no other. `reserved`: a release that is
    about to be made: `dataset` is a keyed digest, `run` the key of the release, a digest of its session and of a label
    (the session's id holds what its parties agreed on, and a nonce). `released`, `refunded`: outcome of the charge
    `refers`; of a release `run` is its digest. `void`: a refund in an entry of an earlier version. `digest` is over all
    the rest, with `previous`, the digest of the entry before. `approval` is the digest of the site's approval of a
    study, for a session between sites. `party` is the party whose ledger it is, in the limit of a ledger that was made
    for one. Ledgers of version 0.1.0 have neither `approval` nor `party`, which are read as None. A `mu`, `approval` or
    `party` that is None is left out of the digest.
    """

    number: int
    state: EntryState
    date: str
    refers: int | None = None
    dataset: str | None = None
    unit: str | None = None
    adjacency: str | None = None
    mechanism: str | None = None
    kind: str | None = None
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    run: str | None = None
    previous: str = ""
    digest: str = ""
    mu: Fraction | None = None
    approval: str | None = None
    party: str | None = None

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Entry:
        """Read the entry of a row or of a JSON object; InputError, naming entry and field, for what is none."""
        number, state = values.get("number"), values.get("state")
        if type(number) is not int or not 1 <= number <= 10**9:
            raise InputError("ledger_entry.no_number", got=shown(number))
        where, values = f"entry {number}", {**dict.fromkeys(LATER_COLUMNS), **values}
        reading.require_keys(where, values, {*ENTRY_COLUMNS})
        if state not in get_args(EntryState):
            raise InputError("ledger_entry.unknown_state", where=where, known=get_args(EntryState), got=shown(state))
        _check_presence(where, values, state)
        entry = cls(
            **{**values, **{n: from_text(f"{where}: {n}", values[n]) for n in _NUMBERS if values[n] is not None}}
        )
        _check_texts(where, entry)
        if state == "reserved":
            try:
                entry.guarantee  # noqa: B018  its fields must fit together
            except InputError as error:
                raise error.within(where) from None
        return entry

    @property
    def is_refund(self) -> bool:
        """True for the refund of a charge."""
        return self.state in _REFUNDS

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee that a charge is for."""
        if self.epsilon is None or self.delta is None:
            raise ValueError(f"entry {self.number} is no reservation")
        kind: Any = self.kind
        unit: Any = self.unit
        adjacency: Any = self.adjacency
        return Guarantee(kind, self.epsilon, self.delta, unit, adjacency, self.rho, self.mu)

    def after(self, previous: str) -> Entry:
        """Return this entry, linked to the one whose digest is `previous`."""
        linked = replace(self, previous=previous)
        return replace(linked, digest=linked.computed())

    def computed(self) -> str:
        """Compute the digest that the entry must carry."""
        left_out = {"digest", *(name for name in ("mu", *LATER_COLUMNS) if getattr(self, name) is None)}
        values = [value for name, value in self.values().items() if name not in left_out]
        return hashlib.sha256(json.dumps(values, separators=(",", ":"), ensure_ascii=True).encode()).hexdigest()

    def values(self) -> dict[str, Value]:
        """Return the values by column, as they are stored."""
        found = {name: getattr(self, name) for name in ENTRY_COLUMNS}
        return {name: to_text(value) if isinstance(value, Fraction) else value for name, value in found.items()}


ENTRY_COLUMNS = tuple(field.name for field in fields(Entry))
LATER_COLUMNS = ("approval", "party")
"""Columns that ledgers of version 0.1.0 do not have."""


def _check_presence(where: str, values: Mapping[str, Any], state: Any) -> None:
    wanted = {"number", "state", "date", "previous", "digest", *_HOLDS[state]}
    for name in ENTRY_COLUMNS:
        if name in _MAY_HOLD.get(state, ()):
            continue
        if (values[name] is not None) != (name in wanted):
            raise InputError(
                "ledger_entry.field_not_of_state", where=where, name=name, state=state, got=shown(values[name])
            )


def _check_texts(where: str, entry: Entry) -> None:
    for name, (wanted, form) in _FORMS.items():
        value = getattr(entry, name)
        if value is not None and not (isinstance(value, str) and value.isprintable() and form.fullmatch(value)):
            raise InputError("ledger_entry.bad_field", where=where, name=name, wanted=wanted, got=shown(value))
    if entry.refers is not None and type(entry.refers) is not int:
        got = shown(entry.refers)
        raise InputError("ledger_entry.bad_field", where=where, name="refers", wanted="the number of an entry", got=got)
