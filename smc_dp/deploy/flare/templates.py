"""Texts of a provisioning kit for FLARE 2.9: its project, its job, its policies, and what each site fills in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from protocols.curator import CURATOR_NAME
from smc_dp.deploy.flare.local import TASK
from smc_dp.deploy.study import JointStudy

EXECUTOR = "smc_dp.deploy.flare.site.SiteExecutor"
CONTROLLER = "smc_dp.deploy.flare.relay.RelayController"
LEAD = "lead@relay.local"
SERVER_FOLDER_MARK = "@HERE@"
"""Stands for the server's own FLARE folder until its owner puts the path there: FLARE wants an absolute one."""
_COMMON = "nvflare.app_common"
_NOTHING: dict[str, Any] = {"components": [], "task_data_filters": [], "task_result_filters": []}


def project(sites: Iterable[str], host: str, port: int) -> str:
    """Return `project.yml`: the participants for whom FLARE makes certificates. It is JSON, which is YAML."""
    participants: list[dict[str, Any]] = [{"name": host, "type": "server", "org": "relay", "fed_learn_port": port}]
    participants += [{"name": site, "type": "client", "org": site.replace("-", "_")} for site in sites]
    participants += [{"name": LEAD, "type": "admin", "org": "relay", "role": "lead"}]
    builders = [
        {"path": "nvflare.lighter.impl.workspace.WorkspaceBuilder", "args": {"template_file": ["master_template.yml"]}},
        {"path": "nvflare.lighter.impl.static_file.StaticFileBuilder", "args": {"config_folder": "config"}},
        {"path": "nvflare.lighter.impl.cert.CertBuilder"},
        {"path": "nvflare.lighter.impl.signature.SignatureBuilder"},
    ]
    about = {"api_version": 3, "name": "smc_dp", "description": "a relay of smc-dp"}
    return _json({**about, "participants": participants, "builders": builders})


def meta(study: JointStudy, sites: Mapping[str, str]) -> str:
    """Return the job's `meta.json`: it begins once the curator and all sites are there that the protocol cannot lose.

    Were one more wanted than there is, it would wait in silence.
    """
    least = len(sites) - len(study.parties) + study.remaining
    always = [site for site, name in sites.items() if name == CURATOR_NAME]
    about = {"name": f"smc_dp_{study.digest[:16]}", "resource_spec": {}, "deploy_map": {"app": ["@ALL"]}}
    return _json({**about, "min_clients": least, "mandatory_clients": always})


def server_job(study: str) -> str:
    """Return the server's side of the job, `config_fed_server.json`."""
    relay = {"id": "relay", "path": CONTROLLER, "args": {"study": study}}
    return _json({"format_version": 2, "server": {"task_request_interval": 0.5}, "workflows": [relay], **_NOTHING})


def site_job(study: str) -> str:
    """Return the sites' side of the job, `config_fed_client.json`: the same for all, with the study's digest alone."""
    executor = {"tasks": [TASK], "executor": {"path": EXECUTOR, "args": {"study": study}}}
    return _json({"format_version": 2, "executors": [executor], **_NOTHING})


def site_resources() -> str:
    """Return a site's `resources.json`. A job may name one class, and no line of a log leaves the site."""
    components = [
        _component("resource_manager", f"{_COMMON}.resource_managers.gpu_resource_manager.GPUResourceManager")
        | {"args": {"num_of_gpus": 0, "mem_per_gpu_in_GiB": 0, "expiration_period": 300}},
        _component("resource_consumer", f"{_COMMON}.resource_consumers.gpu_resource_consumer.GPUResourceConsumer"),
        _component("process_launcher", f"{_COMMON}.job_launcher.client_process_launcher.ClientProcessJobLauncher"),
    ]
    client = {"retry_timeout": 30, "compression": "Gzip"}
    return _json({**_policy(EXECUTOR), "allow_log_streaming": False, "client": client, "components": components})


def server_resources() -> str:
    """Return the server's `resources.json`. It runs one class and takes no logs."""
    storage = f"{_COMMON}.storages.filesystem_storage.FilesystemStorage"
    server = {"admin_storage": "transfer", "max_num_clients": 1000, "heart_beat_timeout": 600, "admin_timeout": 10.0}
    snapshots = {"path": storage, "args": {"root_dir": f"{SERVER_FOLDER_MARK}/snapshots", "uri_root": "/"}}
    persistor = f"{_COMMON}.state_persistors.storage_state_persistor.StorageStatePersistor"
    components = [
        _component("job_scheduler", f"{_COMMON}.job_schedulers.job_scheduler.DefaultJobScheduler")
        | {"args": {"max_jobs": 4}},
        _component("job_manager", "nvflare.apis.impl.job_def_manager.SimpleJobDefManager")
        | {"args": {"uri_root": f"{SERVER_FOLDER_MARK}/jobs", "job_store_id": "job_store"}},
        _component("job_store", storage),
        _component("process_launcher", f"{_COMMON}.job_launcher.server_process_launcher.ServerProcessJobLauncher"),
    ]
    return _json(
        {
            **_policy(CONTROLLER),
            "servers": [{**server, "download_job_url": "http://download.server.com/"}],
            "snapshot_persistor": {"path": persistor, "args": {"uri_root": "/", "storage": snapshots}},
            "components": components,
        }
    )


def authorization() -> str:
    """Return `authorization.json`: the lead submits and ends jobs; nobody brings code, runs commands, fetches files."""
    nothing = ("clone_job", "download_job", "operate", "shell_commands", "byoc", "server-predeployed-flwr")
    none = dict.fromkeys(("submit_job", "manage_job", *nothing), "none") | {"view": "any"}
    lead = {**none, "submit_job": "any", "manage_job": "n:submitter"}
    roles = {"project_admin": none, "org_admin": none, "lead": lead, "member": none}
    return _json({"format_version": "1.0", "permissions": roles})


def relay_settings_toml(study: JointStudy, sites: Mapping[str, str]) -> str:
    """Return the server's own settings; see `RelayPlace`. A party waits twice as long as the curator."""
    rest = 2 * study.deadlines.messages
    lines = [
        "# The relay of one study. Frames are kept in a folder beside this file unless it names another.",
        'folder = "frames"',
        'longest = "28d"  # a job that lasts longer is ended; submit it again to go on',
        f"rest = {rest}  # seconds for which a job that some sites have left stays for the others",
        "",
        "[sites]  # FLARE's names, and who of the study stands behind each",
        *(f"{site} = {json.dumps(name)}" for site, name in sites.items()),
    ]
    return _lines(lines)


def site_settings_toml(study: JointStudy, name: str) -> str:
    """Return a site's own settings, to be completed there; see `SitePlace`."""
    files = {"study": "study.toml", "key": f"{name}.key", "state": "state", "out": "run"}
    if name != CURATOR_NAME:
        files |= {"policy": "own.toml", "ledger": f"{name}.ledger"}
    lines = [
        f"# What {name} takes part with in the study {study.title!r}. Only this site writes here; a job names the",
        "# study's digest and gets nothing else. Absolute paths, or relative to this file's own folder.",
        *(f"{key} = {json.dumps(value)}" for key, value in files.items()),
        "# counters = the folder of the newest state's number, which no backup may have",
    ]
    return _lines(lines)


def _policy(path: str) -> dict[str, Any]:
    return {"format_version": 2, "class_list_enforcement_mode": "enforce", "class_allow_list": [path]}


def _component(name: str, path: str) -> dict[str, Any]:
    return {"id": name, "path": path, "args": {}}


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


_PAGE = Path(__file__).with_name("readme.txt")


def flare_readme(study: JointStudy, sites: Mapping[str, str], host: str, port: int) -> str:
    """Return the instructions of this study."""
    who = "\n".join(f"  {site:<9} {name}" for site, name in sites.items())
    return _PAGE.read_text(encoding="utf-8").format(
        title=study.title, digest=study.digest, short=study.digest[:16], relay=study.relay,
        who=who, host=host, port=port, here=SERVER_FOLDER_MARK, lead=LEAD,
    )  # fmt: skip
