"""The configuration of a nats-server for one study, in which each site has an account of its own.

A site sees nothing but what its account imports from the relay's. Permissions in one common account would not do:
nats-server sends an answer to whatever subject the asker names, so a site could have its own bytes stored under the
subject of another. An answer that crosses accounts comes out in the asker's, where no other site's subject exists.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from ipaddress import ip_address

from smc_dp.deploy.nats.connection import CA_FILE, relay_address
from smc_dp.deploy.nats.subjects import RelaySubjects

SERVER_CERTIFICATE, SERVER_KEY, STORE = "server.pem", "server.key", "store"
OPERATOR = "operator"
"""The user who may open a study, in the relay's own account."""
_RELAY = "RELAY"
_HEAD = """\
# A relay for one study. Start it in this folder: nats-server -c server.conf
{listen}
tls {{
  cert_file: "{certificate}"
  key_file: "{key}"
  ca_file: "{ca}"
  verify_and_map: true  # a client is whom its certificate says, and without one nobody
  timeout: 5
}}
jetstream {{ store_dir: "{store}" }}
max_payload: 2MB  # longer frames come in pieces
max_pending: 256MB
write_deadline: "60s"
"""


def configuration(subjects: RelaySubjects, relay: str) -> str:
    """Return the text of server.conf. The files that it names lie beside it."""
    host, port = relay_address(relay)
    head = _HEAD.format(
        listen="\n".join(_listen(host, port)),
        certificate=SERVER_CERTIFICATE,
        key=SERVER_KEY,
        ca=CA_FILE,
        store=STORE,
    )
    exports = [line for name in subjects.names for line in _exports(subjects, name)]
    lines = [
        "accounts {",
        f"  {_RELAY}: {{",
        "    jetstream: enabled",
        f"    users: [{{user: {_user(f'{subjects.stream}-{OPERATOR}')}}}]",
        *_listed("exports", exports, "    "),
        "  }",
        *(line for name in subjects.names for line in _account(subjects, name)),
        "}",
    ]
    return head + "\n".join(lines) + "\n"


def _listen(host: str, port: int) -> Iterable[str]:
    """Yield the address to listen on: the loopback address if the relay has it, else every address."""
    try:
        if ip_address(host).is_loopback:
            yield f'host: "{host}"'
    except ValueError:
        pass
    yield f"port: {port}"


def _exports(subjects: RelaySubjects, name: str) -> Iterable[str]:
    """Yield the exports of the relay's account to one site alone."""
    account = _account_of(subjects, name)
    for subject in _published(subjects, name):
        many = ", response_type: stream" if subject in map(subjects.asking, subjects.consumers(name)) else ""
        yield f"{{service: {json.dumps(subject)}{many}, accounts: [{account}]}}"


def _account(subjects: RelaySubjects, name: str) -> Iterable[str]:
    """Yield the account of one site: its user, who may publish imported subjects and subscribe to its own inbox."""
    published = _published(subjects, name)
    yield f"  {_account_of(subjects, name)}: {{"
    yield "    users: [{"
    yield f"      user: {_user(subjects.certificate_name(name))}"
    yield "      permissions: {"
    yield from _listed("publish", map(json.dumps, published), "        ")
    yield f"        subscribe: [{json.dumps(f'{subjects.inbox(name)}.>')}]"
    yield "      }"
    yield "    }]"
    imports = (f"{{service: {{account: {_RELAY}, subject: {json.dumps(s)}}}}}" for s in published)
    yield from _listed("imports", imports, "    ")
    yield "  }"


def _published(subjects: RelaySubjects, name: str) -> list[str]:
    """Return all subjects on which a site publishes."""
    return [*subjects.posting(name), *subjects.request_subjects(name), *subjects.acknowledged(name)]


def _listed(what: str, items: Iterable[str], margin: str) -> Iterable[str]:
    yield f"{margin}{what}: ["
    yield from (f"{margin}  {item}" for item in items)
    yield f"{margin}]"


def _account_of(subjects: RelaySubjects, name: str) -> str:
    return f"SITE_{subjects.seats[name]}"


def _user(certificate_name: str) -> str:
    return json.dumps(f"CN={certificate_name}")
