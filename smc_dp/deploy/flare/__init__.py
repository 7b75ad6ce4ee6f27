"""NVIDIA FLARE carries the frames: its server's job keeps the relay, its job at each site runs the site's own part.

A job only connects. The session lives at the sites and the relay's store beside the server, so a job that died is
submitted again and everybody goes on. Nothing is taken from a job but the digest of a study; study, data, key, ledger
and policy are those that a site itself has named in its own folder.
"""
