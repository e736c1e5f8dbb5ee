"""How do memories come and go? Files of other programs, read as records that a memory can take in.

One file per format; each turns the bytes of a file into :class:`~memorata.exchange.record.Record` and knows
nothing of a store. :mod:`memorata.exchange.formats` tells them apart.
"""
