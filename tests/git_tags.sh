# Runs of a work tree have its commit, branch and state as tags; nothing that the repository's configuration names is run, and a repository of
# another user is none. Runs that clear bisect took are in no trend that does not ask for them.
. "$(dirname "$0")/lib.sh"
command -v git >/dev/null || skip 'git is not installed'
export GIT_CONFIG_GLOBAL=/dev/null HOME=$TMP GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=a@b
git init -q -b main r && cd r && echo 1 >file && mkdir sub && git add . && git commit -qm one || fail repository
run=0
tags() { # EXPECTED OPTION...: of a run with these options
    local want=$1
    shift
    run=$((run + 1))
    "$CLEAR" profile -q --no-files --db "$TMP/t.db" "$@" true || fail "profile $*"
    expect_equal "$(sql "$TMP/t.db" "SELECT group_concat(key || '=' || value, ' ') FROM (SELECT key, value FROM tags WHERE run_id = $run ORDER BY key)")" \
        "$want" "tags of $* in $PWD"
}
first=$(git rev-parse HEAD)
tags "git_branch=main git_commit=$first git_dirty=no"
echo 2 >file
tags "git_branch=main git_commit=$first git_dirty=yes"
git add file && cd sub
tags "git_branch=main git_commit=$first git_dirty=yes"
cd .. && git commit -qm two && git pack-refs --all && git gc -q
second=$(git rev-parse HEAD)
touch file && echo untracked >other # neither is a change
tags "git_branch=main git_commit=$second git_dirty=no"
tags '' --no-git
tags 'git_commit=mine' --tag git_commit=mine
git checkout -q --detach "$first" 2>/dev/null
tags "git_commit=$first git_dirty=no"
git worktree add -q ../tree -b topic main && cd ../tree
tags "git_branch=topic git_commit=$second git_dirty=no"
cd ../r && git checkout -q main

# ---- what a repository could do ----
mkdir "$TMP/bin" && printf '#!/bin/sh\ntouch "%s/was-run"\nexec cat\n' "$TMP" >"$TMP/bin/evil" && chmod +x "$TMP/bin/evil"
for key in core.fsmonitor diff.external filter.x.clean filter.x.process diff.x.textconv diff.x.command core.sshCommand core.pager; do git config $key "$TMP/bin/evil"; done
printf 'file filter=x diff=x\n' >.gitattributes && git -c filter.x.clean=cat -c filter.x.process= add .gitattributes && git -c core.fsmonitor= commit -qm three
for hook in post-index-change fsmonitor-watchman reference-transaction; do cp "$TMP/bin/evil" .git/hooks/$hook; done
rm -f "$TMP/was-run" && sed -i s/2/3/ file && touch -d '+1 hour' file
tags "git_branch=main git_commit=$(cat .git/refs/heads/main) git_dirty=yes"
[ ! -e "$TMP/was-run" ] || fail "a program that the repository names was run"
[ ! -e .git/index.lock ] || fail 'a lock was left'
# A FIFO in place of a file is no such file: nothing waits for who writes to it.
commit=$(cat .git/refs/heads/main) && mv .git/refs/heads/main head && mv .git/packed-refs packed && mkfifo .git/packed-refs
timeout 20 "$CLEAR" profile -q --no-files --db "$TMP/fifo.db" true || fail "packed-refs that is a FIFO: $?"
expect_equal "$(sql "$TMP/fifo.db" 'SELECT count(*) FROM tags')" 0 'tags beside a FIFO'
rm .git/packed-refs && mv packed .git/packed-refs && mv head .git/refs/heads/main && [ "$(git rev-parse main)" = "$commit" ] || fail 'the repository again'
if [ "$(id -u)" = 0 ]; then
    chown -R 12345 .git
    tags ''
    chown -R 0 .git
fi
git config --unset-all core.fsmonitor
printf 'ref: refs/heads/../../../etc/passwd\n' >.git/HEAD
tags ''
printf 'tags: {git_commit: auto, git_branch: auto}\n' >"$TMP/clear.yaml"
printf 'ref: refs/heads/main\n' >.git/HEAD
run=$((run + 1))
"$CLEAR" profile -q --no-files --no-git --config "$TMP/clear.yaml" --db "$TMP/t.db" true || fail configured
expect_equal "$(sql "$TMP/t.db" "SELECT group_concat(key, ' ') FROM (SELECT key FROM tags WHERE run_id = $run ORDER BY key)")" 'git_branch git_commit' 'auto'
ls -d "$TMP"/clear-git.* 2>/dev/null && fail 'a directory was left'

# ---- trends ----
"$CLEAR" tag --db "$TMP/t.db" 2 bisect=abc >/dev/null || fail tag
count() { "$CLEAR" trend --db "$TMP/t.db" --json alloc_count "$@" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]))'; }
expect_equal "$(count)" $((run - 1)) 'runs of a trend'
expect_equal "$(count all)" $((run - 1)) 'all runs'
expect_equal "$(count 1,2,3)" 3 'runs that are named'
expect_equal "$(count tag:bisect=abc,1)" 2 'those of a search'
