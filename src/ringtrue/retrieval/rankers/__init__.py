"""Rankers with a neural model, one file each; `retrieval.catalog` is their table."""
