"""Whether a system survives the ways in which people write the same query.

After Penha, Câmara and Hauff, "Evaluating the Robustness of Retrieval Pipelines with Query Variation Generators"
(ECIR 2022).
"""
