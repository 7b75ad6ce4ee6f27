"""Walkthroughs of protocols: parties, refusals, and attacks that are measured for the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from protocols.errors import Fault, FaultError
from protocols.programs import PROTOCOLS
from smc_dp.cli import main as main_module
from smc_dp.cli.main import main
from smc_dp.pages.html import html
from smc_dp.walkthrough import build


def test_the_usual_parties_let_one_collude_with_charlie_where_anyone_may() -> None:
    usual = {name: build.usual_parties(PROTOCOLS[name]) for name in ("pathak2010", "linear", "secure_sum")}
    assert usual == {"pathak2010": 2, "linear": 3, "secure_sum": 4}
    assert PROTOCOLS["secure_sum"].model.sample(usual["secure_sum"]).colluders == 1


@pytest.mark.parametrize(
    ("arguments", "code", "fields"),
    [
        (["--out", "{out}"], "option.not_one_of", {"option": "--protocol"}),
        (["--protocol", "comparison", "--out", "{out}"], "options.bits_have_no_walkthrough", {"name": "comparison"}),
        (["--protocol", "nothing", "--out", "{out}"], "option.not_one_of", {"option": "--protocol"}),
        (["--protocol", "linear"], "options.no_page_name", {}),
        (["--protocol", "linear", "--out", "{there}"], "option.file_exists", {}),
        (
            ["--protocol", "linear", "--parties", "6", "--out", "{out}"],
            "parties.too_few_or_many",
            {"most": 5, "got": 6},
        ),
        (
            ["--protocol", "pathak2010", "--parties", "4", "--out", "{out}"],
            "parties.too_few_or_many",
            {"most": 3, "got": 4},
        ),
    ],
)
def test_what_is_wrong_is_refused_in_one_line(
    arguments: list[str],
    code: str,
    fields: dict[str, object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "there.html").write_text("mine")
    places = {name: str(tmp_path / f"{name}.html") for name in ("out", "there")}
    found: list[Fault] = []
    monkeypatch.setattr(main_module, "_refuse", seen(found))
    assert main(["lab", "walkthrough", *(a.format(**places) for a in arguments)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert [fault.code for fault in found] == [code]
    assert found[0].fields.items() >= fields.items()
    assert (tmp_path / "there.html").read_text() == "mine"
    assert not Path(places["out"]).exists()


def seen(found: list[Fault]) -> Callable[..., int]:
    """The command's way to refuse, which notes the faults as well."""
    refuse = main_module._refuse

    def note(error: FaultError, *args: Any, **options: Any) -> int:
        found.extend(error.faults)
        return refuse(error, *args, **options)

    return note


@pytest.mark.slow
def test_a_protocol_without_a_drop_out_on_request() -> None:
    stays, leaves = (
        build.walkthrough_of_protocol(PROTOCOLS["secure_sum"], 3, stays=x, attacks=0) for x in (True, False)
    )
    assert "drops out during" in html(leaves)
    assert "P3 drops out:" in html(leaves)
    assert "drops out during" not in html(stays)
