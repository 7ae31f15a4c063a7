"""How often a row is measured: ROUNDS times, or as often as ROW_SECONDS allow, but three times at least, and twice where a round takes longer than that. 0 is no limit."""

import os
import time

LEAST, SLOW = 3, 2
ROW_SECONDS = float(os.environ.get("ROW_SECONDS", "0"))


def rounds(most):
    """The numbers of the rounds. A round begins only where it would end in time, as the ones before went."""
    begin = time.monotonic()
    for i in range(most):
        spent = time.monotonic() - begin
        is_enough = i >= LEAST or (i >= SLOW and spent / i > ROW_SECONDS)
        if ROW_SECONDS and is_enough and spent + spent / i > ROW_SECONDS: return
        yield i
