# make demo ends in a finding: every command that it shows succeeds, the finding has the line that is in the source, and where
# /proc is not mounted the demo and clear say so.
# build: plain
. "$(dirname "$0")/lib.sh"

ln -s "$ROOT/fixtures" fixtures
OUT=$(dirname "$CLEAR") "$ROOT/packaging/demo" >out.txt 2>&1 || fail "the demo: $? $(tail -5 out.txt)"
# On a busy machine the doctor has a section more (its recorder was late): 129 lines were 118 on another day. There is room for that.
[ "$(wc -l <out.txt)" -le 119 ] || fail "the demo has $(wc -l <out.txt) lines"
line=$(grep -n 'strndup' fixtures/fault_tiny_allocs.c | cut -d: -f1)
expect_match "$(tail -4 out.txt)" "^arena: copy_token, .*fault_tiny_allocs\.c:$line *$" 'the finding at the end'
expect_match "$(cat out.txt)" '^  severity +code' "the doctor's table"
for shown in 'doctor --top 3 tiny' 'profile -q --label sqlite -- sqlite3 :memory: <fixtures/work.sql' 'top -3 --kind cpu' 'list --sample_index=alloc_objects' 'export tiny --kind cpu -o flamegraph.svg'; do
    grep -q "^\$ .*/clear $shown" out.txt || fail "the demo does not show clear $shown"
done
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse("flamegraph.svg")' || fail 'the picture'
for file in runs.sqlite flamegraph.svg fault_tiny_allocs.profile/heap.pb.gz sqlite3.profile; do
    [ -s "$file" ] && grep -q "^  $file " out.txt || grep -q "^  $file/" out.txt || fail "$file is not written, or the demo does not tell"
done
expect_equal "$(sql runs.sqlite 'SELECT group_concat(label) FROM runs')" tiny,sqlite 'runs'

# What is missing is named. A tmpfs over /proc stands for a bare chroot.
if unshare -m true 2>/dev/null; then
    hidden() { unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"; }
    mkdir bare && ln -s "$ROOT/fixtures" bare/fixtures
    (cd bare && OUT=$(dirname "$CLEAR") unshare -m sh -c 'mount -t tmpfs none /dev/pts && exec "$@"' sh "$ROOT/packaging/demo" >bare.txt 2>&1) ||
        fail "the demo without /dev/pts: $(tail -3 bare/bare.txt)"
    expect_match "$(cat bare/bare.txt)" 'note: /dev/pts is not mounted' 'the demo without /dev/pts'
    OUT=$(dirname "$CLEAR") hidden "$ROOT/packaging/demo" >none.txt 2>&1 && fail 'a demo without /proc'
    expect_match "$(cat none.txt)" '/proc is not mounted.*mount -t proc' 'the demo without /proc'
    if [ -z "${SANITIZED:-}" ]; then # which need /proc themselves
        for option in --quiet --cpu=perf --counters --syscalls; do
            hidden "$CLEAR" profile $option --db none.db true >none.txt 2>&1 && fail 'a run without /proc'
            expect_match "$(cat none.txt)" '^clear: /proc is not mounted.*mount -t proc' "clear profile $option without /proc"
        done
    fi
fi

# make check says which packages it lacks, and installs none.
mkdir packages && printf '#!/bin/sh\nfor last; do :; done\n[ "$last" = strace ] || [ "$last" = gdb ] || echo installed\n' >packages/dpkg-query && chmod +x packages/dpkg-query
printf '#!/bin/sh\ntouch "%s/installed"\n' "$TMP" >packages/apt-get && chmod +x packages/apt-get
PATH=$TMP/packages:$PATH make -s --no-print-directory -C "$ROOT" name-missing 2>said.txt || fail "make name-missing: $(cat said.txt)"
expect_equal "$(cat said.txt)" 'not installed, so parts are skipped or fail: gdb strace (make test installs them)' 'what make check says'
[ ! -e installed ] || fail 'make check installed something'
make -n -C "$ROOT" check | grep -q 'parts are skipped' || fail 'make check does not say what it lacks'
