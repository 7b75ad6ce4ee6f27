"""A page with one of each block and each shape of a picture."""

from __future__ import annotations

from pathlib import Path

from smc_dp.pages.blocks import (
    Banner,
    Blanks,
    Bullets,
    Drawing,
    FactList,
    Page,
    PageTable,
    Prose,
    Quotation,
    Section,
    SideBySide,
    Verbatim,
    Walkthrough,
)
from smc_dp.pages.html import html
from smc_dp.pages.svg import Svg

LONG = "readmission_within_thirty_days_of_discharge_" * 3


def every_block(folder: Path, *, plain: bool = False) -> Path:
    """A page with one of each block, and with very long words unless it is plain."""
    file = folder / "blocks.html"
    file.write_text(html(all_blocks("north" if plain else LONG)), encoding="utf-8")
    return file


def all_blocks(name: str = LONG) -> Page:
    """One of each block; `name` stands wherever a stranger's word can."""
    rows = tuple((f"{name}{i}", name, "1,024") for i in range(3))
    grid = PageTable("Parties " + name, ("party", "sends " + name, "bytes"), rows, (2,))
    beside = SideBySide(
        Section("Printed " + name, (Verbatim(name, name),)), Section("Mended", (Verbatim("share = r", "code"),))
    )
    walk = tuple(Section(f"Step {i} {name}", (Prose(name), drawn(name), grid)) for i in range(1, 5))
    released = (
        Quotation(name, name),
        Prose(name),
        Bullets((name, "two")),
        FactList(((name, name), ("method", "newton"))),
    )
    return Page(
        name,
        (
            Section("What was released " + name, released),
            Section("Signature", (Blanks(("Name", name)), Banner(name, "good")), new_sheet=True),
            Section(
                "Details",
                (
                    grid,
                    beside,
                    Section("Within", (Bullets((name,), numbered=True),)),
                    Section("Within", (Prose(name),)),
                ),
            ),
            Section("The walk", (Walkthrough("The protocol " + name, walk),)),
        ),
        (Banner("SECRET: " + name, "secret"), Banner("FAILED: " + name, "failed"), Banner("INSECURE", "insecure")),
        made=("Made by a test. " + name,),
        on_every_sheet="SECRET: holds what nobody else may see",
    )


def drawn(name: str) -> Drawing:
    """Every shape and every pattern."""
    svg = Svg(340, 160)
    for i, fill in enumerate(("paper", "solid", "dense", "hatched", "dotted")):
        svg.rect(10 + 45 * i, 10, 40, 30, fill)
    svg.line(20, 60, 300, 60, "strong", arrow=True)
    svg.arrow("M20,80 C80,120 160,40 300,80")
    svg.circle(40, 110, 10)
    svg.text(60, 120, name[:30], size=14, bold=True)
    svg.text(60, 145, "said", size=14)
    return Drawing(svg, "A picture of " + name, ("P1 sends a number to Charlie.", name))
