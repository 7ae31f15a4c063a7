# The flame graph in a browser, by keys and mouse: search, zoom, walking, sample types, callers, flip, a difference, names in narrow boxes.
# timeout: 180
. "$(dirname "$0")/lib.sh"
needs_browser

cat >calls.folded <<'END'
main;server::run;server::Queue::push;alloc 300
main;server::run;server::Queue::push 100
main;server::run;server::Queue::pop 200
main;server::Table<int, std::less<int> >::find_the_one_that_was_asked_for;alloc 250
main 10
main;log::write 100
main;zoo::operators::run_all 40
END
sed 's/::pop 200/::pop 500/; /log::write/d' calls.folded >after.folded
"$CLEAR" ingest -q --db t.db --label before calls.folded && "$CLEAR" ingest -q --db t.db --label after after.folded || fail 'ingest'
"$CLEAR" profile -q --db t.db -o h.profile --label heap -- "$FIXTURES/leak" >/dev/null || fail 'profile'
"$CLEAR" export --db t.db --kind samples -o calls.svg before || fail 'calls.svg'
"$CLEAR" export --db t.db --kind samples -o change.svg --base before after || fail 'change.svg'
"$CLEAR" export --db t.db --kind heap -o heap.svg heap || fail 'heap.svg'
for type in alloc_objects alloc_space inuse_objects inuse_space; do
    "$CLEAR" export --db t.db --kind heap --type $type --format folded -o $type.folded heap || fail "$type"
done
python3 "$ROOT/tests/flamegraph_keys.py" || fail 'the flame graph in a browser'
