"""`newton` and `gd`: one model of everybody's rows, learnt from sums of what single records contribute."""
