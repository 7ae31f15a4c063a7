"""How often a row is measured: ROUNDS times, or as often as ROW_SECONDS allow, but three times at least; 0 is no limit."""

import os
import time

LEAST = 3
ROW_SECONDS = float(os.environ.get("ROW_SECONDS", "0"))


def rounds(most):
    """The numbers of the rounds. A round begins only where it would end in time, as the ones before went."""
    begin = time.monotonic()
    for i in range(most):
        spent = time.monotonic() - begin
        if ROW_SECONDS and i >= LEAST and spent + spent / i > ROW_SECONDS: return
        yield i
