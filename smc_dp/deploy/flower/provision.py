"""Provisioning of a study over Flower: certificate and settings of the SuperLink, keys of SuperNodes, and the app.

A SuperNode's key says which site the node is. The pinned identities of the study say who takes part in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path

import tomlkit
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from smc_dp.core.errors import InputError
from smc_dp.core.writing import write_folder
from smc_dp.deploy.fields import require_relay_host
from smc_dp.deploy.nats import certificates
from smc_dp.deploy.study import JointStudy

README_FILE = "README.txt"
_DEFAULT_PORT = 8000
_TO_ITSELF = "127.0.0.1"  # where the SuperLink's own processes call it
_APP = ("__init__.py", "client_app.py", "server_app.py", "turns.py")


def provision_flower(study: JointStudy, folder: Path) -> list[Path]:
    """Write the provisioning kit of a study to a new folder; return the folders to hand over.

    Raises InputError for a study whose relay is none of Flower's, or when the folder exists or cannot be written.
    """
    host, port = require_relay_host(study.relay, ("flower",), _DEFAULT_PORT)
    if os.path.lexists(folder):
        raise InputError("kit.exists", folder=str(folder))
    by, keys = (
        certificates.authority("relay authority"),
        {name: ec.generate_private_key(ec.SECP384R1()) for name in study.names},
    )
    server = certificates.server(by, *{host: None, _TO_ITSELF: None})  # each once
    write_folder(folder, {README_FILE: [_readme(study, host, port).encode()]}, 0o700)
    _write_readable(folder / "app", _app_files("pyproject.toml"))
    _write_readable(folder / "app" / "smc_dp_flower", _app_files(*_APP, inside="smc_dp_flower"))
    public = {
        f"{name}.pub": [key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)]
        for name, key in keys.items()
    }
    relay = {"ca.crt": [by.certificate_pem], "server.crt": [server.certificate_pem], "server.key": [server.key_pem]}
    run = tomlkit.dumps({"names": " ".join(study.names), "store": "frames.sqlite"})
    write_folder(folder / "relay", {**relay, **public, "run.toml": [run.encode()]}, 0o700)
    connection = {"address": f"{host}:{port}", "root-certificates": "ca.crt"}
    settings = tomlkit.dumps({"superlink": {"default": "relay", "relay": connection}})
    write_folder(folder / "relay" / "flwr", {"config.toml": [settings.encode()]}, 0o700)
    pin = resources.files(__package__).joinpath("pin.py").read_bytes()
    for name, key in keys.items():
        secret = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
        write_folder(folder / "sites" / name, {"ca.crt": [by.certificate_pem], "node.key": [secret]}, 0o700)
        _write_readable(folder / "sites" / name / "pin", {"sitecustomize.py": [pin], "other.fab": [b"no bundle\n"]})
    return [folder / "app", *(folder / "sites" / name for name in study.names)]


def _write_readable(folder: Path, contents: Mapping[str, Iterable[bytes]]) -> None:
    """Write a folder that everybody may read, whatever the umask: Python passes over a folder that the SuperNode's user
    may not read, and would go on without the pin.
    """
    write_folder(folder, contents, 0o755)
    for path in folder.iterdir():
        path.chmod(0o644)
    folder.chmod(0o755)


def _app_files(*names: str, inside: str = "") -> Mapping[str, Iterable[bytes]]:
    """Return files of the app as this package has them."""
    app = resources.files(__package__).joinpath("app", inside)
    return {name: [app.joinpath(name).read_bytes()] for name in names}


def _readme(study: JointStudy, host: str, port: int) -> str:
    """Return the instructions for the operators of the SuperLink and the SuperNodes."""
    text = resources.files(__package__).joinpath("readme.txt").read_text(encoding="utf-8")
    sites = "\n".join(f"     sites/{name}" for name in study.names)
    said = {"title": study.title, "digest": study.digest, "relay": study.relay, "host": host, "port": port}
    return text.format(**said, names=" ".join(study.names), sites=sites)
