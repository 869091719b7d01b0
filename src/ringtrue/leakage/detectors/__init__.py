"""Lexical detectors beside the search by meaning: they see words only, and show what it finds that words do not."""
