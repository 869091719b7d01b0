"""How text becomes rankings: rankers, the indexes they stand on, and how they are chained."""
