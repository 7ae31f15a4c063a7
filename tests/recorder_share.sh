# The recorder has a session of its own, with the nice value of the command; the program stays in the user's.
# build: plain
# quick
. "$(dirname "$0")/lib.sh"

cat >sessions.sh <<'E2'
session_of() { awk '{print $6}' "/proc/$1/stat"; } # no name here has a space
for process in $(cat "/proc/$PPID/task/$PPID/children"); do
    [ "$(cat "/proc/$process/comm")" = clear-recorder ] && recorder=$process
done
echo "$(session_of $$) $(session_of "$PPID") $(session_of "$recorder") $recorder"
cat "/proc/$recorder/autogroup" 2>/dev/null # "/autogroup-25 nice 0"
E2
expect_status 0 "$CLEAR" profile -q --db s.db -- bash sessions.sh >said
read -r program supervisor recorders recorder <said
expect_equal "$program" "$supervisor" "the program's session"
expect_equal "$recorders" "$recorder" "the recorder leads its session"
if [ "$(sed -n 2p said)" ]; then expect_match "$(sed -n 2p said)" ' nice 0$' "weight of the recorder's session"; fi
# Whoever starts clear with a nice value has it kept.
expect_status 0 nice -n 12 "$CLEAR" profile -q --db s.db -- bash sessions.sh >said
if [ "$(sed -n 2p said)" ]; then expect_match "$(sed -n 2p said)" ' nice 12$' "weight of a nice recorder's session"; fi
