# Projects on several servers: push and pull ask the store that they are given, and go straight to the server of the project.
# timeout: 200
# build: plain
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/postgres.sh"
ingest_corpus
# A coordinator and two shards, each a server of its own: the test ends the three.
postgres_start_several 3
on() { PGHOST=${places[$1]} pg "SELECT count(*) FROM clear.runs"; }
"$CLEAR" store shard --project one --at "${url[1]}" --db "${url[0]}" >/dev/null && "$CLEAR" store shard --project two --at "${url[2]}" --db "${url[0]}" >shard.txt || fail shard
expect_match "$(cat shard.txt)" 'project two is on' 'what shard says'
asking=$CLEAR # the first is somewhere else
for project in one two here; do
    "$asking" push -q --db c.db --to "${url[0]}" --project $project 2>err.txt || fail "push to $project: $(cat err.txt)"
    asking=$PLAIN_CLEAR
done
for i in 0 1 2; do expect_equal "$(on $i)" "$runs" "runs on server $i"; done
asking=$CLEAR
for project in one two here; do
    "$asking" pull -q all --from "${url[0]}" --project $project --db $project.db 2>err.txt || fail "pull of $project: $(cat err.txt)"
    expect_equal "$(sql $project.db 'SELECT count(*), count(DISTINCT uuid) FROM runs')" "$runs|$runs" "runs of $project"
    check_db $project.db
    asking=$PLAIN_CLEAR
done
# What is elsewhere is said.
"$CLEAR" store status --db "${url[0]}" >status.txt || fail status
expect_match "$(cat status.txt)" 'project two is on postgresql://clear@/profiles: its runs are not counted here' 'a status with shards'
"$CLEAR" store status --json --db "${url[0]}" | python3 -c 'import json, sys; print([s["project"] for s in json.load(sys.stdin)["shards"]])' >status.txt || fail 'status --json'
expect_equal "$(cat status.txt)" "['one', 'two']" 'shards in JSON'
"$CLEAR" store findings --all-projects --db "${url[0]}" >/dev/null 2>err.txt || fail findings
expect_match "$(cat err.txt)" 'project one is on' 'findings with shards'
# postgres_fdw over the three, as docs/store-operations.md has it: one view of all runs, with a foreign table for each server: of two projects on one server each run counts once.
link() { # link SERVER
    PGHOST=${places[0]} pg "CREATE SERVER shard$1 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '${places[$1]}', dbname 'profiles');
        CREATE USER MAPPING FOR clear SERVER shard$1 OPTIONS (user 'clear');
        CREATE FOREIGN TABLE everywhere.runs_of_$1 (project bigint, run uuid, started_ns bigint) SERVER shard$1 OPTIONS (schema_name 'clear', table_name 'runs')" ||
        fail "the foreign table of server $1"
}
# The server from npm comes without it.
if [ -n "$(PGHOST=${places[0]} pg "SELECT name FROM pg_available_extensions WHERE name = 'postgres_fdw'")" ]; then
    "$CLEAR" store shard --project three --at "${url[2]}" --db "${url[0]}" >/dev/null && "$PLAIN_CLEAR" push -q --db c.db --to "${url[0]}" --project three || fail 'a second project of a shard'
    PGHOST=${places[0]} pg 'CREATE EXTENSION postgres_fdw; CREATE SCHEMA everywhere' || fail postgres_fdw
    link 1
    link 2
    PGHOST=${places[0]} pg 'CREATE VIEW everywhere.runs AS
        SELECT project, run, started_ns FROM clear.runs
        UNION ALL SELECT project, run, started_ns FROM everywhere.runs_of_1
        UNION ALL SELECT project, run, started_ns FROM everywhere.runs_of_2' || fail 'the view'
    expect_equal "$(PGHOST=${places[0]} pg 'SELECT count(*), count(DISTINCT project) FROM everywhere.runs')" "$((4 * runs))|4" 'runs of all servers from the coordinator'
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
"$PLAIN_CLEAR" push -q --db c.db --to "${url[0]}" --project two 2>err.txt || fail "push to the other shard: $(cat err.txt)"
exit 0
