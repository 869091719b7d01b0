"""How small can the corpus be so that the ranking of systems can still be trusted.

After Fröbe et al., "Corpus Subsampling" (ECIR 2025).
"""
