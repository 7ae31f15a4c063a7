# Each text that C asks for by its name is embedded: a name that is not is met only where it is asked for.
# quick
. "$(dirname "$0")/lib.sh"

grep -o '^    {"[^"]*"' "$BUILD/gen/embed.c" | sed 's/^    {"//; s/"$//' | sort -u >embedded.txt
find "$ROOT"/{cli,query,export,serve,ingest,schema} -name '*.c' -exec grep -hoE 'embedded_text\("[^"]+"\)' {} + | sed 's/^embedded_text("//; s/")$//' | sort -u >asked.txt
[ "$(wc -l <asked.txt)" -gt 100 ] || fail "names that are asked for: $(wc -l <asked.txt)"
expect_equal "$(comm -23 asked.txt embedded.txt)" '' 'texts that are asked for and not embedded'
