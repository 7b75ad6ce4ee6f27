"""Expect a refusal by its code and fields, never by its sentence."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from protocols.errors import Fault, FaultError
from smc_dp.core.errors import InputError, LinesFault, RowsClippedWarning


@contextmanager
def refused(
    *codes: str, error: type[FaultError] = InputError, at: str = "", **fields: object
) -> Iterator[pytest.ExceptionInfo[FaultError]]:
    """Expect an error whose faults have exactly these codes; `at` is in the place of the first, `fields` are its.

    Lines to copy (`form.lines_...`) are looked at where a code names them.
    """
    with pytest.raises(error) as caught:
        yield caught
    faults = caught.value.faults
    are_named = any(code.startswith("form.lines_") for code in codes)
    found = tuple(fault.code for fault in faults if are_named or not isinstance(fault, LinesFault))
    assert found == codes, str(caught.value)
    assert at in faults[0].place
    stated = {name: faults[0].fields.get(name) for name in fields}
    assert stated == fields


def told(act: Callable[[], object]) -> list[str]:
    """Return what is said of clipped rows and numbers meanwhile."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    return [str(one.message) for one in caught if issubclass(one.category, RowsClippedWarning)]


def to_copy(error: BaseException) -> str:
    """Return the lines to copy of a refusal, of several files those of the first."""
    assert isinstance(error, FaultError)
    return "\n".join(next(fault.lines for fault in error.faults if isinstance(fault, LinesFault)))


def pasted(fault: object) -> str:
    """Return the TOML that a refusal tells to write, section by section; of several choices the first."""
    said = re.split(r"\bwrite (?=\S+ = )", str(fault))[1]
    found = re.findall(r"(?:^|, and )(.+?) into (\[\S+?\])(?=, and | of )", said)
    return "\n".join(f"{section}\n{re.sub(r' and (?=[^ ]+ = )', chr(10), lines)}" for lines, section in found)


def late(kind: str, stage: str) -> Fault:
    """Return what a participant notes of a message of this kind that came after its stage."""
    return Fault("mail.too_late", {"kind": kind, "stage": stage})
