#!/usr/bin/env bash
# Options behind the target of clear profile: behind a source file they are clear's, behind a program the program's, and a line says so.
# quick
. "$(dirname "$0")/lib.sh"

cat >words.c <<'END_OF_C'
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words) {
    for (int i = 1; i < count; i++) printf("%s\n", words[i]);
    void *volatile block = malloc(10);
    return block == NULL;
}
END_OF_C
cc -o words words.c || fail 'words.c'
words() { # words WORDS...: what the program got, on one line
    "$CLEAR" profile --db t.db --no-files "$@" >out.txt 2>err.txt || fail "profile $*: $(cat err.txt)"
    paste -sd ' ' out.txt
}
run() { sql t.db "SELECT coalesce(label, ''), sample_n, command FROM runs ORDER BY id DESC LIMIT 1"; }
hint='is given to \S+; for clear profile it stands before it'

# Behind a source file, up to "--"; what is no option of ours stays, also one that only looks like it.
expect_equal "$(words words.c --sample=100)" '' 'words of a program whose option was ours'
expect_equal "$(run)" '|100|words.c' 'the run'
expect_equal "$(words words.c one --label two --fast --samp=7 -x three -q)" 'one --fast --samp=7 -x three' 'words among ours'
expect_equal "$(run)" 'two|1|words.c one --fast --samp=7 -x three' 'the run of words among ours'
expect_equal "$(cat err.txt)" '' 'what -q behind a source leaves to say'
expect_equal "$(words words.c --label=mine -- --label=its --sample=3)" '--label=its --sample=3' 'words behind --'
expect_equal "$(run)" "mine|1|words.c --label=its --sample=3" 'the run of words behind --'
expect_equal "$(words -- words.c --label=its)" --label=its 'a -- before the target'
! grep -Eq "$hint" err.txt || fail "a line about what stood behind --: $(cat err.txt)"
expect_status 2 "$CLEAR" profile --db t.db words.c --sample=x 2>err.txt
expect_match "$(cat err.txt)" '--sample' 'a value that is wrong'

# Behind a program.
expect_equal "$(words ./words a --sample=100 --label b)" 'a --sample=100 --label b' 'words of a program'
expect_equal "$(run)" '|1|./words a --sample=100 --label b' 'the run of a program'
expect_match "$(cat err.txt)" "^clear: --sample=100 $hint: clear profile --sample=100 ./words" 'the line'
expect_equal "$(grep -Ec "$hint" err.txt)" 1 'lines'
expect_equal "$(words ./words --label b)" '--label b' 'an option with a word'
expect_match "$(cat err.txt)" ': clear profile --label b ./words ' 'the line with a word'
for options in '-- --sample=100' '--fast --samples=100' '--help -q'; do
    # shellcheck disable=SC2086
    words ./words $options >/dev/null
    ! grep -Eq "$hint" err.txt || fail "$options: $(cat err.txt)"
done
words -q ./words --sample=100 >/dev/null
expect_equal "$(cat err.txt)" '' 'with -q'
