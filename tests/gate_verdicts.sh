#!/usr/bin/env bash
# clear gate decides as Python's own arithmetic does: on seeded warehouses with exact and timed figures, every direction, limits, few and
# many runs; 20 gates without a change of 50 series each give at most one alert, where a plain t test gives dozens; a step is found.
# timeout: 300
# plain: what it holds are verdicts; the code that finds them runs in the other tests of gates too
. "$(dirname "$0")/lib.sh"
python3 "$ROOT/tests/gate_verdicts.py" || fail "the lines above"
