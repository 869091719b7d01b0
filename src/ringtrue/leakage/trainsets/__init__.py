"""Training sets with a known amount of leakage, after Fröbe et al. (SPIRE 2022)."""
