"""What a leak is worth: rankers trained with and without leakage, held against each other (Fröbe et al., SPIRE 2022).

`cell` and `plan` need no more than training a network does, so that another machine can do the work.
"""
