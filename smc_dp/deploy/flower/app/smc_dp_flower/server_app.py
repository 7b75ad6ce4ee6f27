"""ServerApp that gives the sites of one study their turns. `flwr run` with the same settings continues a run that died.

The operator registered each SuperNode's public key under the name of its site, so a node speaks for that site alone.
"""

from __future__ import annotations

import time

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.serverapp import Grid, ServerApp

from smc_dp_flower.turns import TurnRelay

server_app = ServerApp()
_LOOKS = 0.2  # seconds between two looks at what has come


@server_app.main()  # type: ignore[untyped-decorator]  # Flower is not installed where types are checked
def main(grid: Grid, context: Context) -> None:
    """Give turns until every site has ended."""
    said = context.run_config
    names = str(said["names"]).split()
    relay = TurnRelay(str(said["store"]), names, float(said["pause"]))
    asked: dict[str, str] = {}
    count, began = 0, time.monotonic()
    while not relay.over:
        nodes = {node.name: node.node_id for node in grid.get_nodes()} if relay.due(names) else {}
        due = relay.due(nodes)
        sent = grid.push_messages([_message(relay.question(name), nodes[name], relay.lost) for name in due])
        asked.update((found, name) for found, name in zip(sent, due, strict=False) if found)
        count += len(due)
        for answer in grid.pull_messages(list(asked)) if asked else ():
            if name := asked.pop(answer.metadata.reply_to_message_id, ""):
                relay.take(name, answer.content["turn"]["bytes"] if answer.has_content() else b"")
        time.sleep(_LOOKS)
    print(f"{count} messages, {time.monotonic() - began:.0f} seconds", flush=True)


def _message(question: bytes, node: int, lasts: float) -> Message:
    content = RecordDict({"turn": ConfigRecord({"bytes": question})})
    return Message(content, dst_node_id=node, message_type="query", ttl=lasts)
