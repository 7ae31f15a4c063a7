#!/usr/bin/env bash
# The manual pages that the program prints: mandoc and groff find nothing wrong, every page that one refers to exists, and
# what a reader sees has no marks of its source.
# build: plain
. "$(dirname "$0")/lib.sh"

pages=$BUILD/man
commands=$("$CLEAR" help --complete -- "" | cut -f1)
for command in $commands; do [ -s "$pages/clear-$command.1" ] || fail "clear-$command.1 was not built"; done

ours=" $(cd "$pages" && echo *.[15]) "
others=' sqlite3.1 git-bisect.1 git-worktree.1 perf.1 perf-record.1 strace.1 dot.1 objdump.1 llvm-objdump.1 addr2line.1 llvm-symbolizer.1 editrc.5 '
for page in "$pages"/*.[15]; do
    name=$(basename "$page")
    # The pages have no date: two builds of one source are equal.
    expect_equal "$(mandoc -Tlint -W warning "$page" | grep -v 'missing date')" '' "mandoc on $name"
    mandoc -Tutf8 -O width=90 "$page" | sed $'s/.\b//g' >text
    grep -nE '`|@include|@[a-z]+$|\\f|\*[A-Z]+\*' text && fail "marks of the source in $name"
    grep -qE "^ +${name%.*} - [a-z]" text || fail "$name has no line for apropos: $(sed -n '/^NAME/,/^SYN/p' text)"
    for reference in $(grep -oE '[a-z0-9.-]+\([15]\)' text | sort -u); do
        file=${reference%(*}.${reference: -2:1}
        case $ours$others in *" $file "*) ;; *) fail "$name refers to $reference" ;; esac
    done
done

# clear(1) names each command's page; the page of a command has its synopsis, and all options that the parser knows.
mandoc -Tutf8 -O width=90 "$pages/clear.1" | sed $'s/.\b//g' >overview
for command in $commands; do
    grep -qE "^ +clear-$command\(1\)" overview || fail "clear(1) does not name clear-$command(1)"
    mandoc -Tutf8 -O width=90 "$pages/clear-$command.1" | sed $'s/.\b//g' >text
    expect_match "$(sed -n '/^SYNOPSIS/,/^DESC/p' text)" "^ +clear ([a-z]+\|)?$command" "synopsis of $command"
    for option in $("$CLEAR" help --complete -- "$command" -- | cut -f1); do
        grep -qE -- "^ +(-[A-Za-z], )?$option(\[=| |$)" text || fail "clear-$command(1) has no $option"
    done
done

# What a text says about an option is about one that the command has: the page would leave it out.
for command in $commands; do
    awk '/^# / {on = $2 == "OPTIONS"} on && /^`--[a-z_-]+`$/ {gsub("`", ""); print}' "$ROOT/cli/manual/$command.md" | while read -r option; do
        "$CLEAR" help --complete -- "$command" -- | cut -f1 | grep -qx -- "$option" || fail "cli/manual/$command.md explains $option, which clear $command has not"
    done || exit 1
done

# clear.yaml(5) has every threshold with the value that a new warehouse has, and its example is a configuration.
mandoc -Tutf8 -O width=200 "$pages/clear.yaml.5" | sed $'s/.\b//g' >text
profile -q true
sql t.db "SELECT name || ' ' || printf('%.15g', value) FROM rules" | while read -r name value; do
    tr -s ' \n' ' ' <text | grep -qF " $name $value" || fail "clear.yaml(5) has no $name with $value"
done || exit 1
sed -n '/^EXAMPLES/,/^THRESHOLDS/p' text | sed -n '/database:/,$p' | sed '/^THRESHOLDS/d; s/^ \{11\}//' >clear.yaml
"$CLEAR" --config clear.yaml query --db t.db --list >list || fail "the example of clear.yaml(5)"
grep -q '^@\?my-sites' list || fail "the example's query: $(cat list)"
expect_equal "$("$CLEAR" --config clear.yaml query --db t.db "SELECT value FROM rules WHERE name = 'lock_contended_percent'" --no-header --format csv | tr -d '\r')" 30.0 "the example's threshold"

# The page of the configuration is no command's: help prints it whole, with the keys that the parser knows and every threshold.
"$CLEAR" help clear.yaml >text || fail "clear help clear.yaml"
thresholds=$(awk '/^[a-z]/ {on = $1 == "rules:"} on && /^  [a-z_]+:/ {sub(":.*", "", $1); print $1}' "$ROOT/schema/rules.yaml")
[ "$(wc -w <<<"$thresholds")" -gt 50 ] || fail "no thresholds in rules.yaml"
for key in database tags thresholds queries retention push gates toolchain $thresholds; do
    grep -qE "^  $key( |\$)" text || fail "clear help clear.yaml has no $key"
done
! grep -nE '`|^ *@' text || fail "marks of the source in clear help clear.yaml"
