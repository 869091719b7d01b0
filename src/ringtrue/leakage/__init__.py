"""Did the model see the test queries, or nearly so, during training, and does it change what the evaluation says.

After Fröbe et al., "How Train-Test Leakage Affects Zero-shot Retrieval" (SPIRE 2022).
"""
