#!/usr/bin/env bash
# clear gate decides as Python's own arithmetic does: on seeded warehouses with exact and timed figures, every direction, limits, few and
# many runs; a gate without a change of 50 series gives no alert, where a plain t test does; a step is found. make long has 75 warehouses, not
# 16, and 20 gates of either kind, not one.
# timeout: 300
# longer: VERDICTS=whole
# plain: what it holds are verdicts; the code that finds them runs in the other tests of gates too
. "$(dirname "$0")/lib.sh"
python3 "$ROOT/tests/gate_verdicts.py" || fail "the lines above"
