"""Audit of one run, from its transcript, its release and its participants' views.

`evidence` reads a run folder and views with suspicion; each module of checks holds one group; `checks` runs them all.
"""
