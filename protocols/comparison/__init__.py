"""Who is larger: the comparison of Damgard, Geisler and Kroigaard (2007) with Veugen's term for equality (2012).

`chooser` holds x, `holder` holds y and the key. Only the holder learns whether x <= y; the chooser learns nothing.
"""
