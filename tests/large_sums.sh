# A sum that 64 bits do not hold is an error in every report, export and diagnosis; one that they just hold is right.
# timeout: 300
# build: plain
. "$(dirname "$0")/lib.sh"

python3 "$ROOT/tests/large_sums.py" "$CLEAR" "$TMP" || fail "see above"
