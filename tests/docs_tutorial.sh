# Every command of docs/tutorial.md and of the README's session, run as it stands there; and what the tutorial says came of it.
# build: plain
. "$(dirname "$0")/lib.sh"

commands() { # commands PAGE: its ```sh blocks
    awk '/^```sh$/ {inside = 1; next} /^```/ {inside = 0} inside' "$ROOT/$1"
}

ln -s "$ROOT/fixtures" fixtures
PATH=$(dirname "$CLEAR"):$PATH
commands docs/tutorial.md >tutorial.sh
[ "$(grep -c '^clear ' tutorial.sh)" -ge 10 ] || fail "no commands in the tutorial"
bash -eu tutorial.sh >said.txt 2>said.err || fail "status $?: $(tail -n 5 said.txt said.err)"
# The program counts itself: 20000 refused orders, of which one block each is lost.
expect_equal "$(grep -c '^900000 bought, 20000 orders refused' said.txt)" 2 'what the program says'
live="SELECT sum(inuse_count) FROM heap JOIN runs ON runs.id = run_id WHERE function = 'parse_order' AND label ="
expect_equal "$(sql runs.sqlite "$live 'before'")" 20000 'lost before'
expect_equal "$(sql runs.sqlite "$live 'after'")" 0 'lost after'
expect_equal "$(sql runs.sqlite "SELECT label, code, subject FROM doctor JOIN runs ON runs.id = run_id WHERE severity <> 'note'")" \
    'before|leak|parse_order' 'findings'
expect_match "$(cat said.txt)" 'live blocks +↓ down +20,001 +1 +-20,000' 'what the comparison says'
# What a page shows of the doctor was printed so: each line without the figures that differ from run to run.
shown() { # shown PAGE: the lines from "heap" to "..."
    awk '/^    heap$/ {inside = 1} /^ *[.][.][.]$/ {inside = 0} inside' "$ROOT/$1" | sed 's/^    //' | grep -v '^ *warning' | grep .
}
shown docs/tutorial.md >shown.txt
[ "$(wc -l <shown.txt)" -ge 8 ] || fail 'the tutorial shows no finding'
sed -i 's/\[[0-9]*\]/[]/' shown.txt said.txt # its number: a busy machine has a note of a slow flush before it
while IFS= read -r line; do grep -qxF -- "$line" said.txt || fail "not printed: $line"; done <shown.txt
for file in live.svg memory.svg; do [ -s "$file" ] || fail "no $file"; done

mkdir readme && cd readme && ln -s "$ROOT/fixtures" fixtures && ln -s "$CLEAR" clear || fail 'no directory'
commands README.md >session.sh
[ "$(grep -c '^./clear ' session.sh)" -ge 4 ] || fail 'no commands in the README'
bash -eu session.sh >said.txt 2>said.err || fail "README: status $?: $(tail -n 5 said.txt said.err)"
shown README.md >shown.txt
[ "$(wc -l <shown.txt)" -ge 8 ] || fail 'the README shows no finding'
while IFS= read -r line; do grep -qxF -- "$line" said.txt || fail "README: not printed: $line"; done <shown.txt
[ -s flamegraph.svg ] || fail 'README: no flame graph'
