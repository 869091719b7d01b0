"""One training loop for all trainable rankers: triples in, weights out.

Settings and triples need numpy alone, the loop what the networks need; only reading files and mining negatives from a
collection need more, so that a machine that only trains can have little installed.
"""
