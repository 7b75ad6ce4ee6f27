"""What one site can hand to an auditor after the session: its own view, made again and signed.

A view is secret: it holds the site's input and its coins. It is made on request only, from the first seed of the role,
and says that its owner read what stands in the record, so the record has to be one that the site has checked.
"""

from __future__ import annotations

from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Signer
from protocols.errors import ProtocolError
from protocols.runtime.session import Session
from protocols.runtime.view import made_afterwards
from smc_dp.core.errors import InputError
from smc_dp.deploy.record import Recorded


def own_view(
    session: Session, name: str, signer: Signer, seed: Stream, inputs: tuple[Any, ...], record: Recorded
) -> bytes:
    """The view of this participant as a file.

    `seed`: what its role's coins began with. `inputs`: those of its role with all that was answered at home, as they
    stood in the end. `record`: as `check_record` gave it, its own marks among it. Raises InputError where this is not
    what the record was made from: then the role would have sent something else.
    """
    try:
        view = made_afterwards(session, name, signer, seed, inputs, record.envelopes, record.marks_of(name))
    except ProtocolError as error:
        raise InputError(f"view of {name}: does not follow from its seed, its inputs and the record: {error}") from None
    return view.dumps(session)
