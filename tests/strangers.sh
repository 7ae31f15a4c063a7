#!/usr/bin/env bash
# What another user put beside a warehouse or where its name leads: links, a journal, a -wal, a -shm, a spool, a clear.yaml, recordings that
# were lost, a run directory. Root follows none of it, says so, and changes and makes nothing. What is root's own works as before.
# quick
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip 'only root can be two users'
unset SUDO_UID
mkdir -m 777 shared && mkdir -m 700 secret && mkdir -m 1777 sticky
echo 'main;work 5' >one.folded
echo 'main;other 7' >two.folded
"$CLEAR" ingest -q --db secret/own.db one.folded || fail 'a warehouse'
plant() { ln -s "$1" "$2" && chown -h 65534 "$2" || fail "planting $2"; } # plant TARGET LINK
refused() { # refused WHAT PATTERN COMMAND...: ends with 1 and says so; nothing of root's has changed
    local what=$1 pattern=$2 before got=0
    before=$(find secret -type f -exec sha256sum {} + | sort -k 2)
    shift 2
    "$@" >out.txt 2>err.txt || got=$?
    expect_equal "$got" 1 "$what: status ($(cat err.txt))"
    expect_match "$(cat err.txt)" "$pattern" "$what: what is said"
    expect_equal "$(find secret -type f -exec sha256sum {} + | sort -k 2)" "$before" "$what: files of root"
}

# ---- links ----
link='is a symbolic link of another user: choose another name'
: >secret/empty
plant "$TMP/secret/made" shared/runs.sqlite
plant "$TMP/secret/empty" shared/empty.db
plant "$TMP/secret/own.db" shared/own.db
plant "$TMP/secret" shared/way
plant "$TMP/secret/made" shared/out.svg
by_default() { (cd shared && "$CLEAR" profile -q true); }
refused 'the default database of profile' "^clear: runs.sqlite: $link" by_default
for name in shared/empty.db shared/own.db shared/way/own.db shared/way/new.db; do
    refused "ingest --db $name" "^clear: shared/[a-z.]*: $link" "$CLEAR" ingest -q --db $name two.folded
    refused "profile --db $name" "^clear: shared/[a-z.]*: $link" "$CLEAR" profile -q --db $name true
done
for command in 'runs' 'doctor' 'gc --keep 1' 'rm 1' 'tag 1 a=b'; do
    # shellcheck disable=SC2086 # words
    refused "$command" "$link" "$CLEAR" $command --db shared/own.db
done
refused 'merge' "$link" "$CLEAR" merge shared/own.db secret/own.db
refused 'export to a new file' "shared/out.svg: $link" "$CLEAR" export --db secret/own.db 1 -o shared/out.svg
refused 'export below a link' "shared/way: $link" "$CLEAR" export --db secret/own.db 1 -o shared/way/out.svg
plant /dev/null shared/device
refused 'export to a device' "shared/device: $link" "$CLEAR" export --db secret/own.db 1 -o shared/device
# Its target by name, and links of one's own, of files and directories, to what is there and what is not.
ln -s own.db secret/mine.db && ln -s ../secret shared/mine && ln -s "$TMP/secret/later.db" shared/later.db
"$CLEAR" ingest -q --db shared/mine/mine.db two.folded || fail 'links of ones own'
expect_equal "$(sql secret/own.db 'SELECT count(*) FROM runs')" 2 'runs through a link of ones own'
"$CLEAR" ingest -q --db shared/later.db two.folded && [ -f secret/later.db ] && [ -L shared/later.db ] || fail 'a link of ones own to a new file'
[ ! -e secret/later.db-wal ] && [ ! -e shared/later.db-wal ] || fail 'a -wal is left'
"$CLEAR" export --db secret/own.db --format folded 1 -o /dev/stdout | grep -q work || fail 'standard output by its links'

# ---- what lies beside a warehouse ----
python3 - <<'PY' || fail 'a -wal and a journal of a stranger'
import os, shutil, sqlite3
def connect(name, mode):
    db = sqlite3.connect(name, isolation_level=None)
    db.execute(f"PRAGMA journal_mode = {mode}")
    return db
shutil.copy("secret/own.db", "wal.db")
db = connect("wal.db", "WAL")
db.execute("UPDATE runs SET command = 'planted'")
shutil.copy("wal.db", "wal.main")
shutil.copy("wal.db-wal", "wal.wal")
db.close()
shutil.copy("secret/own.db", "journal.db")
if os.fork() == 0: # it is left hot
    db = connect("journal.db", "DELETE")
    db.execute("PRAGMA cache_size = 1")
    db.execute("BEGIN IMMEDIATE")
    db.execute("UPDATE runs SET command = hex(randomblob(100000))")
    shutil.copy("journal.db-journal", "hot.journal")
    os._exit(0)
os.wait()
PY
beside='belongs to another user, and what it says would become part of the warehouse'
owned() { install -o "$1" -m 644 "$2" "$3" || fail "install $3"; }
for suffix in wal journal shm; do
    cp wal.main sticky/t.db
    case $suffix in wal) owned 65534 wal.wal sticky/t.db-wal ;; journal) cp secret/own.db sticky/t.db && owned 65534 hot.journal sticky/t.db-journal ;; *) owned 65534 one.folded sticky/t.db-shm ;; esac
    for command in 'ingest -q two.folded' 'runs' 'profile -q true'; do
        # shellcheck disable=SC2086 # words
        refused "$command beside a -$suffix" "sticky/t.db: $TMP/sticky/t.db-$suffix $beside" "$CLEAR" ${command%% *} --db sticky/t.db ${command#"${command%% *}"}
        cmp -s "sticky/t.db" wal.main || cmp -s sticky/t.db secret/own.db || fail "$command: the warehouse changed"
    done
    rm sticky/t.db*
done
cp wal.main sticky/t.db && mkfifo sticky/t.db-wal && chown 65534 sticky/t.db-wal
timeout 20 "$CLEAR" runs --db sticky/t.db >out.txt 2>err.txt || fail "reading beside a pipe: $(cat err.txt)" # it is no part of the file
refused 'a pipe' "t.db-wal $beside" timeout 20 "$CLEAR" ingest -q --db sticky/t.db two.folded
rm sticky/t.db*
# Its owner's, root's, and those of whoever may write to the file anyway are part of it.
for owner in 0 65534; do
    cp wal.main sticky/t.db && chown 65534 sticky/t.db && owned $owner wal.wal sticky/t.db-wal
    expect_equal "$("$CLEAR" query --db sticky/t.db --no-header 'SELECT DISTINCT command FROM runs')" planted "a -wal of user $owner beside a file of 65534"
    rm -f sticky/t.db*
done
cp wal.main sticky/t.db && chmod 666 sticky/t.db && owned 65534 wal.wal sticky/t.db-wal
expect_equal "$("$CLEAR" query --db sticky/t.db --no-header 'SELECT DISTINCT command FROM runs')" planted 'a -wal beside a file that everybody may write to'
rm -f sticky/t.db*

# ---- a spool says where runs are sent ----
cp secret/own.db sticky/t.db
printf '%s\tp\tpostgresql://127.0.0.1:1/theirs\n' "$(sql secret/own.db 'SELECT uuid FROM runs WHERE id = 1')" >spool
owned 65534 spool sticky/t.db.push
"$CLEAR" push --db sticky/t.db >out.txt 2>err.txt && fail 'a push by a spool of another user'
expect_match "$(cat err.txt)" 't.db.push: belongs to another user and is not read' 'a spool of another user'
rm sticky/t.db*

# ---- clear.yaml ----
mkdir -m 777 project && mkdir project/theirs && chown 65534 project/theirs
echo 'database: theirs/x.db' >mine.yaml
plant "$TMP/mine.yaml" project/clear.yaml
(cd project && "$CLEAR" profile -q true 2>"$TMP/err.txt") || fail 'beside a planted clear.yaml'
expect_match "$(cat err.txt)" 'project/clear.yaml belongs to another user and is not read; --config' 'a planted clear.yaml'
[ ! -e project/theirs/x.db ] && [ -f project/runs.sqlite ] || fail 'the database of a planted clear.yaml'
rm project/clear.yaml && ln -s "$TMP/mine.yaml" project/clear.yaml
(cd project && "$CLEAR" profile -q true) && [ -f project/theirs/x.db ] || fail 'a clear.yaml through a link of ones own'

# ---- lost recordings ----
mkdir -m 777 lost
"$CLEAR" profile -q --db lost/t.db --no-files -- "$FIXTURES/leaks" >/dev/null 2>&1 || fail 'a run'
uuid=$(sql lost/t.db 'SELECT uuid FROM runs')
recording() { # recording DIRECTORY UUID OWNER: one whose only process is that of the finished run, with nothing in it
    mkdir -p "$1" && printf '{"uuid":"%s","command":"planted","label":null,"started_ns":1,"host":"h","sample_n":1,"flags":"unfinished","tags":{"planted":"yes"},"warehouse":"%s","program":null,"build":null,"source":null}' \
        "$2" "$TMP/lost/t.db" >"$1/run.json"
    : >"$1/control"
    : >"$1/perf.data"
    chmod 700 "$1"
    chown -R "$3" "$1"
}
rows() { sqlite3 lost/t.db .dump | sha256sum; }
before=$(rows)
recording lost/t.db.lost/clear-65534-1-1 "$uuid" 65534 && chown 65534 lost/t.db.lost && chmod 755 lost/t.db.lost
"$CLEAR" recover --db lost/t.db >out.txt 2>err.txt && fail "recover: $(cat out.txt)"
expect_match "$(cat err.txt)" 't.db.lost: was put there by another user, or others may write to it, and is not read' 'recover'
expect_equal "$(rows)" "$before" 'the warehouse after a planted recording'
"$CLEAR" recover lost/t.db.lost/clear-65534-1-1 >out.txt 2>err.txt && fail "recover DIRECTORY: $(cat out.txt)"
expect_match "$(cat err.txt)" 'is a recording of another user, who also says where it goes: give --db FILE' 'recover DIRECTORY'
expect_equal "$(rows)" "$before" 'the warehouse after a recording of another user by its name'
# Inside a directory of ones own, those of others are passed over; into a file that is named, they change no run that is over.
chown 0 lost/t.db.lost && chmod 700 lost/t.db.lost
expect_equal "$("$CLEAR" recover --db lost/t.db 2>/dev/null)" 'nothing to recover' 'a recording of another user in ones own directory'
"$CLEAR" recover --db lost/t.db lost/t.db.lost/clear-65534-1-1 >out.txt 2>err.txt || fail "recover --db DIRECTORY: $(cat err.txt)"
expect_match "$(cat out.txt)" 'run 1, which was whole already' 'a run that is over'
expect_equal "$(rows)" "$before" 'a run that is over'

# ---- run directories ----
mkdir secret/kept.profile && plant "$TMP/secret/kept.profile" shared/run.profile
refused 'profile -o' "shared/run.profile: $link" "$CLEAR" profile -q --db secret/own.db -o shared/run.profile true
expect_equal "$(ls secret/kept.profile)" '' 'the directory that a link leads to'
mkdir -m 755 shared/open.profile && chown 65534 shared/open.profile
"$CLEAR" profile -q --db p.db -o shared/open.profile "$FIXTURES/leaks" >/dev/null 2>&1 || fail 'a directory of another user'
expect_equal "$(stat -c %a shared/open.profile)" 700 'who may read what takes the place of a directory of another user'
for db in secret/own.db lost/t.db p.db; do check_db $db; done
