"""How steady a system is over the ways to write a query: mean against variance, worst cases and risk.

The mean-variance view is that of Zuccon, Palotti and Hanbury (CIKM 2016), the weighing of gains and losses that of
Wang, Bennett and Collins-Thompson (SIGIR 2012) with the original query as baseline. Left out: how popular each way to
write a query is, which recorded variations alone could tell.
"""

from __future__ import annotations

import numpy as np
from ir_measures import Measure

from ringtrue.evaluation.measures import direction
from ringtrue.robustness.evaluate import Values, mean, mean_of_known
from ringtrue.robustness.result import Consistency


def consistency(values: Values, measure: Measure, aversion: float = 1.0) -> Consistency:
    """One system's figures over the queries that have a valid variation."""
    row, sign = values.place(measure), direction(measure)
    usable = values.valid.any(axis=0)
    original, slots = values.original[row][usable], values.slots[row][:, usable]
    ways = np.vstack((original, slots))
    means = mean_of_known(ways, axis=0)
    count = (~np.isnan(ways)).sum(axis=0)
    variance = np.nansum((ways - means) ** 2, axis=0) / np.maximum(count - 1, 1)
    gains = sign * (slots - original)
    change = mean_of_known(np.where(gains < 0, (1 + aversion) * gains, gains), axis=0)
    some = bool(usable.any())
    return Consistency(
        values.system,
        str(measure),
        int(usable.sum()),
        int((~np.isnan(slots)).sum()),
        mean(original),
        mean(means),
        mean(np.sqrt(variance)),
        float(means.std(ddof=1)) if usable.sum() > 1 else float("nan"),
        sign * mean(np.nanmin(sign * ways, axis=0)) if some else float("nan"),
        sign * mean(np.nanmax(sign * ways, axis=0)) if some else float("nan"),
        mean(mean_of_known(values.overlap[:, usable], axis=0)),
        aversion,
        mean(means) - sign * aversion * mean(variance),
        mean(change),
    )
