"""Multi-party protocols: integers, messages, roles.

Begin reading at `protocols.pathak2010`, which is section 3.2 of the paper as a folder; its `NOTES.md` numbers every
departure. Nothing here knows learning or privacy budgets, and nothing here is a float. Trust model: each protocol's
`ideal.py` states which coalitions learn what, and whether they are semi-honest.
"""

import logging

logging.getLogger(__name__).addHandler(logging.NullHandler())  # who wants to hear of it, says so
