"""Readers and writers, one file a format; each takes a path and an account of what it tolerated."""
