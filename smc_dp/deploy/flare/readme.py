"""The page in a kit for FLARE: what to do in which order, and who can do what."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from smc_dp.deploy.flare.templates import HERE, LEAD
from smc_dp.deploy.study import JointStudy

_PAGE = Path(__file__).with_name("kit.txt")


def readme(study: JointStudy, sites: Mapping[str, str], host: str, port: int) -> str:
    """The page of this study."""
    who = "\n".join(f"  {site:<9} {name}" for site, name in sites.items())
    return _PAGE.read_text(encoding="utf-8").format(
        title=study.title, digest=study.digest, short=study.digest[:16], relay=study.relay,
        who=who, host=host, port=port, here=HERE, lead=LEAD,
    )  # fmt: skip
