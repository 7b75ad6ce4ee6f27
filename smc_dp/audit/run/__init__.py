"""What an auditor can find out about one run, from its record, its release and its participants' views.

`evidence` reads a run folder and views with suspicion; each module of checks holds one group; `checks` runs them all.
"""
