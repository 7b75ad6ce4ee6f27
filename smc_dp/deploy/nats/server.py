"""The configuration of a nats-server for many studies, in each of which every site has an account of its own.

A study is one file of accounts, which server.conf includes: one account that stores, and one for each site. A site sees
nothing but what its account imports from that of its study. Permissions in one common account would not do: nats-server
sends an answer to whatever subject the asker names, so a site could have its own bytes stored under the subject of
another. An answer that crosses accounts comes out in the asker's, where no other site's subject exists.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from ipaddress import ip_address

from smc_dp.deploy.nats.connection import CA_FILE, relay_address
from smc_dp.deploy.nats.subjects import RelaySubjects

SERVER_CERTIFICATE, SERVER_KEY, STORE = "server.pem", "server.key", "store"
STUDIES, STUDY_LIST, ACCOUNTS, PROCESS = "studies", "studies.conf", "accounts.conf", "server.pid"
OPERATOR = "relay operator"
"""The user who may open a study, in the account that stores it. No site has a name with a space."""
_HEAD = """\
# A relay for studies. Start it in this folder: nats-server -c server.conf
{listen}
pid_file: "{process}"
tls {{
  cert_file: "{certificate}"
  key_file: "{key}"
  ca_file: "{ca}"
  verify_and_map: true  # a client is whom its certificate says, and without one nobody
  timeout: 5
}}
jetstream {{
  store_dir: "{store}"
  max_file_store: 100GB  # of all studies, each of which has its own limit
}}
max_payload: 2MB  # longer frames come in pieces
max_pending: 256MB
write_deadline: "60s"
accounts {{ include "{studies}" }}
"""
_LIST = "# One line for each study. README.txt of a study says how the running server reads it again.\n"


def server_configuration(relay: str) -> str:
    """Return the text of server.conf. The files that it names lie beside it."""
    host, port = relay_address(relay)
    return _HEAD.format(
        listen="\n".join(_listen(host, port)),
        process=PROCESS,
        certificate=SERVER_CERTIFICATE,
        key=SERVER_KEY,
        ca=CA_FILE,
        store=STORE,
        studies=STUDY_LIST,
    )


def study_list(included: Iterable[str]) -> str:
    """Return the text of studies.conf: the lines that include studies, after a comment."""
    return _LIST + "".join(f"{line}\n" for line in included)


def study_line(subjects: RelaySubjects) -> str:
    """Return the line of a study in studies.conf."""
    return f'include "{STUDIES}/{subjects.stream}/{ACCOUNTS}"'


def new_account(subjects: RelaySubjects) -> str:
    """Return the name of an account for one provisioning of a study.

    It is another at each provisioning, so that credentials and frames of an earlier one are not this one's. With it the
    O of a certificate stays within the 64 characters that X.520 allows.
    """
    return f"{subjects.stream}~{secrets.token_hex(8)}"


def study_accounts(subjects: RelaySubjects, title: str, account: str) -> str:
    """Return the accounts of one study, and of nothing else. `account` stores, and is in the name of all."""
    sites = ", ".join(json.dumps(_account_of(account, subjects, name)) for name in subjects.names)
    stored = (f"{subjects.stream}.>", subjects.looking(">"), subjects.asking("*"), subjects.acknowledging("*") + ">")
    exports = (f"{{service: {json.dumps(subject)}{_many(subjects, subject)}, accounts: $sites}}" for subject in stored)
    lines = [
        f"# {title}",
        f'"{account}": {{',
        f"  sites: [{sites}]",
        "  jetstream: enabled",
        f"  users: [{{user: {_user(account, OPERATOR)}}}]",
        *_listed("exports", exports),
        "}",
        *(line for name in subjects.names for line in _account(account, subjects, name)),
    ]
    return "\n".join(lines) + "\n"


def _listen(host: str, port: int) -> Iterable[str]:
    """Yield the address to listen on: the loopback address if the relay has it, else every address."""
    try:
        if ip_address(host).is_loopback:
            yield f'host: "{host}"'
    except ValueError:
        pass
    yield f"port: {port}"


def _many(subjects: RelaySubjects, subject: str) -> str:
    return ", response_type: stream" if subject == subjects.asking("*") else ""


def _account(account: str, subjects: RelaySubjects, name: str) -> Iterable[str]:
    """Yield the account of one site: its user, who may publish imported subjects and subscribe to its own inbox."""
    published = subjects.published(name)
    yield f"{json.dumps(_account_of(account, subjects, name))}: {{"
    may = f"subscribe: {json.dumps(f'{subjects.inbox(name)}.>')}, publish: {json.dumps(published)}"
    yield f"  users: [{{user: {_user(account, name)}, permissions: {{{may}}}}}]"
    imports = (f"{{service: {{account: {json.dumps(account)}, subject: {json.dumps(s)}}}}}" for s in published)
    yield from _listed("imports", imports)
    yield "}"


def _listed(what: str, items: Iterable[str]) -> Iterable[str]:
    yield f"  {what}: ["
    yield from (f"    {item}" for item in items)
    yield "  ]"


def _account_of(account: str, subjects: RelaySubjects, name: str) -> str:
    return f"{account}~{subjects.seats[name]}"


def _user(account: str, name: str) -> str:
    """Return the subject of a certificate, as nats-server writes it. A site has another one in each provisioning."""
    return json.dumps(f"CN={name},O={account}")
