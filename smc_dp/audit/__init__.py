"""What an auditor can find out about a run: did what was promised happen, who could learn what, is the epsilon real.

`evidence` reads a run folder and views with suspicion; each file of checks holds one group; `report` runs them all.
"""
