"""Flower carries the frames: its ServerApp keeps the relay, and its ClientApp at each site only passes bytes on.

A bundle of apps runs with the rights of the SuperNode, and the user who uploads it decides what it does. So no key, row
or ledger is in the SuperNode's process: `join` and `serve` listen at a Unix socket, and the ClientApp passes one turn
at a time to it. `app` is that bundle, a package of its own that needs nothing but Flower.
"""
