# Each text that C names is embedded: one that is not is met only where it is asked for. A name is a literal `FOLDER/...` of a folder below schema/.
# quick
. "$(dirname "$0")/lib.sh"

grep -o '^    {"[^"]*"' "$BUILD/gen/embed.c" | sed 's/^    {"//; s/"$//' | sort -u >embedded.txt
folders=$(find "$ROOT/schema" -mindepth 1 -maxdepth 1 -type d -printf '%f|')
find "$ROOT"/{cli,query,export,serve,ingest,schema} -name '*.c' -exec cat {} + | grep -v '^#' |
    grep -oE "\"(${folders%|})/[a-z_0-9/-]+(\.sql)?\"" | tr -d '"' | grep -v '/$' | sort -u >named.txt
[ "$(wc -l <named.txt)" -gt 200 ] || fail "texts that are named: $(wc -l <named.txt)"
expect_equal "$(comm -23 named.txt embedded.txt)" '' 'texts that are named and not embedded'
