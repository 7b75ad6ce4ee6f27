"""Who is larger: the comparison of Damgard, Geisler and Kroigaard (2007) with Veugen's correction (2018).

`chooser` holds x, `holder` holds y and the key. Only the holder learns whether x <= y; the chooser learns nothing.
"""
