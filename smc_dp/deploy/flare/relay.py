"""FLARE's job at the server: it keeps the relay of one study open while the job at each site runs the site's part.

It reads no frame. From the job's configuration it takes the digest of the study, and nothing else.
"""

from __future__ import annotations

import time
from pathlib import Path

from nvflare.apis.controller_spec import ClientTask, Task
from nvflare.apis.fl_constant import CellMessageAuthHeaderKey
from nvflare.apis.fl_context import FLContext
from nvflare.apis.impl.controller import Controller
from nvflare.apis.shareable import Shareable
from nvflare.apis.signal import Signal
from nvflare.fuel.f3.cellnet.defs import MessageHeaderKey, ReturnCode
from nvflare.fuel.f3.cellnet.utils import make_reply
from nvflare.fuel.f3.message import Message
from typing_extensions import override

from smc_dp.core.errors import InputError
from smc_dp.core.private_text import PrivateText
from smc_dp.deploy.flare.local import CHANNEL, CODES, DONE, END_CODE, FAILED, TASK, RelayPlace
from smc_dp.deploy.flare.private_log import details_of, job_logger
from smc_dp.deploy.frame import CarrierError
from smc_dp.deploy.relay_service import RelayService
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.relay_wire import TOPICS

_LOOKS = 0.2  # seconds between two looks at what the sites answered


class RelayController(Controller):  # type: ignore[misc]  # FLARE has no types
    """One job's relay; its store stays in the server's own folder for the job that comes after."""

    def __init__(self, study: str) -> None:
        super().__init__()
        self._study, self.logger = study, job_logger("relay")
        self._place: RelayPlace | None = None
        self._desk: RelayService | None = None

    def start_controller(self, fl_ctx: FLContext) -> None:
        """Open the store that the server's owner named for this study; without one the job ends."""
        engine = fl_ctx.get_engine()
        local = Path(engine.get_workspace().get_site_config_dir())
        try:
            place = RelayPlace.read(local, self._study)
            place.store_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            store = RelayStore(place.store_folder / f"{self._study}.sqlite")
        except (InputError, OSError, CarrierError) as error:
            with details_of(local, self._study, "relay") as note:
                note(PrivateText(f"the relay does not open: {error}"))
            code = type(error).__name__ if isinstance(error, OSError) else error.code
            self.system_panic(f"the relay does not open: {code}", fl_ctx)
            return
        self._place, self._desk = place, RelayService(self._study, store, place.sites)
        # FLARE's simulator runs parent and job of the server in one process, each with a cell of its own.
        cell = getattr(engine.server, "job_cell", None) or engine.get_cell()
        for topic in TOPICS:
            cell.register_request_cb(channel=CHANNEL, topic=topic, cb=self._answer)

    def control_flow(self, abort_signal: Signal, fl_ctx: FLContext) -> None:
        """Have every site take part, and stay until all have ended, one cannot go on, or the rest is given up."""
        if (place := self._place) is None:
            return
        there = [client.name for client in fl_ctx.get_engine().get_clients() if client.name in place.sites]
        said: dict[str, str] = {}
        until = [time.monotonic() + place.longest]  # the end for all, then one after each answer: the others get `rest`

        def heard(client_task: ClientTask, fl_ctx: FLContext) -> None:
            code = client_task.result.get(END_CODE)
            said[client_task.client.name] = code if code in CODES else FAILED
            until.append(time.monotonic() + place.rest)

        task = Task(TASK, Shareable(), result_received_cb=heard)
        self.broadcast(task, fl_ctx, targets=there, min_responses=len(there))
        while not abort_signal.triggered and time.monotonic() < min(until[0], until[-1]):
            if others := {site: code for site, code in said.items() if code != DONE}:
                self.system_panic(f"the study cannot go on: {others}", fl_ctx)
                return
            if len(said) == len(there):
                return
            time.sleep(_LOOKS)

    def stop_controller(self, fl_ctx: FLContext) -> None:
        """Release the sites that still wait for frames."""
        if self._desk:
            self._desk.close()

    @override
    def process_result_of_unknown_task(
        self, client: object, task_name: str, client_task_id: str, result: Shareable, fl_ctx: FLContext
    ) -> None:
        pass

    def _answer(self, request: Message) -> Message:
        """Answer a request. FLARE's server signed the site's name in its token."""
        site = request.get_header(CellMessageAuthHeaderKey.CLIENT_NAME)
        topic, body = request.get_header(MessageHeaderKey.TOPIC), request.payload
        if self._desk is None or not isinstance(site, str) or not isinstance(body, bytes | bytearray | memoryview):
            return make_reply(ReturnCode.INVALID_REQUEST)
        try:
            return make_reply(ReturnCode.OK, body=self._desk.answer(site, str(topic), bytes(body)))
        except CarrierError as error:
            self.logger.warning("refused a question: %s", error.code)
            return make_reply(ReturnCode.INVALID_REQUEST)
