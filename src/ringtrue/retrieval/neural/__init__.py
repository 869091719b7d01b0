"""What all trainable rankers share: texts as tokens, pairs in batches, scoring, and checkpoints.

Nothing here needs more than numpy, torch, tokenizers and safetensors, so that a machine that only trains and scores
can have these alone.
"""
