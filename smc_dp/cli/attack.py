"""Command `lab attack`: named attacks, measured against a step as published and as fixed."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import AsJson, read_count, read_integer, refuse_options
from smc_dp.core.errors import InputError

if TYPE_CHECKING:
    from protocols.arithmetic.rng import Stream
    from smc_dp.attacks.attack import MeasuredAttack
    from smc_dp.attacks.report import AttackReport


def run_attacks(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="An attack; --list names them.")] = None,
    list_them: Annotated[bool, typer.Option("--list", help="Print what attacks there are, and run none.")] = False,
    all_of_them: Annotated[bool, typer.Option("--all", help="Run every attack and print a table.")] = False,
    trials: Annotated[
        str | None,
        typer.Option(metavar="INTEGER", help="How often each variant is tried [default: enough to decide]."),
    ] = None,
    key_bits: Annotated[
        str | None, typer.Option(metavar="INTEGER", help="Length of the keys, where there are any [default: 512].")
    ] = None,
    insecure_seed: Annotated[
        str | None, typer.Option(metavar="INTEGER", help="Repeatable: all randomness from this number.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Attack a step as published, and what replaces it here. Measure how often that succeeds.

    All data, keys and secrets are made up for the purpose. Exit code 0: every attack ended as
    recorded (steps as published break, fixed ones hold, unfixed ones break). 1: one did not.

    \b
    Examples:
      smc-dp lab attack --list
      smc-dp lab attack strip-noise
      smc-dp lab attack link-sender --trials 100 --key-bits 2048
      smc-dp lab attack --all
      smc-dp lab attack --all --json
    """
    from protocols.arithmetic.rng import Stream
    from smc_dp import attacks
    from smc_dp.attacks.attack import LEAST_TRIALS
    from smc_dp.attacks.report_blocks import blocks

    if [list_them, all_of_them, name is not None].count(True) != 1:
        raise InputError("options.no_attack", attacks=list(attacks.ATTACKS))
    if list_them:
        of_a_run = {"--trials": trials, "--key-bits": key_bits, "--insecure-seed": insecure_seed}
        refuse_options(of_a_run, "option.list_runs_nothing")
        _list(as_json=as_json)
        return 0
    chosen = tuple(attacks.ATTACKS.values()) if name is None else (attacks.find_attack(name),)
    if not any(one.uses_keys for one in chosen):
        refuse_options({"--key-bits": key_bits}, "option.attack_without_keys", name=name)
    wanted, bits = (
        read_count("--trials", trials, LEAST_TRIALS),
        read_integer("--key-bits", key_bits or str(attacks.SHORTEST_KEY_BITS)),
    )
    attacks.check_key_bits(bits)
    seed = None if insecure_seed is None else read_integer("--insecure-seed", insecure_seed)
    rng = Stream.from_system() if seed is None else Stream.insecure_from_seed(seed)
    reports = [_measured(one, wanted, bits, rng, quiet=as_json) for one in chosen]
    if as_json:
        found = [report.as_dict() for report in reports]
        whole_list = {"attacks": found, "as_expected": all(report.as_expected for report in reports)}
        print(json.dumps(whole_list if name is None else found[0], allow_nan=False))
    else:
        screen.print_blocks(blocks(reports))
    return 0 if all(report.as_expected for report in reports) else 1


def _list(*, as_json: bool) -> None:
    from smc_dp import attacks
    from smc_dp.attacks.report_blocks import attack_table

    known = attacks.ATTACKS.values()
    if as_json:
        names = {one.name: [variant.name for variant in one.variants] for one in known}
        found = [{"name": one.name, "breaks": one.breaks, "variants": names[one.name]} for one in known]
        print(json.dumps({"attacks": found}))
    else:
        screen.print_blocks([attack_table(known)])


def _measured(one: MeasuredAttack, trials: int | None, key_bits: int, rng: Stream, *, quiet: bool) -> AttackReport:
    from smc_dp import attacks
    from smc_dp.attacks.report import AttackReport

    found = []
    for variant in one.variants:
        with screen.progress_bar(quiet) as hear:
            hear_variant = None if hear is None else partial(hear, f"{one.name} against {variant.name}")
            found.append(attacks.measure(one.name, variant.name, trials, rng, key_bits=key_bits, hear=hear_variant))
    return AttackReport(one, tuple(found), key_bits if one.uses_keys else None)
