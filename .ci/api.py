"""Builds the pages of both packages from their docstrings into build/api; a warning is an error."""

from __future__ import annotations

import pkgutil
import re
import shutil
import warnings
from pathlib import Path

import pdoc

import smc_dp
from smc_dp import estimators
from smc_dp.deploy import flare
from smc_dp.estimators.base import FederatedClassifier

OUT = Path(__file__).resolve().parents[1] / "build" / "api"

FOR_FLARE = ("relay", "site")  # what FLARE itself loads: it is in an environment of its own

# In code, which is matched to be left alone, or in a formula: a power, the angle of an inner product <V, T>.
_CODE_OR_FORMULA = re.compile(r"`[^`]*`|^ {4}.*$|^ *>>> .*$|(?<=[\w)\]|'])\*\*(?=[\w(|-])|<(?=\w+, \w+>)", re.MULTILINE)
_ESCAPED = {"**": r"\*\*", "<": "&lt;"}


def unfold() -> None:
    """Put before pdoc what it does not find: names that are imported at their first use, and files beside `__all__`."""
    for name in smc_dp.__all__:
        setattr(smc_dp, name, getattr(smc_dp, name))
    for package in (smc_dp, estimators):
        package.__all__ += [file.name for file in pkgutil.iter_modules(package.__path__)]
    files = (file.name for file in pkgutil.iter_modules(flare.__path__))
    flare.__all__ = [name for name in files if name not in FOR_FLARE]


def hide_requests() -> None:
    """Take away scikit-learn's set_fit_request and its like: they are descriptors that show their own workings."""
    for family in (FederatedClassifier, *FederatedClassifier.__subclasses__()):
        for name in [name for name in vars(family) if re.fullmatch("set_.*_request", name)]:
            delattr(family, name)


def with_formulas(text: str) -> str:
    """Return a docstring as Markdown in which 2**L does not begin bold type, and <V, T> is no tag of HTML."""
    return _CODE_OR_FORMULA.sub(lambda found: _ESCAPED.get(found[0], found[0]), text)


def build() -> None:
    """All pages, and none of a file that is gone."""
    shutil.rmtree(OUT, ignore_errors=True)
    unfold()
    hide_requests()
    pdoc.render.configure(docformat="numpy")
    to_html = pdoc.render.env.filters["to_html"]
    pdoc.render.env.filters["to_html"] = lambda text: to_html(with_formulas(text))
    pdoc.pdoc("protocols", "smc_dp", *(f"!{flare.__name__}.{name}" for name in FOR_FLARE), output_directory=OUT)


if __name__ == "__main__":
    warnings.simplefilter("error")
    # Constructors that Python makes, of named tuples for one, know no module to look types up in: the page has names.
    warnings.filterwarnings("ignore", message=r"Error parsing type annotation \S+ for \S+\.__init__\.")
    # Settings that come from the classes of the protocols have no class of a model whose source names them.
    warnings.filterwarnings(
        "ignore", message=r"Cannot determine where \S+\.(Protocol|StudyProtocol|ProtocolSettings)\.\w+ is"
    )
    build()
