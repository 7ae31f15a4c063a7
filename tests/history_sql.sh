# SQL over the history of a program: what the views say is the sum of the rows of the tables, also of rows that were changed by hand, and a
# condition on the run, by whichever means, reads the rows of that run only.
# timeout: 300
# build: plain
. "$(dirname "$0")/lib.sh"

python3 "$ROOT/tests/history_sql.py" "$CLEAR" "$TMP" || fail "see above"
