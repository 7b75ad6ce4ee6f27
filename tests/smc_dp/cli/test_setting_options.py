"""Options that are made of settings: the file is that of the model, and help shows what users need."""

from __future__ import annotations

from pathlib import Path

import pytest

import smc_dp
from smc_dp.cli.main import main
from smc_dp.cli.setting_options import SETTING_OPTIONS
from smc_dp.run.agreement import PROTOCOLS_BY_NAME, required_settings, secure_method
from smc_dp.run.settings import MethodSettings
from tests.make_options import FILE, generated

ROOT = Path(smc_dp.__file__).parents[1]


def test_the_generated_options_are_those_of_the_settings() -> None:
    assert FILE.read_text(encoding="utf-8") == generated(), "run `python tests/make_options.py`"


def test_the_settings_of_methods_are_those_that_methods_have() -> None:
    kinds = (secure_method(name, by[0]) for name, by in PROTOCOLS_BY_NAME.items())
    of_methods = {name for kind in kinds for name in required_settings(kind)}
    declared = {field.alias or name for name, field in MethodSettings.model_fields.items()}
    assert declared - {"name"} == of_methods - {"learner"}  # which no run has


def shown(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> set[str]:
    """Return the options that a help lists."""
    assert main(arguments) == 0
    lines = capsys.readouterr().out.split("Options:\n")[1].splitlines()
    return {line.split()[0] for line in lines if line.startswith("  --")}


def test_short_help_shows_few_options_and_the_other_help_all(capsys: pytest.CaptureFixture[str]) -> None:
    short, every = shown(["run", "--help"], capsys), shown(["run", "--help-all"], capsys)
    assert len(short) <= 14
    assert short < every
    own = {option.option for option in SETTING_OPTIONS if "run" in option.commands}
    assert every == own | {"--json", "--help", "--help-all"}
    assert shown(["run", "--help"], capsys) == short  # to show all leaves nothing behind
    for command in ("plan", "study new"):
        assert shown([*command.split(), "--help"], capsys) < shown([*command.split(), "--help-all"], capsys)


def test_all_faults_of_options_are_told_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--epsilon", "-1", "--key-bits", "x", "--link", "moon"]) == 2
    named = [line.split(":")[1].strip() for line in capsys.readouterr().err.splitlines()]
    assert named == ["--epsilon", "--key-bits", "--link"]
