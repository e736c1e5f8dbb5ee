"""How do memories come and go? Files of other programs, read as records that a memory can take in.

One file per format; each turns the bytes of a file into :class:`~recollect.exchange.record.Record` and knows
nothing of a store. :mod:`recollect.exchange.formats` tells them apart.
"""
