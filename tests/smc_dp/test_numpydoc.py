"""All public names have docstrings with numpydoc's sections, in its order, of what the signature has; examples run."""

from __future__ import annotations

import doctest
import inspect
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import smc_dp
from smc_dp.estimators import expected_failed_checks

ORDER = ("Parameters", "Attributes", "Returns", "Raises", "Warns", "References", "Examples")
NAMES = sorted(set(smc_dp.__all__) - {"__version__", "METHODS"})
METHODS = ("fit", "fit_parties", "predict", "predict_proba", "decision_function", "set_params")
SLOW = {"audit_run"}
# The values stand in the docstring as a person writes them.
WRITTEN = {"mappingproxy({})": "{}"}


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public class and function by its name, and what estimators do."""
    for name in NAMES:
        found = getattr(smc_dp, name)
        yield name, found
        if name.endswith(("Classifier", "Regression")):
            yield from ((f"{name}.{method}", getattr(found, method)) for method in METHODS if hasattr(found, method))
    yield "expected_failed_checks", expected_failed_checks


PUBLIC = dict(public())


def sections(documented: object) -> dict[str, str]:
    """The sections of a docstring by their headings; what stands before the first has none."""
    parts = re.split(r"\n\n(.+)\n-+\n", "\n\n" + inspect.cleandoc(str(documented.__doc__)))
    return dict(zip(["", *parts[1::2]], parts[::2], strict=True))


def said(section: str) -> dict[str, str]:
    """Parameter -> its default as it is written, "" for none; several on one line have the same."""
    found: dict[str, str] = {}
    for names, kind in re.findall(r"^(\*{0,2}\w+(?:, \w+)*)(?: : (.+))?$", section, flags=re.MULTILINE):
        for name in names.split(", "):
            found[name.lstrip("*")] = kind.rpartition("default=")[2] if "default=" in kind else ""
    return found


def wrong(documented: Any) -> list[str]:
    """What numpydoc, or whoever calls this, would miss."""
    there = sections(documented)
    found = [heading for heading in there if heading and heading not in ORDER]
    if sorted(filter(None, there), key=ORDER.index if not found else str) != list(filter(None, there)) and not found:
        found.append("the sections are not in their order")
    summary = there[""].strip().partition("\n\n")[0]
    if not re.search(r"[.:]$", summary):
        found.append("the summary is no sentence")
    if isinstance(documented, type) and issubclass(documented, BaseException | Warning):
        return found + ([] if "Examples" in there else ["no example"])
    parameters = [p for p in inspect.signature(documented).parameters.values() if p.name != "self"]
    listed = said(there.get("Parameters", ""))
    if set(listed) != {p.name for p in parameters}:
        found.append(f"parameters: {sorted(set(listed) ^ {p.name for p in parameters})}")
    for p in parameters:
        default = repr(p.default).replace("'", '"')
        if p.default is not p.empty and listed.get(p.name) not in (default, WRITTEN.get(repr(p.default), default)):
            found.append(f"default of {p.name}: {listed.get(p.name)}")
    is_method = "." in documented.__qualname__
    wanted = {"Returns"} if inspect.isfunction(documented) else set()
    wanted |= set() if is_method else {"Examples"}
    return found + [f"no section {heading}" for heading in sorted(wanted - set(there))]


@pytest.mark.parametrize("name", PUBLIC)
def test_the_docstring_has_the_sections_of_its_signature(name: str) -> None:
    assert wrong(PUBLIC[name]) == []


def test_what_can_be_refused_says_so() -> None:
    refusing = [name for name in NAMES if name not in ("InputError", "RowsClippedWarning", "Rows", "DescribeResult")]
    assert [name for name in refusing if "Raises" not in sections(getattr(smc_dp, name))] == []
    assert "Warns" in sections(smc_dp.run_protocol)


def described(first: int, second: str = "x") -> int:
    """Say something.

    Parameters
    ----------
    first : int
        One.
    second : str, default="x"
        Another.

    Returns
    -------
    int
        The first.

    Examples
    --------
    >>> 1 + 1
    2

    """
    return first


DESCRIBED = inspect.cleandoc(str(described.__doc__))  # Python 3.13 takes the margin away itself
BROKEN = {
    "a parameter less": ("second : str", "third : str", "parameters: ['second', 'third']"),
    "an old default": ('default="x"', 'default="y"', 'default of second: "y"'),
    "no sentence": ("Say something.", "Say something", "the summary is no sentence"),
    "no return": ("Returns\n-------\n", "", "no section Returns"),
    "no example": ("Examples\n--------\n", "", "no section Examples"),
    "another heading": ("Returns\n-------\n", "Gives\n-----\n", "Gives"),
    "the order": ("Returns\n-------", "References\n----------", "no section Returns"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_docstring_is_told(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new, fault = BROKEN[name]
    assert wrong(described) == []
    monkeypatch.setattr(described, "__doc__", DESCRIBED.replace(old, new))
    assert fault in wrong(described)


def test_sections_out_of_order_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    returns = DESCRIBED[DESCRIBED.index("Returns") : DESCRIBED.index("Examples")]
    monkeypatch.setattr(described, "__doc__", DESCRIBED.replace(returns, "").rstrip() + "\n\n" + returns)
    assert wrong(described) == ["the sections are not in their order"]


WITH_EXAMPLES = [name for name in PUBLIC if "Examples" in sections(PUBLIC[name])]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in WITH_EXAMPLES]
)
def test_the_examples_give_what_is_printed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # examples leave their folders behind
    test = doctest.DocTestParser().get_doctest(str(PUBLIC[name].__doc__), {}, name, None, None)
    said_otherwise: list[str] = []
    result = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=said_otherwise.append)
    assert (result.failed, "".join(said_otherwise)) == (0, "")
    assert result.attempted > 0
