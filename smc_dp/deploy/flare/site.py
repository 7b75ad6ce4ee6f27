"""FLARE's job at a site: it runs the site's own part, of which the job knows nothing but the digest of its study.

FLARE's log is read by more people than the site's rows: it gets fixed lines and codes. The text of a refusal, what the
site is told of its part, and warnings go to a file that its owner can read; lines of the package's own loggers nowhere.
"""

from __future__ import annotations

from pathlib import Path

from nvflare.apis.executor import Executor
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable, make_reply
from nvflare.apis.signal import Signal
from nvflare.fuel.f3.cellnet import defs
from nvflare.fuel.f3.cellnet.fqcn import FQCN
from nvflare.fuel.f3.message import Message

from smc_dp.core.errors import InputError
from smc_dp.core.private_text import PrivateText
from smc_dp.deploy.arrival import longest_frame
from smc_dp.deploy.flare.local import CHANNEL, DONE, END_CODE, FAILED, REFUSED, STOPPED, site_files
from smc_dp.deploy.flare.private_log import details_of, job_logger
from smc_dp.deploy.frame import CarrierError
from smc_dp.deploy.join import take_part
from smc_dp.deploy.relay_carrier import Ask, RelayCarrier


class JobEndedError(Exception):
    """FLARE has ended the job; what the site has done is kept, and the next job goes on from there."""


class SiteExecutor(Executor):  # type: ignore[misc]  # FLARE has no types
    """One site's part in one job."""

    def __init__(self, study: str) -> None:
        super().__init__()
        self._study, self.logger = study, job_logger("site")

    def execute(self, task_name: str, shareable: Shareable, fl_ctx: FLContext, abort_signal: Signal) -> Shareable:
        """Take part until the site has all it waits for, or FLARE ends the job; the job gets a fixed code."""
        local, who = Path(fl_ctx.get_engine().get_workspace().get_site_config_dir()), fl_ctx.get_identity_name()
        with details_of(local, self._study, who) as note:
            try:
                study_file, files = site_files(local, self._study, who)
                ask = asks(fl_ctx, abort_signal)
                part = take_part(study_file, files, note, lambda study, *_: RelayCarrier(ask, longest_frame(study)))
            except JobEndedError:
                self.logger.info("FLARE ended the job; the same job once more goes on from here")
                return _told(STOPPED)
            except InputError as error:
                note(PrivateText(f"refused: {error}"))
                self.logger.error("refused: %s", error.code)
                return _told(REFUSED)
            except Exception as error:  # FLARE would log its text, and the values in it
                note(PrivateText(f"failed: {type(error).__name__}: {error}"))
                self.logger.error("failed: %s", type(error).__name__)
                return _told(FAILED)
            note(part.why)
        self.logger.info("the study is over here: %s %s", part.end, part.code)
        return _told(DONE)


def asks(fl_ctx: FLContext, abort: Signal) -> Ask:
    """Return the function by which a site asks the relay of its job. It raises JobEndedError once the job has ended."""
    cell = fl_ctx.get_engine().get_cell()
    relay = FQCN.join([FQCN.ROOT_SERVER, fl_ctx.get_job_id()])

    def ask(topic: str, request: bytes, seconds: float) -> bytes:
        if abort.triggered:
            raise JobEndedError
        message = Message(payload=request)
        reply = cell.send_request(
            channel=CHANNEL, target=relay, topic=topic, request=message, timeout=seconds, abort_signal=abort
        )
        if abort.triggered:
            raise JobEndedError
        code = reply.get_header(defs.MessageHeaderKey.RETURN_CODE)
        if code != defs.ReturnCode.OK:
            raise CarrierError("relay.does_not_serve", topic=topic, why=code)
        return bytes(reply.payload)

    return ask


def _told(code: str) -> Shareable:
    """Return the reply that tells the job, by a fixed code, how the site's part ended."""
    reply = make_reply(ReturnCode.OK)
    reply[END_CODE] = code
    return reply
