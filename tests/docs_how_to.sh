# The pages docs/how-to-add-*.md: their blocks make the change that they tell of, in a copy of the tree; it builds, its tests pass, and
# the commands at the end do what the page says. In the gate: the blocks of each page fit the tree.
# timeout: 900
# plain: a tree that is built anew, and commands that other tests run
# longer: HOW_TO=built
. "$(dirname "$0")/lib.sh"

export GIT_CEILING_DIRECTORIES=$TMP
build=${BUILD#"$ROOT"/}
options=(BUILD="$build" OUT=.)

if [ "${HOW_TO:-}" = built ]; then built=("$build"); else built=(); fi

copy_tree() { # tree/, with the objects that are built: nothing is compiled but what changes
    rm -rf tree && mkdir tree || fail 'no directory'
    (cd "$ROOT" && tar cf - --exclude='*/fixtures/*.so*' --exclude="$build/fixtures" --exclude="$build/tests" --exclude="$build/corpus" \
        --exclude=fixtures/corpus Makefile base schema ingest query export serve cli tests fixtures "${built[@]}") | tar xpf - -C tree ||
        fail 'no copy'
}

# A block ```LANGUAGE FILE is a file, a block ```diff a patch, a block ```sh the commands. In the order of the page.
apply_page() { # apply_page PAGE
    rm -rf blocks && mkdir blocks && awk '
        /^```[a-z]+ [^ ]+$/ {file = sprintf("blocks/%02d.file", ++count); print $2 >(file ".name"); inside = 1; next}
        /^```diff$/ {file = sprintf("blocks/%02d.diff", ++count); inside = 1; next}
        /^```sh$/ {file = "blocks/commands.sh"; inside = 1; next}
        /^```/ {inside = 0}
        inside {print >file}' "$ROOT/docs/$1.md"
    [ -s blocks/commands.sh ] || fail "$1: no commands"
    for block in blocks/*.file blocks/*.diff; do
        case $block in
        *.file) cp "$block" "tree/$(cat "$block.name")" || fail "$1: $(cat "$block.name")" ;;
        *.diff) (cd tree && git apply -C1 "$TMP/$block") || fail "$1: a patch of the page does not fit: $(head -n 3 "$block")" ;;
        esac
    done
}

if [ "${HOW_TO:-}" != built ]; then
    for page in "$ROOT"/docs/how-to-add-*.md; do
        copy_tree
        apply_page "$(basename "$page" .md)"
        [ -n "$(find blocks -name "*.diff")" ] || fail "no patches in $page"
    done
    exit 0
fi

# Builds, runs the unit tests that the page changed and the scenarios that it adds, then its commands.
try_page() { # try_page PAGE
    local name page=$1
    copy_tree
    apply_page "$page"
    make -j2 -C tree "${options[@]}" all >make.txt 2>&1 || fail "$page: $(grep -E 'error|Error' make.txt | head -5)"
    for name in $(sed -n 's,^+++ b/tests/\(unit_[a-z_]*\)\.c$,\1,p' blocks/*.diff | sort -u); do
        make -C tree "${options[@]}" "$build/tests/$name" >make.txt 2>&1 || fail "$page: $(grep -E 'error|Error' make.txt | head -5)"
        "tree/$build/tests/$name" >unit.txt 2>&1 || fail "$page: $name: $(grep -E 'FAILED|Error' unit.txt)"
    done
    for name in $(sed -n 's,^\(tests/[a-z_]*\.sh\)$,\1,p' blocks/*.name); do
        mkdir scenario && (cd scenario && CLEAR=$TMP/tree/clear TMP=$PWD bash "../tree/$name" >../scenario.txt 2>&1) || fail "$page: $name: $(tail -n 5 scenario.txt)"
        rm -rf scenario
    done
    rm -rf work && mkdir work && ln -s "$TMP/tree/fixtures" work/fixtures || fail 'no directory'
    (cd work && PATH=$TMP/tree:$PATH bash -eu ../blocks/commands.sh >../said.txt 2>../said.err) || fail "$page: $(tail -n 5 said.txt said.err)"
}

try_page how-to-add-a-diagnosis
found="SELECT label, severity, subject, evidence ->> 'errors' >= 500 * 19 FROM doctor JOIN runs ON runs.id = run_id WHERE section = 'syscall'"
expect_equal "$(sql work/runs.sqlite "$found")" 'before|warning|openat|1' 'what the new diagnosis finds'
expect_match "$(cat said.txt)" '^ +severity +code +calls +failed +time$' 'its columns in the report'
found="SELECT DISTINCT label, severity, subject FROM doctor JOIN runs ON runs.id = run_id WHERE code = 'long-wait' AND label = 'convoy'"
expect_equal "$(sql work/runs.sqlite "$found")" 'convoy|warning|fault_convoy:journal' 'what the view of a user finds'
expect_match "$(cat said.txt)" '^ +warning +long-wait' 'the view of a user in the report'

try_page how-to-add-a-format
expect_match "$(cat said.txt)" '^[|] `parse_order` [|] [0-9.]+kB [|]' 'the new format'
expect_equal "$(grep -c '^[|] `' work/table.md)" 2 'its rows, with --nodecount 2'

try_page how-to-add-a-report
expect_match "$(cat said.txt)" '^ +2200000 +100%  fault_tiny_allocs$' 'the new report'
