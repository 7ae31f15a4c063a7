# Projects on several servers: push and pull ask the store that they are given, and go straight to the server of the project.
# timeout: 200
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/postgres.sh"
"$CLEAR" ingest -q --db c.db "$ROOT"/fixtures/corpus/pprof/* >/dev/null 2>&1
runs=$(sql c.db 'SELECT count(*) FROM runs')
[ "$runs" -ge 10 ] || fail "few runs: $runs"
# A coordinator and two shards, each a server of its own: the test ends the three.
places=()
trap 'for PG in "${places[@]}"; do postgres_stop; rm -rf "$PG"; done' EXIT
for i in 0 1 2; do
    postgres_start
    places[i]=$PG
    trap 'for PG in "${places[@]}"; do postgres_stop; rm -rf "$PG"; done' EXIT
    url[i]="postgresql://clear@/profiles?host=$PG"
    "$CLEAR" store init --db "${url[i]}" >/dev/null || fail init
done
on() { PGHOST=${places[$1]} pg "SELECT count(*) FROM clear.runs"; }
"$CLEAR" store shard --project one --at "${url[1]}" --db "${url[0]}" >/dev/null && "$CLEAR" store shard --project two --at "${url[2]}" --db "${url[0]}" >shard.txt || fail shard
expect_match "$(cat shard.txt)" 'project two is on' 'what shard says'
for project in one two here; do "$CLEAR" push -q --db c.db --to "${url[0]}" --project $project 2>err.txt || fail "push to $project: $(cat err.txt)"; done
for i in 0 1 2; do expect_equal "$(on $i)" "$runs" "runs on server $i"; done
for project in one two here; do
    "$CLEAR" pull -q all --from "${url[0]}" --project $project --db $project.db 2>err.txt || fail "pull of $project: $(cat err.txt)"
    expect_equal "$(sql $project.db 'SELECT count(*), count(DISTINCT uuid) FROM runs')" "$runs|$runs" "runs of $project"
    check_db $project.db
done
# postgres_fdw over the three, as docs/store.md has it: one table of all runs, to read. The partitions are those of the projects.
link() { # link SERVER PROJECT
    PGHOST=${places[0]} pg "CREATE SERVER shard$1 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '${places[$1]}', dbname 'profiles');
        CREATE USER MAPPING FOR clear SERVER shard$1 OPTIONS (user 'clear');
        CREATE FOREIGN TABLE everywhere.$2 PARTITION OF everywhere.runs FOR VALUES IN ($(PGHOST=${places[$1]} pg "SELECT project FROM clear.projects WHERE name = '$2'"))
            SERVER shard$1 OPTIONS (schema_name 'clear', table_name 'runs')" || fail "the foreign partition $2"
}
# The server from npm comes without it.
if [ -n "$(PGHOST=${places[0]} pg "SELECT name FROM pg_available_extensions WHERE name = 'postgres_fdw'")" ]; then
    PGHOST=${places[0]} pg 'CREATE EXTENSION postgres_fdw; CREATE SCHEMA everywhere;
        CREATE TABLE everywhere.runs (project bigint NOT NULL, run uuid NOT NULL, started_ns bigint) PARTITION BY LIST (project)' || fail postgres_fdw
    link 1 one
    link 2 two
    expect_equal "$(PGHOST=${places[0]} pg 'SELECT count(*), count(DISTINCT project) FROM everywhere.runs')" "$((2 * runs))|2" 'runs of both shards from the coordinator'
elif [ -z "${CLEAR_POSTGRES:-}" ]; then
    fail 'postgres_fdw is not there'
fi
# Runs that are here are not hidden; a password and a shard that is away are said.
expect_status 1 "$CLEAR" store shard --project here --at "${url[1]}" --db "${url[0]}" 2>err.txt
expect_match "$(cat err.txt)" 'has runs here' 'a project with runs'
expect_status 2 "$CLEAR" store shard --project new --at postgresql://me:s3cret@host/db --db "${url[0]}" 2>err.txt
PG=${places[1]}; postgres_stop fast
expect_status 1 "$CLEAR" push -q --db c.db --to "${url[0]}" --project one 2>err.txt
expect_match "$(cat err.txt)" 'project one is on another server' 'a shard that is away'
"$CLEAR" push -q --db c.db --to "${url[0]}" --project two 2>err.txt || fail "push to the other shard: $(cat err.txt)"
exit 0
