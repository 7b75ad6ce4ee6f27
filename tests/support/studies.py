"""A small study of three parties and Charlie as a text, its identities, and what a site needs to take part in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from smc_dp.core.documents import parse_document
from smc_dp.deploy.approval import Approval
from smc_dp.deploy.study import STUDY_FORMAT, JointStudy

PARTIES = ("north", "south", "west")
IDENTITIES = {name: Identity.generate(Stream.insecure_from_seed(i)) for i, name in enumerate((*PARTIES, "charlie"))}
NEWTON = 'name = "newton"\nadjacency = "replace"'
SUMS = (
    'name = "secure_sum"\ncolluders = 1\ndropouts = 0\nmost_rows = 10000000\nsizes = "hidden"\nverifiable = false\n'
    'output = "curator"\nleft_out = []'
)
DDG = 'epsilon = "1/3"\ndelta = "1e-5"\nnoise = "ddg"\ncalibration = "proven"'
WSUM = 'name = "wsum"\nlambda = 0.1'
VG = 'epsilon = 1\nnoise = "vg"\ncalibration = "proven"'
MEAN = 'name = "prr_mean"\nlambda = 0.1'
BY_CURATOR = 'name = "pathak2010"\nkey_bits = 3072\nring_bits = 64\ncomparison = "tournament"'
KNORM = 'epsilon = 1\nnoise = "knorm"\ncalibration = "proven"'
BOUNDS = (
    '[bounds.columns]\nage = [0, 120]\nsex = ["f", "m"]\n[bounds.label]\ncolumn = "outcome"\nclasses = ["no", "yes"]\n'
)
SITE_POLICY = '[limits]\nmax_epsilon = "1/3"\nmax_delta = "1e-5"\n'


def party(name: str, key: str | None = None) -> str:
    return f'[[parties]]\nname = "{name}"\nkey = "{key or IDENTITIES[name].public.hex()}"\n'


def text(
    method: str = NEWTON,
    protocol: str = SUMS,
    target: str = DDG,
    *,
    parties: str = "".join(map(party, PARTIES)),
    top: str = "",
    bounds: str = BOUNDS,
) -> str:
    """The text of a study; the parts that tests change are given."""
    return (
        f'format = "{STUDY_FORMAT}"\ntitle = "Readmission"\npurpose = "research"\nrelay = "nats://relay.example:4222"\n'
        f"{top}\n[method]\n{method}\n[target]\n{target}\n[protocol]\n{protocol}\n"
        f'[deadlines]\ngreetings = "7d"\nmessages = "12h"\n{parties}'
        f'[curator]\nkey = "{IDENTITIES["charlie"].public.hex()}"\n{bounds}'
    )


def by_curator(**changes: str) -> str:
    """The text of a study by the curator protocol."""
    return text(**{"method": MEAN, "protocol": BY_CURATOR, "target": KNORM, **changes})


def weighted(**changes: str) -> str:
    """The text of a study of a sum of weights, whose number of rows is released."""
    return text(**{"method": WSUM, "protocol": SUMS.replace("hidden", "released"), "target": VG, **changes})


def study(said: str | None = None) -> JointStudy:
    return parse_document(JointStudy, text() if said is None else said, "study")


def approvals(agreed: JointStudy) -> Mapping[str, Approval]:
    """Everybody's, with random bytes that a test may know."""
    return {name: Approval.made(agreed.digest, name, IDENTITIES[name], bytes(32)) for name in agreed.names}


def site(folder: Path, name: str = "north") -> dict[str, Path]:
    """What a party has at home, in a folder: its key, its rows, its terms."""
    found = {
        kind: folder / file for kind, file in (("key", f"{name}.key"), ("data", "rows.csv"), ("policy", "own.toml"))
    }
    found["key"].write_text(f"{IDENTITIES[name].seed.hex()}\n")
    found["key"].chmod(0o600)
    found["data"].write_text("age,sex,outcome\n41,f,yes\n7,m,no\n55,f,no\n")
    found["policy"].write_text(SITE_POLICY)
    return found
