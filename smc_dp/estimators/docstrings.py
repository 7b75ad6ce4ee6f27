"""Descriptions that estimators share, which `documented` fills into their docstrings."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable
from typing import Any, TypeVar, get_args

from smc_dp.methods.method import Trust
from smc_dp.methods.registry import find_method
from smc_dp.methods.sums.threat_model import COLLUDERS, DROPOUTS
from smc_dp.privacy.target import (
    CALIBRATION_HELP,
    EPSILON_HELP,
    HIGHEST,
    LEAST_DELTA,
    LOWEST,
    NOISE_HELP,
    Calibration,
    NoiseName,
)
from smc_dp.privacy.target import few_digits as short

Documented = TypeVar("Documented")


def _listed(values: Iterable[str]) -> str:
    return "{" + ", ".join(f'"{value}"' for value in values) + "}"


_ENTRIES = f"""
method
    The method. It may be passed as a positional argument.
lam
    The weight of the regulariser beside the mean loss, from 2^-29 to 1e6: the factor of {{multiplied}}.{{left}}
epsilon
    {EPSILON_HELP} It is that of one fit, a pure number from {short(LOWEST)} to
    {int(HIGHEST):,}; inf asks for no noise and gives no privacy. A float is taken as the decimal that it prints as, or
    as its binary value where that is smaller.
delta
    A probability, from {short(LEAST_DELTA)} to below 1; it counts with noise `gauss` and `ddg` only.
calibration : {_listed(get_args(Calibration))}
    {CALIBRATION_HELP} `privacy_` states what the published scale is
    proved to give at most.
noise : {_listed(get_args(NoiseName))} or None
    {NOISE_HELP} `knorm`, `laplace` and `self` give pure epsilon, `gauss` and `ddg` give zCDP, and
    (epsilon, delta) by the exact curve of a Gaussian; `vg` is `knorm` in shares, with a delta below 2^-64. The last
    three are for `trust="secure"`. None is the first that the method has, in shares `ddg`.
trust : {_listed(get_args(Trust))}
    Whether somebody is trusted with what the parties send, or nobody: `secure` computes what the secure sum computes of
    all parties, each with noise that it draws itself.
colluders
    {COLLUDERS}
    The noise of all others is counted, and theirs is not.
dropouts
    {DROPOUTS} Their noise is not counted either.
n_parties
    Number of simulated parties, from 1 to the number of rows, if `fit` gets no `parties`.
radius
    The length, in the units of the columns and from 1e-150 to 1e150, to which rows are clipped before they are
    divided by it. It is public and must not come from private rows: take the length of a row in which every column
    has its largest possible value, or about the root of the number of columns after standardising with public
    constants. Where more than 5 % of the rows are longer, a fit tells its caller, and nobody else.
bias
    The constant coordinate that rows then get, in units of the radius, finite and not negative; 0 adds none.
classes : sequence or None
    The public list of classes, each once; None reads them off the labels, which `privacy_` then says.
bounds : Bounds, path or None
    Public bounds of the columns, or a TOML file of them (`smc-dp bounds draft`). Rows are then data frames of pandas,
    polars or Arrow with these columns, or arrays of them in their order, and are encoded as those of files: numbers,
    dates, levels, empty cells. `radius` and `bias` are those of the bounds, texts as labels are classes of the bounds,
    and `coef_` is for encoded features. Bounds that leave rows out or have weights are refused. None takes numbers.
insecure_seed
    Any integer makes the noise reproducible and takes the guarantee away: for tests and demonstrations. None draws
    fresh noise from the operating system. There is no `random_state`.
ledger : path or None
    The file of a ledger (`smc-dp ledger init`): each fit is charged before anybody trains, one that would pass the
    limit is refused, and `privacy_` speaks of all that stands in the ledger, such as all fits of a grid search.
    None charges nothing, and `privacy_` speaks of one fit.
X : {{array-like, sparse matrix}} of shape (n, d)
    Rows, finite. Sparse rows are made dense, and refused where they would fill more than a gigabyte.
y : array-like of shape (n,)
    Their classes.
parties : array-like of shape (n,), default=None
    Whose each row is, by any labels of one kind; None deals the rows evenly to n_parties by a public seed.
"""
_ATTRIBUTES = """
Attributes
----------
classes_ : ndarray of shape (C,)
    The classes, sorted.
n_features_in_ : int
    How many columns the rows had, without the bias.
feature_names_in_ : ndarray of shape (n_features_in_,)
    What the columns were called; only where the rows came with names that are all texts.
privacy_ : PrivacyStatement
    What the release guarantees, for whom and against whom, and what it does not cover.
model_ : Scored
    What was released: a linear model with noise, which scores rows.
bounds_ : Bounds or None
    The bounds by which rows were encoded.
ball_ : Ball
    How a row gets into the unit ball: the radius and the bias of the fit.
coef_ : ndarray of shape (C, d), or (1, d) for two classes
    The weights of the columns as they came: `decision_function` of rows that are not clipped, but for rounding.
intercept_ : ndarray of shape (C,), or (1,) for two classes
    The constants beside them.
"""
_ERRORS = """
Raises
------
InputError
    A ValueError, from `fit` and `fit_parties`: a parameter, a party or a row is not what was wanted; the message
    names it. Nothing is checked before a fit.
NotFittedError
    From `{method}` and its like before a fit, and after one that was refused.

Warns
-----
RowsClippedWarning
    From `fit` and `fit_parties`, where more than 5 % of {clipped}. It stays where the
    rows are: no release and no `privacy_` has anything of it.
"""
_OF_ROWS = _ERRORS.format(method="predict", clipped="the rows are longer than the radius")
_OF_COLUMNS = _ERRORS.format(method="table", clipped="a column's numbers lie outside the bounds")
_OF_FIT = """

Returns
-------
Self
    The estimator itself.

Raises
------
InputError
    A ValueError that names the party and the row, or the parameter.
"""


def _by_name(entries: str) -> dict[str, str]:
    return {entry.split(maxsplit=1)[0]: entry for entry in re.split(r"\n(?=\w)", entries)}


_SHARED = _by_name(_ENTRIES.strip())


def documented(thing: Documented) -> Documented:
    """Fill what is shared into the docstring of an estimator or of its `fit`, and return it.

    A line of names such as `X, y` stands for the descriptions of these parameters; lines that are indented below it go
    on with the last one. An estimator gets all parameters that it shares and adds nothing to, in the order of its
    signature and with its types and defaults, and its attributes, errors and warnings before the references. One
    without references that names no errors gets those of columns before its examples. A `fit` gets what it returns and
    raises at the end.
    """
    if thing.__doc__:  # not under python -OO
        text = re.sub(r"^\w+(?:, \w+)*$", _described, inspect.cleandoc(thing.__doc__), flags=re.MULTILINE)
        thing.__doc__ = _of_estimator(thing, text) if isinstance(thing, type) else text + _OF_FIT
    return thing


def _of_estimator(kind: type, text: str) -> str:
    before, own, rest = re.split(r"(?<=\nParameters\n-{10}\n)(.*?)(?=\n\n)", text, maxsplit=1, flags=re.DOTALL)
    said, known = _by_name(own), inspect.signature(kind).parameters
    names = dict.fromkeys((*known, *said))  # what is no parameter stays, for tests to see
    parameters = "\n".join(_with_type(kind, (_SHARED | said)[name], known.get(name)) for name in names)
    return before + parameters + _with_errors(rest)


def _with_errors(text: str) -> str:
    """Return the text with what a family shares before its references, or else before its examples."""
    if "\nReferences\n" in text:
        return text.replace("\nReferences\n", f"{_ATTRIBUTES}{_OF_ROWS}\nReferences\n", 1)
    return text if "\nRaises\n" in text else text.replace("\nExamples\n", f"{_OF_COLUMNS}\nExamples\n", 1)


def _with_type(kind: Any, entry: str, parameter: inspect.Parameter | None) -> str:
    """Return the entry with the type, unless it has one, and the default of the parameter."""
    if parameter is None:
        return entry
    head, _, rest = entry.partition("\n")
    name, default = parameter.name, parameter.default
    if name == "method":
        head += " : " + _listed(kind.methods)
    elif " : " not in head:
        annotation: Any = parameter.annotation
        head += f" : {getattr(annotation, '__name__', None) or annotation}".replace(" | ", " or ")
    if name == "lam":
        left = " None leaves it to the method." if default is None or "None" in head else ""
        rest = rest.replace("{multiplied}", f"`{find_method(kind.methods[0]).lambda_multiplies}`").replace(
            "{left}", left
        )
    return f"{head}, default={json.dumps(default) if isinstance(default, str) else default}\n{rest}"


def _described(line: re.Match[str]) -> str:
    names = line[0].split(", ")
    return "\n".join(_SHARED[name] for name in names) if set(names) <= _SHARED.keys() else line[0]
