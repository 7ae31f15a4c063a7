# A program that systemd starts by `clear profile`: the sockets and the watchdog that the variables of clear's own process id promise are the program's. Numbers of
# others stay, and descriptors are passed on.
# build: plain
# quick
. "$(dirname "$0")/lib.sh"

echo 'through the descriptor' >given.txt
# shellcheck disable=SC2016
started() { # started NUMBER...: by a process whose id is in LISTEN_PID, and a program that says whether its own is
    LISTEN_FDS=1 bash -c 'exec 3<given.txt; export LISTEN_PID=${1:-$$} WATCHDOG_PID=$$; exec "$CLEAR" profile -q --no-files --db t.db -- \
        sh -c "[ \$LISTEN_PID = \$\$ ] && echo own; [ \$WATCHDOG_PID = \$\$ ] && echo watched; cat <&3; echo \$LISTEN_FDS"' - "$@"
}
expect_equal "$(started)" $'own\nwatched\nthrough the descriptor\n1' 'what the program sees'
expect_equal "$(started 1)" $'watched\nthrough the descriptor\n1' 'what it sees of a number that is not of clear'
