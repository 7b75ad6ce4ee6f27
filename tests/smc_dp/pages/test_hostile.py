"""Whatever columns and classes are called, and whatever a stranger wrote into a release, stays text on every page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.all_blocks import all_blocks
from support.audited import Folders, agreement, hospitals
from support.browser import WIDE, Chromium
from support.page_makers import OF_A_RUN, run_page, written
from support.shown import ShownPage

from protocols.arithmetic.rng import Stream
from smc_dp.core.errors import InputError
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import CategoricalColumn
from smc_dp.pages.html import html
from smc_dp.run.simulation import simulate_run

NAMES = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "javascript:alert(3)",
    "]]><!--</title></style></script>",
    "{{7*7}}{% raw %}${7*7}",
    "&lt;b&gt;&amp;#x27;",
    "w" * 100,
)
PLAIN = tuple(f"plain-{i}" for i in range(len(NAMES)))


def run_of(names: tuple[str, ...], folder: Path) -> Folders:
    """A run whose columns, levels and classes have these names."""
    columns, classes, label, level = names[:4], names[4:6], names[6], names[0]
    data, made = hospitals((12, 8), len(columns)), Folders(folder / "run", folder / "views")
    known = (*data.bounds.columns[:2], CategoricalColumn("c", (level, "other")))
    renamed = tuple(replace(column, name=name) for column, name in zip(known, columns, strict=False))
    called = Bounds(renamed, classes, label, bias=0.0, center=False)
    rng = Stream.insecure_from_seed("hostile")
    agreed = agreement(replace(data, bounds=called), key_bits=256)
    simulate_run(replace(data, bounds=called), agreed, rng, made.run, views=made.views)
    return made


def unlike(hostile: str, plain: str) -> bool:
    """Whether names made an element or an attribute that plain names do not make."""
    a, b = ShownPage(hostile), ShownPage(plain)
    return (a.elements, a.attributes) != (b.elements, b.attributes)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Folders, Folders]:
    """With hostile names and with plain ones."""
    return run_of(NAMES, tmp_path_factory.mktemp("hostile")), run_of(PLAIN, tmp_path_factory.mktemp("plain"))


def test_names_of_columns_classes_and_levels_stay_text(runs: tuple[Folders, Folders], tmp_path: Path):
    for name in ("hostile", "plain"):
        (tmp_path / name).mkdir()
    places = (tmp_path / "hostile", tmp_path / "plain")
    hostile, plain = (run_page(run, place).read_text() for run, place in zip(runs, places, strict=True))
    assert not unlike(hostile, plain)
    assert all(name in ShownPage(hostile).text for name in (*NAMES[:3], *NAMES[4:]))
    assert unlike(hostile.replace("&lt;script&gt;", "<script>"), plain)  # the twin


@pytest.mark.slow
def test_no_page_of_a_run_speaks_when_it_is_opened(chromium: Chromium, runs: tuple[Folders, Folders], tmp_path: Path):
    for name, make in OF_A_RUN.items():
        files = []
        for which, run in zip(("hostile", "plain"), runs, strict=True):
            folder = tmp_path / f"{name} {which}"
            folder.mkdir()
            files.append(make(run, folder))
        assert not unlike(*(file.read_text() for file in files)), name
        assert chromium.look(files[0], WIDE, lambda page: page.title())[1] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, "\u202egnirts", "\u2066x\u2069"])
def test_no_text_speaks_in_any_block(chromium: Chromium, tmp_path: Path, name: str):
    assert not unlike(html(all_blocks(name)), html(all_blocks("plain")))
    seen, did = chromium.look(written(tmp_path, all_blocks(name)), WIDE, lambda page: page.inner_text("main"))
    assert did == []
    assert name in seen


@pytest.mark.parametrize("name", ["\u202egnirts", "a\nb", "a\x00b", " "])
def test_what_cannot_be_printed_is_no_name(name: str):
    with pytest.raises(InputError):
        Bounds(hospitals((2, 2), 1).bounds.columns, (name, "b"))
