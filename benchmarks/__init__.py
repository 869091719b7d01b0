"""Measurements, each with its peers in the same run; `python -m benchmarks` runs all and writes results/*.json."""
