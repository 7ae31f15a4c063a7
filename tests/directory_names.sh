# A run's directory away from its binary, as of a program that the toolchain built and removed: its locks and cells, and the functions that used
# them, have the names that they have in the run, for clear doctor too.
. "$(dirname "$0")/lib.sh"
mkdir away
record() { # PROGRAM OPTION...
    local program=$1
    shift
    cp "$FIXTURES/$program" .
    "$CLEAR" profile -q --db "$program.db" "$@" "./$program" >/dev/null || fail "$program"
    mv "$program.profile" away/ && rm "$program"
    (cd away && "$CLEAR" ingest -q --db "../read-$program.db" "$program.profile") || fail "ingest $program"
}
names() { # DB TABLE KIND: objects and the functions that used them
    sql "$1" "SELECT DISTINCT objects.name, coalesce(function, ''), coalesce(line, 0)
        FROM $2 JOIN profiles ON profiles.id = profile_id JOIN objects ON objects.id = object_id LEFT JOIN frames ON frames.trace_id = $2.trace_id
        WHERE profiles.kind = '$3' AND objects.identity NOT GLOB 'address:*' ORDER BY 1, 2, 3"
}
record mvcc --sync-callstacks
record lock_contended
for of in 'mvcc cells mvcc' 'lock_contended locks lock'; do
    set -- $of
    names "$1.db" "$2" "$3" >want && names "read-$1.db" "$2" "$3" >got || fail "$1"
    grep -q '|[a-z_]*|[1-9]' want || fail "no names in the run of $1: $(cat want)"
    cmp -s want got || fail "$1: $(diff want got)"
done
grep -q '^# object: 0x[0-9a-f]*	cell	symbol:mvcc:hot+0	mvcc:hot$' away/mvcc.profile/mvcc.txt || fail "mvcc.txt: $(head -5 away/mvcc.profile/mvcc.txt)"

# What only looks like a name is a comment, as everything that is not known.
printf '# mvcc-profile v2\n# frame: 0x12\tbroken\n# frame: 0x13\tf\tf\tx.c\t-1\t0\n# frame: 0x14\tnamed\tnamed\tx.c\t7\t5\n0x40 8 1 1 1 0 0 0x12,0x13,0x14\n' >frames.txt
"$CLEAR" ingest -q --db frames.db frames.txt || fail frames
expect_equal "$(sql frames.db "SELECT group_concat(function || ':' || line) FROM (SELECT function, line FROM frames JOIN cells USING(trace_id) ORDER BY depth)")" \
    '0x12:0,0x13:0,named:7' 'frames'
