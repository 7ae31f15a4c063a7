# The advice of a finding: in the language of its line, short, and CLEAR's words for CLEAR's programs alone; the long text by clear help.
# quick
. "$(dirname "$0")/lib.sh"

cat "$ROOT/schema/tables.sql" "$ROOT/tests/query_data.sql" | sqlite3 t.db && "$CLEAR" runs --db t.db >/dev/null || fail "making t.db"
expect_equal "$(sql t.db "SELECT code FROM short_advice WHERE code NOT IN (SELECT code FROM advice)
    UNION SELECT code FROM short_advice AS own WHERE NOT EXISTS (SELECT 1 FROM short_advice WHERE code = own.code AND language = '')")" '' \
    'short advice without a code, or not for any language'
[ "$(sql t.db "SELECT count(*) FROM advice WHERE code NOT IN (SELECT code FROM short_advice)")" -le 12 ] || fail 'codes without short advice'
expect_equal "$(sql t.db "SELECT code || ' ' || language FROM short_advice
    WHERE max(length(text) - length(replace(text, ' ', '')), length(unless) - length(replace(unless, ' ', ''))) >= 40")" '' 'more than 40 words'
expect_equal "$(sql t.db "SELECT code || ' ' || language FROM short_advice WHERE language <> 'clear'
    AND (replace(text, 'query @', '') || unless GLOB '*@[a-z]*' OR text || unless GLOB '*BG {*' OR text GLOB '*WITH block*' OR text GLOB '*CLEAR*' OR text GLOB '*FREEZE*')")" '' "CLEAR's words for another language"
expect_equal "$(sql t.db "SELECT code || ' ' || language FROM short_advice WHERE text NOT LIKE '%.' OR unless NOT LIKE '%.' AND unless <> '' AND language = ''")" '' 'no sentence'
[ "$(sql t.db "SELECT count(DISTINCT code) FROM short_advice WHERE language = 'rust'")" -ge 25 ] || fail 'little for Rust'

# The language is that of the function: by its file, or its mangled name where no file is known.
language() { # language NAME SYSTEM-NAME FILE: makes it the function of stack 1, and prints the language and what is said of a leak there
    sql t.db "INSERT INTO functions(id, name, system_name, filename) VALUES (90 + abs(random()), '$1', '$2', '$3');
        UPDATE traces SET function_id = (SELECT max(id) FROM functions WHERE system_name = '$2' AND filename = '$3') WHERE id = 1"
    sql t.db "SELECT language FROM trace_languages WHERE trace_id = 1"
    "$CLEAR" doctor --db t.db --json 1 | python3 -c 'import json, sys
print([row["short"].split()[0:3] for row in json.load(sys.stdin) if row["code"] == "leak"][0])'
}
expect_equal "$(language a a /src/a.c)" "c
['Free', 'these', 'blocks']" 'C'
expect_equal "$(language a::b _ZN1a1bEv /src/a.h)" "c++
['Let', 'an', 'owner']" 'C++ in a header'
expect_equal "$(language a::b _ZN1a1b17h0123456789abcdefE '')" "rust
['Break', 'what', 'keeps']" 'Rust, as it was mangled once'
expect_equal "$(language a::b _RNvC1a1b '')" "rust
['Break', 'what', 'keeps']" 'Rust'
expect_equal "$(language entry entry /src/ledger.cht)" "clear
['Remove', 'entries', 'from']" 'CLEAR'
expect_equal "$(language main.work main.work /src/main.go)" "
['Free', 'these', 'blocks']" 'another language'

# In the report: what to do, then when it is no fault; the long text behind clear help.
language last last /src/last.d >/dev/null
"$CLEAR" doctor --db t.db 1 >report.txt || fail doctor
expect_match "$(tr -s '\n ' ' ' <report.txt)" 'leak: allocated and never freed Free these blocks where .* Not a fault if the program keeps' 'a leak'
expect_match "$(cat report.txt)" '^  clear help lock-contended ' 'where more is said'
"$CLEAR" help heap-leak >help.txt || fail 'clear help heap-leak'
expect_match "$(cat help.txt)" '^heap-leak \(warning\): allocated and never freed$' 'its title'
expect_match "$(tr -s '\n ' ' ' <help.txt)" 'an early return or an error path.*In short: .*rust: Break what' 'all that is said'
expect_equal "$("$CLEAR" help contended | grep -oE '^[a-z-]+ \(' | xargs)" 'wait-contended ( lock-contended (' 'a code of two sections'
expect_match "$("$CLEAR" help top)" 'clear top' 'a command'
