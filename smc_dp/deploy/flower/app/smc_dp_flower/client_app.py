"""ClientApp that passes a turn to the site's own program over a Unix socket, and its answer back. It reads neither."""

from __future__ import annotations

import socket

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp

client_app = ClientApp()


@client_app.query()  # type: ignore[untyped-decorator]  # Flower is not installed where types are checked
def pass_turn(message: Message, context: Context) -> Message:
    """Pass one turn on. The site's owner named the socket when the SuperNode was started; a message cannot."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(context.node_config["socket"]))
        line.sendall(message.content["turn"]["bytes"])
        line.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: line.recv(1 << 20), b""))
    return Message(RecordDict({"turn": ConfigRecord({"bytes": answer})}), reply_to=message)
