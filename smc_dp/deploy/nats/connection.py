"""A connection to a NATS server for a program that does not use asyncio: each call runs an event loop until it is done.

A lost connection is made anew and the call repeated, for a bounded time; everything that a carrier calls can be
repeated. The caller gets a `CarrierError` of one line afterwards.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import ssl
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from smc_dp.core.errors import FieldValue, InputError, InputFault, one_line
from smc_dp.core.reading import open_plain_file
from smc_dp.deploy.fields import require_relay_host
from smc_dp.deploy.frame import CarrierError

if TYPE_CHECKING:
    from nats.aio.client import Client

CA_FILE, CERTIFICATE_FILE, KEY_FILE = "ca.pem", "site.pem", "site.key"
"""A folder of credentials: whom to believe that it is the relay, and what this site shows to it."""
DEFAULT_PORT = 4222
_SCHEMES = ("tls", "nats")
_MOST_BYTES = 1 << 16  # of a certificate or key
_CONNECTING, _CLOSING = 5, 2.0
_ANSWERED = 10.0  # seconds for any answer of the relay
_PAUSE = 0.2
_FORBIDDEN, _UNKNOWN = "permissions violation", "authorization violation"
_ENDED = ("broken pipe", "connection reset")  # the error instead where a message was on its way
_PERHAPS = "; so ends a relay that does not know our certificate"
_Answer = TypeVar("_Answer")


def relay_address(relay: str) -> tuple[str, int]:
    """Return host and port of an address such as `tls://relay.example.org:4222`. InputError for any other."""
    return require_relay_host(relay, _SCHEMES, DEFAULT_PORT)


class RelayConnection:
    """Connection to one relay, with the certificate in a folder; `inbox` is the prefix of the subjects of answers.

    `answered`: seconds that a request may take.
    """

    def __init__(self, relay: str, credentials: Path, inbox: str, patience: float) -> None:
        try:
            import nats  # noqa: F401
        except ImportError:
            raise InputError("relay.no_nats_library") from None
        self._host, self._port = relay_address(relay)
        self._relay, self._inbox, self._patience = relay, inbox, patience
        self.answered = min(patience, _ANSWERED)
        self._tls = _context(credentials)
        self._runner = asyncio.Runner()
        self._client: Client | None = None
        self._lost = asyncio.Event()
        self._complaint = ""

    def call(self, work: Callable[[Client], Awaitable[_Answer]]) -> _Answer:
        """Return the result of `work` over a living connection. It is repeated after a connection is lost."""
        from nats.errors import Error
        from nats.js.errors import APIError

        until = time.monotonic() + self._patience
        while True:
            try:
                with _quiet():
                    return self._runner.run(self._over_a_living_one(work))
            except ssl.SSLError as error:
                self._drop()
                raise self._failed("relay.other_certificate", why=_said(error)) from None
            except APIError as error:
                raise self._failed("relay.refused", why=_said(error)) from None
            except TimeoutError:
                if _FORBIDDEN in self._complaint:
                    raise self._failed("relay.not_ours", complaint=self._complaint) from None
                reason = self._complaint or "no answer: perhaps the study was not opened there"
            except (Error, OSError, json.JSONDecodeError) as error:
                reason = self._complaint or _said(error)
            self._drop()
            if _UNKNOWN in reason.lower():
                raise self._failed("relay.unknown_certificate")
            if time.monotonic() + _PAUSE >= until:
                hint = _PERHAPS if any(ended in reason.lower() for ended in _ENDED) else ""
                raise self._failed("relay.not_reached", why=reason, hint=hint)
            time.sleep(_PAUSE)

    def _failed(self, code: str, **fields: FieldValue) -> CarrierError:
        return CarrierError(InputFault(code, fields, f"relay {self._relay}: "))

    def close(self) -> None:
        """End the connection and the loop."""
        self._drop()
        self._runner.close()

    async def _over_a_living_one(self, work: Callable[[Client], Awaitable[_Answer]]) -> _Answer:
        self._complaint = ""
        if self._client is None or not self._client.is_connected:
            self._client = await self._connected()
        doing, losing = asyncio.ensure_future(work(self._client)), asyncio.ensure_future(self._lost.wait())
        try:
            await asyncio.wait({doing, losing}, return_when=asyncio.FIRST_COMPLETED)
            if doing.done():
                return doing.result()
            raise ConnectionError("the connection was lost")
        finally:
            doing.cancel()
            losing.cancel()
            await asyncio.gather(doing, losing, return_exceptions=True)

    async def _connected(self) -> Client:
        from nats.aio.client import Client

        client = Client()
        host = f"[{self._host}]" if ":" in self._host else self._host
        connecting = client.connect(
            f"tls://{host}:{self._port}",
            tls=self._tls,
            tls_hostname=self._host,
            allow_reconnect=False,  # `call` makes it anew
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            connect_timeout=_CONNECTING,
            inbox_prefix=self._inbox,
            error_cb=self._hear,
        )
        try:
            await asyncio.wait_for(connecting, 2 * _CONNECTING)
            if not client._server_info.get("tls_required"):  # the library would go on in the clear
                raise ssl.SSLError("it offers no TLS")
        except BaseException as error:
            await _closed(client)
            raise ConnectionError("no connection in time") if isinstance(error, TimeoutError) else error  # noqa: B904
        self._lost.clear()  # by an attempt before
        return client

    async def _hear(self, error: Exception) -> None:
        """Keep what the server complains of, such as a subject that is not ours: a request then gets no answer.

        Where the connection is gone, nothing that waits over it will ever be answered.
        """
        from nats.errors import StaleConnectionError

        self._complaint = _said(error)
        if isinstance(error, StaleConnectionError | OSError):
            self._lost.set()

    def _drop(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with _quiet():
                self._runner.run(_closed(client))


async def _closed(client: Client) -> None:
    """Close it, with all that it has running: where the server went away first, it waits for what never comes."""
    with suppress(TimeoutError):
        await asyncio.wait_for(client.close(), _CLOSING)
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


def _context(credentials: Path) -> ssl.SSLContext:
    for name in (CA_FILE, CERTIFICATE_FILE, KEY_FILE):
        with open_plain_file(credentials / name, f"credentials {credentials / name}", _MOST_BYTES):
            pass
    try:
        context = ssl.create_default_context(cafile=credentials / CA_FILE)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_cert_chain(credentials / CERTIFICATE_FILE, credentials / KEY_FILE)
    except (ssl.SSLError, OSError) as error:
        raise InputError("credentials.unusable", credentials=str(credentials), why=_said(error)) from None
    return context


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what libraries log for authors of protocols: that a server went away, or that a call was broken off.

    What ends a connection is an error as well, and becomes one line.
    """

    def wanted(record: logging.LogRecord) -> bool:
        return record.name == "asyncio" and "eof_received" not in record.getMessage()

    loggers = [logging.getLogger(name) for name in ("asyncio", "nats.aio.client")]
    for logger in loggers:
        logger.addFilter(wanted)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(wanted)


def _said(error: BaseException) -> str:
    """Return an error on one line, which is never empty."""
    said = getattr(error, "description", None) or str(error)
    if isinstance(error, ssl.SSLError):
        said = getattr(error, "reason", None) or error.args[-1]
    elif isinstance(error, OSError) and error.errno is not None and error.errno > 0:
        said = os.strerror(error.errno)
    return one_line(said.removeprefix("nats: ")) or type(error).__name__
