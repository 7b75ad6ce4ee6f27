"""Two figures of `logistic` in `smc_dp/methods/README.md`: how often intervals hold, and how long a study takes.

Intervals are those of Bank Marketing and Credit Default (`SMC_DP_DATA`) at epsilon 3: five parties have 80 % of the
rows, dealt at random ten times, and the truth is what statsmodels says of their pooled rows. The study is one of five
sites over NATS, each a process with a folder of its own on one machine; it needs nats-server.

    python tests/make_interval_figures.py coverage
    python tests/make_interval_figures.py time
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
import warnings
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import numpy as np
from statsmodels.discrete.discrete_model import Logit
from statsmodels.tools.sm_exceptions import ConvergenceWarning

sys.path.insert(0, str(Path(__file__).parents[1]))  # before tests/, whose protocols/ is another folder

from protocols.arithmetic.rng import Stream
from smc_dp.core.arrays import Array
from smc_dp.data.sources import PreparedData, dataset
from smc_dp.methods.functionality import ideal
from smc_dp.methods.statistics.coefficient_sums import CoefficientSums, kept_features
from smc_dp.run.coefficient_intervals import coefficient_map, make_intervals
from smc_dp.run.settings import RunSettings
from tests.support.organisations import Organisation, organisations, until
from tests.support.relays import free_port, served

DATA_SETS, DEALS, PARTIES = ("bank", "credit_default"), 10, ("north", "south", "west", "east", "centre")
COLUMNS, ROWS = 12, 20_000
BOUNDS = '[label]\nclasses = ["no", "yes"]\ncolumn = "ill"\n[rows]\nclip = 3.47\nbias = 1.0\n[columns]\n' + "".join(
    f"x{j} = [-3.5, 3.5]\n" for j in range(COLUMNS)
)
POLICY = """\
data = "rows.csv"
[limits]
max_epsilon = 1
max_delta = 1e-5
min_parties = 4
min_colluders = 1
[relay]
credentials = "credentials"
"""
STUDY = (
    "smc-dp study new --out study.toml --title Time --purpose trial --bounds bounds.toml --method logistic "
    "--colluders 1 --dropouts 1 --most-rows 10000 --greetings 60s --messages 60s --curator charlie.pub"
)
JOIN = "smc-dp join study.toml --key {0}.key --ledger {0}.ledger --policy own.toml"
SERVE = "smc-dp serve study.toml --key charlie.key --credentials credentials --out run"


def print_coverage() -> None:
    """Print of each data set how many coefficients there are, have an interval, and are held by it."""
    folder = Path(os.environ["SMC_DP_DATA"])
    for name in DATA_SETS:
        deals = (dataset(name, folder, parties=len(PARTIES), seed=deal, whole_rows=True) for deal in range(DEALS))
        terms, stated, held = np.sum([count(data) for data in deals], axis=0)
        print(f"{name}: {terms} coefficients, {stated} intervals, {held} of which hold the estimate of the pooled rows")


def count(data: PreparedData) -> tuple[int, int, int]:
    """Return how many coefficients there are, how many have an interval, and how many of these hold the estimate."""
    settings = RunSettings.from_options(method="logistic", epsilon="3").settle(len(PARTIES))
    agreement, coins = settings.with_parties(data.federation.names, data.bounds), Stream.from_system()
    spec = agreement.spec
    assert isinstance(spec, CoefficientSums)
    parts = [spec.part(rows, coins.spawn()) for rows in data.federation.parties]
    result, inferred = agreement.inferred_result(ideal(spec.functionality, parts, coins.spawn()))
    found = make_intervals(inferred, result, data.bounds)
    assert found is not None
    pairs = zip(found["terms"], pooled(data, kept_features(spec.public)), strict=True)
    held = [term["low"] <= truth <= term["high"] for term, truth in pairs if term["low"] is not None]
    return len(found["terms"]), len(held), sum(held)


def pooled(data: PreparedData, kept: tuple[int, ...]) -> Array:
    """Return the coefficients of logistic regression of all parties' rows without privacy."""
    X = np.concatenate([rows.X[:, list(kept)] for rows in data.federation.parties])
    y = np.concatenate([rows.y for rows in data.federation.parties])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of levels with rows of one class; they have no interval
        found: Array = coefficient_map(data.bounds)[1] @ Logit(y, X).fit(disp=0, maxiter=100).params
    return found


def print_time() -> None:
    """Print the seconds from the start of the sites to the end of the last one."""
    with tempfile.TemporaryDirectory() as folder, organisations(Path(folder), (*PARTIES, "charlie", "relay")) as found:
        relay = found.pop("relay")
        prepare(found, relay)
        relay.started["relay"] = served(relay.folder / "kit" / "operator")
        relay.run("smc-dp study open study.toml --provisioning-kit kit")
        began, before = time.monotonic(), getrusage(RUSAGE_CHILDREN).ru_utime
        for name, site in found.items():
            site.start(SERVE if name == "charlie" else JOIN.format(name))
        sites = [process for site in found.values() for process in site.started.values()]
        until("all ends", lambda: all(process.poll() is not None for process in sites))
        took, used = time.monotonic() - began, getrusage(RUSAGE_CHILDREN).ru_utime - before
        assert not any(process.returncode for process in sites), [site.said for site in found.values()]
        relay.kill("relay")
    print(f"{took:.1f} s, {used:.1f} s of processor time: {len(PARTIES)} sites, {ROWS:,} rows, {COLUMNS} columns")


def prepare(found: dict[str, Organisation], relay: Organisation) -> None:
    """Make the keys, rows, ledgers and policies of all sites, the study, all approvals and the relay's kit."""
    charlie, rng = found["charlie"], np.random.default_rng(1)
    for name, site in found.items():
        site.run(f"smc-dp identities new {name}")
        if site is not charlie:
            shutil.copy(site.folder / f"{name}.pub", charlie.folder)
    (charlie.folder / "bounds.toml").write_text(BOUNDS)
    keys = " ".join(f"--party {name}.pub" for name in PARTIES)
    charlie.run(f"{STUDY} {keys} --relay tls://127.0.0.1:{free_port()}")
    for name in PARTIES:
        at = found[name].folder
        shutil.copy(charlie.folder / "study.toml", at)
        (at / "own.toml").write_text(POLICY)
        (at / "rows.csv").write_text(rows_of_site(rng))
        found[name].run(f"smc-dp ledger init {name}.ledger --budget 2 --delta 1e-3")
        found[name].run(f"smc-dp study approve study.toml --key {name}.key --policy own.toml")
    charlie.run("smc-dp study approve study.toml --key charlie.key")
    shutil.copy(charlie.folder / "study.toml", relay.folder)
    relay.run("smc-dp study provision study.toml --engine nats --out kit")
    for name, site in found.items():
        shutil.move(relay.folder / "kit" / "sites" / name, site.folder / "credentials")


def rows_of_site(rng: np.random.Generator) -> str:
    """Return the file of one site."""
    X = np.clip(rng.normal(size=(ROWS // len(PARTIES), COLUMNS)), -3.5, 3.5)
    ill = rng.random(len(X)) < 1 / (1 + np.exp(-X @ np.resize([0.4, -0.3, 0.2, 0.0], COLUMNS)))
    lines = (",".join([*(f"{x:.4f}" for x in row), "yes" if one else "no"]) for row, one in zip(X, ill, strict=True))
    return "\n".join([",".join([*(f"x{j}" for j in range(COLUMNS)), "ill"]), *lines]) + "\n"


if __name__ == "__main__":
    {"coverage": print_coverage, "time": print_time}[sys.argv[1]]()
