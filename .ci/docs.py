"""Builds the documentation into build/site: Markdown pages, and API pages of both packages; a warning is an error.

Pages lie where they belong in the repository. They are copied in the same order of folders into build/docs, with links
to code turned into links to API pages, and MkDocs makes one site with a search of them.
"""

from __future__ import annotations

import gc
import logging
import os
import pkgutil
import re
import shutil
import warnings
from pathlib import Path, PurePosixPath

import pdoc
import reference
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config

import smc_dp
from smc_dp import estimators
from smc_dp.deploy import flare
from smc_dp.estimators.base import FederatedClassifier

ROOT = Path(__file__).resolve().parents[1]
DOCS, SITE, CONFIGURATION = ROOT / "build" / "docs", ROOT / "build" / "site", ROOT / ".github" / "mkdocs.yml"
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(#[^)\s]*)?(?=\))|(?<=<img src=\")([^\"]+)(?=\")")

FOR_FLARE = ("relay", "site")  # what FLARE itself loads: it is in an environment of its own

# In code, which is matched to be left alone, or in a formula: a power, the angle of an inner product <V, T>.
_CODE_OR_FORMULA = re.compile(r"`[^`]*`|^ {4}.*$|^ *>>> .*$|(?<=[\w)\]|'])\*\*(?=[\w(|-])|<(?=\w+, \w+>)", re.MULTILINE)
_ESCAPED = {"**": r"\*\*", "<": "&lt;"}


def unfold() -> None:
    """Put before pdoc what it does not find: names that are imported at their first use, and files beside `__all__`."""
    for name in smc_dp.__all__:
        setattr(smc_dp, name, getattr(smc_dp, name))
    for package in (smc_dp, estimators):
        files = (file.name for file in pkgutil.iter_modules(package.__path__))
        package.__all__ += [name for name in files if name != "__main__"]  # which runs the command
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


def build_api() -> None:
    """Write the API pages of both packages, with a link back to the documentation.

    A page shows the code of each function and method once, not again within that of its class and of its file.
    """
    unfold()
    hide_requests()
    pdoc.doc.Namespace.source = ""
    pdoc.render.configure(docformat="numpy")
    to_html = pdoc.render.env.filters["to_html"]
    pdoc.render.env.filters["to_html"] = lambda text: to_html(with_formulas(text))
    pdoc.pdoc(
        "protocols", "smc_dp", *(f"!{flare.__name__}.{name}" for name in FOR_FLARE), output_directory=DOCS / "api"
    )
    for page in (DOCS / "api").rglob("*.html"):
        before, nav, after = page.read_text(encoding="utf-8").partition('<nav class="pdoc">')
        if nav:
            home = os.path.relpath(DOCS / "index.html", page.parent)
            page.write_text(f'{before}{nav}<a href="{home}">Documentation</a>{after}', encoding="utf-8")


def place_of(path: PurePosixPath) -> PurePosixPath:
    """Return where a file of the repository stands in the documentation; folders with a dot are left out there."""
    return PurePosixPath("project", *path.parts[1:]) if path.parts[:1] == (".github",) else path


def api_page(path: Path) -> PurePosixPath | None:
    """Return the API page of a file or folder of a package, None for anything else."""
    within = path.relative_to(ROOT)
    if within.parts[:1] not in (("smc_dp",), ("protocols",)) or not (path.suffix == ".py" or path.is_dir()):
        return None
    found = PurePosixPath("api", *within.with_suffix("").parts)
    while not (DOCS / found.with_suffix(".html")).exists():  # a package that lists its names has no pages of its files
        found = found.parent
    return found.with_suffix(".html")


def linked(page: Path, target: str) -> str:
    """Return a link of a page as it is in the documentation, and copy what it leads to unless that is a page.

    A folder is the page in it, or else above it; code of the packages is its API page.
    """
    if re.match("[a-z]+:", target):
        return target
    there = (page.parent / target).resolve(strict=True)
    found = None if (there / "README.md").exists() else api_page(there)
    if found is None:
        if there.is_dir():
            there = next(up / "README.md" for up in (there, *there.parents) if (up / "README.md").exists())
        found = place_of(PurePosixPath(there.relative_to(ROOT)))
        if there.suffix != ".md":
            (DOCS / found).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(there, DOCS / found)
    return os.path.relpath(found, place_of(PurePosixPath(page.relative_to(ROOT))).parent)


def as_page(page: Path, text: str) -> str:
    """Return a page for Python-Markdown: blank lines before lists, steps indented by four, links that lead there."""
    lines: list[str] = []
    fenced, of_step = False, False
    for line in text.splitlines():
        if not fenced and re.match(r"([*-]|\d+\.) ", line) and lines and re.match(r"[^\s*|#-](?!\. )", lines[-1]):
            lines.append("")
        if line.lstrip().startswith("```"):
            fenced, of_step = not fenced, line.startswith("   ")
            line = re.sub(r"(?<=`)(\w+) .*", r"\1", line)  # with a second word it is no fence to MkDocs
        led = line if fenced else LINK.sub(lambda m: linked(page, m[1] or m[3]) + (m[2] or ""), line)
        lines.append(f" {led}" if re.match("   (?! )", led) or (fenced and of_step) else led)
    return "\n".join(lines) + "\n"


def build_site() -> None:
    """Copy all pages of the repository, write those of reference, and build the site of them."""
    folders = (ROOT / name for name in (".github", "demos", "protocols", "smc_dp", "tests"))
    for page in (*ROOT.glob("*.md"), *(page for folder in folders for page in folder.rglob("*.md"))):
        here = DOCS / place_of(PurePosixPath(page.relative_to(ROOT)))
        here.parent.mkdir(parents=True, exist_ok=True)
        here.write_text(as_page(page, page.read_text(encoding="utf-8")), encoding="utf-8")
    for name, page_of_reference in reference.PAGES.items():
        (DOCS / name).write_text(as_page(ROOT / name, page_of_reference()), encoding="utf-8")
    shutil.copyfile(CONFIGURATION.with_name("docs.css"), DOCS / "docs.css")
    mkdocs_build(load_config(str(CONFIGURATION), site_dir=str(SITE), strict=True))
    if broken := [page for page in sorted(SITE.rglob("*.html")) if "```" in page.read_text(encoding="utf-8")]:
        raise SystemExit(f"{broken[0]}: the page shows a fence of a block: see as_page in .ci/docs.py")


if __name__ == "__main__":
    gc.disable()  # nearly all that is made stays to the end: to look for garbage in it takes a fifth of the time
    warnings.simplefilter("error")
    # Constructors that Python makes, of named tuples for one, know no module to look types up in: the page has names.
    warnings.filterwarnings("ignore", message=r"Error parsing type annotation \S+ for \S+\.__init__\.")
    # Settings that come from the classes of the protocols have no class of a model whose source names them.
    warnings.filterwarnings(
        "ignore", message=r"Cannot determine where \S+\.(Protocol|StudyProtocol|ProtocolSettings)\.\w+ is"
    )
    shutil.rmtree(DOCS, ignore_errors=True)
    build_api()
    logging.basicConfig(format="%(message)s")
    warnings.resetwarnings()  # those of MkDocs itself: it refuses a warning about a page by `strict`
    build_site()
