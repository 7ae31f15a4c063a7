#!/usr/bin/env bash
# perf and strace beside a recording: what they count stands in the run; where they cannot, nothing is run.
# build: plain
. "$(dirname "$0")/lib.sh"

cat >target.sh <<'E2'
#!/bin/sh
echo run >>runs.txt
cat
echo error >&2
exit 7
E2
chmod +x target.sh

# Missing or forbidden: one line, before anything happens.
tools=$(dirname "$(command -v strace)")
mkdir bin && ln -s /bin/sh bin/sh
for option in --counters --syscalls; do
    got=0
    message=$(PATH=$TMP/bin "$CLEAR" profile --db never.db "$option" ./target.sh 2>&1 >/dev/null </dev/null) || got=$?
    expect_equal "$got $(wc -l <<<"$message")" '2 1' "status and lines of $option without the tool: $message"
    expect_match "$message" "$option needs (perf|strace), which is not installed" "$option without the tool"
done
for tool in perf strace; do
    printf '#!/bin/sh\necho "Error:" >&2\necho "%s: Operation not permitted" >&2\nexit 1\n' "$tool" >"bin/$tool"
    chmod +x "bin/$tool"
done
for option in --counters --syscalls; do
    got=0
    message=$(PATH=$TMP/bin:$PATH "$CLEAR" profile --db never.db "$option" ./target.sh 2>&1 >/dev/null </dev/null) || got=$?
    expect_equal "$got $(wc -l <<<"$message")" '2 1' "status and lines of $option where the tool is not permitted: $message"
    expect_match "$message" "$option: .* is not permitted here: .*Operation not permitted" "$option where the tool is not permitted"
done
# perf 6.12 without /sys ends well, with a file that has a head and nothing of the program.
cat >bin/perf <<'E2'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
printf 'PERFILE2\150\0\0\0\0\0\0\0\230\0\0\0\0\0\0\0\150\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\150\0\0\0\0\0\0\0\140\0\0\0\0\0\0\0' >"$2"
E2
got=0
message=$(PATH=$TMP/bin:$PATH "$CLEAR" profile --db never.db --cpu=perf ./target.sh 2>&1 >/dev/null </dev/null) || got=$?
expect_equal "$got" 2 "status where perf records nothing: $message"
expect_match "$message" '--cpu=perf: perf records nothing here' 'where perf records nothing'
[ ! -e runs.txt ] && [ ! -e never.db ] || fail 'a refused command ran the target or made a database'

# System calls: a second execution, said so; status, output and input are the first one's.
strace -c true 2>/dev/null >&2 || skip "strace is not permitted here ($tools)"
printf 'one\ntwo\n' >in.txt
got=0
profile -q --syscalls -o t.profile ./target.sh <in.txt >out.txt 2>err.txt || got=$?
expect_equal "$got" 7 'status'
expect_same_file out.txt in.txt 'standard output of the first execution alone'
expect_equal "$(grep -c '^error$' err.txt)" 1 'standard error of the first execution alone'
expect_equal "$(grep -c 'running the program a second time' err.txt)" 1 'a word on the second execution'
expect_equal "$(cat runs.txt)" $'run\nrun' 'executions'

# The same calls as strace itself counts, of a program that makes a known number of one. The input was rewound: dd reads all of it.
head -c 1000 /dev/zero >zeros
profile -q --syscalls -o t.profile dd bs=1 of=/dev/null <zeros 2>/dev/null
expect_equal "$(sql t.db "SELECT calls FROM syscalls WHERE profile_id = (SELECT max(id) FROM profiles WHERE kind = 'syscalls') AND name = 'write' AND calls BETWEEN 1000 AND 1010" | wc -l)" 1 'writes of dd'
strace -f -c -o plain.txt dd bs=1 of=/dev/null <zeros 2>/dev/null
expect_equal "$(awk '$1 ~ /^[0-9]/ && $NF != "total" {print $NF, $4, NF == 6 ? $5 : 0}' t.profile/syscalls.txt | sort)" \
    "$(awk '$1 ~ /^[0-9]/ && $NF != "total" {print $NF, $4, NF == 6 ? $5 : 0}' plain.txt | sort)" 'calls and errors by name'
expect_equal "$(awk '$NF == "total" {print $4}' t.profile/syscalls.txt)" "$(awk '$NF == "total" {print $4}' plain.txt)" 'calls in all'
expect_equal "$(sql t.db "SELECT count(*) FROM heap WHERE run_id = (SELECT max(id) FROM runs) AND module = 'strace'")" 0 'strace itself is not recorded'

# A pipe cannot be read twice.
printf 'one\n' | profile -q --syscalls ./target.sh 2>err.txt >out.txt
expect_equal "$(cat out.txt)" one 'a pipe as standard input'
expect_match "$(cat err.txt)" 'its standard input empty' 'a word on the input'

# Nothing is executed again after a signal.
printf '#!/bin/sh\necho run >>killed.txt\nkill -KILL $$\n' >killed.sh && chmod +x killed.sh
profile -q --syscalls ./killed.sh 2>err.txt
expect_equal "$? $(cat killed.txt)" '137 run' 'a target that a signal ends'
expect_match "$(cat err.txt)" 'is not run a second time' 'a word on that'
check_db t.db

# Counters, of the same execution.
rm -f runs.txt
perf stat -e cycles,task-clock,LLC-loads true 2>/dev/null >&2 || skip 'perf is not permitted here'
got=0
profile -q --counters -o t.profile ./target.sh <in.txt >out.txt 2>err.txt || got=$?
expect_equal "$got $(cat runs.txt)" '7 run' 'status, and one execution'
expect_same_file out.txt in.txt 'standard output'
expect_equal "$(cat err.txt)" error 'standard error'
# A program that touches 64 MiB of fresh memory has a page fault for each page of it; perf counts them from its first one on.
cat >touch.c <<'E2'
#include <sys/mman.h>
int main(void) {
    char *memory = mmap(0, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, 64 << 20, MADV_NOHUGEPAGE);
    for (int i = 0; i < 64 << 20; i += 4096) memory[i] = 1;
    return 0;
}
E2
"${CC:-gcc}" -O1 -o touch touch.c || fail 'touch.c'
profile -q --counters --cpu=off -o t.profile ./touch
faults=$(sql t.db "SELECT CAST(value AS INTEGER) FROM counters WHERE name LIKE 'page-faults%' ORDER BY profile_id DESC LIMIT 1")
expect_between "$faults" 16384 18000 'page faults'
expect_match "$(cat t.profile/perf-stat.txt)" "Performance counter stats for './touch'" 'perf-stat.txt'
expect_equal "$(awk '$2 ~ /^page-faults/ {gsub(",", "", $1); print $1}' t.profile/perf-stat.txt)" "$faults" 'page faults in perf-stat.txt'
# What the machine does not count is known to be unknown.
expect_equal "$(sql t.db "SELECT count(*) FROM counters WHERE value IS NULL AND name LIKE 'recorder.%'")" 0 'unknown counters of the recorder'
expect_equal "$(grep -c '<not supported>' t.profile/perf-stat.txt)" \
    "$(sql t.db "SELECT count(*) FROM counters WHERE value IS NULL AND profile_id = (SELECT max(id) FROM profiles WHERE kind = 'counters')")" 'not supported'
check_db t.db
