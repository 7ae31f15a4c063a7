#!/usr/bin/env bash
# What Tab makes of a command line in bash, zsh and fish: the completion is the program's own answer, in three shells' hands.
. "$(dirname "$0")/lib.sh"

profile -q --label before --tag branch=main --tag commit=abc -o one.profile "$FIXTURES/leak" >/dev/null
profile -q --label after --tag branch=next -o two.profile "$FIXTURES/leak" >/dev/null
export CLEAR_DB=$TMP/t.db
"$CLEAR" query --save mine-alone --description "a query of ours" "SELECT :first, :second" first=1 second=2 >/dev/null || fail "saving a query"
mkdir -p work/some-directory && touch work/profile.pb.gz work/'two words.pb.gz' && cd work || fail "no directory"

# ---- the answer: words with their descriptions ----
answer() { # answer WORD...: what the last one can be, sorted
    "$CLEAR" help --complete -- "$@" | sort
}
words() { answer "$@" | cut -f1 | paste -sd ' '; }
expect_equal "$(words doc)" doctor 'a command'
expect_match "$(answer doc)" $'^doctor\t[a-z]' 'its description'
expect_equal "$(words runs --)" '--all --before --config --db --describe --help --json --kind --label --last --limit --project --runs --search --since --tag --until' 'options'
expect_equal "$(words top -no)" '-no_browser -nodecount -nodefraction -noinlines -normalize' 'options as pprof writes them'
expect_equal "$(words exp --lev)" '--level' 'of a command that is abbreviated'
expect_equal "$(words --config x.yaml runs --j)" '--json' 'behind --config'
expect_equal "$(words profile --cpu o)" off 'a value'
expect_equal "$(words profile --cpu=o)" --cpu=off 'a value behind ='
expect_equal "$(words profile --label x --cpu o)" off 'behind another option and its value'
expect_equal "$(words profile ls --cpu '')" :file 'behind the target'
expect_equal "$(words profile '')" :program 'the target'
expect_equal "$(words export --format d)" "$("$CLEAR" export --format none --kind heap 2>&1 | tr -d ',' | grep -oE '\bd[a-z-]+' | sort | paste -sd ' ')" 'formats'
expect_equal "$(words report tr)" ':file traces tree' 'reports'
expect_equal "$(words report peek=leaks_)" "$(sql ../t.db "SELECT 'peek=' || name FROM functions WHERE name LIKE 'leaks\_%' ESCAPE '\' ORDER BY name" | paste -sd ' ')" 'functions of a pattern'
expect_equal "$(words list leaks_)" "$(sql ../t.db "SELECT name FROM functions WHERE name LIKE 'leaks\_%' ESCAPE '\' ORDER BY name" | paste -sd ' ')" 'functions'
expect_equal "$(words query --forget mine)" mine-alone 'a saved query'
expect_equal "$(words query @mine)" @mine-alone 'a saved query with @'
expect_equal "$(words query @mine-alone '')" 'first= second=' 'its parameters'
expect_equal "$(words query @hot-sites run=b)" 'run=before run=branch=main run=branch=next' 'a run'
expect_equal "$(words doctor l)" ':file last= latest' 'a run or a file'
expect_equal "$(words doctor tag:branch=main,a)" ':file tag:branch=main,after tag:branch=main,all tag:branch=main,all:' 'the next of several'
expect_equal "$(words doctor tag:b)" ':file tag:branch=main tag:branch=next' 'a set of runs'
expect_equal "$(words export --kind lo)" lock 'a kind'
expect_equal "$(words top --by_tag '')" 'branch commit' 'keys of tags'
expect_equal "$(words schema cell_)" "$(sql ../t.db "SELECT name FROM sqlite_schema WHERE name GLOB 'cell_*' AND type IN ('table', 'view') ORDER BY 1" | paste -sd ' ')" 'tables'
expect_equal "$(CLEAR_DB=none.db words doctor be)" :file 'no warehouse'
[ ! -e none.db ] || fail "completion made a warehouse"
expect_equal "$(words version '')$(words frob '')" '' 'nothing fits'

# A word that fills the terminal is not offered.
cp ../t.db long.db && sql long.db "UPDATE runs SET label = replace(printf('%5000s', ''), ' ', 'x') WHERE id = 1" && CLEAR_DB=long.db words doctor '' >long.txt || fail 'a long label'
expect_match " $(cat long.txt) " ' after .* latest ' 'words beside a long label'
[ "$(wc -c <long.txt)" -lt 1000 ] || fail "a long label is offered: $(wc -c <long.txt)"
rm long.db

# ---- in the shells ----
mkdir "$TMP/bin" "$TMP/zsh" || fail "no directory"
printf '#!/bin/sh\n[ "$1" != help ] || exec "%s" "$@"\nprintf RESULT:\nprintf "<%%s>" "$@"\necho\n' "$CLEAR" >"$TMP/bin/clear"
cp "$TMP/bin/clear" "$TMP/bin/a_program_of_ours" # what else is installed may begin as any other word
chmod +x "$TMP/bin/clear" "$TMP/bin/a_program_of_ours"
cp "$BUILD/completion/_clear" "$TMP/zsh/_clear" && cp "$BUILD/completion/clear.bash" "$TMP/clear.bash" || fail "no completion was built"
lines=('clear doc' 'clear export --form' 'clear export --format=fol' 'clear export --format fol' 'clear query @mine' 'clear query @mine-alone fir' 'clear query @hot-sites run=bef'
    'clear doctor bef' 'clear doctor tag:branch=main,aft' 'clear doctor prof' 'clear ingest two' 'clear ingest --tls_ca=prof' 'clear top --source_path some-'
    'clear profile a_program_of' 'clear profile a_program_of_ours prof' 'clear report pee' 'clear list leaks_a')
want='<doctor>
<export><--format>
<export><--format=folded>
<export><--format><folded>
<query><@mine-alone>
<query><@mine-alone><first=>
<query><@hot-sites><run=before>
<doctor><before>
<doctor><tag:branch=main,after>
<doctor><profile.pb.gz>
<ingest><two words.pb.gz>
<ingest><--tls_ca=profile.pb.gz>
<top><--source_path><some-directory/>
<profile><a_program_of_ours>
<profile><a_program_of_ours><profile.pb.gz>
<report><peek=>
<list><leaks_all>'
for shell in bash zsh; do
    script=$TMP/clear.bash
    [ $shell = bash ] || script=$TMP/zsh/_clear
    has_terminals || continue
    PATH=$TMP/bin:$PATH python3 "$ROOT/tests/completion.py" $shell "$script" "${lines[@]}" >"$TMP/$shell.txt" || fail "$shell: $(cat "$TMP/$shell.txt")"
    # zsh takes the slash of a directory back when the line ends there.
    expect_equal "$(sed 's,/>,>,' "$TMP/$shell.txt")" "${want//\/>/>}" "$shell"
done

# fish prints what it would offer, without a terminal.
in_fish() { PATH=$TMP/bin:$PATH HOME=$TMP fish --no-config -c "source $BUILD/completion/clear.fish; complete -C '$1'" 2>&1 | cut -f1 | sort | paste -sd ' '; }
expect_equal "$(in_fish 'clear doc')" doctor 'fish: a command'
expect_equal "$(in_fish 'clear runs --')" '--all --before --config --db --describe --help --json --kind --label --last --limit --project --runs --search --since --tag --until' 'fish: options'
expect_equal "$(in_fish 'clear export --format=fol')" '--format=folded' 'fish: a value behind ='
expect_equal "$(in_fish 'clear query @mine')" '@mine-alone' 'fish: a saved query'
expect_equal "$(in_fish 'clear doctor prof')" 'profile.pb.gz' 'fish: a file'
expect_equal "$(in_fish 'clear ingest --tls_ca=prof')" '--tls_ca=profile.pb.gz' 'fish: a file behind ='
expect_equal "$(in_fish 'clear profile a_program_of')" 'a_program_of_ours' 'fish: a program'
expect_equal "$(in_fish 'clear doctor tag:branch=main,aft')" 'tag:branch=main,after' 'fish: the next of several'
needs_terminals # for bash and zsh above
