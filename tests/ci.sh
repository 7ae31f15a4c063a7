# packaging/ci: what the action of GitHub and the template of GitLab run, as their runners start it: of a first run, of a second, of more
# allocations, of more CPU time, and of a program that fails. Reports are there after each, and as many runs as the rules need.
# build: plain
# timeout: 300
. "$(dirname "$0")/lib.sh"
export HOME=$TMP XDG_CONFIG_HOME='' CI_DEFAULT_BRANCH=main
unset CLEAR_DB
cat >app.c <<'END'
#include <stdlib.h>
#include <time.h>
#ifndef EXTRA
#define EXTRA 0
#endif
int main(void) {
    for (int i = 0; i < 1000 + EXTRA; i++) free(malloc(100));
#ifdef SLOW
    while (clock() < CLOCKS_PER_SEC / 3) {}
#endif
    return 0;
}
END
build() { "$CC" -g -O1 -fno-builtin "${@:2}" -o "$1" app.c || fail "the compiler"; }
build old && build new -DEXTRA=500 && build slow -DSLOW
printf '#!/bin/sh\nexit 7\n' >broken && chmod +x broken
# A page takes longer than all else: it is made where it is looked at, and fails elsewhere, which no step may mind.
mkdir bin
cat >bin/clear <<END
#!/bin/sh
[ "\$1 \$2" != 'export --html' ] || [ -e page.wanted ] || exit 1
exec "$CLEAR" "\$@"
END
chmod +x bin/clear

# shell_of FILE: the script that a runner gets. Both files are read by a reader of YAML that is not ours.
shell_of() {
    python3 - "$ROOT/packaging/ci/$1" <<'END'
import sys, yaml
with open(sys.argv[1], encoding="utf-8") as file:
    top = yaml.safe_load(file)
if "runs" in top:
    for step in top["runs"]["steps"]:
        assert "uses" in step or "shell" in step, step
        assert "${{" not in step.get("run", ""), "text of others in a script"
    print(next(step for step in top["runs"]["steps"] if step.get("id") == "gate")["run"])
else:
    print("\n".join(top[".clear-gate"]["script"]))
END
}

step() { # step STATUS BRANCH PROGRAM REPORTS...: in an empty environment but for what the runner sets
    local got=0
    cp "$TMP/$3" app
    env -i PATH="$TMP/bin:/usr/bin:/bin" HOME="$TMP" CI_COMMIT_REF_NAME="$2" BRANCH="$2" BASE=main PROGRAM='./app input.txt' FORMAT=github UNDECIDED=warning CLEAR_CI="$ROOT/packaging/ci" \
        GITHUB_ACTION_PATH="$ROOT/packaging/ci" GITHUB_STEP_SUMMARY=summary.md CLEAR_DB=runs.sqlite bash -eo pipefail ../step.sh >step.out 2>&1 || got=$?
    expect_equal "$got" "$1" "status of the step on $2: $(cat step.out)"
    expect_equal "$(echo gate.*)" "${*:4}" "reports on $2"
    [ -s gate.md ] || fail "an empty report on $2"
}
for file in action.yml gitlab.yml; do
    shell_of "$file" >step.sh || fail "$file"
    rm -rf ci && mkdir ci && cd ci || exit
    echo 'queries: {}' >clear.yaml # not that of a directory above, with its rules
    step 0 main old gate.md
    expect_equal "$(sql runs.sqlite "SELECT count(*) FROM tags WHERE key = 'branch' AND value = 'main'")" 5 "the first runs"
    step 0 main old 'gate.md gate.sarif gate.xml'
    [ ! -e run.html ] || fail 'a page that failed was left'
    touch page.wanted
    # shellcheck disable=SC2016
    step 3 'work$(touch${IFS}planted)' new 'gate.md gate.sarif gate.xml' # who may push a branch chooses its name
    [ ! -e planted ] || fail "the name of a branch was run as a command: $file"
    expect_match "$(cat gate.md)" 'alloc.*count' "the report of more allocations"
    expect_equal "$(sql runs.sqlite "SELECT count(*) FROM tags WHERE key = 'branch' AND value GLOB 'work[$](*'")" 2 "one run is judged, and one confirms it"
    rm page.wanted
    grep -q '<script' run.html || fail "the run as one page: $(ls -l run.html)"
    if [ "$file" = action.yml ]; then # the same script in both: the rest once
        expect_match "$(cat summary.md)" 'alloc.*count' "the summary of the job"
        step 3 slower slow 'gate.md gate.sarif gate.xml'
        expect_match "$(cat gate.md)" 'fail.* cpu .*cpu.*ns' "the report of more CPU time"
        step 1 broken broken gate.md
        expect_match "$(cat gate.md)" 'No verdict' "the report of a program that fails"
        rm -f runs.sqlite
        step 7 main broken gate.md
    fi
    cd ..
done
