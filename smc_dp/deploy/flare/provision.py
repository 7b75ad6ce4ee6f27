"""Provisioning of a study over FLARE: its participants, its job, and local files of the server and each site.

Nothing in a provisioning kit is secret. FLARE's own provisioning makes the certificates, which say who may speak to the
server. The pinned identities of the study say who takes part in it.
"""

from __future__ import annotations

import os
from pathlib import Path

from smc_dp.core.errors import InputError
from smc_dp.core.writing import write_folder
from smc_dp.deploy.fields import require_relay_host
from smc_dp.deploy.flare import templates
from smc_dp.deploy.flare.local import FOLDER, RELAY_FILE
from smc_dp.deploy.flare.templates import flare_readme
from smc_dp.deploy.study import JointStudy

RELAY, JOB, README, PROJECT = "relay", "job", "README.txt", "project.yml"
_DEFAULT_PORT = 8002


def provision_flare(study: JointStudy, folder: Path) -> list[Path]:
    """Write the provisioning kit of a study to a new folder; return the folders to hand over.

    Raises InputError for a study whose relay is none of FLARE's, or when the folder exists or cannot be written.
    """
    host, port = require_relay_host(study.relay, ("flare",), _DEFAULT_PORT)
    sites = flare_names(study)
    files = {
        README: flare_readme(study, sites, host, port),
        PROJECT: templates.project(sites, host, port),
        f"{JOB}/meta.json": templates.meta(study, sites),
        f"{JOB}/app/config/config_fed_server.json": templates.server_job(study.digest),
        f"{JOB}/app/config/config_fed_client.json": templates.site_job(study.digest),
        f"{RELAY}/local/resources.json": templates.server_resources(),
        f"{RELAY}/local/authorization.json": templates.authorization(),
        f"{RELAY}/local/{FOLDER}/{study.digest}/{RELAY_FILE}": templates.relay_settings_toml(study, sites),
    }
    for site, name in sites.items():
        files |= {
            f"{site}/local/resources.json": templates.site_resources(),
            f"{site}/local/authorization.json": templates.authorization(),
            f"{site}/local/{FOLDER}/{study.digest}/{site}.toml": templates.site_settings_toml(study, name),
        }
    if os.path.lexists(folder):
        raise InputError("kit.exists", folder=str(folder))
    for place in sorted({Path(name).parent for name in files}):  # a folder comes before those in it
        inside = {Path(name).name: [text.encode()] for name, text in files.items() if Path(name).parent == place}
        write_folder(folder / place, inside, 0o755)
    return [folder / site for site in sites]


def flare_names(study: JointStudy) -> dict[str, str]:
    """Return FLARE's name of each participant, by its place in the study. FLARE allows fewer characters than a study
    does.
    """
    return {f"site-{number}": name for number, name in enumerate(study.names, 1)}
