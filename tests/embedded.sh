# Each text that C names is embedded: one that is not is met only where it is asked for. A name is a literal `FOLDER/...` of a folder below schema/.
# And what stands in for a module in a page that is a file exports the same.
# quick
. "$(dirname "$0")/lib.sh"

grep -o '^    {"[^"]*"' "$BUILD/gen/embed.c" | sed 's/^    {"//; s/"$//' | sort -u >embedded.txt
folders=$(find "$ROOT/schema" -mindepth 1 -maxdepth 1 -type d -printf '%f|')
find "$ROOT"/{cli,query,export,serve,ingest,schema} -name '*.c' -exec cat {} + | grep -v '^#' |
    grep -oE "\"(${folders%|})/[a-z_0-9/-]+(\.sql)?\"" | tr -d '"' | grep -v '/$' | sort -u >named.txt
[ "$(wc -l <named.txt)" -gt 200 ] || fail "texts that are named: $(wc -l <named.txt)"
expect_equal "$(comm -23 named.txt embedded.txt)" '' 'texts that are named and not embedded'

# In the page that is a file, two modules stand in for others (serve/page/bundle.c): they export the same, and say as much of what a page can ask for.
offers() {
    sed -En 's/^export (async )?(function|const|class) ([A-Za-z_]+).*/\3/p' "$ROOT/web/$1" | sort
    grep '^export const HAS = ' "$ROOT/web/$1" | grep -oE '[a-z]+:'
}
stand_ins=$(sed -n '/ stand_ins\[\] = /s/^[^=]*= //p' "$ROOT/serve/page/bundle.c" | grep -oE '[a-z_/]+\.js')
expect_equal "$stand_ins" "$(printf '%s\n' state/api.js file/file_api.js state/place.js file/file_place.js)" 'modules of a page that is a file'
for module in api place; do
    [ "$(offers state/$module.js | wc -l)" -ge 5 ] || fail "what $module.js exports: $(offers state/$module.js)"
    expect_equal "$(offers file/file_$module.js)" "$(offers state/$module.js)" "what file_$module.js exports"
done
