"""How often a row is measured: ROUNDS times, or as often as ROW_SECONDS allow, but three times at least, twice where a round takes longer than that, and
once where it takes twice as long. 0 is no limit."""

import os
import time

LEAST, SLOW = 3, 2
ROW_SECONDS = float(os.environ.get("ROW_SECONDS", "0"))


def rounds(most, least=None):
    """The numbers of the rounds. A round begins only where it would end in time, as the ones before went, or where there were not `least` ones."""
    begin = time.monotonic()
    for i in range(most):
        spent = time.monotonic() - begin
        is_slow = i >= SLOW and spent / i > ROW_SECONDS
        is_enough = i >= least if least else i >= LEAST or is_slow or (i and spent / i > 2 * ROW_SECONDS)
        if ROW_SECONDS and is_enough and spent + spent / i > ROW_SECONDS: return
        yield i
